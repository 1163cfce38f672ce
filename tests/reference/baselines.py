"""BR, ECC and RAkEL word by word, with scikit-learn's logistic regression; slow."""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

RIDGE = 1e-8


def objective(X, y, intercept, coef, weights=None):
    """Weka's objective at a model of standardised columns."""
    z = X @ coef + intercept
    loss = np.logaddexp(0, z) - y * z
    return (loss if weights is None else weights * loss).sum() + RIDGE * (coef**2).sum()


def standardised(X, rows=None):
    """Columns that vary in `rows`, and their standardisation by those rows."""
    base = X if rows is None else X[rows]
    live = (base != base[0]).any(axis=0)
    return live, base[:, live].mean(axis=0), base[:, live].std(axis=0, ddof=1)


def fitted(X, y):
    """A function from rows to P(y = 1)."""
    if (y == y[0]).all():
        return lambda new: np.full(len(new), float(y[0]))
    live, mean, spread = standardised(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=1 / (2 * RIDGE), tol=1e-9, max_iter=20_000).fit(
            (X[:, live] - mean) / spread, y
        )
    return lambda new: model.predict_proba((new[:, live] - mean) / spread)[:, 1]


def binary_relevance(X, Y, new):
    return np.column_stack([fitted(X, y)(new) for y in Y.T])


def chain(X, Y, order, new):
    """P of one chain, learnt from true earlier labels, predicted from hard earlier predictions."""
    F = np.zeros((len(new), Y.shape[1]))
    earlier, predicted = X, new
    for label in order:
        F[:, label] = fitted(earlier, Y[:, label])(predicted)
        earlier = np.column_stack([earlier, Y[:, label]])
        predicted = np.column_stack([predicted, (F[:, label] >= 0.5).astype(float)])
    return F


def powersets(X, Y, subsets, new):
    """F of RAkEL for given subsets, and the patterns that each subset voted for."""
    live, mean, spread = standardised(X)
    Z, Z_new = (X[:, live] - mean) / spread, (new[:, live] - mean) / spread
    votes, counts = np.zeros((len(new), Y.shape[1])), np.zeros(Y.shape[1])
    for subset in subsets:
        patterns = sorted(
            set(map(tuple, Y[:, subset].astype(int))),
            key=lambda bits: sum(b << i for i, b in enumerate(bits)),
        )
        codes = np.array([patterns.index(tuple(row)) for row in Y[:, subset].astype(int)])
        counts[list(subset)] += 1
        if len(patterns) == 1:
            votes[:, subset] += patterns[0]
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(C=1 / (2 * RIDGE), tol=1e-9, max_iter=20_000).fit(Z, codes)
        best = model.predict_proba(Z_new).argmax(axis=1)
        votes[:, subset] += np.array(patterns)[best]
    return votes / np.where(counts == 0, 1, counts)

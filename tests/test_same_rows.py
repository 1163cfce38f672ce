"""One set of rows has many forms: dense or sparse, sorted or not, near the origin or far away. All give one model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.baselines import (
    JFSC,
    JFSCCV,
    LLSF,
    LLSFCV,
    BinaryRelevance,
    EnsembleOfClassifierChains,
    RAkEL,
)
from skcamel.camel import scaling

KERNELS = ("rbf", "laplacian", "exponential", "linear")
CAMELS = {
    f"{k}-{s}": CamelClassifier(kernel=k, scaling=s) for k in KERNELS for s in scaling.FOR_SPARSE
}
SEARCH = CamelClassifierCV(
    alphas=(0.2, 0.6),
    lambda2s=(0.1, 1.0),
    kernels=("laplacian", "linear"),
    scalings=("none", "standard"),
)
OTHERS = {
    "search": SEARCH,
    "folds": clone(SEARCH).set_params(cv=3),
    "alternating": CamelClassifier(0.2, solver="alternating"),
    "br": BinaryRelevance(tol=1e-8),
    "ecc": EnsembleOfClassifierChains(3, random_state=0, tol=1e-8),
    "rakel": RAkEL(random_state=0),
    "llsf": LLSF(),
    "llsf fair": LLSF(preset="fair"),
    "jfsc": JFSC(),
    "jfsc fair": JFSC(preset="fair"),
    "llsfcv": LLSFCV(cv=2, alphas=(0.1,), betas=(0.1,), rhos=(0.1,)),
    "jfsccv": JFSCCV(cv=2, alphas=(0.1,), betas=(0.1,), gammas=(0.1,), etas=(0.1,)),
}
MODELS = CAMELS | OTHERS
SHIFTLESS = [
    name
    for name in MODELS
    if "unit" not in name and name not in ("search", "folds", "llsf", "jfsc", "llsfcv", "jfsccv")
]


FEW = settings(max_examples=4)


def made(seed, name="", d=6):
    """Rows, labels that overlap, and new rows; about 6 in 10 entries are zero.

    Logistic models get more rows: where labels can be separated, weights have no optimum to agree
    on.
    """
    n = 200 if name in ("br", "ecc", "rakel") else 40
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 10, d)).round(3) * (rng.random((n + 10, d)) < 0.4)
    Y = (X[:, :3] + X[:, 3:4] + rng.normal(size=(n + 10, 3)) > 0.3).astype(int)
    Y[0], Y[1] = 0, 1
    return X[:n], Y[:n], X[n:]


def scores(model, X, Y, new):
    return clone(model).fit(X, Y).decision_function(new)


def shuffled(X, rng, *, repeat):
    """The same matrix with entries in any order, some of them split in two, and zeros stored."""
    X = sparse.coo_array(X)
    row, column, data = X.row, X.col, X.data
    if repeat:
        part = np.where(
            rng.random(len(data)) < 0.5, 0.25 * data, 0.0
        )  # halves of binary numbers add up exactly
        row, column, data = (
            np.concatenate(pair) for pair in ((row, row), (column, column), (data - part, part))
        )
    order = rng.permutation(len(data))
    row, column, data = row[order], column[order], data[order]
    by_row = np.argsort(row, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=X.shape[0]))])
    return sparse.csr_matrix((data[by_row], column[by_row], ends), shape=X.shape)


@pytest.mark.parametrize("name", MODELS)
@FEW
@given(seed=st.integers(0, 10_000))
def test_sparse_rows_in_any_order_with_repeats_are_the_dense_rows(name, seed):
    X, Y, new = made(seed, name)
    rng = np.random.default_rng(seed)
    expected = scores(MODELS[name], X, Y, new)
    thin, thin_new = shuffled(X, rng, repeat=True), shuffled(new, rng, repeat=True)
    before = thin.data.copy(), thin.indices.copy()
    assert_allclose(scores(MODELS[name], thin, Y, thin_new), expected, atol=1e-8)
    assert_allclose(
        scores(MODELS[name], sparse.csc_array(X), Y, sparse.coo_array(new)), expected, atol=1e-8
    )
    assert (thin.data == before[0]).all()  # the caller's matrix is not touched
    assert (thin.indices == before[1]).all()


@pytest.mark.parametrize("name", SHIFTLESS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@FEW
@given(seed=st.integers(0, 10_000))
def test_an_offset_of_the_columns_changes_nothing(name, form, seed):
    X, Y, new = made(seed, name)
    offset = np.array([0, 0, 1e6, -1e4, 0, 1.0])
    moved = scores(MODELS[name], form(X + offset), Y, form(new + offset))
    assert_allclose(moved, scores(MODELS[name], X, Y, new), atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", CAMELS)
@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_units_of_the_features_change_nothing_where_they_are_scaled(name, factor, form):
    X, Y, new = made(6)
    if MODELS[name].scaling == "none":
        pytest.skip("without scaling the unit of the features counts")
    assert_allclose(
        scores(MODELS[name], form(X * factor), Y, form(new * factor)),
        scores(MODELS[name], X, Y, new),
        atol=1e-8,
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_one_row_is_answered_as_among_others(name, form):
    X, Y, new = made(8, name)
    model = clone(MODELS[name]).fit(form(X), Y)
    alone = np.vstack([model.decision_function(form(new[i : i + 1])) for i in range(len(new))])
    assert_allclose(alone, model.decision_function(form(new)), rtol=0, atol=1e-12)


def test_the_linear_kernel_keeps_the_papers_intercept(rng):
    X, Y, new = made(7)
    offset = np.array([0, 5, 0, 0, -30, 0])
    X, new = X + offset, new + offset
    model = CamelClassifier(kernel="linear").fit(X, Y)
    assert_allclose(
        new @ X.T @ model.dual_coef_ + model.intercept_, model.decision_function(new), atol=1e-10
    )
    assert_allclose(
        (new @ X.T @ model.A_ / 0.1 + model.b_) @ model.collaboration_,
        model.decision_function(new),
        atol=1e-10,
    )


@pytest.mark.parametrize("name", ["rbf", "exponential"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bandwidth", [1e-4, 1.0, "mean"])
def test_rows_close_to_each_other_and_far_from_the_middle_keep_their_distance(
    name, form, bandwidth, rng
):
    X = np.repeat(1e7 * np.eye(3), 8, axis=0) + 1e-4 * rng.normal(size=(24, 3)).round(3)
    Y = rng.integers(2, size=(24, 2))
    model = CamelClassifier(kernel=name, bandwidth=bandwidth, lambda2=0.5).fit(form(X), Y)
    K = model._kernel(model.X_fit_, model.X_fit_)
    exact = X.astype(np.longdouble)
    D = np.sqrt(((exact[:, None] - exact) ** 2).sum(axis=2)) / model.bandwidth_
    assert_allclose(K, np.exp(-(D**2) / 2 if name == "rbf" else -D).astype(float), atol=1e-8)


def test_an_invalid_sparse_matrix_is_refused():
    X = sparse.csr_array(np.eye(4))
    X.indices[2] = 9
    with pytest.raises(ValueError, match=r"X is no valid sparse matrix .*build it anew"):
        CamelClassifier().fit(X, np.eye(4, dtype=int))


def test_repeated_entries_with_an_infinite_sum_are_refused():
    X = sparse.csr_matrix(([1e308, 1e308, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    with pytest.raises(ValueError, match="repeated entries whose sum is infinite"):
        CamelClassifier().fit(X, np.eye(2, dtype=int))

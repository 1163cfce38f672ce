"""Scores of rows whose group is left out are those of refits without the group, for every solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcamel.arrays import to_match, to_numpy
from skcamel.camel import correlation, landmark, spectral
from skcamel.camel.kernel import Kernel

ALPHAS = (0.0, 0.5, 1.0)
PENALTIES = ((1.0, 0.003), (0.3, 0.1), (5.0, 2.0))
GRID = [(lambda1, lambda2) for lambda1 in (0.3, 1.0, 3.0) for lambda2 in np.geomspace(1e-3, 10, 9)]
Q = 3


def problem(n, *, weighted, seed=0):
    """Rows, labels, weights, and groups of 1 to 7 rows in mixed order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[n // 2] = X[0]
    Y = np.where(X[:, :Q] + rng.normal(size=(n, Q)) > 0.3, 1.0, -1.0)
    weights = rng.choice([0.2, 1.0, 2.5], n) if weighted else None
    groups = np.repeat(np.arange(n), rng.integers(1, 8, n))[:n]
    return X, Y, weights, rng.permutation(groups)


def bases_of(Y):
    S = correlation.learn(Y).S
    return [spectral.label_basis(correlation.collaboration(S, alpha)) for alpha in ALPHAS]


def rest_of(groups, g, weights):
    rest = groups != g
    return rest, None if weights is None else weights[rest]


def refits(K, Y, weights, groups, basis, penalty):
    """Scores (n, q) of each row by the solution for the rows outside its group."""
    scores = np.empty(Y.shape)
    for g in np.unique(groups):
        rest, w = rest_of(groups, g, weights)
        spectrum = spectral.decompose(K[np.ix_(rest, rest)], w)
        targets = spectral.project(spectrum, Y[rest])
        found = spectral.solve_in(spectrum, targets, basis, lambda1=penalty[0], lambda2=penalty[1])
        scores[~rest] = K[np.ix_(~rest, rest)] @ found.dual_coef + found.intercept
    return scores


def summed(of, X, Y, weights, xp=np.array):
    block = landmark.Block(xp(X), xp(Y), None if weights is None else xp(weights))
    return landmark.summarise(of, landmark.moments(of, [lambda: block], Y.shape[1]), block)


def summed_refits(of, X, Y, weights, groups, basis, penalty):
    """As `refits`, with the landmarks held."""
    K = X if of.landmarks is None else of.kernel(X, of.landmarks)
    scores = np.empty(Y.shape)
    for g in np.unique(groups):
        rest, w = rest_of(groups, g, weights)
        summary = summed(of, X[rest], Y[rest], w)
        found = landmark.solve_in(
            summary, summary.targets, basis, lambda1=penalty[0], lambda2=penalty[1]
        )
        scores[~rest] = K[~rest] @ found.dual_coef + found.intercept
    return scores


def ridge_refits(X, Y, groups, rho):
    """As `refits`, without collaboration, by least squares that never square X."""
    d = X.shape[1]
    scores = np.empty(Y.shape)
    for g in np.unique(groups):
        rest, _ = rest_of(groups, g, None)
        mean, middle = X[rest].mean(axis=0), Y[rest].mean(axis=0)
        system = np.vstack([X[rest] - mean, np.sqrt(rho) * np.eye(d)])
        wanted = np.vstack([Y[rest] - middle, np.zeros((d, Y.shape[1]))])
        scores[~rest] = (X[~rest] - mean) @ np.linalg.lstsq(system, wanted, rcond=None)[0] + middle
    return scores


@pytest.mark.parametrize("count", [None, 9, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_sums_leave_together_as_in_refits(count, weighted, xp):
    X, Y, weights, groups = problem(40, weighted=weighted)
    if count is None:  # the columns themselves
        of, own = (
            landmark.Features(Kernel("linear"), None, array(X.mean(axis=0)))
            for array in (np.array, xp)
        )
    else:
        of, own = (
            landmark.features(Kernel("rbf", 2.0), array(X[:count]), n_rows=40, lambda2=0.01)
            for array in (np.array, xp)
        )
    summary = summed(own, X, Y, weights, xp)
    for basis in bases_of(Y):
        match = [spectral.LabelBasis(*(to_match(part, summary.values) for part in basis))]
        found = landmark.leave_one_out(summary, summary.targets, match, PENALTIES, groups)
        for penalty, scores in zip(PENALTIES, found, strict=True):
            wanted = summed_refits(of, X, Y, weights, groups, basis, penalty)
            np.testing.assert_allclose(to_numpy(scores), wanted, atol=1e-8)


@pytest.mark.parametrize("d", [5, 90])
@pytest.mark.parametrize("largest", [1, 3, 37])
def test_a_tiny_ridge_cancels_nothing(d, largest):
    """Columns of the size of 1e6: fewer than rows, but perhaps not than the rows that stay, or more than rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, d))
    Y = np.where(rng.random((40, Q)) < 0.4, 1.0, -1.0)
    groups = np.maximum(np.arange(40) - largest + 1, 0)
    summary = summed(
        landmark.Features(Kernel("linear"), None, 1e6 * X.mean(axis=0)), 1e6 * X, Y, None
    )
    basis = spectral.label_basis(np.eye(Q))
    (scores,) = landmark.leave_one_out(summary, summary.targets, [basis], [(1.0, 0.1)], groups)
    np.testing.assert_allclose(scores, ridge_refits(X, Y, groups, 0.2 / 1e12), atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_sums", [False, True])
def test_a_grid_is_interpolated_to_rounding(weighted, by_sums, monkeypatch):
    X, Y, weights, groups = problem(60, weighted=weighted)
    bases = bases_of(Y)
    if by_sums:
        spectrum = summed(
            landmark.features(Kernel("rbf", 2.0), X[:20], n_rows=60, lambda2=0.01), X, Y, weights
        )
        targets, solver = spectrum.targets, landmark
    else:
        spectrum = spectral.decompose(Kernel("rbf", 2.0)(X, X), weights)
        targets, solver = spectral.project(spectrum, Y), spectral
    together = list(solver.leave_one_out(spectrum, targets, bases, GRID, groups))
    assert len(together) == len(bases) * len(GRID)
    monkeypatch.setattr(spectral, "nodes_for", lambda _: None)
    for interpolated, scores in zip(
        together, solver.leave_one_out(spectrum, targets, bases, GRID, groups), strict=True
    ):
        np.testing.assert_allclose(interpolated, scores, atol=1e-9)


def test_one_group_of_all_rows_is_refused():
    X, Y, _, _ = problem(25, weighted=False)
    spectrum = spectral.decompose(Kernel("rbf", 2.0)(X, X))
    with pytest.raises(ValueError, match="All 25 rows are in one group"):
        list(
            spectral.leave_one_out(
                spectrum,
                spectral.project(spectrum, Y),
                bases_of(Y),
                PENALTIES,
                np.zeros(25, dtype=int),
            )
        )


@given(
    st.lists(st.integers(0, 5), min_size=4, max_size=14).filter(
        lambda groups: len(set(groups)) > 1
    ),
    st.booleans(),
)
def test_any_groups_leave_together_as_in_refits(groups, weighted):
    groups = np.array(groups)
    X, Y, weights, _ = problem(len(groups), weighted=weighted)
    K = Kernel("laplacian", 2.0)(X, X)
    spectrum = spectral.decompose(K.copy(), weights)
    of = landmark.features(Kernel("laplacian", 2.0), X[:3], n_rows=len(X), lambda2=0.1)
    summary = summed(of, X, Y, weights)
    basis = bases_of(Y)[1]
    (scores,) = spectral.leave_one_out(
        spectrum, spectral.project(spectrum, Y), [basis], [(1.0, 0.1)], groups
    )
    np.testing.assert_allclose(scores, refits(K, Y, weights, groups, basis, (1.0, 0.1)), atol=1e-9)
    (scores,) = landmark.leave_one_out(summary, summary.targets, [basis], [(1.0, 0.1)], groups)
    np.testing.assert_allclose(
        scores, summed_refits(of, X, Y, weights, groups, basis, (1.0, 0.1)), atol=1e-9
    )

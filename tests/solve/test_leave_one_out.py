"""Scores of rows whose group is left out are those of refits without it, for every solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skcamel.arrays import to_match, to_numpy
from skcamel.camel import correlation, landmark, spectral
from skcamel.camel.kernel import Kernel
from solve.problems import scores_of

PENALTIES = ((1.0, 0.003), (0.3, 0.1), (5.0, 2.0))
GRID = [(lambda1, lambda2) for lambda1 in (0.3, 1.0, 3.0) for lambda2 in np.geomspace(1e-3, 10, 9)]
KERNEL = Kernel("laplacian", 2.0)
Q = 3
SOLVERS = ("exact", "columns", "few landmarks", "all rows")


def problem(n, *, weighted):
    """Rows of which two are equal, labels, and weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[n // 2] = X[0]
    Y = np.where(X[:, :Q] + rng.normal(size=(n, Q)) > 0.3, 1.0, -1.0)
    return X, Y, rng.choice([0.2, 1.0, 2.5], n) if weighted else None


def bases_of(Y, alphas=(0.0, 0.5, 1.0)):
    S = correlation.learn(Y).S
    return [spectral.label_basis(correlation.collaboration(S, alpha)) for alpha in alphas]


def features_of(solver, X, xp=np.array):
    """Features of a solver by sums, which stay when rows leave; None for the exact one."""
    if solver == "exact":
        return None
    if solver == "columns":
        return landmark.Features(Kernel("linear"), None, xp(X.mean(axis=0)))
    some = X[:3] if solver == "few landmarks" else X
    return landmark.features(KERNEL, xp(some), n_rows=len(X), lambda2=0.01)


def prepared(of, X, Y, weights, xp=np.array):
    """The module that solves, what it factorised, and its targets."""
    w = xp(np.ones(len(X)) if weights is None else weights)
    if of is None:
        spectrum = spectral.decompose(xp(KERNEL(X, X)) + 0.0, w)
        return spectral, spectrum, spectral.project(spectrum, xp(Y))
    block = landmark.Block(xp(X), xp(Y), w)
    summary = landmark.summarise(of, landmark.moments(of, [lambda: block], Y.shape[1]), block)
    return landmark, summary, summary.targets


def refits(of, X, Y, weights, groups, basis, penalty):
    """Scores (n, q) of each row by the solution for the rows outside its group."""
    scores = np.empty(Y.shape)
    for g in np.unique(groups):
        rest = groups != g
        module, *fitted = prepared(of, X[rest], Y[rest], None if weights is None else weights[rest])
        found = module.solve_in(*fitted, basis, lambda1=penalty[0], lambda2=penalty[1])
        scores[~rest] = scores_of(found, kernel_of(of, X[~rest], X[rest]))
    return scores


def kernel_of(of, new, rows):
    """What coefficients are multiplied by."""
    if of is None:
        return KERNEL(new, rows)
    return new if of.landmarks is None else KERNEL(new, of.landmarks)


GROUPS = st.lists(st.integers(0, 5), min_size=4, max_size=14).filter(lambda g: len(set(g)) > 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=12)
@given(groups=GROUPS)
def test_any_groups_leave_together_as_in_refits(solver, weighted, groups, xp):
    groups = np.array(groups)
    X, Y, weights = problem(len(groups), weighted=weighted)
    of = features_of(solver, X)
    module, state, targets = prepared(features_of(solver, X, xp), X, Y, weights, xp)
    for basis in bases_of(Y):
        own = spectral.LabelBasis(*(to_match(part, state.values) for part in basis))
        found = module.leave_one_out(state, targets, [own], PENALTIES, groups)
        for penalty, scores in zip(PENALTIES, found, strict=True):
            wanted = refits(of, X, Y, weights, groups, basis, penalty)
            assert_allclose(to_numpy(scores), wanted, atol=1e-8)


def ridge_refits(X, Y, groups, rho):
    """As `refits`, without collaboration, by least squares that never square X."""
    d = X.shape[1]
    scores = np.empty(Y.shape)
    for g in np.unique(groups):
        rest = groups != g
        mean, middle = X[rest].mean(axis=0), Y[rest].mean(axis=0)
        system = np.vstack([X[rest] - mean, np.sqrt(rho) * np.eye(d)])
        wanted = np.vstack([Y[rest] - middle, np.zeros((d, Y.shape[1]))])
        scores[~rest] = (X[~rest] - mean) @ np.linalg.lstsq(system, wanted, rcond=None)[0] + middle
    return scores


@pytest.mark.parametrize("d", [5, 90])
@pytest.mark.parametrize("largest", [1, 3, 37])
def test_a_tiny_ridge_cancels_nothing(d, largest, rng):
    """Columns of the size of 1e6, fewer than rows (perhaps not than those that stay) or more."""
    X = rng.normal(size=(40, d))
    Y = np.where(rng.random((40, Q)) < 0.4, 1.0, -1.0)
    groups = np.maximum(np.arange(40) - largest + 1, 0)
    of = landmark.Features(Kernel("linear"), None, 1e6 * X.mean(axis=0))
    _, *fitted = prepared(of, 1e6 * X, Y, None)
    basis = spectral.label_basis(np.eye(Q))
    (scores,) = landmark.leave_one_out(*fitted, [basis], [(1.0, 0.1)], groups)
    assert_allclose(scores, ridge_refits(X, Y, groups, 0.2 / 1e12), atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_grid_is_interpolated_to_rounding(solver, weighted, rng, monkeypatch):
    X, Y, weights = problem(60, weighted=weighted)
    groups, bases = rng.integers(0, 20, 60), bases_of(Y)
    module, *fitted = prepared(features_of(solver, X), X, Y, weights)
    together = list(module.leave_one_out(*fitted, bases, GRID, groups))
    assert len(together) == len(bases) * len(GRID)
    monkeypatch.setattr(spectral, "nodes_for", lambda _: None)
    direct = module.leave_one_out(*fitted, bases, GRID, groups)
    for interpolated, scores in zip(together, direct, strict=True):
        assert_allclose(interpolated, scores, atol=1e-9)

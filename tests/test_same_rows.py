"""One set of rows in many forms (sparse, sorted, near the origin or far away) gives one model."""

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
SEARCHES = ("search", "folds", "llsf", "jfsc", "llsfcv", "jfsccv")
SHIFTLESS = [name for name in MODELS if "unit" not in name and name not in SEARCHES]
FEW = settings(max_examples=4)
each_form = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])


def made(seed, name=""):
    """Rows, labels that overlap, and new rows; about 6 in 10 entries are zero.

    Logistic models get more rows: where labels can be separated, weights have no optimum to agree
    on.
    """
    n = 200 if name in ("br", "ecc", "rakel") else 40
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 10, 6)).round(3) * (rng.random((n + 10, 6)) < 0.4)
    Y = (X[:, :3] + X[:, 3:4] + rng.normal(size=(n + 10, 3)) > 0.3).astype(int)
    Y[0], Y[1] = 0, 1
    return X[:n], Y[:n], X[n:]


def digits(name):
    """L-BFGS cannot tell losses apart within rounding: minima are known to √eps."""
    return 1e-6 if name in ("br", "ecc") else 1e-8


def scores(model, X, Y, new):
    return clone(model).fit(X, Y).decision_function(new)


def shuffled(X, rng):
    """The same matrix with entries in any order, some of them split in two, and zeros stored."""
    X = sparse.coo_array(X)
    # halves of binary numbers add up exactly
    part = np.where(rng.random(X.nnz) < 0.5, 0.25 * X.data, 0.0)
    order = rng.permutation(2 * X.nnz)
    order = order[np.argsort(np.tile(X.row, 2)[order], kind="stable")]
    data, columns = np.concatenate([X.data - part, part])[order], np.tile(X.col, 2)[order]
    ends = np.cumsum([0, *np.bincount(np.tile(X.row, 2), minlength=X.shape[0])])
    return sparse.csr_matrix((data, columns, ends), shape=X.shape)


@pytest.mark.parametrize("name", MODELS)
@FEW
@given(seed=st.integers(0, 10_000))
def test_sparse_rows_in_any_order_with_repeats_are_the_dense_rows(name, seed):
    X, Y, new = made(seed, name)
    rng = np.random.default_rng(seed)
    expected = scores(MODELS[name], X, Y, new)
    thin, thin_new = shuffled(X, rng), shuffled(new, rng)
    before, atol = (thin.data.copy(), thin.indices.copy()), digits(name)
    assert_allclose(scores(MODELS[name], thin, Y, thin_new), expected, atol=atol)
    by_column, by_entry = sparse.csc_array(X), sparse.coo_array(new)
    assert_allclose(scores(MODELS[name], by_column, Y, by_entry), expected, atol=atol)
    assert (thin.data == before[0]).all()  # the caller's matrix is not touched
    assert (thin.indices == before[1]).all()


@pytest.mark.parametrize("name", SHIFTLESS)
@each_form
@FEW
@given(seed=st.integers(0, 10_000))
def test_an_offset_of_the_columns_changes_nothing(name, form, seed):
    X, Y, new = made(seed, name)
    offset = np.array([0, 0, 1e6, -1e4, 0, 1.0])
    moved = scores(MODELS[name], form(X + offset), Y, form(new + offset))
    assert_allclose(moved, scores(MODELS[name], X, Y, new), atol=digits(name))


@each_form
@pytest.mark.parametrize("name", [name for name in CAMELS if not name.endswith("-none")])
@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_units_of_the_features_change_nothing_where_they_are_scaled(name, factor, form):
    X, Y, new = made(6)
    scaled = scores(MODELS[name], form(X * factor), Y, form(new * factor))
    assert_allclose(scaled, scores(MODELS[name], X, Y, new), atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
@each_form
def test_one_row_is_answered_as_among_others(name, form):
    X, Y, new = made(8, name)
    model = clone(MODELS[name]).fit(form(X), Y)
    alone = np.vstack([model.decision_function(form(new[i : i + 1])) for i in range(len(new))])
    assert_allclose(alone, model.decision_function(form(new)), rtol=0, atol=1e-12)


def test_the_linear_kernel_keeps_the_papers_intercept():
    X, Y, new = made(7)
    offset = np.array([0, 5, 0, 0, -30, 0])
    X, new = X + offset, new + offset
    model = CamelClassifier(kernel="linear").fit(X, Y)
    K, scores = new @ X.T, model.decision_function(new)
    assert_allclose(K @ model.dual_coef_ + model.intercept_, scores, atol=1e-8)
    own = K @ model.A_ / model.lambda2 + model.b_
    assert_allclose(own @ model.collaboration_, scores, atol=1e-8)


@pytest.mark.parametrize("name", ["rbf", "exponential"])
@each_form
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


def test_invalid_sparse_matrices_are_refused():
    X = sparse.csr_array(np.eye(4))
    X.indices[2] = 9
    with pytest.raises(ValueError, match=r"X is no valid sparse matrix .*build it anew"):
        CamelClassifier().fit(X, np.eye(4, dtype=int))
    X = sparse.csr_matrix(([1e308, 1e308, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    with pytest.raises(ValueError, match="repeated entries whose sum is infinite"):
        CamelClassifier().fit(X, np.eye(2, dtype=int))

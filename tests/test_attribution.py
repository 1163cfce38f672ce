"""Shapley values of columns against their definition over all subsets, and their axioms."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from skcamel import CamelClassifier, CamelClassifierCV, load, save
from skcamel.camel import attribution
from skcamel.camel.attribution import column_groups, shapley
from skcamel.camel.kernel import Kernel
from skcamel.camel.scaling import FOR_SPARSE, NAMES

GROUPED = ["text", "price", "text", "colour", "colour", "text"]


UNITS = np.array([1.0, 5.0, 1.0, 0.3, 1.0, 2.0])


def made(rng, n=30):
    """Rows with zeros, ties and columns of different units, and labels that depend on them."""
    X = rng.gamma(0.5, size=(n, 6)) * (rng.random((n, 6)) < 0.6) * UNITS
    X[:, 1] = rng.integers(3, size=n)
    return X, (X @ rng.normal(size=(6, 3)) + 0.3 * rng.normal(size=(n, 3)) > 0.5).astype(int)


def assert_adds_up(found, model, rows):
    total = found.feature_base + found.features.sum(axis=1)
    assert_allclose(total, model.decision_function(rows), atol=1e-9)


def factor(kernel, x, y):
    """Kernel of two rows of some columns, as the formulas have it."""
    if kernel.name == "rbf":
        return np.exp(-((x - y) ** 2).sum() / (2 * kernel.bandwidth**2))
    return np.exp(-abs(x - y).sum() / kernel.bandwidth)


def by_subsets(value, n_players):
    """Shapley values by their definition, from the worth (q,) of every subset."""
    sizes = range(n_players + 1)
    subsets = [subset for size in sizes for subset in combinations(range(n_players), size)]
    worth = {subset: value(subset) for subset in subsets}
    values = []
    for g in range(n_players):
        total = 0.0
        for subset in (own for own in subsets if g not in own):
            gain = worth[tuple(sorted((*subset, g)))] - worth[subset]
            total = total + gain / (n_players * comb(n_players - 1, len(subset)))
        values.append(total)
    return np.array(values), worth[()]


def literal(kernel, x, train, coefficients, columns):
    """Values (G, q) and base (q,) of one row, by loops and all 2^G subsets."""
    k, m = np.empty((2, len(columns), len(train)))
    for g, own in enumerate(columns):
        for i, row in enumerate(train):
            if kernel.name == "linear":
                k[g, i], m[g, i] = x[own] @ row[own], train[:, own].mean(axis=0) @ row[own]
            else:
                k[g, i] = factor(kernel, x[own], row[own])
                m[g, i] = np.mean([factor(kernel, other[own], row[own]) for other in train])
    over_groups = np.sum if kernel.name == "linear" else np.prod

    def value(subset):
        here = np.isin(np.arange(len(columns)), subset)
        return over_groups(np.where(here[:, None], k, m), axis=0) @ coefficients

    return by_subsets(value, len(columns))


@pytest.mark.parametrize("sources", [None, GROUPED], ids=["columns", "sources"])
@pytest.mark.parametrize(
    ("scaling", "form"),
    [*((name, np.asarray) for name in NAMES), *((name, sparse.csr_array) for name in FOR_SPARSE)],
)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_values_are_those_of_all_subsets(kernel, scaling, form, sources, rng):
    X, Y = made(rng)
    X = form(X)
    model = CamelClassifier(kernel=kernel, scaling=scaling).fit(X[:24], Y[:24])
    found = model.explain(X[24:27], features=True, sources=sources)
    _, columns = column_groups(6, sources)
    assert found.features.shape == (3, len(columns), 3)
    rows, train = (to_dense(part) for part in (model._scaling(X[24:27]), model.X_fit_))
    for x, values in zip(rows, found.features, strict=True):
        expected, base = literal(model._kernel, x, train, model.dual_coef_, columns)
        assert_allclose(values, expected, atol=1e-10)
        assert_allclose(found.feature_base, base + model._offset, atol=1e-10)
    assert_adds_up(found, model, X[24:27])


def to_dense(part):
    return part.toarray() if sparse.issparse(part) else part


@given(st.integers(0, 2**32 - 1), st.sampled_from(["rbf", "laplacian"]), st.floats(0.01, 10))
def test_means_over_a_column_are_those_of_a_loop(seed, name, bandwidth):
    """Also where a series or running sums stand for the sum over all pairs."""
    rng = np.random.default_rng(seed)
    column = rng.choice(
        [rng.normal(size=150), rng.integers(3, size=150), 40 + 0.1 * rng.normal(size=150)]
    )
    kernel = Kernel(name, bandwidth)
    apart = abs(column[:, None] - column)
    expected = np.exp(
        -(apart**2) / (2 * bandwidth**2) if name == "rbf" else -apart / bandwidth
    ).mean(axis=1)
    assert_allclose(
        attribution._mean_factor(kernel, column[:, None], np.full(150, 1 / 150)),
        expected,
        atol=1e-11,
    )


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_values_of_rows_far_from_all_others_add_up_too(name, rng):
    train, columns = rng.normal(size=(20, 60)), [*np.arange(60)[:, None]]
    rows, coefficients = (
        np.vstack([np.full((1, 60), 9.0), np.full((1, 60), 1e3)]),
        rng.normal(size=(20, 2)),
    )
    kernel = Kernel(name, 10.0)
    values, base = shapley(kernel, rows, train, coefficients, columns)
    assert_allclose(base + values.sum(axis=1), kernel(rows, train) @ coefficients, atol=1e-12)


def test_groups_are_drawn_from_a_sample_of_many_rows(rng, monkeypatch):
    monkeypatch.setattr(attribution, "ALL_UP_TO", 20)
    monkeypatch.setattr(attribution, "SAMPLE", 10)
    X, Y = made(rng)
    model = CamelClassifier().fit(X, Y)
    assert_adds_up(model.explain(X[:4], features=True, sources=GROUPED), model, X[:4])
    block = model.X_fit_[:, [0, 2, 5]]
    drawn = block[np.random.default_rng(0).choice(30, 10, replace=False)]
    expected = model._kernel(block, drawn).mean(axis=1)
    assert_allclose(
        attribution._mean_factor(model._kernel, block, np.full(30, 1 / 30)), expected, atol=1e-13
    )


@pytest.mark.parametrize("solver", ["spectral", "alternating"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_integer_weights_equal_repeated_rows_also_in_a_stored_model(kernel, solver, rng, tmp_path):
    X, Y = made(rng)
    weights = rng.integers(0, 4, 30)
    repeated = np.repeat(np.arange(30), weights)
    options = {"kernel": kernel, "solver": solver, "scaling": "standard", "tol": 1e-12}
    again = CamelClassifier(**options).fit(X[repeated], Y[repeated])
    model = CamelClassifier(**options).fit(X, Y, sample_weight=weights)
    save(model, tmp_path / "model")
    stored = load(tmp_path / "model")
    for sources in (None, GROUPED):
        expected = again.explain(X[:4], features=True, sources=sources)
        for each in (model, stored):
            found = each.explain(X[:4], features=True, sources=sources)
            assert_allclose(found.features, expected.features, atol=1e-7)
            assert_allclose(found.feature_base, expected.feature_base, atol=1e-7)


TRIED = (
    ("none", "rbf", 1.0),
    ("standard", "laplacian", 0.5),
    ("rank", "laplacian", 1.0),
    ("unit", "linear", 1.0),
)


def test_a_combined_model_shares_the_scores_of_its_members(rng):
    X, Y = made(rng, 60)
    grid = {"alphas": (0.0, 0.4), "lambda2s": (0.01, 0.1), "representations": TRIED}
    model = CamelClassifierCV(**grid, combine=True).fit(X, Y)
    assert len(model.members_) > 1
    found = model.explain(X[:6], features=True, sources=GROUPED)
    assert_adds_up(found, model, X[:6])
    expected = 0.0
    for weight, member in zip(model.weights_, model.members_, strict=True):
        part = member.explain(X[:6], features=True, sources=GROUPED)
        expected = expected + weight * part.features
    assert_allclose(found.features, expected, atol=1e-12)


NO_PRODUCTS = {"'exponential'": "exponential", "a function": lambda A, B: A @ B.T}


@pytest.mark.parametrize(
    ("name", "kernel"), [*NO_PRODUCTS.items(), ("'precomputed'", "precomputed")]
)
def test_kernels_that_are_no_product_are_refused_by_name(kernel, name, rng):
    X, Y = made(rng)
    rows = X @ X.T if kernel == "precomputed" else X
    model = CamelClassifier(kernel=kernel).fit(rows, Y)
    message = f"a product or a sum over columns .* this model is {name}"
    with pytest.raises(ValueError, match=message):
        model.explain(rows, features=True)


def test_sources_that_do_not_fit_and_columns_that_are_not_there_are_named(rng):
    X, Y = made(rng)
    model = CamelClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="sources has 2 names, and the rows have 6 columns; give"):
        model.explain(X, features=True, sources=["a", "b"])
    with pytest.raises(ValueError, match="give features=True as well"):
        model.explain(X, sources=GROUPED)
    plain = model.explain(X[:2])
    assert (plain.features, plain.feature_base, plain.feature_names) == (None, None, None)
    for method in (plain.importance, lambda: plain.column_values(0, 0)):
        with pytest.raises(ValueError, match=r"holds no columns; use explain\(X, features=True\)"):
            method()
    assert "by column" not in str(plain)

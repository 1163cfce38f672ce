"""Shapley values of columns against their definition over all subsets, and what their axioms promise."""

import os
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skcamel import CamelClassifier, CamelClassifierCV, memory
from skcamel.camel import attribution
from skcamel.camel.attribution import column_groups, shapley
from skcamel.camel.explanation import ColumnPart
from skcamel.camel.kernel import Kernel
from skcamel.camel.scaling import FOR_SPARSE, NAMES
from skcamel.data import load_dataset

HOME = os.environ.get("SKCAMEL_DATA")
GROUPED = ["text", "price", "text", "colour", "colour", "text"]


def made(rng, n=30, d=6, q=3):
    """Rows with zeros, ties and columns of different units, and labels that depend on them."""
    X = (
        rng.gamma(0.5, size=(n, d))
        * (rng.random((n, d)) < 0.6)
        * np.array([1.0, 5.0, 1.0, 0.3, 1.0, 2.0, 1.0, 1.0])[:d]
    )
    X[:, 1] = rng.integers(3, size=n)
    return X, (X @ rng.normal(size=(d, q)) + 0.3 * rng.normal(size=(n, q)) > 0.5).astype(int)


def factor(kernel, x, y):
    """Kernel of two rows of some columns, as the formulas have it."""
    if kernel.name == "rbf":
        return np.exp(-((x - y) ** 2).sum() / (2 * kernel.bandwidth**2))
    return np.exp(-abs(x - y).sum() / kernel.bandwidth)


def by_subsets(value, n_players):
    """Shapley values by their definition, from the worth (q,) of every subset."""
    worth = {
        subset: value(subset)
        for size in range(n_players + 1)
        for subset in combinations(range(n_players), size)
    }
    values = []
    for g in range(n_players):
        total = 0.0
        for subset in worth:
            if g not in subset:
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


def of_model(model, X, columns):
    """The same for all rows of a model, with its intercept."""
    rows, train = (
        part.toarray() if sparse.issparse(part) else part
        for part in (model._scaling(X), model.X_fit_)
    )
    found = [literal(model._kernel, x, train, model.dual_coef_, columns) for x in rows]
    return np.array([values for values, _ in found]), found[0][1] + model._offset


@pytest.mark.parametrize("sources", [None, GROUPED], ids=["columns", "sources"])
@pytest.mark.parametrize(
    ("scaling", "is_sparse"),
    [*((name, False) for name in NAMES), *((name, True) for name in FOR_SPARSE)],
)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_values_are_those_of_all_subsets(kernel, scaling, is_sparse, sources, rng):
    X, Y = made(rng)
    X = sparse.csr_array(X) if is_sparse else X
    model = CamelClassifier(kernel=kernel, scaling=scaling).fit(X[:24], Y[:24])
    found = model.explain(X[24:27], features=True, sources=sources)
    _, columns = column_groups(6, sources)
    values, base = of_model(model, X[24:27], columns)
    assert found.features.shape == (3, len(columns), 3)
    np.testing.assert_allclose(found.features, values, atol=1e-10)
    np.testing.assert_allclose(found.feature_base, base, atol=1e-10)
    np.testing.assert_allclose(
        found.feature_base + found.features.sum(axis=1),
        model.decision_function(X[24:27]),
        atol=1e-9,
    )


SMALL = st.tuples(
    st.integers(1, 6), st.integers(1, 7), st.integers(1, 3), st.integers(0, 2**32 - 1)
)


@given(
    SMALL, st.sampled_from(["rbf", "laplacian"]), st.sampled_from([0.01, 0.3, 1.0, 30.0]), st.data()
)
def test_values_of_any_small_machine_are_those_of_all_subsets(sizes, name, bandwidth, data):
    n, d, q, seed = sizes
    rng = np.random.default_rng(seed)
    train, rows, coefficients = (
        rng.normal(size=(n, d)).round(1),
        rng.normal(size=(2, d)),
        rng.normal(size=(n, q)),
    )
    sources = data.draw(st.lists(st.integers(0, 3), min_size=d, max_size=d))
    _, columns = column_groups(d, sources)
    kernel = Kernel(name, bandwidth)
    values, base = shapley(kernel, rows, train, coefficients, columns)
    for x, own in zip(rows, values, strict=True):
        expected, absent = literal(kernel, x, train, coefficients, columns)
        np.testing.assert_allclose(own, expected, atol=1e-12)
        np.testing.assert_allclose(base, absent, atol=1e-12)


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
    np.testing.assert_allclose(
        attribution._mean_factor(kernel, column[:, None]), expected, atol=1e-11
    )


@pytest.mark.parametrize("d", [20, 60, 1000])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_eight_nodes_are_as_good_as_forty(name, d, rng, monkeypatch):
    train, columns = rng.normal(size=(20, d)), [*np.arange(d)[:, None]]
    kernel = Kernel(name, np.sqrt(2 * d) if name == "rbf" else d)  # about the mean distance
    rows, coefficients = (
        np.vstack([train[:2] + 0.01, rng.normal(size=(2, d)), 5 * train[:1]]),
        rng.normal(size=(20, 2)),
    )
    values, base = shapley(kernel, rows, train, coefficients, columns)
    np.testing.assert_allclose(
        base + values.sum(axis=1), kernel(rows, train) @ coefficients, atol=1e-10
    )
    monkeypatch.setattr(attribution, "NODES", 40)
    np.testing.assert_allclose(
        values, shapley(kernel, rows, train, coefficients, columns)[0], atol=1e-10
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
    np.testing.assert_allclose(
        base + values.sum(axis=1), kernel(rows, train) @ coefficients, atol=1e-12
    )


def test_factors_that_vanish_do_no_harm(rng):
    train = np.vstack([rng.normal(size=(9, 4)), np.full((1, 4), 1e3)])
    rows = np.array([[1e3, 1e3, 1e3, 1e3], [0, 0, 0, 0], [1e8, 0, 0, 0], [1e3, 0, 1e3, 0]])
    coefficients, columns = rng.normal(size=(10, 2)), [*np.arange(4)[:, None]]
    for name in ("rbf", "laplacian"):
        values, base = shapley(Kernel(name, 0.1), rows, train, coefficients, columns)
        for x, own in zip(rows, values, strict=True):
            np.testing.assert_allclose(
                own, literal(Kernel(name, 0.1), x, train, coefficients, columns)[0], atol=1e-13
            )
        assert np.isfinite(base).all()


def test_columns_that_never_change_get_nothing(rng):
    X, Y = made(rng)
    X[:, 3] = 7.0
    for kernel in attribution.EXPLAINED:
        for scaling in ("none", "standard"):
            values = (
                CamelClassifier(kernel=kernel, scaling=scaling)
                .fit(X, Y)
                .explain(X[:5], features=True)
                .features
            )
            np.testing.assert_allclose(values[:, 3], 0, atol=1e-14)
            assert (abs(values).max(axis=(0, 2)) > 1e-6).sum() == 5


def test_columns_that_are_alike_get_the_same(rng):
    X, Y = made(rng)
    X[:, 4] = X[:, 0]
    for kernel in attribution.EXPLAINED:
        values = CamelClassifier(kernel=kernel).fit(X, Y).explain(X[:5], features=True).features
        np.testing.assert_allclose(values[:, 4], values[:, 0], rtol=1e-9, atol=1e-13)


def test_the_order_of_columns_does_not_matter(rng):
    X, Y = made(rng)
    order = rng.permutation(6)
    one = CamelClassifier(scaling="standard").fit(X, Y).explain(X[:5], features=True).features
    other = (
        CamelClassifier(scaling="standard")
        .fit(X[:, order], Y)
        .explain(X[:5, order], features=True)
        .features
    )
    np.testing.assert_allclose(other, one[:, order], atol=1e-10)


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_one_source_of_all_columns_gets_the_whole_score(is_sparse, rng):
    X, Y = made(rng)
    X = sparse.csr_array(X) if is_sparse else X
    for kernel in attribution.EXPLAINED:
        model = CamelClassifier(kernel=kernel).fit(X, Y)
        found = model.explain(X[:4], features=True, sources=[0] * 6)
        assert found.feature_names.tolist() == ["0"]
        np.testing.assert_allclose(
            found.feature_base, model.base_scores_, atol=1e-10
        )  # the average row
        np.testing.assert_allclose(
            found.features[:, 0], model.decision_function(X[:4]) - model.base_scores_, atol=1e-10
        )


def test_values_of_many_rows_are_those_of_each(rng, monkeypatch):
    X, Y = made(rng)
    model = CamelClassifier(kernel="laplacian").fit(X, Y)
    whole = model.explain(X, features=True).features
    monkeypatch.setattr(attribution, "BLOCK_BYTES", 1)
    np.testing.assert_allclose(model.explain(X, features=True).features, whole, atol=1e-14)


def test_groups_are_drawn_from_a_sample_of_many_rows(rng, monkeypatch):
    monkeypatch.setattr(attribution, "ALL_UP_TO", 20)
    monkeypatch.setattr(attribution, "SAMPLE", 10)
    X, Y = made(rng)
    model = CamelClassifier().fit(X, Y)
    found = model.explain(X[:4], features=True, sources=GROUPED)
    np.testing.assert_allclose(
        found.feature_base + found.features.sum(axis=1), model.decision_function(X[:4]), atol=1e-9
    )
    block = model.X_fit_[:, [0, 2, 5]]
    drawn = block[np.random.default_rng(0).choice(30, 10, replace=False)]
    np.testing.assert_allclose(
        attribution._mean_factor(model._kernel, block),
        model._kernel(block, drawn).mean(axis=1),
        atol=1e-13,
    )


REPRESENTATIONS = (
    ("none", "rbf", 1.0),
    ("standard", "laplacian", 0.5),
    ("rank", "laplacian", 1.0),
    ("unit", "linear", 1.0),
)
OPTIONS = {"alphas": (0.0, 0.4), "lambda2s": (0.01, 0.1), "combine": True}


def test_a_combined_model_shares_the_scores_of_its_members(rng):
    X, Y = made(rng, 60)
    model = CamelClassifierCV(representations=REPRESENTATIONS, **OPTIONS).fit(X, Y)
    assert len(model.members_) > 1
    found = model.explain(X[:6], features=True, sources=GROUPED)
    np.testing.assert_allclose(
        found.feature_base + found.features.sum(axis=1), model.decision_function(X[:6]), atol=1e-9
    )
    parts = [member.explain(X[:6], features=True, sources=GROUPED) for member in model.members_]
    expected = sum(w * part.features for w, part in zip(model.weights_, parts, strict=True))
    np.testing.assert_allclose(found.features, expected, atol=1e-12)


def test_a_member_without_columns_is_named(rng):
    X, Y = made(rng, 60)
    model = CamelClassifierCV(
        representations=[("none", "exponential", 1.0), *REPRESENTATIONS], **OPTIONS
    ).fit(X, Y)
    place, n = (
        1 + [member.kernel for member in model.members_].index("exponential"),
        len(model.members_),
    )
    assert n > 1
    with pytest.raises(
        ValueError,
        match=(
            f"a product or a sum.* the kernel of member {place} of the {n} that this model combines"
            " is 'exponential'"
        ),
    ):
        model.explain(X, features=True)
    assert model.explain(X).features is None


def test_kernels_that_are_no_product_are_refused_by_name(rng):
    X, Y = made(rng)
    for kernel, name in (
        ("exponential", "'exponential'"),
        (lambda A, B: A @ B.T, "a function"),
        ("precomputed", "'precomputed'"),
    ):
        rows = X @ X.T if kernel == "precomputed" else X
        model = CamelClassifier(kernel=kernel).fit(rows, Y)
        with pytest.raises(
            ValueError, match=f"a product or a sum over columns .* this model is {name}"
        ):
            model.explain(rows, features=True)


def test_sources_that_do_not_fit_are_refused(rng):
    X, Y = made(rng)
    model = CamelClassifier().fit(X, Y)
    with pytest.raises(
        ValueError, match="sources has 2 names, and the rows have 6 columns; give one name for each"
    ):
        model.explain(X, features=True, sources=["a", "b"])
    with pytest.raises(ValueError, match="no columns are asked for; give features=True as well"):
        model.explain(X, sources=GROUPED)


def test_what_does_not_fit_into_memory_is_refused_with_its_size(rng):
    X, Y = made(rng)
    model = CamelClassifier().fit(X, Y)
    with (
        memory.allowance(2**24),
        pytest.raises(
            MemoryError,
            match="Explaining 30 rows of 6 columns and 3 labels by a model of 30 rows needs",
        ),
    ):
        model.explain(X, features=True)


def test_memory_is_asked_for_before_it_is_used(rng, monkeypatch):
    import tracemalloc

    asked = []
    monkeypatch.setattr(attribution, "BLOCK_BYTES", 2**18)
    monkeypatch.setattr(memory, "require", lambda needed, *_, **__: asked.append(needed))
    train, coefficients = rng.normal(size=(300, 40)), rng.normal(size=(300, 5))
    for name in attribution.EXPLAINED:
        for sources in (None, np.arange(40) // 4):
            _, columns = column_groups(40, sources)
            shapley(
                Kernel(name, 3.0), train[:1], train, coefficients, columns
            )  # what is imported on first use counts once
            asked.clear()
            tracemalloc.start()
            tracemalloc.reset_peak()  # another test may have been tracing already
            before = tracemalloc.get_traced_memory()[0]
            shapley(Kernel(name, 3.0), train[:30], train, coefficients, columns)
            peak = tracemalloc.get_traced_memory()[1] - before
            tracemalloc.stop()
            assert peak <= asked.pop() + 2**18  # what other threads of a test run take meanwhile


@pytest.fixture
def explained(rng):
    X, Y = made(rng)
    model = CamelClassifier(threshold=-0.5).fit(X, Y)
    return model.explain(X[:5], features=True, sources=GROUPED)


def test_rows_can_be_chosen(explained):
    np.testing.assert_array_equal(explained[3].features, explained.features[3:4])
    np.testing.assert_array_equal(explained[-1].parts, explained.parts[4:])
    for rows in (slice(1, 4), [0, 2], np.array([True, False, True, False, False])):
        np.testing.assert_array_equal(explained[rows].features, explained.features[rows])
        np.testing.assert_array_equal(explained[rows].parts, explained.parts[rows])


def test_lists_frame_and_text_tell_the_same(explained):
    names = ["text", "price", "colour"]
    assert explained.feature_names.tolist() == names
    frame, top = explained.features_to_frame(), explained.top_features(2)
    assert list(frame.columns) == ["row", "label", "column", "value", "score"]
    assert len(frame) == np.count_nonzero(explained.features)
    for r in range(5):
        for j, label in enumerate(explained.label_names):
            lines = frame[(frame.row == r) & (frame.label == label)]
            assert lines.value.abs().is_monotonic_decreasing
            assert top[r][label] == [
                ColumnPart(line.column, line.value) for line in lines.head(2).itertuples()
            ]
            assert all(
                line.value == explained.features[r, names.index(line.column), j]
                for line in lines.itertuples()
            )
            np.testing.assert_allclose(
                lines.value.sum() + explained.feature_base[j], lines.score.iloc[0]
            )
            if r < 3 and explained.scores[r, j] > -0.5:
                told = ", ".join(
                    f"{part.column} {part.value:+.2f}"
                    for part in explained.top_features(3)[r][label]
                )
                assert f"\n    by column: {told}\n" in str(explained)
    assert str(explained).count("by column") == (explained.scores[:3] > -0.5).sum() > 0
    np.testing.assert_allclose(
        explained.importance(),
        [[abs(part).mean() for part in own.T] for own in explained.features.swapaxes(0, 1)],
    )


def test_columns_that_were_not_asked_for_are_missed_with_words(rng):
    X, Y = made(rng)
    plain = CamelClassifier().fit(X, Y).explain(X[:2])
    assert (plain.features, plain.feature_base, plain.feature_names) == (None, None, None)
    for method in (plain.importance, plain.top_features, plain.features_to_frame):
        with pytest.raises(ValueError, match=r"holds no columns; use explain\(X, features=True\)"):
            method()
    assert "by column" not in str(plain)


def test_names_are_those_of_the_frame_or_numbers(rng):
    import pandas as pd

    X, Y = made(rng)
    assert CamelClassifier().fit(X, Y).explain(X[:1], features=True).feature_names.tolist() == [
        f"f{j}" for j in range(1, 7)
    ]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert CamelClassifier().fit(frame, Y).explain(
        frame[:1], features=True
    ).feature_names.tolist() == list("abcdef")


def test_rows_of_single_precision_and_classes_are_explained(rng):
    X, Y = made(rng)
    model = CamelClassifier().fit(X, Y[:, 0])
    assert model.explain(X[:4], features=True).features.shape == (4, 6, 1)
    found = model.explain(X[:4].astype(np.float32), features=True)
    np.testing.assert_allclose(
        found.features,
        model.explain(X[:4].astype(np.float32).astype(float), features=True).features,
    )


@pytest.mark.torch
@pytest.mark.parametrize("kernel", attribution.EXPLAINED)
def test_a_model_on_a_device_gives_the_same_arrays(kernel, rng):
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install skcamel[gpu]")
    X, Y = made(rng)
    here, there = (
        CamelClassifier(kernel=kernel).fit(X, Y),
        CamelClassifier(kernel=kernel, device="cpu").fit(X, Y),
    )
    found = there.explain(torch.tensor(X[:4]), features=True)
    assert isinstance(found.features, np.ndarray)
    np.testing.assert_allclose(
        found.features, here.explain(X[:4], features=True).features, atol=1e-8
    )


@pytest.mark.data
@pytest.mark.parametrize("kernel", attribution.EXPLAINED)
def test_values_of_a_hundred_columns_add_up(kernel):
    data = load_dataset("yeast", HOME)
    model = CamelClassifier(kernel=kernel, scaling="standard").fit(data.X[:1500], data.Y[:1500])
    found, scores = (
        model.explain(data.X[1500:1510], features=True),
        model.decision_function(data.X[1500:1510]),
    )
    np.testing.assert_allclose(
        found.feature_base + found.features.sum(axis=1), scores, atol=1e-9 * abs(scores).max()
    )


@pytest.mark.data
def test_values_of_words_add_up():
    data = load_dataset("medical", HOME)
    assert sparse.issparse(data.X)
    sources = ["text"] * (data.d - 3) + ["a", "b", "c"]
    for kernel in ("rbf", "laplacian"):
        model = CamelClassifier(kernel=kernel, scaling="unit").fit(data.X[:300], data.Y[:300])
        scores = model.decision_function(data.X[300:302])
        for given_sources in (None, sources):
            found = model.explain(data.X[300:302], features=True, sources=given_sources)
            np.testing.assert_allclose(
                found.feature_base + found.features.sum(axis=1),
                scores,
                atol=1e-9 * abs(scores).max(),
            )

"""The card: every figure against a literal loop, against values worked out by hand, and dense against sparse."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from reference import card as literal
from reference import mulan
from skcamel.data import Dataset
from skcamel.data.statistics import Card, card

shapes = st.tuples(st.integers(1, 8), st.integers(1, 5))
matrices = shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1)))
features = st.sampled_from([0.0, -0.0, 1.0, 2.5])


def of(Y, X=None):
    Y = np.asarray(Y)
    return card((np.arange(len(Y), dtype=float)[:, None] if X is None else X, Y))


# Labels


@given(Y=matrices)
def test_label_figures_are_those_of_literal_loops(Y):
    figures, rows = of(Y), Y.tolist()
    sets = literal.label_sets(rows)
    assert figures.label_counts.tolist() == literal.counts(rows)
    assert figures.cardinality == pytest.approx(sum(map(sum, rows)) / len(rows))
    assert figures.density == pytest.approx(figures.cardinality / figures.q)
    assert (figures.label_sets, figures.single_label_sets, figures.max_label_set) == (
        len(sets),
        sets.count(1),
        sets[0],
    )
    assert figures.cooccurrence.tolist() == [
        [literal.together(rows, j, k) for k in range(figures.q)] for j in range(figures.q)
    ]
    expected = [[literal.phi(rows, j, k) for k in range(figures.q)] for j in range(figures.q)]
    np.testing.assert_allclose(figures.phi, expected, atol=1e-12)


@given(Y=matrices)
def test_imbalance_figures_are_those_of_literal_loops(Y):
    figures, rows = of(Y), Y.tolist()
    assert (
        figures.irlbl.tolist() == literal.irlbl(rows) if Y.any() else np.isinf(figures.irlbl).all()
    )
    expected = literal.imbalance(rows) if Y.any() else (math.nan,) * 3
    np.testing.assert_allclose(
        (figures.mean_ir, figures.max_ir, figures.cvir), expected, atol=1e-12
    )
    per_row = literal.scumble(rows) if Y.any() else [0.0] * len(rows)
    np.testing.assert_allclose(figures.scumble_rows, per_row, atol=1e-12)
    assert figures.scumble == pytest.approx(np.mean(per_row), abs=1e-12)


def test_phi_of_equal_opposite_and_constant_labels():
    phi = of([[1, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1]]).phi
    assert phi[0, 1] == pytest.approx(1)
    assert phi[0, 2] == pytest.approx(-1)
    assert np.isnan(phi[3]).all()
    assert np.isnan(phi[:, 3]).all()


def test_rows_of_one_label_have_no_scumble():
    assert (of(np.eye(7, dtype=int)[[0, 0, 1, 2, 3, 4, 5, 6]]).scumble_rows == 0).all()


def test_empty_full_and_unlabelled_are_listed():
    figures = of([[0, 1, 1], [0, 1, 0]])
    assert figures.empty_labels.tolist() == [0]
    assert figures.full_labels.tolist() == [1]
    assert of([[0, 0], [0, 1]]).unlabelled_rows.tolist() == [0]


# Features


@given(X=shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=features)), data=st.data())
def test_feature_figures_are_those_of_literal_loops_dense_and_sparse(X, data):
    Y = data.draw(arrays(np.int64, (len(X), 2), elements=st.integers(0, 1)))
    rows = X.tolist()
    for figures in (of(Y, X), of(Y, sparse.csr_array(X))):
        assert figures.duplicate_rows == literal.repeats(rows)
        assert figures.duplicate_examples == literal.repeats(np.hstack([X, Y]).tolist())
        assert figures.constant_features.tolist() == [
            k for k in range(X.shape[1]) if len({row[k] for row in rows}) == 1
        ]
        assert figures.zero_rows.tolist() == [i for i, row in enumerate(rows) if not any(row)]
        assert figures.sparsity == pytest.approx((X == 0).mean())
        assert figures.missing_values == 0


def test_missing_values_are_counted_and_equal_each_other():
    X = np.array([[np.nan, 1.0, np.nan], [np.nan, 1.0, np.nan], [np.nan, 2.0, 0.0]])
    for given_X in (X, sparse.csr_array(X)):
        figures = of([[1], [0], [1]], given_X)
        assert figures.missing_values == 5
        assert figures.constant_features.tolist() == [0]
        assert figures.duplicate_rows == 1


# Forms


@pytest.mark.parametrize(
    "form", [np.asarray, lambda Y: 2 * Y - 1, lambda Y: Y == 1, sparse.coo_array, np.ndarray.tolist]
)
def test_labels_in_every_form_give_the_same_card(form, rng):
    Y = (rng.random((20, 4)) < 0.3).astype(int)
    X = rng.normal(size=(20, 3))
    assert str(card((X, form(Y)))) == str(card((X, Y)))


def test_a_data_set_brings_its_names():
    figures = card(Dataset(np.eye(2), [[1, 0], [1, 1]], name="two", label_names=("sea", "sky")))
    assert (figures.name, figures.label_names) == ("two", ("sea", "sky"))
    assert str(figures).startswith("two\n")
    assert "sky" in str(figures)


def test_the_table_says_which_labels_are_left_out_and_shortens_long_lists():
    Y = np.zeros((30, 12), dtype=int)
    Y[:, 0] = 1
    Y[:5, 1] = 1
    text = str(of(Y))
    assert "(10 empty labels left out)" in text
    assert "… 4 more" in text
    assert max(map(len, text.splitlines())) <= 100


def test_as_dict_holds_plain_values():
    figures = of([[1, 0], [1, 1]])
    values = figures.as_dict()
    assert set(values) == set(Card.__dataclass_fields__)
    assert json.loads(json.dumps(values))["cooccurrence"] == [[2, 1], [1, 1]]


def test_rows_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match=r"Y has 2 rows but X has 3"):
        card((np.ones((3, 1)), np.ones((2, 1))))
    with pytest.raises(ValueError, match=r"X has 1 dimension"):
        card((np.ones(3), np.ones((3, 1))))


def test_a_set_without_rows_has_a_card():
    figures = card((np.ones((0, 2)), np.ones((0, 3))))
    assert (figures.n, figures.label_sets, figures.cardinality, figures.max_label_set) == (
        0,
        0,
        0,
        0,
    )
    assert "rows" in str(figures)


# MeanIR, SCUMBLE and TCS of four sets, kept so that a change of a formula shows; no outside source
# was opened for them


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "mean_ir", "scumble", "tcs"),
    [
        ("cal500", 20.578, 0.337, 15.597),
        ("emotions", 1.478, 0.011, 9.364),
        ("scene", 1.254, 0.000, 10.183),
        ("yeast", 7.197, 0.104, 12.562),
    ],
)
def test_figures_of_four_sets_stay_as_they_are(name, mean_ir, scumble, tcs):
    if mulan.data_home() is None:
        pytest.skip("SKCAMEL_DATA is not set")
    figures = card(mulan.read(name))
    assert figures.mean_ir == pytest.approx(mean_ir, abs=5e-4)
    assert figures.scumble == pytest.approx(scumble, abs=6e-4)
    assert figures.tcs == pytest.approx(tcs, abs=5e-4)


def test_a_card_of_too_many_labels_is_refused_before_it_is_computed():
    Y = sparse.csr_array(([1], ([0], [0])), shape=(2, 2**26))
    with pytest.raises(
        MemoryError,
        match=(
            r"A card of 67108864 labels with all their pairs needs about .* Keep a part of the"
            r" labels"
        ),
    ):
        card((np.eye(2), Y))

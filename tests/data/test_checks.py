"""Checks: each planted defect is found where it stands, and nothing is found in sound data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from reference import mulan
from skcamel.data import Dataset, check_dataset

DENSE_AND_SPARSE = pytest.mark.parametrize(
    "stored", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)


@pytest.fixture
def sound(rng):
    """Data without any defect: labels with at least one label per row, all rows different."""
    X = np.hstack([(rng.random((200, 6)) < 0.4).astype(float), rng.normal(size=(200, 1))])
    Y = (rng.random((200, 4)) < 0.4).astype(int)
    Y[np.arange(200), rng.integers(0, 4, 200)] = 1
    return X, Y


def places(X, Y, **options):
    """Where each finding was made, by its code."""
    return {finding.code: finding.where.tolist() for finding in check_dataset(X, Y, **options)}


@DENSE_AND_SPARSE
def test_sound_data_give_no_finding(sound, stored):
    X, Y = sound
    assert places(stored(X), Y, train=np.arange(100), test=np.arange(100, 200)) == {}


# Labels among the features


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 5),
    q=st.integers(1, 4),
    hidden=st.sampled_from([0.0, 0.1, 0.3]),
)
def test_pairs_are_those_of_a_literal_search(seed, d, q, hidden):
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, 1.0, 2.0], p=[0.5, 0.4, 0.1], size=(16, d))
    Y = rng.integers(0, 2, size=(16, q))
    known = rng.random((16, q)) >= hidden
    X[:, 0] = rng.choice([-3.0, 5.0]) * Y[:, 0] + rng.choice([0.0, 3.5])
    expected = []
    for k in range(d):
        values = sorted(set(X[:, k].tolist()))
        for j in range(q):
            greater = (X[:, k] == values[-1]).astype(int)
            y, mark = Y[known[:, j], j], greater[known[:, j]]
            telling = y.sum() >= 5 and (1 - y).sum() >= 5
            if telling and len(values) == 2 and ((mark == y).all() or (mark == 1 - y).all()):
                expected.append([k, j])
    hidden_Y = np.where(known, Y, np.nan)
    for stored in (X, sparse.csr_array(X)):
        assert places(stored, hidden_Y).get("label-in-features", []) == expected


@given(seed=st.integers(0, 10**6), hidden=st.sampled_from([0.0, 0.2]))
def test_equal_and_opposite_labels_are_those_of_a_literal_search(seed, hidden):
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, size=(40, 4)).astype(float)
    Y[:, 2], Y[:, 3] = Y[:, 0], 1 - Y[:, rng.integers(0, 2)]
    Y = np.where(rng.random(Y.shape) < hidden, np.nan, Y)
    equal, opposite = [], []
    for i in range(4):
        for j in range(i + 1, 4):
            both = ~np.isnan(Y[:, i]) & ~np.isnan(Y[:, j])
            a, b = Y[both, i], Y[both, j]
            if min(b.sum(), (1 - b).sum()) >= (5 if hidden else 1):
                equal += [[i, j]] if (a == b).all() else []
                opposite += [[i, j]] if (a == 1 - b).all() else []
    found = places(rng.normal(size=(40, 2)), Y)
    assert found.get("duplicate-labels", []) == equal
    assert found.get("opposite-labels", []) == opposite


# Everything else


def test_constant_equal_and_opposite_labels(sound):
    X, Y = sound
    Y = np.column_stack([Y, Y[:, 0], 1 - Y[:, 1], np.zeros(200, int), np.ones(200, int)])
    constant = {"empty-labels": [6], "full-labels": [7]}
    pairs = {"duplicate-labels": [[0, 4]], "opposite-labels": [[1, 5]]}
    assert places(X, Y, label_names="abcdefgh") == constant | pairs


@DENSE_AND_SPARSE
def test_features_and_rows(sound, stored):
    X, Y = sound
    X[:, 0], X[:, 1] = 0, 7
    X[5], X[9] = X[4], X[8]
    Y[4], Y[5], Y[9] = [1, 0, 0, 1], [0, 1, 1, 1], Y[8]
    Y[3] = 0
    X[2, 2], X[7, 3] = np.nan, np.inf
    findings = {finding.code: finding for finding in check_dataset(stored(X), Y)}
    rows = {"copied-rows": [9], "contradicting-rows": [4, 5], "unlabelled-rows": [3]}
    cells = {"non-finite": [[2, 2], [7, 3]], "constant-features": [0, 1]}
    assert {code: one.where.tolist() for code, one in findings.items()} == rows | cells
    assert findings["copied-rows"].severity == "info"
    where = "2 (row 3 and feature f3, row 8 and feature f4; the first row is 1)"
    assert where in findings["non-finite"].message


def test_a_data_set_brings_names_and_parts(sound):
    X, Y = sound
    X[150], Y[150] = X[10], Y[10]
    X[:, 1] = Y[:, 2]
    parts = {"train": np.arange(101), "test": np.arange(200) > 99}
    findings = check_dataset(Dataset(X, Y, tuple("tuvwxyz"), tuple("abcd"), **parts))
    assert [finding.severity for finding in findings][:3] == ["error", "error", "warning"]
    assert "(feature u and label c)" in findings[0].message
    assert str(findings[1]) == (
        "error: test rows that are also training rows: 1 (row 101; the first row is 1). The test is"
        " too easy; take them out of one part.  [train-test-overlap]"
    )
    assert (findings[2].code, findings[2].where.tolist()) == ("train-test-copies", [150])


@pytest.mark.parametrize(
    ("Y", "options", "message"),
    [
        (None, {}, "Y has 0 dimension"),
        (np.eye(3), {}, "Y has 3 rows but X has 4"),
        (np.eye(4), {"train": [4]}, "train must hold row numbers from 0 to 3"),
        (np.eye(4), {"test": [-1]}, "test must hold row numbers from 0 to 3"),
        (np.eye(4) + 1, {}, "only 0 and 1"),
    ],
)
def test_what_cannot_be_checked_is_refused(Y, options, message):
    with pytest.raises(ValueError, match=message):
        check_dataset(np.eye(4), Y, **options)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", [*mulan.SMALL, "enron", "medical", "arts", "rcv1-s1", "rcv1-s1-realigned"]
)
def test_no_error_is_seen_in_the_benchmark_sets(name):
    if mulan.data_home() is None:
        pytest.skip("SKCAMEL_DATA is not set")
    X, Y = mulan.read(name)
    findings = check_dataset(sparse.csr_array(X), Y)
    assert [finding.severity for finding in findings if finding.severity != "info"] == []


def test_columns_that_look_like_groups_are_named(sound, rng):
    X, Y = sound
    X[:, :3] = rng.integers(0, 40, (200, 3))
    names = ["patient_id", "Age", "Kunden-ID", "a", "b", "id of none", "user"]
    assert places(X, Y, feature_names=names)["group-columns"] == [0, 2]  # "user" never repeats

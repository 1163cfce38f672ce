"""Checks: each planted defect is found where it stands, and nothing is found in sound data."""

import time

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


def sound(rng, n=200, d=6, q=4):
    """Data without any defect: binary features, labels with at least one label per row, all rows different."""
    X = np.hstack([(rng.random((n, d)) < 0.4).astype(float), rng.normal(size=(n, 1))])
    Y = (rng.random((n, q)) < 0.4).astype(int)
    Y[np.arange(n), rng.integers(0, q, n)] = 1
    return X, Y


def codes(findings):
    return [finding.code for finding in findings]


def one(findings, code):
    found = [finding for finding in findings if finding.code == code]
    assert len(found) == 1, codes(findings)
    return found[0]


@DENSE_AND_SPARSE
def test_sound_data_give_no_finding(rng, stored):
    X, Y = sound(rng)
    assert check_dataset(stored(X), Y, train=np.arange(100), test=np.arange(100, 200)) == []


# Labels among the features


@DENSE_AND_SPARSE
@pytest.mark.parametrize(
    "disguise",
    [lambda y: y, lambda y: 1 - y, lambda y: 2 * y - 1, lambda y: 3.5 - 2 * y, lambda y: -y],
)
def test_a_label_among_the_features_is_found_however_it_is_written(rng, stored, disguise):
    X, Y = sound(rng)
    X[:, 2] = disguise(Y[:, 3])
    finding = one(check_dataset(stored(X), Y), "label-in-features")
    assert finding.severity == "error"
    assert finding.where.tolist() == [[2, 3]]
    assert "(feature f3 and label label4)" in finding.message


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
    X[:, 0] = rng.choice([-3.0, 5.0]) * Y[:, 0]
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
        found = [
            finding.where.tolist()
            for finding in check_dataset(stored, hidden_Y)
            if finding.code == "label-in-features"
        ]
        assert found == ([expected] if expected else [])


@DENSE_AND_SPARSE
def test_a_label_among_the_features_is_found_where_it_is_known(rng, stored):
    X, Y = sound(rng)
    X[:, 2] = 3.0 - 2 * Y[:, 3]
    Y = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    assert one(check_dataset(stored(X), Y), "label-in-features").where.tolist() == [[2, 3]]
    X[np.flatnonzero(Y[:, 3] == 1)[0], 2] = 3  # one known entry differs
    assert "label-in-features" not in codes(check_dataset(stored(X), Y))


@given(seed=st.integers(0, 10**6), hidden=st.sampled_from([0.0, 0.2]))
def test_equal_and_opposite_labels_are_those_of_a_literal_search(seed, hidden):
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, size=(40, 4)).astype(float)
    Y[:, 2], Y[:, 3] = Y[:, 0], 1 - Y[:, rng.integers(0, 2)]
    Y = np.where(rng.random(Y.shape) < hidden, np.nan, Y)
    expected = {"duplicate-labels": [], "opposite-labels": []}
    for i in range(4):
        for j in range(i + 1, 4):
            both = ~np.isnan(Y[:, i]) & ~np.isnan(Y[:, j])
            a, b = Y[both, i], Y[both, j]
            if min(b.sum(), (1 - b).sum()) >= (5 if hidden else 1):
                expected["duplicate-labels"] += [[i, j]] if (a == b).all() else []
                expected["opposite-labels"] += [[i, j]] if (a == 1 - b).all() else []
    found = {finding.code: finding for finding in check_dataset(rng.normal(size=(40, 2)), Y)}
    for code, pairs in expected.items():
        assert (found[code].where.tolist() if code in found else []) == pairs


# Everything else


def test_constant_equal_and_opposite_labels(rng):
    X, Y = sound(rng)
    Y = np.column_stack([Y, Y[:, 0], 1 - Y[:, 1], np.zeros(200, int), np.ones(200, int)])
    findings = check_dataset(X, Y, label_names="abcdefgh")
    assert one(findings, "duplicate-labels").where.tolist() == [[0, 4]]
    assert one(findings, "opposite-labels").where.tolist() == [[1, 5]]
    assert one(findings, "empty-labels").where.tolist() == [6]
    assert one(findings, "full-labels").where.tolist() == [7]
    assert "(label a and label e)" in one(findings, "duplicate-labels").message


@DENSE_AND_SPARSE
def test_constant_features_and_contradicting_rows(rng, stored):
    X, Y = sound(rng)
    X[:, 0], X[:, 1] = 0, 7
    X[5], X[9] = X[4], X[8]
    Y[5], Y[9] = 1 - Y[4], Y[8]
    Y[4, 0], Y[5, 0] = 1, 0
    Y[5, 1] = 1
    findings = check_dataset(stored(X), Y)
    assert one(findings, "constant-features").where.tolist() == [0, 1]
    assert one(findings, "contradicting-rows").where.tolist() == [4, 5]


@DENSE_AND_SPARSE
def test_unlabelled_rows_and_non_finite_cells(rng, stored):
    X, Y = sound(rng)
    Y[3] = 0
    X[2, 1], X[7, 0] = np.nan, np.inf
    findings = check_dataset(stored(X), Y)
    assert one(findings, "unlabelled-rows").where.tolist() == [3]
    finding = one(findings, "non-finite")
    assert finding.where.tolist() == [[2, 1], [7, 0]]
    assert "2 (row 2 and feature f2, row 7 and feature f1)" in finding.message


def test_overlap_by_row_number_and_by_content(rng):
    X, Y = sound(rng)
    X[150] = X[10]
    mask = np.zeros(200, dtype=bool)
    mask[99:] = True
    findings = check_dataset(X, Y, train=np.arange(100), test=mask)
    found = {finding.code: (finding.severity, finding.where.tolist()) for finding in findings}
    assert found["train-test-overlap"] == ("error", [99])
    assert found["train-test-copies"] == ("warning", [150])


def test_the_gravest_come_first(rng):
    X, Y = sound(rng)
    Y[0] = 0
    X[:, 0] = Y[:, 0]
    Y[:, 1] = 0
    severities = [finding.severity for finding in check_dataset(X, Y)]
    assert severities == ["error", "warning", "info"]


def test_a_data_set_brings_names_and_parts(rng):
    X, Y = sound(rng)
    X[:, 1] = Y[:, 2]
    parts = {"train": np.arange(101), "test": np.arange(100, 200)}
    findings = check_dataset(Dataset(X, Y, tuple("tuvwxyz"), tuple("abcd"), **parts))
    assert "(feature u and label c)" in one(findings, "label-in-features").message
    assert str(one(findings, "train-test-overlap")) == (
        "error: test rows that are also training rows: 1 (row 100). The test is too easy; take them"
        " out of one part.  [train-test-overlap]"
    )


def test_what_cannot_be_checked_is_refused(rng):
    X, Y = sound(rng)
    with pytest.raises(ValueError, match="needs the labels"):
        check_dataset(X)
    with pytest.raises(ValueError, match="Y has 199 rows but X has 200"):
        check_dataset(X, Y[1:])
    with pytest.raises(ValueError, match="train must hold row numbers from 0 to 199"):
        check_dataset(X, Y, train=[200])
    with pytest.raises(ValueError, match="only 0 and 1"):
        check_dataset(X, Y + 1)


def test_copies_of_rows_are_counted(rng):
    X, Y = sound(rng)
    findings = check_dataset(np.vstack([X, X[:30]]), np.vstack([Y, Y[:30]]))
    assert one(findings, "copied-rows").where.tolist() == list(range(200, 230))
    assert codes(findings) == ["copied-rows"]


@pytest.mark.data
@pytest.mark.parametrize(
    "name", [*mulan.SMALL, "enron", "medical", "arts", "rcv1-s1", "rcv1-s1-realigned"]
)
def test_no_error_is_seen_in_the_benchmark_sets(name):
    if mulan.data_home() is None:
        pytest.skip("SKCAMEL_DATA is not set")
    X, Y = mulan.read(name)
    start = time.perf_counter()
    findings = check_dataset(sparse.csr_array(X), Y)
    assert time.perf_counter() - start < 2
    assert [finding.severity for finding in findings if finding.severity != "info"] == []

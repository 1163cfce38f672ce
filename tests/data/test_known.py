"""Data sets of which some labels are unknown: values, digests, cards, findings, folds and files."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import io, sparse

from any_dataset import same
from skcamel.data import (
    Dataset,
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    card,
    check_dataset,
    read_mat,
    read_meka,
    read_mulan,
    write_meka,
    write_mulan,
    write_svmlight,
)
from skcamel.data.dataset import as_labels, digest

NAN = math.nan
Y = np.array([[1, NAN, 0], [0, 1, NAN], [NAN, NAN, NAN], [1, 1, 0], [0, 0, 0]])
X = np.arange(10.0).reshape(5, 2)


@st.composite
def partial_labels(draw, most=12):
    n, q = draw(st.integers(1, most)), draw(st.integers(1, 5))
    entries = draw(st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=n * q, max_size=n * q))
    return np.reshape(entries, (n, q))


# Dataset


def test_complete_labels_stay_integers_and_partial_ones_are_floats():
    assert Dataset(X, np.nan_to_num(Y)).Y.dtype == np.int64
    data = Dataset(X, Y)
    assert data.Y.dtype == np.float64
    assert np.array_equal(data.Y, Y, equal_nan=True)
    assert data.labels.columns == ("label1", "label2", "label3")
    assert np.array_equal(data.labels[[0, 1]][:, [2]], Y[:2, 2:], equal_nan=True)


@pytest.mark.parametrize(
    "form",
    [
        *(np.ndarray.tolist, pd.DataFrame),
        lambda labels: pd.DataFrame(labels).astype("Int64"),
        lambda labels: np.where(np.isnan(labels), None, labels.astype(object)),
        sparse.csr_array,
        lambda labels: labels.astype(np.float32),
    ],
)
def test_every_form_of_a_gap_is_understood(form):
    data = Dataset(X, form(Y))
    assert np.array_equal(data.Y, Y, equal_nan=True)
    assert digest(data.X, data.Y) == digest(X, Y)
    assert np.array_equal(as_labels(form(Y)), Y, equal_nan=True)


def test_labels_in_minus_one_and_one_may_have_gaps():
    coded = np.where(Y == 0, -1.0, Y)
    assert np.array_equal(as_labels(coded), Y, equal_nan=True)
    with pytest.raises(ValueError, match=r"only 0 and 1, or only -1 and \+1; found -1.0, 0.0, nan"):
        as_labels(np.array([[-1.0, 0.0, NAN]]))


def test_unknown_is_a_value_of_its_own():
    data = Dataset(X, Y)
    others = [Dataset(X, np.where(np.isnan(Y), value, Y)) for value in (0, 1)]
    assert same(data, Dataset(X, Y.copy()))
    assert not any(same(data, other) for other in others)
    assert len({digest(d.X, d.Y) for d in (data, *others)}) == 3
    signed = np.where(np.isnan(Y), -np.float64(NAN), Y)  # other bits
    assert digest(X, Dataset(X, signed).Y) == digest(X, data.Y)


# Card


@given(partial_labels())
def test_figures_of_known_entries_are_those_of_literal_loops(labels):
    found = card((np.zeros((len(labels), 1)), labels))
    rows = labels.tolist()
    entries = [y for row in rows for y in row if y == y]
    counts = [sum(row[j] == 1 for row in rows) for j in range(labels.shape[1])]
    assert found.known == pytest.approx(len(entries) / labels.size, abs=1e-15)
    assert found.label_counts.tolist() == counts
    assert found.cardinality == pytest.approx(sum(counts) / len(rows))
    assert found.density == pytest.approx(sum(entries) / len(entries) if entries else 0)
    assert found.label_sets == len({tuple(row) for row in rows if all(y == y for y in row)})
    ratios = [max(counts) / count for count in counts if count]
    assert found.mean_ir == pytest.approx(sum(ratios) / max(len(ratios), 1))


def test_a_card_shows_the_share_of_known_labels():
    text = str(Dataset(X, Y, name="two\n").card())
    assert text.startswith("two\\n\n  n                    5\n")
    assert text.endswith("  known           0.6667")


# Findings


def test_unknown_labels_are_a_finding():
    found = {finding.code: finding for finding in check_dataset(Dataset(X, Y))}
    assert found["unknown-labels"].severity == "info"
    places = "5 (row 1 and label label2, row 2 and label label3, "
    assert str(found["unknown-labels"]).startswith(f"info: unknown entries of Y: {places}")
    assert "; the first row is 1)" in str(found["unknown-labels"])
    assert found["unknown-labels"].where.tolist() == np.argwhere(np.isnan(Y)).tolist()
    assert found["unlabelled-rows"].where.tolist() == [4]
    assert "unknown-labels" not in {finding.code for finding in check_dataset(X, np.nan_to_num(Y))}


def test_an_unknown_label_contradicts_nothing():
    same = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    labels = np.array([[1, NAN], [1, 0], [1, 0], [NAN, 1], [0, 0]])
    found = {finding.code: finding.where for finding in check_dataset(same, labels)}
    assert found["contradicting-rows"].tolist() == [2, 3]


# Folds


@given(partial_labels(most=20), st.integers(0, 3))
def test_folds_are_those_of_the_known_positives(labels, seed):
    if len(labels) < 4:
        return
    splitter = MultilabelStratifiedKFold(2, shuffle=True, random_state=seed)
    parts = [test.tolist() for _, test in splitter.split(labels, labels)]
    assert parts == [test.tolist() for _, test in splitter.split(labels, np.nan_to_num(labels))]
    assert sorted(row for part in parts for row in part) == list(range(len(labels)))


def test_known_positives_are_spread_evenly(rng):
    labels = (rng.random((200, 4)) < 0.3).astype(float)
    labels[rng.random(labels.shape) < 0.4] = NAN
    labels[:, 3] = NAN
    shuffle = MultilabelStratifiedShuffleSplit(1, test_size=0.25, random_state=0)
    for splitter in (MultilabelStratifiedKFold(4), shuffle):
        for _, test in splitter.split(labels, labels):
            known = (labels[test] == 1).sum(axis=0)
            assert np.abs(known - (labels == 1).sum(axis=0) / 4).max() < 2


# Files


@pytest.mark.parametrize("write", [write_mulan, write_meka])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_arff_keeps_unknown_labels(tmp_path, write, storage):
    data = Dataset(storage(X), Y, name="partial")
    write(data, tmp_path / "partial.arff")
    assert re.search("[, ][?]", (tmp_path / "partial.arff").read_text())
    back = (read_mulan if write is write_mulan else read_meka)(tmp_path / "partial.arff")
    assert same(back, data)


def test_mat_files_mark_unknown_labels_by_nan(tmp_path):
    io.savemat(tmp_path / "a.mat", {"data": X, "target": np.where(Y == 0, -1.0, Y)})
    assert np.array_equal(read_mat(tmp_path / "a.mat").Y, Y, equal_nan=True)


def test_svmlight_refuses_unknown_labels(tmp_path):
    message = r"5 label entries .* unknown labels \(NaN\) would become 0 .*Write \.arff"
    with pytest.raises(ValueError, match=message):
        write_svmlight(Dataset(X, Y), tmp_path / "a.svm")
    assert not (tmp_path / "a.svm").exists()

"""What a Dataset accepts, refuses and calls equal."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tiny
from skcamel.data import DataError, Dataset
from skcamel.data.dataset import as_labels, digest, row_kinds


def test_values_are_kept_in_the_types_of_the_contract():
    data = Dataset([[1, 2]], np.array([[True]]), ["a", "b"], ["l"], train=[0])
    assert data.X.dtype == np.float64
    assert data.Y.dtype == np.int64
    assert data.feature_names == ("a", "b")
    assert (data.n, data.d, data.q) == (1, 2, 1)
    sparse_data = Dataset(sparse.coo_matrix([[1, 0]]), sparse.csr_array([[1]]))
    assert isinstance(sparse_data.X, sparse.csr_array)
    assert isinstance(sparse_data.Y, np.ndarray)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_bring_their_names(kind):
    data = Dataset(kind({"a": [0.5, 1.0], "b": [2, 3]}), kind({"sea": [1, 0]}))
    assert (data.feature_names, data.label_names) == (("a", "b"), ("sea",))
    assert data.X.tolist() == [[0.5, 2.0], [1.0, 3.0]]
    renamed = Dataset(kind({"a": [0.5]}), kind({"sea": [1]}), ["other"], ["sun"])
    assert renamed.feature_names == ("other",)
    assert Dataset(data.X, data.labels).label_names == ("sea",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], [[1], [0]]), "Y has 2 rows but X has 1"),
        (([1.0], [[1]]), "X has 1 dimension"),
        (([[1.0]], [1]), "Y has 1 dimension"),
        (([[1.0]], [[-1, 0]]), "only 0 and 1, or only -1 and \\+1; found -1, 0"),
        (([[1.0]], [[None, "x"]]), "found None, x"),
        (([[1.0]], [[1]], ("a", "b")), "2 names for 1 columns \\(f1"),
        (([[1.0]], [[1, 0]], ("a",), ("l", "l")), "'l' twice"),
        (([[1.0]], [[1]], (), (), "", "", (), [1]), "train must hold row numbers from 0 to 0"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Dataset(*arguments)


def test_an_error_names_file_and_line_and_survives_pickling():
    error = pickle.loads(pickle.dumps(DataError("wrong; do this", path="folder/a.arff", line=3)))  # noqa: S301
    assert (error.path, error.line) == ("folder/a.arff", 3)
    assert str(error) == "a.arff, line 3: wrong; do this"
    assert str(DataError("wrong")) == "wrong"


def test_names_of_labels_follow_their_columns():
    data = Dataset(np.eye(3), np.eye(3, dtype=int), label_names=("sea", "sun", "sand"))
    assert data.labels.columns == ("sea", "sun", "sand")
    assert data.labels[[2, 0]].columns == data.labels[1:, ...].columns == ("sea", "sun", "sand")
    for turned in (data.labels[:, ::-1], np.flip(data.labels, axis=1)):
        assert turned.columns == ("sand", "sun", "sea")
    assert data.labels[:, [2, 0]].columns == ("sand", "sea")
    assert data.labels[:, 1:].columns == ("sun", "sand")
    assert data.labels[0:2][:, np.array([True, False, True])].columns == ("sea", "sand")
    assert data.labels.T.columns is None
    assert np.roll(data.labels, 1, axis=1).columns is None
    assert type(data.Y) is np.ndarray


def test_sparse_features_are_kept_in_one_form_and_the_callers_matrix_is_not_touched():
    given = sparse.csr_matrix(([1.0, 2.0, 3.0, 0.0], [1, 1, 0, 2], [0, 3, 4]), shape=(2, 3))
    given.has_canonical_format = True  # which is not so
    kept = Dataset(given, [[1], [0]]).X
    assert (kept.nnz, kept.toarray().tolist()) == (2, [[3, 3, 0], [0, 0, 0]])
    assert given.data.tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_array, lambda rows: np.array(rows, dtype=object)]
)
def test_labels_of_any_form_become_ones(form):
    assert as_labels(form([[1, -1], [1, 1]])).tolist() == [[1, 0], [1, 1]]
    assert Dataset(np.eye(2), form([[1, -1], [1, 1]])).Y.tolist() == [[1, 0], [1, 1]]


def test_equal_rows_are_told_by_their_values_only():
    X = np.array([[0.0, 1.5], [1.5, 0.0], [-0.0, 1.5], [np.nan, 1.5], [np.nan, 1.5]])
    expected = [0, 1, 0, 2, 2]
    assert row_kinds(X).tolist() == row_kinds(sparse.csr_array(X)).tolist() == expected


def test_the_digest_sees_values_and_shape_only():
    X, Y = tiny.arrays()
    X[0, 0] = -0.0
    same = digest(sparse.csr_array(X), sparse.csr_array(Y))
    assert digest(X, Y) == same == digest(np.asfortranarray(X), Y.astype(np.int8))
    assert digest(X, Y) != digest(X[::-1], Y)
    assert digest(X, Y) != digest(X, 1 - Y)
    assert digest(np.zeros((2, 3)), np.zeros((2, 1))) != digest(np.zeros((2, 2)), np.zeros((2, 2)))

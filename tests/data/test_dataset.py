"""What a Dataset accepts, refuses and calls equal."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import strategies as st
from scipy import sparse

import skcamel.data
from skcamel.data import DataError, Dataset


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
    assert Dataset(kind({"a": [0.5]}), kind({"sea": [1]}), ["other"], ["sun"]).feature_names == (
        "other",
    )
    assert Dataset(data.X, data.labels).label_names == ("sea",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], [[1], [0]]), "Y has 2 rows but X has 1"),
        (([1.0], [[1]]), "X has 1 dimension"),
        (([[1.0]], [1]), "Y has 1 dimension"),
        (([[1.0]], [[-1]]), r"Y holds -1 in row 0, column 0.*\(Y == 1\)"),
        (([[1.0]], [[np.nan, 2.0]]), "Y holds 2.0 in row 0, column 1"),
        (([[1.0]], [[None, "x"]]), "Y holds None"),
        (([[1.0]], [[1]], ("a", "b")), "2 feature names for 1 columns"),
        (([[1.0]], [[1, 0]], ("a",), ("l", "l")), "'l' twice"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Dataset(*arguments)


def test_parts_must_be_rows():
    with pytest.raises(ValueError, match="row numbers from 0 to 0"):
        Dataset([[1.0]], [[1]], train=[1])


def test_equality_is_of_values_names_and_parts():
    data = Dataset([[1.0, np.nan]], [[1]])
    assert data.equals(Dataset(sparse.csr_array([[1.0, np.nan]]), [[1]], name="other"))
    assert not data.equals(Dataset([[2.0, np.nan]], [[1]]))
    assert not data.equals(Dataset([[1.0, np.nan]], [[0]]))
    assert not data.equals(Dataset([[1.0, np.nan]], [[1]], ("a", "b")))
    assert not data.equals(Dataset([[1.0, np.nan]], [[1]], label_names=("a",)))
    assert not data.equals(Dataset([[1.0, np.nan]], [[1]], train=[0]))
    assert not data.equals(Dataset([[1.0]], [[1]]))
    assert not Dataset([[1.0]], [[1]], test=[0]).equals(Dataset([[1.0]], [[1]], test=[]))


def test_card_is_reached_from_the_data_set():
    assert Dataset(np.eye(3), np.eye(3, 2, dtype=int)).card() is not None
    assert callable(skcamel.data.card)


def test_an_error_names_file_and_line_and_survives_pickling():
    error = pickle.loads(pickle.dumps(DataError("wrong; do this", path="folder/a.arff", line=3)))  # noqa: S301
    assert (str(error), error.path, error.line) == (
        "a.arff, line 3: wrong; do this",
        "folder/a.arff",
        3,
    )
    assert str(DataError("wrong")) == "wrong"


def test_every_public_name_can_be_reached():
    for name in skcamel.data.__all__:
        assert getattr(skcamel.data, name) is not None
    assert set(dir(skcamel.data)) == set(skcamel.data.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = skcamel.data.nothing


spelled = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.floats(allow_nan=False).map(lambda value: f"{value:.6f}"),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:+.3f}"),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(
        r"[+-]?([0-9]{1,22}\.?[0-9]{0,22}|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?", fullmatch=True
    ),
)


def test_names_of_labels_follow_their_columns():
    data = Dataset(np.eye(3), np.eye(3, dtype=int), label_names=("sea", "sun", "sand"))
    assert data.labels.columns == ("sea", "sun", "sand")
    assert data.labels[[2, 0]].columns == data.labels[1:, ...].columns == ("sea", "sun", "sand")
    assert (
        data.labels[:, ::-1].columns
        == np.flip(data.labels, axis=1).columns
        == ("sand", "sun", "sea")
    )
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

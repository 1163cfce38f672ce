"""Matlab files: usual variable names, orientation, label codes, damage."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.io import savemat

from any_dataset import datasets, same_bits
from skcamel.data import DataError, read_mat

X = np.arange(12.0).reshape(4, 3)
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])


def made(tmp_path, variables, **options):
    savemat(tmp_path / "made.mat", variables)
    return read_mat(tmp_path / "made.mat", **options)


@pytest.mark.parametrize(
    "variables",
    [
        {"data": X, "target": Y.T},
        {"data": X, "target": 2.0 * Y.T - 1},
        {"x": X, "Y": Y.astype(bool)},
        {"x": X, "y": sparse.csc_array(Y.astype(float))},
        {"X": X.T, "Y": Y},
        {"features": X, "labels": Y, "other": np.eye(9), "text": "words"},
    ],
)
def test_usual_variables_in_any_orientation(tmp_path, variables):
    data = made(tmp_path, variables)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y, Y)
    assert (data.name, data.train) == ("made", None)


def test_two_parts(tmp_path):
    names = ("Xtrain", "Ytrain", "Xtest", "Ytest")
    data = made(tmp_path, dict(zip(names, (X, Y.T, X[:1] + 1, Y.T[:, :1]), strict=True)))
    np.testing.assert_array_equal(data.X, np.vstack([X, X[:1] + 1]))
    assert data.train.tolist() == [0, 1, 2, 3]
    assert data.test.tolist() == [4]


def test_named_variables_and_sparse_features(tmp_path):
    variables = {"A": sparse.csc_array(X), "B": Y, "data": X, "target": Y}
    data = made(tmp_path, variables, features="A", labels="B")
    assert isinstance(data.X, sparse.csr_array)
    np.testing.assert_array_equal(data.X.toarray(), X)
    with pytest.raises(ValueError, match="Name both variables"):
        read_mat(tmp_path / "made.mat", features="A")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"stuff": X}, "no matrices data and target.*found 'stuff'"),
        ({"data": X, "target": np.ones((5, 2))}, r"data and target are \(4, 3\) and \(5, 2\)"),
        ({"data": X, "target": Y * 3}, "data and target: Y must hold only 0 and 1.* found 0, 3"),
        ({"data": np.empty((0, 0)), "target": np.empty((0, 0))}, "they are empty"),
        ({"data": X + 1j, "target": Y}, "data is no matrix of real numbers"),
        (
            {"train_data": X, "train_target": Y, "test_data": X[:, :2], "test_target": Y},
            "has other features or labels",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, variables, message):
    with pytest.raises(DataError, match=message):
        made(tmp_path, variables)


def test_damage_and_other_versions(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(600))
    with pytest.raises(DataError, match=r"no version 5 header .*, 7.3 by save\(…, '-v7'\)"):
        read_mat(path)
    savemat(path, {"data": X, "target": Y}, format="4")
    with pytest.raises(DataError, match="no version 5 header"):
        read_mat(path)
    savemat(path, {"data": X, "target": Y}, do_compression=True)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="damaged or no Matlab file"):
        read_mat(path)
    with pytest.raises(FileNotFoundError):
        read_mat(tmp_path / "none.mat")


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def packed(content):
    return element(15, zlib.compress(content))


def matrix(name, shape, *parts, flags=6):
    head = element(6, struct.pack("<II", flags, 0)) + element(5, struct.pack("<2i", *shape))
    return element(14, head + element(1, name.encode()) + b"".join(parts))


def file_of(*elements):
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100)
    return header + b"IM" + b"".join(elements)


def doubles(*values):
    return element(9, struct.pack(f"<{len(values)}d", *values))


def integers(*values):
    return element(5, struct.pack(f"<{len(values)}i", *values))


def thin(*parts, columns=1):
    return matrix("data", (2, columns), *parts, flags=5)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (matrix("data", (2, 2), doubles(1, 2, 3)), "cannot reshape array of size 3"),
        (matrix("data", (2, 2)), "data lacks indices or values"),
        (matrix("data", (2, 2), element(16, b"text")), "an element of type 16"),
        (thin(integers(0), integers(0, 1, 2), doubles(1)), "damaged"),
        (thin(integers(0), integers(0, 2, 1), doubles(1), columns=2), "non-decreasing"),
        (thin(integers(0), integers(0, 9), doubles(1)), "damaged"),
        (struct.pack("<II", 14, 2**31), "2147483648 bytes are announced"),
        (element(15, zlib.compress(b"few")), "is damaged"),
        (packed(matrix("data", (2, 2), doubles(1, 2, 3, 4))[:-9]), "bytes are announced"),
        (
            packed(struct.pack("<II", 14, 2**31) + matrix("data", (2, 2), doubles(1))[8:]),
            "compressed variables need 4.0 GiB, out of proportion",
        ),
        (matrix("data", (-2, 2), doubles()), "data is no matrix of real numbers"),
    ],
)
def test_sizes_and_indices_are_checked_before_use(tmp_path, data, message):
    path = tmp_path / "a.mat"
    path.write_bytes(file_of(matrix("target", (2, 1), doubles(1, 0)), data))
    with pytest.raises(DataError, match=message):
        read_mat(path)


def test_a_shape_that_nothing_fills_is_refused(tmp_path):
    path = tmp_path / "a.mat"
    data = matrix("X", (2**30, 1), integers(0), integers(0, 1), doubles(1), flags=5)
    for of_labels in (matrix("Y", (1, 1), doubles(1)), data.replace(b"X", b"Y")):
        path.write_bytes(file_of(data, of_labels))
        with pytest.raises(DataError, match=r"1073741824 .* need .* out of proportion"):
            read_mat(path)


@given(datasets(named=False))
def test_what_scipy_writes_comes_back(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("m") / "a.mat"
    for compressed in (False, True):
        savemat(path, {"X": data.X, "Y": data.Y}, do_compression=compressed)
        assert same_bits(read_mat(path), data)

"""Rows for a model: features found by name wherever they stand, labels on request, text by known values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcamel.data import DataError, Dataset
from skcamel.data.formats import Expected, match, read_labels, read_matching

EXPECTED = Expected(3, ("x", "y", "c"), {"c": ("blue", "red")}, ("l", "m"))
CELLS = {
    "x": ["1", "4"],
    "y": ["2", "5"],
    "c": ["red", "blue"],
    "l": ["0", "1"],
    "m": ["1", "1"],
    "other": ["what", "ever"],
}


@given(st.permutations(list(CELLS)))
def test_the_order_of_columns_does_not_matter(tmp_path_factory, order):
    path = tmp_path_factory.mktemp("t") / "new.csv"
    path.write_text(
        "\n".join(
            ",".join(line) for line in [order, *zip(*(CELLS[name] for name in order), strict=True)]
        )
    )
    rows = read_matching(path, EXPECTED, truth=True)
    np.testing.assert_array_equal(rows.X, [[1, 2, 1], [4, 5, 0]])
    np.testing.assert_array_equal(rows.Y, [[0, 1], [1, 1]])
    assert (set(rows.labels), rows.ignored, rows.by_position) == ({"l", "m"}, ("other",), False)
    np.testing.assert_array_equal(read_labels(path, ("m", "l")), [[1, 0], [1, 1]])
    assert read_matching(path, EXPECTED, truth=False).Y is None


def test_labels_are_not_read_unless_wanted(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("x,y,c,l\n1,2,red,\n")
    assert read_matching(path, EXPECTED, truth=False).labels == ("l",)
    with pytest.raises(DataError, match="the label 'm' of the model is missing"):
        read_matching(path, EXPECTED, truth=True)


def test_equal_names_are_taken_in_order():
    expected = Expected(3, ("a", "b", "a"), {}, ("l",))
    data = Dataset([[2.0, 1.0, 3.0]], [[1]], ("b", "a", "a"), ("l",))
    assert match(data, expected, truth=True).X.tolist() == [[1, 2, 3]]
    with pytest.raises(DataError, match="1 columns are called 'a', the model knows 2"):
        match(Dataset([[2.0, 1.0]], [[1]], ("b", "a"), ("l",)), expected, truth=False)


def test_a_model_without_names_takes_columns_in_their_order():
    data = Dataset([[2.0, 1.0]], [[1]], ("b", "a"), ("l",))
    rows = match(data, Expected(2, None, {}, ("l",)), truth=False)
    assert (rows.X.tolist(), rows.by_position) == ([[2, 1]], True)
    with pytest.raises(
        DataError, match="has 2 columns beside the labels, the model was fitted on 3; bring"
    ):
        match(data, Expected(3, None, {}, ("l",)), truth=False)


def test_decimal_commas_in_new_rows(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("x;y;c\n1,5;2;red\n")
    assert read_matching(path, EXPECTED, truth=False).X.tolist() == [[1.5, 2, 1]]


@pytest.mark.parametrize("block", [6, 2**20])
def test_missing_text_is_nan_in_every_block(tmp_path, monkeypatch, block):
    monkeypatch.setattr("skcamel.data.separated.BLOCK_BYTES", block)
    path = tmp_path / "new.csv"
    path.write_text("x,y,c\n1,2,\n1,2,red\n1,2,?\n")
    np.testing.assert_array_equal(
        read_matching(path, EXPECTED, truth=False).X[:, 2], [np.nan, 1, np.nan]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x,y,c\n1,2,red\n1,2,green\n",
            "'green' in column 'c', row 2, which had the values 'blue', 'red'; write one of these",
        ),
        (
            "x,y,c\n1,2,red\none,2,red\n",
            "'one' in column 'x', row 2, which holds numbers; correct the cell",
        ),
    ],
)
def test_cells_that_the_model_cannot_know(tmp_path, text, message):
    (tmp_path / "new.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_matching(tmp_path / "new.csv", EXPECTED, truth=False)


def test_text_that_looks_like_numbers_or_dates_stays_text(tmp_path):
    expected = Expected(
        3,
        ("n", "d", "t"),
        {"n": ("1", "2.0"), "d": ("2020-01-01", "later"), "t": ("TRUE", "maybe")},
        ("l",),
    )
    (tmp_path / "new.csv").write_text("n,d,t\n2.0,2020-01-01,TRUE\n1,later,maybe\n")
    assert read_matching(tmp_path / "new.csv", expected, truth=False).X.tolist() == [
        [2, 0, 0],
        [1, 1, 1],
    ]


@pytest.mark.parametrize("name", ["t.svm", "t.mat"])
def test_labels_of_files_without_names(tmp_path, name):
    from scipy.io import savemat

    if name == "t.mat":
        savemat(tmp_path / name, {"data": np.eye(3, 5), "target": np.eye(3, 2)})
    else:
        (tmp_path / name).write_text("1 1:1\n2 2:1\n1,2 3:1\n")
    assert read_labels(tmp_path / name, ("a", "b")).shape == (3, 2)
    with pytest.raises(DataError, match="has 2 labels, 3 are needed"):
        read_labels(tmp_path / name, ("a", "b", "c"))
    if name == "t.mat":
        with pytest.raises(DataError, match="has 2 labels, the model 3"):
            read_matching(tmp_path / name, Expected(5, None, {}, ("a", "b", "c")), truth=True)


def test_labels_of_an_arff_file(tmp_path):
    (tmp_path / "t.arff").write_text(
        "@relation r\n@attribute b {0,1}\n@attribute x numeric\n@attribute a"
        " {0,1}\n@data\n1,5,0\n0,6,1\n"
    )
    np.testing.assert_array_equal(read_labels(tmp_path / "t.arff", ("a", "b")), [[0, 1], [1, 0]])

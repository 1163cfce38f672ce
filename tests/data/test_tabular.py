"""CSV, TSV and Parquet: label columns, text columns, round trips, errors."""

import csv
import os
import sys
import threading
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from any_dataset import datasets, same_bits
from skcamel.data import DataError, Dataset, read_table, write_table


@pytest.fixture
def read(tmp_path):
    def read_text(text, suffix=".csv", **options):
        path = tmp_path / f"made{suffix}"
        path.write_bytes(text.encode())
        return read_table(path, **{"labels": 1, **options})

    return read_text


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["l:b", "l:a"], ("l:a", "l:b")),
        ("l:", ("l:a", "l:b")),
        (1, ("z",)),
        (2, ("l:b", "z")),
        (-2, ("x", "l:a")),
        ([1, 3], ("l:a", "z")),
        (np.int64(1), ("z",)),
    ],
)
def test_label_columns_by_name_prefix_count_or_position(read, labels, names):
    data = read("x,l:a,l:b,z\n1,0,1,0\n0,1,1,1\n", labels=labels)
    assert data.label_names == names
    assert set(data.feature_names) | set(names) == {"x", "l:a", "l:b", "z"}


def test_separators_go_by_suffix(read):
    assert read("x\tl\n1\t0\n", ".tsv").X.tolist() == [[1]]
    assert read("x;l\n1;0\n", ".txt", separator=";").X.tolist() == [[1]]
    with pytest.raises(ValueError, match=r"ends in '.txt'; known are .csv"):
        read("x;l\n1;0\n", ".txt")
    with pytest.raises(ValueError, match="one ASCII character"):
        read("x;l\n1;0\n", separator=";;")


def test_missing_cells_words_and_quotes(read):
    with pytest.warns(
        UserWarning,
        match=r"made.csv: text in 't' is numbered in the order of its sorted values; where that",
    ):
        data = read(
            '"a ""b"",'
            ' c",t,w,l\r\n1.5,red,yes,TRUE\r\n,blue,no,0\r\n\r\nNA,red,,1\r\n"3",blue,yes,false\r\n'
        )
    assert data.feature_names == ('a "b", c', "t", "w")
    np.testing.assert_array_equal(
        data.X, [[1.5, 1, 1], [np.nan, 0, 0], [np.nan, 1, np.nan], [3, 0, 1]]
    )
    assert data.Y.tolist() == [[1], [0], [1], [0]]


def test_text_columns_are_dropped_expanded_or_numbered(read):
    text = "id,colour,x,l\np1,red,1,0\np2,blue,2,1\np3,green,3,1\np4,red,4,0\n"
    left, numbered = (
        "'id' left out, as it only numbers or names the rows",
        "text in 'colour' is numbered",
    )
    with pytest.warns(UserWarning, match=left), pytest.warns(UserWarning, match=numbered):
        data = read(text)
    assert data.dropped == ("id",)
    assert data.categories == {"colour": ("blue", "green", "red")}
    np.testing.assert_array_equal(data.X, [[2, 1], [0, 2], [1, 3], [2, 4]])
    with pytest.warns(
        UserWarning, match=r"made.csv: 'id' left out, as it only numbers or names the rows\."
    ):
        wide = read(text, nominal="onehot")
    assert wide.feature_names == ("colour=blue", "colour=green", "colour=red", "x")
    np.testing.assert_array_equal(wide.X[:, :3], [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(("name", "called"), [("", "column1"), ("Unnamed: 0", "Unnamed: 0")])
def test_a_first_column_without_name_that_counts_rows_is_no_feature(read, name, called):
    with pytest.warns(UserWarning, match="left out, as it only numbers or names the rows"):
        data = read(f"{name},x,l\n0,5,0\n1,7,1\n2,6,1\n")
    assert (data.feature_names, data.dropped, data.X.tolist()) == (
        ("x",),
        (called,),
        [[5], [7], [6]],
    )
    assert read(f"{name},x,l\n0,5,0\n2,7,1\n").d == 2  # it does not count
    assert read("n,x,l\n0,5,0\n1,7,1\n").d == 2  # it has a name


def test_semicolons_and_decimal_commas(read):
    expected = [[1.5, -0.25], [2.0, 1e3]]
    assert read("x;y;l\n1,5;-,25;0\n2;1e3;1\n").X.tolist() == expected
    assert read('"x, y";y;l\n1,5;"-0,25";0\n2,0;1000;1\n').X.tolist() == expected
    with pytest.warns(UserWarning, match="text in 't' is numbered"):
        data = read("t;x;l\na,b;1,5;0\na,b;2,5;1\nc;3,5;1\n")
    assert data.categories == {"t": ("a,b", "c")}
    assert data.X[:, 1].tolist() == [1.5, 2.5, 3.5]


@pytest.mark.filterwarnings("ignore:made.csv")
def test_a_quoted_cell_may_span_lines(read, monkeypatch):
    text = 'note,x,l\n"two\nlines",1,0\n"a ""quote""",2,1\n'
    for block_bytes in (12, 2**20):
        monkeypatch.setattr("skcamel.data.separated.BLOCK_BYTES", block_bytes)
        assert read(text).X[:, -1].tolist() == [1, 2]


def test_labels_in_plus_and_minus_one(read):
    assert read("x,l,m\n1,-1,1\n2,1,0\n", labels=2).Y.tolist() == [[0, 1], [1, 0]]


def test_tables_without_names(read):
    data = read("1.5,0\n2.5,1\n", header=False)
    assert data.feature_names == ("column1",)
    assert data.n == 2
    with pytest.raises(DataError, match="holds numbers, not column names; add a line of names"):
        read("1,1\n2,0\n")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x,l\n1,0\n1\n", 3, "1 cells, the first line has 2"),
        ('x,l\n1,0\n"a\nb",1\n1,2,3\n', 5, "3 cells, the first line has 2"),
        ("x,l\n1,2\n", None, "label 'l' is 2 in row 1; labels are 0 and 1"),
        ("x,l\n1,0\n1,maybe\n", None, "'maybe' in column 'l', row 2; labels are 0 and 1"),
        ("x,l\n1,-1\n1,0\n", None, "label 'l' holds -1 and 0"),
        ('x,l\n"1,0\n', 2, "close the quotes"),
        ('x,l\n1,"0\n2,1\n', 2, "close the quotes"),
        ('"x,l\n1,0\n2,1\n', 1, "close the quotes"),
        ("x,l\n", 2, "no row follows the column names"),
        ("", 1, "the first line must hold the column names"),
        ("x,l\n1,\x00\n", 2, "holds zero bytes"),
        ("l\n1\n", None, "asks for 1 labels, the table has 1 columns"),
        ("x,x,l\n1,1,1\n", 1, "two columns are called 'x'; rename one"),
        (",column1,l\n1,1,1\n", 1, "two columns are called 'column1'; rename one"),
        ("x,l\na,0\nb,1\nc,1\n", None, "no feature is left"),
    ],
)
@pytest.mark.filterwarnings("ignore:made.csv")
def test_errors_name_the_line_and_the_cure(read, text, line, message):
    with pytest.raises(DataError) as caught:
        read(text)
    assert message in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("q", "no column begins with 'q'"),
        (["q"], "no column is called 'q'"),
        ([7], "position 7"),
        ([-1], "position -1"),
        (0, "0 labels"),
        (9, "2 labels"),
    ],
)
def test_labels_that_are_not_there_are_refused(read, labels, message):
    with pytest.raises(DataError, match=message):
        read("x,l\n1,0\n", labels=labels)


def assume_named(data):
    """No column gets another name, and none may be taken for row numbers."""
    assume(all(name.strip() for name in (*data.feature_names, *data.label_names)))
    assume(data.feature_names[0] not in ("column1", "Unnamed: 0"))


@pytest.mark.filterwarnings("ignore:A table does not hold")
@given(datasets(storage=("dense",)), st.sampled_from(["a.csv", "a.tsv", "a.csv.gz", "a.parquet"]))
def test_round_trip(tmp_path_factory, data, name):
    assume_named(data)
    path = tmp_path_factory.mktemp("t") / name
    write_table(data, path)
    assert same_bits(read_table(path, labels=data.q), data)


@given(datasets(storage=("sparse",)))
def test_values_of_sparse_data_come_back(tmp_path_factory, data):
    assume_named(data)
    path = tmp_path_factory.mktemp("t") / "a.csv"
    with pytest.warns(UserWarning, match="that X is sparse"):
        write_table(data, path)
    assert read_table(path, labels=data.q).equals(data)


@pytest.mark.filterwarnings("ignore:A table does not hold")
def test_no_name_in_a_table_begins_a_formula(tmp_path):
    names = ("=cmd|' /C calc'!A0", "\n@SUM(A1)", "'=quoted", "-1", "+1+1", "plain"), ("@l", "m")
    data = Dataset(np.arange(12.0).reshape(2, 6), [[1, 0], [0, 1]], *names)
    for suffix in (".csv", ".tsv"):
        path = tmp_path / f"a{suffix}"
        write_table(data, path)
        with path.open(newline="") as file:
            written = next(csv.reader(file, delimiter="\t" if suffix == ".tsv" else ","))
        assert written == [
            "'=cmd|' /C calc'!A0",
            "'\n@SUM(A1)",
            "''=quoted",
            "-1",
            "'+1+1",
            "plain",
            "'@l",
            "m",
        ]
        assert read_table(path, labels=["@l", "m"]).equals(data)


def test_writer_says_what_is_lost(tmp_path):
    with pytest.warns(
        UserWarning, match=r"which columns are labels \(the last 1 here\), train and test parts"
    ):
        write_table(Dataset([[1.0]], [[1]], train=[0]), tmp_path / "a.csv")
    with pytest.raises(ValueError, match="known are"):
        write_table(Dataset([[1.0]], [[1]]), tmp_path / "a.doc")


def test_parquet_from_other_software(tmp_path):
    frame = pd.DataFrame(
        {
            "x": [1, 2, None, 4],
            "flag": [True, False, True, True],
            "c": pd.Categorical(["u", "v", "u", None]),
            "name": list("pqrs"),
            "l": [True, False, True, True],
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    with (
        pytest.warns(UserWarning, match="'name' left out"),
        pytest.warns(UserWarning, match="text in 'c' is numbered"),
    ):
        data = read_table(tmp_path / "a.parquet", labels=["l"])
    assert data.dropped == ("name",)
    np.testing.assert_array_equal(data.X, [[1, 1, 0], [2, 0, 1], [np.nan, 1, 0], [4, 1, np.nan]])
    assert data.Y.tolist() == [[1], [0], [1], [1]]


@pytest.mark.filterwarnings("ignore:a.parquet")
def test_parquet_of_every_type_gives_the_same_numbers(tmp_path):
    values = [3, None, 0, 1]
    kinds = [
        pa.int8(),
        pa.uint64(),
        pa.float16(),
        pa.float32(),
        pa.float64(),
        pa.dictionary(pa.int8(), pa.int64()),
    ]
    columns = [
        (
            pa.array(
                np.array([3, 0, 0, 1], dtype=np.float16), mask=np.array([0, 1, 0, 0], dtype=bool)
            )
            if kind == pa.float16()
            else (
                pa.array(values).dictionary_encode()
                if pa.types.is_dictionary(kind)
                else pa.array(values, kind)
            )
        )
        for kind in kinds
    ]
    text = ["b", None, "a", "b"]
    texts = [
        pa.array(text),
        pa.array(text, pa.large_string()),
        pa.array(text).dictionary_encode(),
        pa.nulls(4),
    ]
    table = pa.Table.from_arrays(
        [*columns, *texts, pa.array([True, False, True, True])],
        names=[*(f"c{k}" for k in range(10)), "l"],
    )
    pq.write_table(table, tmp_path / "a.parquet")
    data = read_table(tmp_path / "a.parquet", labels=["l"])
    np.testing.assert_array_equal(data.X[:, :6], np.array([[3, np.nan, 0, 1]] * 6).T)
    np.testing.assert_array_equal(data.X[:, 6:9], np.array([[1, np.nan, 0, 1]] * 3).T)
    assert np.isnan(data.X[:, 9]).all()
    assert data.Y[:, 0].tolist() == [1, 0, 1, 1]


def test_parquet_that_cannot_be_read(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(DataError, match="damaged or no Parquet file"):
        read_table(path, labels=1)
    pd.DataFrame({"x": [[1], [2]], "l": [0, 1]}).to_parquet(path)
    with pytest.raises(DataError, match="column 'x' holds lists; name it as labels"):
        read_table(path, labels=1)
    pd.DataFrame({"x": np.empty(0), "l": np.empty(0)}).to_parquet(path)
    with pytest.raises(DataError, match="holds no row"):
        read_table(path, labels=1)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.parquet", labels=1)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"need pyarrow: pip install skcamel\[tables\]"):
        read_table(path, labels=1)


def test_nominal_must_be_known(read):
    with pytest.raises(ValueError, match="nominal must be one of index, onehot"):
        read("x,l\n1,0\n", nominal="other")


@pytest.mark.filterwarnings("ignore:A table does not hold")
@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_peak_memory_is_three_times_the_arrays_at_most(tmp_path, name, rng):
    data = Dataset(rng.normal(size=(10_000, 100)).round(4), rng.integers(0, 2, size=(10_000, 10)))
    write_table(data, tmp_path / name)
    tracemalloc.start()
    read = read_table(tmp_path / name, labels=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 3 * (read.X.nbytes + read.Y.nbytes) + 20e6
    assert read.equals(data)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with a name")
def test_a_table_can_come_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    writer = threading.Thread(
        target=(tmp_path / "pipe.csv").write_text, args=("x,a\n1.5,1\n2.5,0\n",)
    )
    writer.start()
    data = read_table(tmp_path / "pipe.csv", labels=["a"])
    writer.join()
    assert (data.X.tolist(), data.Y.tolist()) == ([[1.5], [2.5]], [[1], [0]])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_unknown_labels_come_back(tmp_path, suffix):
    Y = np.array([[1.0, 0.0], [np.nan, 1.0], [0.0, np.nan], [1.0, 1.0]])
    data = Dataset(np.arange(8.0).reshape(4, 2) ** 2, Y, name="gaps")
    with pytest.warns(UserWarning, match="does not hold"):
        write_table(data, tmp_path / f"gaps{suffix}")
    assert read_table(tmp_path / f"gaps{suffix}", labels=2).equals(data)

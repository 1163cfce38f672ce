"""Table files: CSV in any dialect, Parquet, spreadsheets, JSON lines, matrices, round trips."""

import csv
import datetime
import gzip
import importlib
import io
import os
import sys
import threading
import zipfile
from unittest.mock import patch

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import sparse

from any_dataset import datasets, same, same_bits
from skcamel.data import DataError, Dataset, read_columns, read_table, tables, write_table
from skcamel.data.cells import PLAIN, Cells, plain

DAY = datetime.date(2001, 2, 3)
ODD = (None, "", " NA ", "None", "\u2003-", "\x1c1", "007", "1,5", "+-1", "red", "true", "\u0663")


@pytest.fixture
def read(tmp_path):
    def read_content(content, name="made.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(path, **options) if "labels" in options else read_columns(path, **options)

    return read_content


# CSV


@pytest.mark.parametrize(
    "text",
    [
        *("a,b\n1,x\n2,y\n", "a;b\n1;x\n2;y\n", "a\tb\n1\tx\n2\ty\n", "a|b\n1|x\n2|y\n"),
        "sep=;\na;b\n1;x\n2;y\n",
        '"sep=|"\r\na|b\r\n1|x\r\n2|y\r\n',
        "a,b\r1,x\r2,y\r",
        '\n"a",b\n"1",x\n\n2,"y"',
    ],
)
def test_dialects(read, text):
    assert read(text).to_pydict() == {"a": ["1", "2"], "b": ["x", "y"]}


@pytest.mark.parametrize(("name", "usual"), [("made.csv", "a"), ("made.tsv", "a,b")])
def test_the_separator_by_which_records_agree(read, name, usual):
    assert read("a;b\nx, y;1\nz;2\n", name).to_pydict() == {"a": ["x, y", "z"], "b": ["1", "2"]}
    quoted = read('a,b\n"x;\ny",1\n"z;z",2\n', name).to_pydict()
    assert quoted == {"a": ["x;\ny", "z;z"], "b": ["1", "2"]}
    both = read("a,b\tc\n1,2\t3\n", name)
    assert (both.num_columns, both.column_names[0]) == (2, usual)
    assert read("a\nx, y\nz\n", name).to_pydict() == {"a": ["x, y", "z"]}
    assert read("a, b;c;d\n1,5;2;3\n", name).column_names == ["a, b", "c", "d"]
    assert read("a:b\n1:2\n", name, separator=":").to_pydict() == {"a": ["1"], "b": ["2"]}


def test_what_names_no_table_is_refused(read):
    assert read("x;l\n1;0\n", ".txt", separator=";").to_pydict() == {"x": ["1"], "l": ["0"]}
    with pytest.raises(ValueError, match=r"ends in '.txt'; known are .csv"):
        read("x;l\n1;0\n", "a.txt")
    with pytest.raises(ValueError, match="one ASCII character"):
        read("x;l\n1;0\n", separator=";;")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings(read, encoding):
    text = "größe,b\n" + "naïve,1\n" * 3
    assert read(text.encode(encoding)).to_pydict() == {"größe": ["naïve"] * 3, "b": ["1"] * 3}
    assert read("\ufeffa,b\nä,1\n".encode("utf-16-be")).to_pydict() == {"a": ["ä"], "b": ["1"]}
    undefined_in_cp1252 = read(b"a,b\n\x80\x81,1\n").to_pydict()
    assert undefined_in_cp1252 == {"a": ["\x80\x81"], "b": ["1"]}
    assert read(b"a,b\n\x80,1\n").to_pydict() == {"a": ["€"], "b": ["1"]}


CELLS = st.sampled_from(["", "NA", "007", "1,5", "a,b", 'say "so"', "two\nlines", " ä "])


@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8),
    st.sampled_from(",;\t|"),
    st.sampled_from([12, 64, 2**20]),
)
def test_every_cell_is_what_the_csv_module_reads(tmp_path_factory, rows, separator, block_bytes):
    path = tmp_path_factory.mktemp("t") / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([("a", "b", "c"), *rows])
    with patch("skcamel.data.tables.BLOCK_BYTES", block_bytes):
        table = read_columns(path, separator=separator)
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == rows


def test_columns_without_names(read):
    assert read(",b\n1,2\n").column_names == ["column1", "b"]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ('\nx,l\n\n1,0\n"a\nb",1\n1,2,3\n', None, "Row #4: Expected 2 columns, got 3: 1,2,3)"),
        ('x,l\n"1,0\n', 2, "close the quotes"),
        ('x,l\n1,"0\n2,1\n', 2, "close the quotes"),
        ('"x,l\n1,0\n2,1\n', 1, "close the quotes"),
        ('a,b\n1,"' + "x\n" * 2**20, 2, "a quote is left open"),
        ('x,l\n"a"b,0\n2,"1\n', 2, "close the quotes"),
        ("x,l\n", None, "holds no row below the column names"),
        ("", 1, "the first line must hold the column names"),
        ("x,l\n1,\x00\n", 2, "holds zero bytes"),
        ("a,b\n".encode("utf-16-le"), 1, "holds zero bytes; is it a text file"),
        (b"\xff\xfea", None, "begins like UTF-16 text and is not"),
        ("x,x,l\n1,1,1\n", None, "two columns are called 'x'; rename one"),
        (",column1,l\n1,1,1\n", None, "two columns are called 'column1'; rename one"),
        ("1,1\n2,0\n", None, "two columns are called '1'; rename one"),
    ],
)
def test_a_damaged_file_is_refused_with_the_line_and_what_to_do(read, content, line, message):
    with pytest.raises(DataError) as caught:
        read(content)
    assert message in str(caught.value)
    assert caught.value.line == line


# Parquet


def test_parquet_of_every_kind(tmp_path):
    frame = pd.DataFrame({"t": ["a", "b"], "d": pd.to_datetime([DAY, None])}, index=[5, 7])
    frame.to_parquet(tmp_path / "a.parquet")
    assert read_columns(tmp_path / "a.parquet").column_names == ["t", "d"]
    columns = {
        "dictionary": pa.array(["x", None]).dictionary_encode(),
        "list": pa.array([["a"], []]),
        "decimal": pa.array([1, None], pa.decimal128(5, 2)),
        "large": pa.array(["u", "v"], pa.large_string()),
        "bytes": pa.array([b"u", b"v"]),
        "when": pa.array([DAY, None]),
        "half": pa.array(np.array([1, 2], dtype=np.float16)),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = read_columns(tmp_path / "a.parquet")
    assert table.column("bytes").to_pylist() == ["u", "v"]
    for name in ("dictionary", "list", "decimal", "large", "when", "half"):
        assert table.column(name).to_pylist() == columns[name].to_pylist()
    for wrong in ([{"p": 1}, {"p": 2}], [[["p"]], []]):
        pq.write_table(pa.table({"x": [1, 2], "deep": wrong}), tmp_path / "a.parquet")
        with pytest.raises(DataError, match=r"column 'deep' holds .*; give each of its parts"):
            read_columns(tmp_path / "a.parquet")


def test_parquet_that_cannot_be_read(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(DataError, match="damaged or no Parquet file"):
        read_columns(path)
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), path)
    with pytest.raises(DataError, match="holds no row"):
        read_columns(path)
    with pytest.raises(FileNotFoundError):
        read_columns(tmp_path / "none.parquet")


# Spreadsheets


@pytest.fixture
def book(tmp_path):
    book = openpyxl.Workbook()
    names = [None, "n", "x", "mixed", None, "day", "time", "flag"]
    first = [None, 1, 1.5, 2.0, None, DAY, datetime.timedelta(hours=30), True]
    for row in ([], names, first, [], [None, 2, "NA", "z", None, None, None, False]):
        book.active.append(row)
    book.create_sheet("other").append(["a"])
    book["other"].append([7])
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def test_spreadsheets(book):
    cells = {"n": [1, 2], "x": ["1.5", "NA"], "mixed": ["2", "z"], "flag": [True, False]}
    times = {"day": [str(DAY), None], "time": ["1 day, 6:00:00", None]}
    assert read_columns(book).to_pydict() == cells | times
    assert read_columns(book, sheet="other").to_pydict() == {"a": [7]}
    assert read_columns(book, sheet=1).to_pydict() == {"a": [7]}
    with pytest.raises(DataError, match=r"a\.xlsx: sheet 'third' cannot be read, .* third"):
        read_columns(book, sheet="third")
    book.write_bytes(b"no workbook")
    with pytest.raises(DataError, match=r"a\.xlsx: sheet 0 cannot be read"):
        read_columns(book)


@pytest.mark.parametrize(
    ("found", "made"),
    [
        *((b'r="A2"', b"r='XFD1048576'"), (b'r="A2"', b'r ="XFD1048576"')),
        *((b'r="A2"', b'r="xfd1048576"'), (b'r="A2"', b'r="ZZZZ9000"')),
        (b'r="A2"', b'r="H99999999"'),
        (b"</row></sheetData>", b'</row><row r="90000000"><c><v>1</v></c></row></sheetData>'),
        (b"sheet1.xml", b"elsewhere.XML"),
    ],
)
def test_far_cells_in_any_spelling_do_not_end_the_process(tmp_path, found, made):
    book, path = openpyxl.Workbook(), tmp_path / "far.xlsx"
    book.active.append(["x"])
    book.active.append([1])
    if made == b"elsewhere.XML":
        book.active["XFD1048576"] = 1
    book.save(tmp_path / "sound.xlsx")
    with zipfile.ZipFile(tmp_path / "sound.xlsx") as sound, zipfile.ZipFile(path, "w") as far:
        for part in sound.infolist():
            name = part.filename.encode().replace(found, made).decode()
            far.writestr(name, sound.read(part).replace(found, made))
    with pytest.raises(DataError, match=r"far\.xlsx: (sheet 0 cannot be read|.* out of prop)"):
        read_columns(path)


# JSON lines and standard input


def test_json_lines(read):
    text = """{"a": 1, "t": ["p", "q"], "m": 1.0}

{"b": "x", "a": 2.5, "t": [], "m": "y"}
{"t": null, "m": true}
"""
    expected = {"a": [1, 2.5, None], "t": [["p", "q"], [], None]}
    expected |= {"m": ["1", "y", "true"], "b": [None, "x", None]}
    assert read(text, "a.jsonl").to_pydict() == expected
    assert read(gzip.compress(text.encode()), "a.ndjson.gz").to_pydict() == expected
    huge = read(f'{{"a": {2**63}}}\n{{"a": 2}}\n', "a.jsonl").to_pydict()
    assert huge == {"a": [str(2**63), "2"]}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a": null}\n{"a": {"b": 1}}\n', None, "column 'a' holds struct"),
        ('{"a": [[1], []]}\n', None, "column 'a' holds list"),
        ('{"a": 1}\n[1]\n', 2, "is no object; write one in each line"),
        ('{"a": 1}\n{"a":\n', 2, "is no JSON"),
        ("[" * 100_000, 1, "is no JSON"),
        ('{"a": "\\ud800"}\n', None, "cannot be read"),
        ("{}\n", None, "holds no row|no column"),
    ],
)
def test_what_is_no_line_of_json_is_refused(read, text, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read(text, "a.jsonl")
    assert caught.value.line == line


def test_standard_input(monkeypatch):
    for content in (b"a\n7\n", b' \n{"a": 7}\n'):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert [float(cell) for cell in read_columns("-")["a"].to_pylist()] == [7]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(DataError, match=r"^standard input: cannot be read .* got 1"):
        read_columns("-")


def test_a_table_can_come_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    content = ("x,a\n1.5,1\n2.5,0\n",)
    writer = threading.Thread(target=(tmp_path / "pipe.csv").write_text, args=content)
    writer.start()
    data = read_table(tmp_path / "pipe.csv", labels="a")
    writer.join()
    assert (data.X.tolist(), data.Y.tolist()) == ([[1.5], [2.5]], [[1], [0]])


def test_what_is_needed_is_said(book, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"python-calamine: pip install 'skcamel\[tables\]'"):
        read_columns(book)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in ("skcamel.data.tables", "skcamel.data.batches"):
        monkeypatch.delitem(sys.modules, name)
        with pytest.raises(ImportError, match=r"need pyarrow: pip install 'skcamel\[tables\]'"):
            importlib.import_module(name)


# Data sets


def test_plain_numbers_are_a_matrix_and_other_cells_stay_a_table(read):
    data = read("x,y,l\n1.5, 2,1\nNA,-1e3,0\n", labels="l")
    np.testing.assert_array_equal(data.X, [[1.5, 2], [np.nan, -1e3]])
    assert (data.feature_names, data.Y.tolist()) == (("x", "y"), [[1], [0]])
    assert data.table.to_pydict() == {"x": ["1.5", "NA"], "y": [" 2", "-1e3"]}
    assert read("x,l\n1.5,1\n", labels="l").table is None
    for cells in (["1,5"], ["007"], ["$3"], ["red"], ["2020-01-01"], ["yes"]):
        data = read("x;l\n" + "".join(f"{cell};1\n" for cell in cells), labels="l")
        assert data.X.to_pydict() == data.table.to_pydict() == {"x": cells}
        assert (data.n, data.d, data.card().d) == (1, 1, 1)


@given(st.lists(st.one_of(st.from_regex(PLAIN, fullmatch=True), st.sampled_from(ODD))))
@example(["+5", "1.", ".5", "-inf", "1e999", "1e-999", " NaN\n"])
def test_a_column_of_plain_numbers_is_read_at_once_as_cells_are_read_one_by_one(texts):
    X, odd = tables.numbers_of(pa.table({"x": pa.array(texts, pa.string())}), "made.csv")
    found = Cells.of(texts)
    numbers = plain(found.values)
    assert (odd == "x") == (numbers is None)
    if not odd:
        np.testing.assert_array_equal(X[:, 0], numbers[found.codes])


@pytest.mark.parametrize(("name", "called"), [("", "column1"), ("Unnamed: 0", "Unnamed: 0")])
def test_a_first_column_without_name_that_counts_rows_is_no_feature(read, name, called):
    with pytest.warns(UserWarning, match=f"'{called}' left out, as it only numbers the rows"):
        data = read(f"{name},x,l\n0,5,0\n1,7,1\n2,6,1\n", labels="l")
    assert (data.feature_names, data.dropped) == (("x",), (called,))
    assert data.X.tolist() == [[5], [7], [6]]
    assert read(f"{name},x,l\n0,5,0\n2,7,1\n", labels="l").d == 2  # it does not count
    assert read("n,x,l\n0,5,0\n1,7,1\n", labels="l").d == 2  # it has a name


@pytest.mark.filterwarnings("ignore:A table does not hold")
@given(datasets(), st.sampled_from(["a.csv", "a.tsv", "a.csv.gz", "a.parquet"]))
def test_round_trip(tmp_path_factory, data, name):
    """No column gets another name, and none may be taken for row numbers."""
    assume(all(name.strip() for name in (*data.feature_names, *data.label_names)))
    assume(data.feature_names[0] not in ("column1", "Unnamed: 0"))
    path = tmp_path_factory.mktemp("t") / name
    write_table(data, path)
    back = read_table(path, labels=data.q)
    assert same(back, data)
    assert sparse.issparse(data.X) or same_bits(back, data)


@pytest.mark.filterwarnings("ignore:A table does not hold")
@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.parquet"])
def test_words_and_unknown_labels_come_back(tmp_path, name):
    cells = pa.table({"=sum": ["red", "=1+1", ""], "n": ["007", "x;y", 'say "so"\n']})
    data = Dataset(cells, [[1, np.nan], [np.nan, 0], [1, 1]], label_names=["@l", "m"])
    write_table(data, tmp_path / name)
    back = read_table(tmp_path / name, labels=["@l", "m"])
    assert same(back, data)
    assert back.sha256 == data.sha256
    if name == "a.csv":  # no name begins a formula
        with (tmp_path / name).open(newline="") as file:
            assert next(csv.reader(file)) == ["'=sum", "n", "'@l", "m"]


def test_writer_says_what_is_lost(tmp_path):
    lost = r"which columns are labels \(the last 1 here\), sparse storage, and parts"
    with pytest.warns(UserWarning, match=lost):
        write_table(Dataset([[1.0]], [[1]], train=[0]), tmp_path / "a.csv")
    with pytest.raises(ValueError, match="known are"):
        write_table(Dataset([[1.0]], [[1]]), tmp_path / "a.doc")

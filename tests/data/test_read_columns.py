"""Columns of any table file: dialects and encodings of CSV, types decided by whole columns, spreadsheets, JSON lines, standard input."""

import csv
import datetime
import gzip
import io
import sys

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcamel.data import DataError
from skcamel.data.labels import GAPS
from skcamel.data.readers import read_columns, read_plain

DAY = datetime.date(2001, 2, 3)


@pytest.fixture
def read(tmp_path):
    def read_content(content, name="made.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_columns(path, **options)

    return read_content


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x\n2,y\n",
        "a;b\n1;x\n2;y\n",
        "a\tb\n1\tx\n2\ty\n",
        "a|b\n1|x\n2|y\n",
        "sep=;\na;b\n1;x\n2;y\n",
        '"sep=|"\r\na|b\r\n1|x\r\n2|y\r\n',
        "a,b\r1,x\r2,y\r",
        '"a",b\n"1",x\n\n2,"y"',
        "a,b,\n1,x,\n2,y,\n",
    ],
)
def test_dialects(read, text):
    assert read(text).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("name", ["made.csv", "made.tsv"])
def test_the_separator_by_which_records_agree(read, name):
    assert read("a;b\nx, y;1\nz;2\n", name).to_pydict() == {"a": ["x, y", "z"], "b": [1, 2]}
    assert read('a,b\n"x;\ny",1\n"z;z",2\n', name).to_pydict() == {
        "a": ["x;\ny", "z;z"],
        "b": [1, 2],
    }
    both = "a,b\tc\n1,2\t3\n"
    assert read(both, name).num_columns == 2
    assert read(both, name).column_names[0] == {"made.csv": "a", "made.tsv": "a,b"}[name]
    assert read("a\nx, y\nz\n", name).to_pydict() == {"a": ["x, y", "z"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings(read, encoding):
    text = "größe,b\n" + "naïve,1\n" * 3
    assert read(text.encode(encoding)).to_pydict() == {"größe": ["naïve"] * 3, "b": [1] * 3}
    assert read("\ufeffa,b\nä,1\n".encode("utf-16-be")).to_pydict() == {"a": ["ä"], "b": [1]}
    assert read(b"a,b\n\x80\x81,1\n").to_pydict() == {
        "a": ["\x80\x81"],
        "b": [1],
    }  # undefined in cp1252
    assert read(b"a,b\n\x80,1\n").to_pydict() == {"a": ["€"], "b": [1]}


def test_decimal_commas(read):
    assert read("a;b\n1,5;1.234\n-,25;2\n").to_pydict() == {"a": [1.5, -0.25], "b": ["1.234", "2"]}
    assert read("a;b\n1,234;1.5\n2,111;2.5\n").to_pydict() == {
        "a": ["1,234", "2,111"],
        "b": [1.5, 2.5],
    }  # thousands, perhaps
    assert read("a;b\n0,125;x\n").to_pydict() == {"a": [0.125], "b": ["x"]}


def test_types_are_those_of_whole_columns(read, monkeypatch):
    monkeypatch.setattr("skcamel.data.separated.BLOCK_BYTES", 64)
    n = 50
    table = read(
        "a,b,c,d,e\n"
        + "1,007,1,0,2001-02-03\n" * n
        + "-,8,1.5,1,NaT\n"
        + "2,9,later,0,2001-02-03\n"
    )
    assert [str(kind) for kind in table.schema.types] == [
        "int64",
        "string",
        "string",
        "int64",
        "date32[day]",
    ]
    assert table.column("a").to_pylist() == [1] * n + [None, 2]
    assert table.column("b").to_pylist() == ["007"] * n + ["8", "9"]
    late = read("a,b\n" + "1,x\n" * n + "02,y\n")
    assert late.column("a").to_pylist() == ["1"] * n + ["02"]
    assert read("a,b\n0x1F, 007\n2,8\n").to_pydict() == {"a": ["0x1F", "2"], "b": [" 007", "8"]}


FIRST = 40  # rows of at least 4 bytes, so that the first block of 64 bytes ends among them


@pytest.mark.parametrize(
    ("late", "kind", "ends"),
    [
        (["3"], "int64", [7, 3]),
        (["NA", "", "-"], "int64", [7, None, None, None]),
        ([" 3", "4\t", '" 5 "'], "int64", [7, 3, 4, 5]),
        (["9223372036854775807"], "int64", [7, 2**63 - 1]),
        (["9223372036854775808"], "double", [7.0, 2.0**63]),
        (["1.5", "NA"], "double", [7.0, 1.5, None]),
        (["1.5", "007"], "double", [7.0, 1.5, 7.0]),
        (["007"], "string", ["7", "007"]),
        (["007", "NA"], "string", ["7", "007", "NA"]),
        ([" 00", "0x1F", "-"], "string", ["7", " 00", "0x1F", "-"]),
        (["word", "-"], "string", ["7", "word", "-"]),
        (["007", "word"], "string", ["7", "007", "word"]),
        ([" NA"], "string", ["7", " NA"]),  # no gap, as in any column
        (["\xa03"], "string", ["7", "\xa03"]),  # other blanks are part of a text
        (["+3"], "double", [7.0, 3.0]),
        (["true"], "string", ["7", "true"]),
        (["2001-02-03"], "string", ["7", "2001-02-03"]),
    ],
)
def test_whole_numbers_of_the_first_block_beside_codes(read, monkeypatch, late, kind, ends):
    rows = [*["7"] * FIRST, *late, *["8"] * FIRST]
    text = "code,a\n" + "".join(f"07,{cell}\n" for cell in rows)
    whole = read(text)
    monkeypatch.setattr("skcamel.data.separated.BLOCK_BYTES", 64)
    table = read(text)
    assert table.column("code").to_pylist() == ["07"] * len(rows)
    assert str(table.schema.field("a").type) == kind
    assert table.column("a").to_pylist()[FIRST - 1 : -FIRST] == ends
    assert table.equals(whole)
    assert table.column("code").num_chunks > 1


LATE = [
    *sorted(GAPS),
    "0",
    "-2",
    "007",
    "-07",
    "0x1F",
    " 8",
    "9 ",
    "1.5",
    "0.1F",
    "1e3",
    str(2**63),
    "word",
    " NA",
    "true",
    "09:30",
]


@given(st.data(), st.sampled_from(",;"), st.sampled_from([16, 64, 2**20]))
def test_blocks_do_not_change_what_is_read(tmp_path_factory, data, separator, block_bytes):
    cells = st.sampled_from([*LATE, *["1,5", "-,5e1", "00,5"] * (separator == ";")])
    rows = data.draw(st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=12))
    path = tmp_path_factory.mktemp("t") / "a.csv"
    first = [["1", "0", "007", ""]] * 3
    path.write_text(
        "".join(separator.join(row) + "\n" for row in [["a", "b", "c", "d"], *first, *rows])
    )
    for read in (read_columns, read_plain):
        whole = read(path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("skcamel.data.separated.BLOCK_BYTES", block_bytes)
            assert read(path).equals(whole)


@pytest.mark.parametrize("read", [read_columns, read_plain])
def test_codes_dates_and_numbers_are_read_in_one_pass(tmp_path, monkeypatch, read):
    rows = [f"007;{k};{k}{',5' * (k == FIRST - 1)};{k};2001-02-03;true" for k in range(FIRST)]
    (tmp_path / "a.csv").write_text("\n".join(["code;n;late;word;day;flag", *rows, "008;;;none;;"]))
    passes = []
    read_csv = pyarrow.csv.read_csv
    monkeypatch.setattr(
        "pyarrow.csv.read_csv",
        lambda *args, **options: passes.append(options) or read_csv(*args, **options),
    )
    monkeypatch.setattr("skcamel.data.separated.BLOCK_BYTES", 64)
    plain = read is read_plain
    kinds = [
        "string",
        "int64",
        "double",
        "string",
        "string" if plain else "date32[day]",
        "string" if plain else "bool",
    ]
    assert [str(kind) for kind in read(tmp_path / "a.csv").schema.types] == kinds
    assert len(passes) == 1


def test_truth_values_and_text_on_request(read):
    assert read("a,b,c\ntrue,0,TRUE\nFalse,1,1\n").to_pydict() == {
        "a": [True, False],
        "b": [0, 1],
        "c": ["TRUE", "1"],
    }
    assert read("a,b\n1,NA\n2,x\n", as_text=["a"]).to_pydict() == {
        "a": ["1", "2"],
        "b": ["NA", "x"],
    }


CELLS = st.sampled_from(
    [*sorted(GAPS), "0", "1", "-2", "1.5", "1e3", "word", "a,b", 'say "so"', "two\nlines", "ä"]
)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_columns_as_the_csv_module_reads_them(tmp_path_factory, rows, separator):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("a", "b", "c"), *rows])
    path = tmp_path_factory.mktemp("t") / "a.csv"
    path.write_bytes(text.getvalue().encode())
    table = read_columns(path, separator=separator)
    for column, cells in zip(table.columns, zip(*rows), strict=True):
        filled = [cell for cell in cells if cell not in GAPS]
        try:
            expected = [None if cell in GAPS else float(cell) for cell in cells]
        except ValueError:
            expected = list(cells)
        assert column.to_pylist() == expected
        assert pa.types.is_null(column.type) == (not filled)


def test_without_names(read):
    assert read("1,x\n2,y\n", header=False).to_pydict() == {
        "column1": [1, 2],
        "column2": ["x", "y"],
    }
    assert read(",b\n1,2\n").column_names == ["column1", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n".encode("utf-16-le"), "line 1: holds zero bytes; is it a text file"),
        (b"\xff\xfea", "begins like UTF-16-LE text and is not"),
        ('a,b\n1,"' + "x\n" * 2**20, "line 2: a quote is left open"),
    ],
)
def test_what_is_no_text_is_refused(read, content, message):
    with pytest.raises(DataError, match=message):
        read(content)


def test_parquet_of_every_kind(tmp_path):
    frame = pd.DataFrame(
        {"t": ["a", "b"], "n": [1, 2], "d": pd.to_datetime([DAY, None])}, index=[5, 7]
    )
    frame.to_parquet(tmp_path / "a.parquet")
    assert read_columns(tmp_path / "a.parquet").column_names == ["t", "n", "d"]
    columns = {
        "dictionary": pa.array(["x", None]).dictionary_encode(),
        "list": pa.array([["a"], []]),
        "decimal": pa.array([1, None], pa.decimal128(5, 2)),
        "large": pa.array(["u", "v"], pa.large_string()),
        "bytes": pa.array([b"u", b"v"]),
        "when": pa.array([DAY, None]),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = read_columns(tmp_path / "a.parquet", as_text=["decimal"])
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "list<element: string>",
        "string",
        "string",
        "string",
        "date32[day]",
    ]
    assert table.column("list").to_pylist() == [["a"], []]
    for wrong in ([{"p": 1}, {"p": 2}], [[["p"]], []]):
        pq.write_table(pa.table({"x": [1, 2], "deep": wrong}), tmp_path / "a.parquet")
        with pytest.raises(
            DataError, match=r"column 'deep' holds .*; give each of its parts a column of its own"
        ):
            read_columns(tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [b"\xff"]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="column 'x' holds bytes that are no text; remove it"):
        read_columns(tmp_path / "a.parquet")


@pytest.fixture
def book(tmp_path):
    book = openpyxl.Workbook()
    for row in (
        [],
        [None, "n", "x", "mixed", None, "day", "flag"],
        [None, 1, 1.5, 2.0, None, DAY, True],
        [],
        [None, 2, "NA", "z", None, None, False],
    ):
        book.active.append(row)
    book.create_sheet("other").append(["a"])
    book["other"].append([7])
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def test_spreadsheets(book):
    table = read_columns(book, as_text=["n"])
    moment = datetime.datetime.combine(DAY, datetime.time())
    assert table.to_pydict() == {
        "n": ["1", "2"],
        "x": [1.5, None],
        "mixed": ["2", "z"],
        "day": [moment, None],
        "flag": [True, False],
    }
    assert read_columns(book).column("n").to_pylist() == [1, 2]
    assert (
        read_columns(book, sheet="other").to_pydict()
        == read_columns(book, sheet=1).to_pydict()
        == {"a": [7]}
    )
    with pytest.raises(DataError, match="no sheet 'third' can be read"):
        read_columns(book, sheet="third")
    book.write_bytes(b"no workbook")
    with pytest.raises(DataError, match=r"a\.xlsx: no sheet 0 can be read"):
        read_columns(book)


def test_json_lines(read):
    text = (
        '{"a": 1, "t": ["p", "q"], "m": 1.0}\n\n{"b": "x", "a": 2.5, "t": [], "m": "y"}\n{"t":'
        ' null, "m": true}\n'
    )
    expected = {
        "a": [1, 2.5, None],
        "t": [["p", "q"], [], None],
        "m": ["1", "y", "true"],
        "b": [None, "x", None],
    }
    assert (
        read(text, "a.jsonl").to_pydict()
        == read(gzip.compress(text.encode()), "a.ndjson.gz").to_pydict()
        == expected
    )
    assert read('{"a": NaN}\n{"a": 2}\n', "a.jsonl").to_pydict() == {"a": [None, 2]}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a": 1}\n{"a": {"b": 1}}\n', 2, "'a' holds an object or a list of lists"),
        ('{"a": 1}\n[1]\n', 2, "write one object in each line"),
        ('{"a": 1}\n{"a":\n', 2, "is no JSON"),
        ("[" * 100_000, 1, "is no JSON"),
        ("{}\n", None, "holds no row|no column"),
    ],
)
def test_what_is_no_line_of_json_is_refused(read, text, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read(text, "a.jsonl")
    assert caught.value.line == line


def test_standard_input(book, tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": [7]}), tmp_path / "a.parquet")
    contents = [
        b"a\n7\n",
        b' \n{"a": 7}\n',
        (tmp_path / "a.parquet").read_bytes(),
        book.read_bytes(),
    ]
    for content in contents:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert read_columns("-", sheet="other").to_pydict() == {"a": [7]}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(DataError, match=r"^standard input, line 2: 1 cells"):
        read_columns("-")


def test_what_is_needed_is_said(book, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(
        ImportError, match=r"Spreadsheets need python-calamine: pip install skcamel\[tables\]"
    ):
        read_columns(book)

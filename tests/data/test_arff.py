"""Mulan and MEKA ARFF: the rules of the format, round trips, errors that name file and line."""

import gzip
import sys
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from any_dataset import datasets, same, same_bits
from skcamel.data import (
    DataError,
    Dataset,
    read_dataset,
    read_meka,
    read_mulan,
    write_dataset,
    write_meka,
    write_mulan,
)

XML = '<?xml version="1.0"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'


@pytest.fixture
def mulan(tmp_path):
    """Write an ARFF text and its label names, and read them."""

    def read(text, labels=("l",), **options):
        arff = tmp_path / "made.arff"
        arff.write_bytes(text if isinstance(text, bytes) else text.encode())
        named = "".join(f'<label name="{label}"></label>' for label in labels)
        (tmp_path / "made.xml").write_text(XML.format(named))
        return read_mulan(arff, **options)

    return read


def header(*attributes, relation="r"):
    lines = "".join(f"@attribute {attribute}\n" for attribute in attributes)
    return f"@relation {relation}\n{lines}@data\n"


def test_labels_are_found_by_name_wherever_they_stand(mulan):
    text = header("b {0,1}", "x numeric", "a {0,1}", "y real") + "1,0.5,0,2\n0,1.5,1,3\n"
    data = mulan(text, labels=(' a"><label name="b"/></label><label name="b',))  # nested, padded
    assert data.label_names == ("b", "a")
    assert data.feature_names == ("x", "y")
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(data.X, [[0.5, 2], [1.5, 3]])
    assert (data.name, data.dropped, data.train) == ("made", (), None)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_nominals_are_numbers_words_or_positions(mulan, sparse_rows):
    words = ("w {NO,YES}", "t {TRUE,FALSE}", "c {red,'dark blue',green}")
    text = header("n {1,2,4}", *words, "l {0,1}")
    if sparse_rows:
        text += "{0 4,1 YES,2 FALSE,3 'dark blue',4 1}\n{}\n{2 TRUE,3 green}\n"
    else:
        text += "4,YES,FALSE,'dark blue',1\n1,NO,TRUE,red,0\n1, NO ,TRUE,green,0\n"
    data = mulan(text)
    values = data.X.toarray() if sparse_rows else data.X
    np.testing.assert_array_equal(values[:, [1, 2]], [[1, 0], [0, 1], [0, 1]])
    np.testing.assert_array_equal(values[:, 0], [4, 1, 1])
    assert data.dropped == ("c",)  # three rows, three values
    assert data.Y.tolist() == [[1], [0], [0]]


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_onehot_expands_nominals_of_three_values(mulan, sparse_rows):
    with pytest.raises(ValueError, match="nominal must be one of"):
        mulan(header("x numeric", "l {0,1}") + "1,1\n", nominal="other")
    text = header("x numeric", "c {red,blue,green}", "b {0,1}", "l {0,1}")
    thin, dense = (
        "{1 blue,3 1}\n{0 1,2 1}\n{}\n{1 ?}\n",
        "0,blue,0,1\n1,red,1,0\n0,red,0,0\n0,?,0,0\n",
    )
    text += thin if sparse_rows else dense
    data = mulan(text, nominal="onehot")
    values = data.X.toarray() if sparse_rows else data.X
    assert data.feature_names == ("x", "c=red", "c=blue", "c=green", "b")
    expected = [[0, 0, 1, 0, 0], [1, 1, 0, 0, 1], [0, 1, 0, 0, 0], [0, np.nan, np.nan, np.nan, 0]]
    np.testing.assert_array_equal(values, expected)


def test_row_identifiers_are_dropped_and_listed(mulan):
    text = header("id string", "when date 'yyyy-MM-dd'", "key {p,q,r}", "x numeric", "l {0,1}")
    data = mulan(text + "'a, b',2020-01-01,p,1,0\n\"c\",2020-01-02,q,2,1\nd,?,r,3,1\n")
    assert data.dropped == ("id", "when", "key")
    np.testing.assert_array_equal(data.X, [[1], [2], [3]])


def test_names_may_be_quoted_and_escaped(mulan):
    quoted = (r"'it\'s \"50\%\"' numeric", '"two words" REAL')
    text = header(*quoted, "tab\tINTEGER", "b{0,1}", "l {0, 1}")
    data = mulan(text + "1,2,3,0,1\n")
    assert data.feature_names == ('it\'s "50%"', "two words", "tab", "b")


def test_comments_blank_lines_and_windows_line_ends(mulan):
    top = header("x numeric", "l {0,1}").replace("\n", "\r\n")
    text = f"% made\r\n{top}% rows\r\n1,0\r\n\r\n  % more\r\n2,1"
    np.testing.assert_array_equal(mulan(text).X, [[1], [2]])
    assert mulan("\ufeff" + text).n == 2


def test_a_small_archive_of_comments_is_refused_at_once(tmp_path):
    """Of 194 kB, some 18 seconds before."""
    path = tmp_path / "a.arff.gz"
    start = time.process_time()
    for n_lines in (2**26, 2**24):
        path.write_bytes(gzip.compress(b"@relation 'x: -C 1'\n" + b"%\n" * n_lines))
        with pytest.raises(DataError, match="out of proportion"):
            read_meka(path)
    assert time.process_time() - start < 6


def test_a_test_file_without_a_label_file_takes_that_of_the_training_file(tmp_path):
    rows = header("x numeric", "l {0,1}") + "0.5,1\n"
    for name in ("a.arff", "b.arff"):
        (tmp_path / name).write_text(rows)
    (tmp_path / "a.xml").write_text(XML.format('<label name="l"/>'))
    data = read_dataset(tmp_path / "a.arff", test=tmp_path / "b.arff")
    assert (data.label_names, data.n) == (("l",), 2)


@pytest.mark.parametrize("first", ["1,0.5\n0,1.5\n", "{0 1,1 0.5}\n{1 1.5}\n"])
def test_a_test_file_follows_the_training_file(tmp_path, first):
    top = header("l {0,1}", "x numeric", relation="'a: -C 1'")
    (tmp_path / "a-train.arff").write_text(top + first)
    (tmp_path / "a-test.arff").write_text(top + first.splitlines()[0] + "\n")
    by_count = read_dataset(tmp_path / "a-train.arff", test=tmp_path / "a-test.arff")
    (tmp_path / "a.xml").write_text(XML.format('<label name="l"/>'))
    data = read_dataset(tmp_path / "a-train.arff", test=tmp_path / "a-test.arff")
    assert same(data, by_count)
    assert (data.train.tolist(), data.test.tolist()) == ([0, 1], [2])
    assert data.Y.tolist() == [[1], [0], [1]]
    (tmp_path / "a-test.arff").write_text(top.replace("x numeric", "z numeric") + first)
    with pytest.raises(DataError, match=r"a-test\.arff: has other features or labels"):
        read_dataset(tmp_path / "a-train.arff", test=tmp_path / "a-test.arff")


@pytest.mark.parametrize("first", ["{NO,YES}", "{FALSE,TRUE}", "{-1,1}", "{'-1',+1}", "numeric"])
def test_labels_may_be_spelled_in_several_ways(mulan, first):
    zero, one = first.strip("{}").replace("'", "").split(",") if first != "numeric" else "01"
    data = mulan(header("x numeric", f"l {first}") + f"1,{one}\n2,{zero}\n")
    assert data.Y.tolist() == [[1], [0]]


def test_meka_counts_labels_from_either_end(tmp_path):
    path, kinds = tmp_path / "m.arff", ("a {0,1}", "b {0,1}", "c {0,1}")
    for count, names in ((" -C 2 -I 0", ("a", "b")), (" -C -1", ("c",))):
        path.write_text(header(*kinds, relation=f"'m:{count}'") + "1,0,1\n")
        assert read_meka(path).label_names == names
    for relation in ("plain", "'a: -C 9'", "'a: -C 0'", "'a: -C -3'"):
        path.write_text(header(*kinds, relation=relation) + "1,0,1\n")
        with pytest.raises(DataError, match="has no '-C n' with n between 1 and 2"):
            read_meka(path)


def bad_arff():
    two = header("x numeric", "l {0,1}")
    lacking = "1 values, header declares 2; is the file whole, or is the matching XML file"
    yield two + "1,0\n1\n", 6, lacking
    yield two + "1,2\n", 5, "'2' for attribute 'l'; expected one of '0', '1'"
    yield two + "1,-1\n", 5, "'-1' for attribute 'l'"
    yield two + "one,0\n", 5, "'one' for attribute 'x'; expected a number or ?"
    yield two + "{0 1}\n1,0\n", 6, "not of the form {index value,…}"
    yield two + "{1000000000000 1}\n", 5, "'1000000000000 1' in a sparse row; expected an index"
    yield two + "{0 1,0 2}\n", 5, "'0 2' in a sparse row; expected an index"
    yield two + "1,0\n,1\n", 6, "'' for attribute 'x'"
    yield two + "{0 1,}\n", 5, "'' in a sparse row"
    yield two + "% no row\n\n", 4, "no row follows @data"
    yield "@relation r\n@attribute x numeric\n", 3, "no attribute, or no @data behind them"
    yield "% comment\n\n@attribute x colour\n", 3, "'@attribute x colour' is not"
    yield "@attribute xnumeric\n@data\n", 1, "is not '@attribute name type'"
    numbers = header("x numeric", "l numeric")
    yield numbers + "1,0.5\n", 5, "'0.5' for attribute 'l'; expected one of '0', '1'"
    words = header("x numeric", "l {a,b}")
    yield words + "1,a\n", None, "label 'l' has the values 'a', 'b'"
    text = "label 'l' has the values text; a label is {0,1}"
    yield header("x numeric", "l string") + "1,a\n", None, text
    other = header("x numeric", "k {0,1}")
    yield other + "1,1\n", None, "1 labels are not attributes of made.arff: 'l'"
    yield header("l {0,1}", "l {0,1}") + "1,1\n", None, "two labels are called 'l'; rename one"
    yield header("x string", "l {0,1}") + "a,1\n", None, "no feature is left"


@pytest.mark.parametrize(("text", "line", "message"), list(bad_arff()))
def test_errors_name_the_line_and_the_cure(mulan, text, line, message):
    with pytest.raises(DataError) as caught:
        mulan(text)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.path.endswith(("made.arff", "made.xml"))


@pytest.mark.parametrize(
    "row",
    [
        *("'" + "a, " * 30_000, " " * 100_000 + "'x", "'" * 50_001),
        *('"' + "\\" * 50_001, ",".join(["'a'b"] * 20_000)),
    ],
)
def test_hostile_quotes_take_linear_time(mulan, row):
    with pytest.raises(DataError):
        mulan(header("x {a,b}", "l {0,1}") + row + "\n")
    with pytest.raises(DataError):
        mulan(f"@attribute {row}\n@attribute x {{{row}}}\n@attribute l {{0,1}}\n@data\n")


def test_cells_of_a_sparse_row_may_be_apart_by_tabs_and_quotes(mulan):
    top = header("c {'a b',c,d}", "x numeric", "l {0,1}")
    data = mulan(top + " {0\t'a b', 1  2 ,2 1}\n{ 0 c }\n{}\n{0 d}\n{1 5,0 c}\n")
    np.testing.assert_array_equal(data.X.toarray(), [[0, 2], [1, 0], [0, 0], [2, 0], [1, 5]])


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ('<!DOCTYPE labels SYSTEM "other.dtd"><labels/>', "DOCTYPE"),
        ("<labels></labels>", "names no label"),
        ("<labels><label/></labels>", "is no label file"),
        ("<labels>", "is no label file"),
        ('<labels><label name="&b;"/></labels>', "undefined entity"),
        ("", "is no label file"),
    ],
)
def test_label_files_are_checked(tmp_path, xml, message):
    (tmp_path / "a.arff").write_text(header("x numeric", "l {0,1}") + "1,1\n")
    (tmp_path / "a.xml").write_text(xml)
    with pytest.raises(DataError, match=message) as caught:
        read_mulan(tmp_path / "a.arff")
    assert caught.value.path.endswith("a.xml")
    (tmp_path / "a.xml").unlink()
    with pytest.raises(DataError, match=r"no label file a\.xml beside it; give its path as xml="):
        read_mulan(tmp_path / "a.arff")


@given(datasets())
def test_what_was_written_comes_back(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("m")
    write_mulan(data, folder / "a.arff.gz")
    write_meka(data, folder / "b.arff")
    assert same_bits(read_mulan(folder / "a.arff.gz"), data)
    assert same_bits(read_meka(folder / "b.arff"), data)


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 2**17])
def test_the_size_of_blocks_does_not_matter(tmp_path, block_bytes, monkeypatch, rng):
    X = sparse.random_array((40, 6), density=0.4, rng=rng, format="csr")
    for rows in (X, X.toarray()):
        data = Dataset(rows, X[:, [0]].toarray() > 0)
        write_meka(data, tmp_path / "a.arff")
        monkeypatch.setattr("skcamel.data.arff.BLOCK_BYTES", block_bytes)
        assert same_bits(read_meka(tmp_path / "a.arff"), data)


def test_writers_refuse_what_cannot_be_found_again(tmp_path):
    path = tmp_path / "b.arff"
    path.write_text("old")
    with pytest.raises(ValueError, match="both a feature and a label"):
        write_mulan(Dataset([[1.0]], [[1]], ("a",), ("a",)), path)
    with pytest.raises(ValueError, match="XML cannot hold"):
        write_mulan(Dataset([[1.0]], [[1]], ("a",), ("\x01",)), path)
    with pytest.raises(UnicodeEncodeError):
        write_meka(Dataset([[1.0]], [[1]], ("\ud800",)), path)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_compressed_files_are_the_same_on_every_day(tmp_path):
    data = Dataset([[1.0]], [[1]])
    write_mulan(data, tmp_path / "a.arff.gz")
    write_mulan(data, tmp_path / "b.arff.gz")
    content = (tmp_path / "a.arff.gz").read_bytes()
    assert content == (tmp_path / "b.arff.gz").read_bytes()
    assert gzip.decompress(content).startswith(b"@relation 'data: -C 1'")


@pytest.mark.parametrize(
    ("name", "storage"), [("a.arff.gz", "dense"), ("a.arff.gz", "sparse"), ("a.svm", "sparse")]
)
def test_peak_memory_is_three_times_the_arrays_at_most(tmp_path, name, storage, rng):
    X = rng.normal(size=(4000, 250)).round(4)
    X = sparse.csr_array(X) if storage == "sparse" else X
    data = Dataset(X, rng.integers(0, 2, size=(4000, 20)))
    write_dataset(data, tmp_path / name)
    tracemalloc.start()
    read = read_dataset(tmp_path / name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    parts = [read.X] if storage == "dense" else [read.X.data, read.X.indices, read.X.indptr]
    held = sum(part.nbytes for part in (*parts, read.Y))
    assert peak <= 3 * held + 20e6


def test_sizes_that_only_a_header_claims_are_refused(mulan, monkeypatch):
    monkeypatch.setattr("skcamel.data.sources.CLAIMED_ALWAYS", 100_000)
    monkeypatch.setattr("skcamel.data.sources.CLAIMED_RATIO", 0)
    rows = "{}\n" * 6000
    with pytest.raises(DataError, match=r"\d+ rows x 2 labels and features"):
        mulan(header("x numeric", "l {0,1}", "m {0,1}") + rows, labels=("l", "m"))
    with pytest.raises(DataError, match="3000 rows x 3 columns"):
        mulan(header("x {0,1,2}", "l {0,1}") + "0,0\n" * 3000, nominal="onehot")


def test_omitted_cells_of_sparse_rows_are_filled_in(mulan):
    top = header("x {1,0}", "y numeric", "z {2,0,5}", "w {0,3}", "l {1,0}")
    data = mulan(top + "{}\n{0 0,1 7}\n{2 5,3 3,4 0}\n{}\n{1 2,2 0}\n{0 1}\n{0 ?}\n")
    x, y = [1, 0, 1, 1, 1, 1, np.nan], [0, 7, 0, 0, 2, 0, 0]
    z, w = [2, 2, 5, 2, 0, 2, 2], [0, 0, 3, 0, 0, 0, 0]
    np.testing.assert_array_equal(data.X.toarray().T, [x, y, z, w])
    assert data.X.has_canonical_format
    assert data.Y[:, 0].tolist() == [1, 1, 0, 1, 1, 1, 1]


def test_without_pyarrow_the_extra_is_named(mulan, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"ARFF files need pyarrow: pip install 'skcamel\[tables"):
        mulan(header("x numeric", "l {0,1}") + "1,0\n")

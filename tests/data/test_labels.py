"""Labels as people keep them: two values in any words, marks, and lists."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skcamel.data import DataError
from skcamel.data.cells import MISSING, YES_NO
from skcamel.data.labels import take_labels

KINDS = {"arrow": pa.table, "pandas": pd.DataFrame, "polars": pl.DataFrame}
NAN = np.nan
ITEMS = st.text(st.characters(categories=["L"]), min_size=2, max_size=5).filter(
    lambda item: item.casefold() not in WORDS
)
WORDS = {*YES_NO, *MISSING, "inf", "infinity"}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def taken(kind, *columns):
    """Names and values of the labels in columns of these cells, in a table of this kind."""
    names = [f"l{k}" for k in range(len(columns))]
    table = kind({"x": list(range(len(columns[0]))), **dict(zip(names, columns))})
    rest, labels = take_labels(table, names, "t.csv")
    assert type(rest) is type(kind({"x": [1]}))
    assert list(getattr(rest, "column_names", None) or rest.columns) == ["x"]
    assert labels.columns == tuple(names)
    return labels.names, labels.Y


@pytest.mark.parametrize(
    "cells",
    [
        *([0, 1, None], [-1, 1, None], [0.0, 1.0, None], [False, True, None], ["-1", "+1", ""]),
        *(["FALSE", "true", "?"], ["no", "YES", "-"], ["N", "y", "n/a"], ["f", "T", None]),
        *(["Nein", "ja", " NA "], ["non", "Oui", ""], ["off", "on", ""]),
    ],
)
def test_two_values_in_any_words(kind, cells):
    names, Y = taken(kind, cells)
    assert names == ("l0",)
    np.testing.assert_array_equal(Y, [[0], [1], [NAN]])
    np.testing.assert_array_equal(taken(kind, cells, [1, 0, 1])[1], [[0, 1], [1, 0], [NAN, 1]])


def test_marks(kind):
    marks = taken(kind, ["x", "", "X"], ["", None, "✓"])[1]
    np.testing.assert_array_equal(marks, [[1, 0], [0, 0], [1, 1]])
    np.testing.assert_array_equal(taken(kind, ["x", None, ""])[1], [[1], [0], [0]])
    with pytest.raises(DataError, match=r"t\.csv: 'y\?' in column 'l0', row 2; labels are 0 and 1"):
        taken(kind, ["x", "y?", ""], [0, 1, 0])


@pytest.mark.parametrize(
    "cells",
    [
        *(["a|b", "?", "b", "c | a"], ["a;b", "NULL", "b", "c;a"], ["a, b", "NA", "b", "c,a"]),
        ['["a","b"]', "n/a", '["b"]', '["c", "a"]'],
        ["['a', 'b']", "?", "['b']", "['c' 'a']"],
        ["[a, b]", "?", "[b]", "[c, a]"],
        [["a", "b"], None, ["b"], ["c", "a"]],
    ],
)
def test_lists_in_any_spelling(kind, cells):
    names, Y = taken(kind, cells)
    assert names == ("a", "b", "c")
    np.testing.assert_array_equal(Y, [[1, 1, 0], [NAN] * 3, [0, 1, 0], [1, 0, 1]])


@pytest.mark.parametrize("nothing", ["", None, "  "])
def test_nothing_in_a_column_of_written_lists_is_no_label(kind, nothing):
    assert taken(kind, ["a|b", nothing, "b"])[1].tolist() == [[1, 1], [0, 0], [0, 1]]


def test_an_empty_list_has_no_label_and_one_word_is_a_list(kind):
    for cells in ([["a"], []], ["['a']", "[]"]):
        assert taken(kind, cells)[1].tolist() == [[1], [0]]
    names, Y = taken(kind, ["sea", "sun", "sea"])
    assert (names, Y.tolist()) == (("sea", "sun"), [[1, 0], [0, 1], [1, 0]])


def test_a_label_column_is_named_once(kind):
    for labels in ("a,a", ["a", "a"]):
        with pytest.raises(DataError, match=r"t.csv: 'a' is named twice as a label; name it once"):
            take_labels(kind({"a": [0, 1], "x": [1, 0]}), labels, "t.csv")


def test_the_first_separator_in_the_whole_column_counts(kind):
    assert taken(kind, ["a, b", "c|a; d"])[0] == ("a, b", "a; d", "c")


LISTS = st.lists(st.lists(ITEMS, min_size=2, max_size=4, unique=True), min_size=1, max_size=6)


@given(LISTS, st.sampled_from("|;,"))
def test_lists_come_back_from_text(lists, separator):
    times = Counter(item for items in {tuple(own) for own in lists} for item in items)
    recurring = sum(count > 1 for count in times.values())
    assume(separator != "," or 2 * recurring >= len(times))
    names, Y = taken(pa.table, [separator.join(items) for items in lists])
    assert names == tuple(sorted(times))
    for items, row in zip(lists, Y, strict=True):
        assert [name for name, value in zip(names, row) if value == 1] == sorted(items)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([0, 1, 2], "'2' in column 'l0', row 3; labels are 0 and 1"),
        ([0, -1, 1], "'0' in column 'l0', row 1; labels are 0 and 1, -1"),
        (["0", "1", "maybe"], "'maybe' in column 'l0', row 3"),
        (["yes", "no", "maybe"], "'maybe' in column 'l0', row 3"),
        (["[]", "[]", ""], "column 'l0' names no label in any row"),
    ],
)
def test_what_is_no_label_is_refused_with_its_place(kind, cells, message):
    with pytest.raises(DataError, match=rf"t\.csv: {message}".replace("[]", r"\[\]")):
        taken(kind, cells)


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        *(("tag", ["tag"]), ("tag*", ["tag", "tag_checked"]), ("tag_*", ["tag_checked"])),
        *(("2021,2020", ["2020", "2021"]), ("2020", ["2020"]), ("2", ["2021", "a,b"])),
        *(('2020,"a,b"', ["2020", "a,b"]), ("a,b", ["a,b"])),
        (["tag*", "2020"], ["tag", "tag_checked", "2020"]),
        (np.int64(-1), ["tag"]),
    ],
)
def test_names_of_label_columns(kind, labels, columns):
    table = kind({name: [0, 1] for name in ("tag", "tag_checked", "2020", "2021", "a,b")})
    assert list(take_labels(table, labels, "t")[1].columns) == columns


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("q", "no column is called 'q'; the columns are 'a', 'b'"),
        (["a", "q*"], r"no column is called 'q\*'"),
        (0, "names 0 of 2 columns"),
        ("", "names 0 of 2 columns"),
        ("a,b", "names 2 of 2 columns; name at least one, and leave at least one feature"),
    ],
)
def test_label_columns_that_are_not_there_are_refused(labels, message):
    with pytest.raises(DataError, match=f"t.csv: .*{message}"):
        take_labels(pa.table({"a": [1, 0], "b": [0, 1]}), labels, "t.csv")


def test_a_comma_in_a_word_is_no_list(kind):
    names, Y = taken(kind, ["Berlin, DE", "Paris, FR", "Berlin, DE"])
    assert (names, Y.tolist()) == (("Berlin, DE", "Paris, FR"), [[1, 0], [0, 1], [1, 0]])
    assert taken(kind, ["Berlin, DE", "Munich, DE", "Paris, FR"])[0][0] == "Berlin, DE"
    assert taken(kind, ["sea, sun", "sun", "sea, sand"])[0] == ("sand", "sea", "sun")

"""What cells mean, from whatever library they come: numbers, durations, dates and lists."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcamel.data import cells
from skcamel.data.cells import Cells


def read(values, **options):
    column = Cells.of(values)
    how = cells.number_format(column, **options)
    return how, cells.read_numbers(column.values, *how)[column.codes]


def dates(values, **options):
    column = Cells.of(values)
    formats = cells.date_formats(column, **options)
    seconds = cells.read_dates(column.values, formats)[column.codes]
    known = np.where(np.isnan(seconds), np.datetime64("NaT", "s").astype(int), seconds)
    return formats, known.astype("datetime64[s]")


def test_a_column_is_its_different_values_and_where_they_are():
    words = ["red", " red ", None, "n/a", "blue", float("nan"), ""]
    column = Cells.of([*words, 3, 2.5, True, 10**400, b"red"])
    assert column.values.tolist() == [None, "red", "blue", 3.0, 2.5, "true", np.inf]
    assert column.codes.tolist() == [1, 1, 0, 0, 2, 0, 0, 3, 4, 5, 6, 1]
    assert column.texts().values.tolist() == ["", "red", "blue", "3", "2.5", "true", "inf"]


@pytest.mark.parametrize("word", ["", "?", "-", "n/a", "NaN", "NULL", "k.A.", "<NA>", "."])
def test_words_for_missing_values_are_one_table(word):
    assert cells.is_missing(word)
    assert word in cells.missing_spellings()
    assert Cells.of([word, "x"]).missing.tolist() == [True, False]


MOMENTS = [datetime(2024, 5, 1, 10, 30), datetime(2024, 12, 1, 8)]
BERLIN = pd.Series(MOMENTS).dt.tz_localize("Europe/Berlin")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1, None, 3], [1, 3]),
        (pd.Series([0.1, None], dtype="float32"), [0.1]),
        (pa.chunked_array([[1, None], [3]]), [1, 3]),
        (pl.Series([Decimal("1.5"), None]), [1.5]),
        (pa.array([Decimal("1.5"), None]), [1.5]),
        (pd.Series([timedelta(hours=-1), None]), [-3600]),
        ([timedelta(hours=-1), None], [-3600]),
        (pa.array([["a", "b"], [], None]), [("a", "b"), ()]),
        (pl.Series([["a", "b"], None]), [("a", "b")]),
        ([np.array(["a"]), {"c", "b"}], [("a",), ("b", "c")]),
        (pa.array([time(3, 4), None]), ["03:04:00"]),
        (pl.Series([date(2024, 5, 1)]), [datetime(2024, 5, 1)]),
        ([date(2024, 5, 1)], [datetime(2024, 5, 1)]),
        (BERLIN, [datetime(2024, 5, 1, 8, 30), datetime(2024, 12, 1, 7)]),
        (BERLIN.astype(object), [datetime(2024, 5, 1, 8, 30), datetime(2024, 12, 1, 7)]),
        ([MOMENTS[0].replace(tzinfo=timezone(timedelta(hours=2)))], [datetime(2024, 5, 1, 8, 30)]),
        ([datetime(2024, 5, 1, tzinfo=UTC), pd.NaT, pd.NA], [datetime(2024, 5, 1)]),
    ],
)  # fmt: skip
def test_every_library_gives_the_same_values(column, expected):
    assert Cells.of(column).values[1:].tolist() == expected


@pytest.mark.parametrize(
    ("column", "declared"),
    [
        (pd.Series([1, 2, 1], dtype="category"), True),
        (pl.Series(["1", "2"], dtype=pl.Categorical), True),
        (pa.array([1, 2, 1]).dictionary_encode(), True),
        (pa.array(["1", "2"]).dictionary_encode(), False),  # equal texts stored once
        (pd.Series([1, 2]), False),
    ],
)
def test_columns_may_be_declared_a_category(column, declared):
    assert Cells.of(column).declared == declared


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["$47,506.41", "3,640,773", "12"], [47506.41, 3640773, 12]),
        (["85.6%", "7 %", "n.d."], [0.856, 0.07, np.nan]),
        (["1.234,56", "12,5", "7"], [1234.56, 12.5, 7]),
        (["(1,234)", "−5", "+6", "(15", "15)", "(-3)"], [-1234, -5, 6, np.nan, np.nan, np.nan]),
        (["1'234.50", "12.25", "999"], [1234.5, 12.25, 999]),
        (["12.5 °C", "-3 °C", "0.0"], [12.5, -3, 0]),
        (["5 km/h", "12 km/h", "5 mph"], [5, 12, np.nan]),
        (["€ 12,50", "3 EUR", "4,75 €"], [12.5, 3, 4.75]),
        (["1 234 567", "12\u202f345", "9"], [1234567, 12345, 9]),
        (["-$5", "$-6", "US$ 7"], [-5, -6, 7]),
        (["$50", "$20", "¥50"], [50, 20, np.nan]),  # another currency is another unit
        (["50%", "20%", "50"], [0.5, 0.2, np.nan]),  # 50 or .5?
        (["50", "20", "50%"], [50, 20, np.nan]),
        (["2,27", "3,5", "2.27"], [2.27, 3.5, 2.27]),  # nothing else can be meant
        (["1 days 00:00:30", "26:00:00", "14:30"], [86430, 93600, 52200]),
        (["-1 days +23:00:00.5"], [-3599.5]),
        (["yes 5", "P-0012", "1.2.3", "12a3", "1_0", "10" * 200], [*[np.nan] * 5, np.inf]),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(values, expected):
    np.testing.assert_allclose(read(values)[1], expected)


@pytest.mark.parametrize("text", ["2024-05-01", "twelve", "1,23,4", "Room 12", "1.234.5", "P"])
def test_what_is_no_number(text):
    assert np.isnan(read([text])[1]).all()


def test_the_whole_column_decides_about_commas():
    thousands = ["1,234", "5,678"]
    assert read(thousands)[0][0] == "point"
    assert read(thousands, comma=True)[0][0] == "comma"
    assert read([*thousands, "0,5"])[0][0] == "comma"
    assert read([*thousands, "0.5"], comma=True)[0][0] == "point"


@given(st.lists(st.floats(-1e12, 1e12), min_size=1), st.booleans())
def test_any_number_comes_back_from_its_text(numbers, comma):
    texts = [f"{number:,.4f}" for number in numbers]
    if comma:
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    how, found = read(texts, comma=comma)
    np.testing.assert_array_equal(found, [round(number, 4) for number in numbers])


@pytest.mark.parametrize(
    ("values", "formats", "first"),
    [
        (["2024-05-01", "2023-12-31"], ("year first",), "2024-05-01"),
        (["2024-05-01T10:30:00Z"], ("year first",), "2024-05-01T10:30:00"),
        (["2024-05-01 10:30:00.5+02:00"], ("year first",), "2024-05-01T08:30:00"),
        (["2024-05-01T10:30:00-0530"], ("year first",), "2024-05-01T16:00:00"),
        (["2024/05"], ("year first",), "2024-05-01"),
        (["31.12.2024", "1.2.2023"], ("day first",), "2024-12-31"),
        (["1.2.2024"], ("day first",), "2024-02-01"),
        (["12/31/2024", "01/02/2023"], ("month first",), "2024-12-31"),
        (["31/12/2024", "01/02/2023"], ("day first",), "2024-12-31"),
        (["01/02/23 5:07 PM"], ("month first",), "2023-01-02T17:07:00"),
        (["5 Jan 2024", "12 December 2023"], ("day, name of the month",), "2024-01-05"),
        (["3. Mär 2024"], ("day, name of the month",), "2024-03-03"),
        (["May 5, 2024"], ("name of the month, day",), "2024-05-05"),
        (["01.02.2024", "31.12.2024", "2024-05-01"], ("day first", "year first"), "2024-02-01"),
        (["31/12/2024", "25/01/2024", "12/13/2024"], ("day first", "month first"), "2024-12-31"),
        (["2024-05-01", "2024-06-01", "14:30"], ("year first",), "2024-05-01"),
    ],
)  # fmt: skip
def test_dates_as_people_write_them(values, formats, first):
    found, moments = dates(values)
    assert found == formats
    assert moments[0] == np.datetime64(first, "s")


def test_a_table_with_decimal_commas_puts_the_day_first():
    assert dates(["01/02/2024"])[0] == ("month first",)
    assert dates(["01/02/2024"], day_first=True)[0] == ("day first",)


@pytest.mark.parametrize("text", ["31.02.2024", "2024-13-01", "soon", "1.5", "25:61"])
def test_what_is_no_date(text):
    assert np.isnat(dates([text])[1]).all()


@given(
    st.lists(st.datetimes(datetime(1971, 1, 1), datetime(2068, 1, 1)), min_size=1),
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%y"]),
)
def test_any_date_comes_back_from_its_text(moments, form):
    texts = [moment.strftime(form) for moment in moments]
    expected = [datetime.strptime(text, form) for text in texts]
    assert dates(texts, day_first=True)[1].tolist() == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a|b", "c"], [("a", "b"), ("c",)]),
        (["a; b;", "b"], [("a", "b"), ("b",)]),
        (["a, b", "b , a"], [("a", "b"), ("b", "a")]),
        (['["a, c", "b"]', "[]"], [("a, c", "b"), ()]),
        (["['a', 'b']", "[c]"], [("a", "b"), ("c",)]),
        (["[" * 5000 + "]" * 5000], None),
    ],
)
def test_lists_as_people_write_them(values, expected):
    separator = cells.list_separator(values)
    items = [cells.items_of(value, separator) for value in values]
    assert expected is None or items == expected

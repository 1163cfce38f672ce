"""What cells mean, against readings by hand and by pandas."""

from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcamel.data.cells import (
    Column,
    Numerals,
    are_codes,
    date_order,
    items_of,
    list_separator,
    moments_of,
    numerals,
    yes_no,
)

CELLS = ["red", " red ", None, "n/a", "blue", float("nan"), "", 3, 2.5, True]


def test_a_column_is_its_different_values_and_where_they_are():
    column = Column.of(CELLS)
    assert column.values == ("red", "blue", "3", "2.5", "true")
    assert column.places.tolist() == [0, 0, -1, -1, 1, -1, -1, 2, 3, 4]
    assert column.counts.tolist() == [2, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "make", [pd.Series, pl.Series, pa.array, lambda cells: pa.chunked_array([cells[:2], cells[2:]])]
)
def test_every_kind_of_frame_gives_the_same_texts(make):
    cells = ["red", " red", None, "NA", "blue"]
    column = Column.of(make(cells))
    assert [None if code < 0 else column.values[code] for code in column.places] == [
        "red",
        "red",
        None,
        None,
        "blue",
    ]


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1.0, np.inf, 3.0]),
        pd.Series([1, None, 3], dtype=object),
        pl.Series([1, None, 3]),
        pa.array([1, None, 3]),
        pa.array([1, None, 3]).dictionary_encode(),
        np.array([1.0, np.nan, 3.0]),
    ],
    ids=str,
)
def test_numbers_come_as_floats_with_nan_for_gaps(cells):
    numbers = Column.of(cells).numbers
    assert numbers is not None
    np.testing.assert_array_equal(numbers, [1.0, np.nan, 3.0])


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series(pd.to_datetime(["2024-05-01 10:30", None])),
        pd.Series(pd.to_datetime(["2024-05-01 10:30", None])).dt.tz_localize("Europe/Berlin"),
        pl.Series([datetime(2024, 5, 1, 10, 30), None]),
        pa.array([datetime(2024, 5, 1, 10, 30), None]),
        pa.array([datetime(2024, 5, 1, 10, 30, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
    ],
    ids=lambda cells: (
        f"{type(cells).__module__}-{cells.dtype if hasattr(cells, 'dtype') else cells.type}"
    ),
)
def test_times_come_as_the_clock_of_their_zone_shows_them(cells):
    dates = Column.of(cells).dates
    assert dates is not None
    assert dates.tolist()[0] == datetime(2024, 5, 1, 10, 30)
    assert np.isnat(dates[1])


def test_lists_and_dates_among_objects():
    assert Column.of(pa.array([["a", "b"], [], None])).values == (("a", "b"), ())
    assert Column.of([date(2024, 5, 1)]).values == ("2024-05-01",)
    assert Column.of(pd.Series([["a"], ["b", "c"]])).values == (("a",), ("b", "c"))


def test_durations_are_seconds():
    spans = pd.Series(pd.to_timedelta(["1h", None]))
    np.testing.assert_array_equal(Column.of(spans).numbers, [3600, np.nan])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-2.5", "1e3"], [1, -2.5, 1000]),
        (["$47,506.41", "3,640,773", "-"], [47506.41, 3640773, np.nan]),
        (["85.6%", "7 %", "n.d."], [0.856, 0.07, np.nan]),
        (["1.234,56", "12,5", "7"], [1234.56, 12.5, 7]),
        (["(1,234)", "−5", "+6"], [-1234, -5, 6]),
        (["1'234.50", "12.25", "999"], [1234.5, 12.25, 999]),
        (["12.5 °C", "-3 °C", "0.0 °C"], [12.5, -3, 0]),
        (["5 km/h", "12 km/h", "5 mph"], [5, 12, np.nan]),
        (["€ 12,50", "3 EUR", "4,75 €"], [12.5, 3, 4.75]),
        (["1 234 567", "12\u202f345", "9"], [1234567, 12345, 9]),
        (["-$5", "$-6", "US$ 7"], [-5, -6, 7]),
    ],
)
def test_numbers_as_people_write_them(values, expected):
    how, share = numerals(values, np.ones(len(values)))
    np.testing.assert_allclose(how.read(values), expected)
    assert share >= 2 / 3


@pytest.mark.parametrize(
    "text",
    [
        "P-0012",
        "1.2.3",
        "12:30",
        "2024-05-01",
        "twelve",
        "1,23,4",
        "Room 12",
        "12a3",
        "",
        "1__0",
        "1.234.5",
    ],
)
def test_what_is_no_number(text):
    assert np.isnan(Numerals("point", "").read([text])).all()


def test_the_whole_column_decides_about_commas():
    thousands = ["1,234", "5,678"]
    assert numerals(thousands, np.ones(2))[0].decimal == "point"
    assert numerals(thousands, np.ones(2), comma=True)[0].decimal == "comma"
    assert numerals([*thousands, "0,5"], np.ones(3))[0].decimal == "comma"
    assert numerals([*thousands, "0.5"], np.ones(3), comma=True)[0].decimal == "point"


@given(st.lists(st.floats(-1e12, 1e12), min_size=1), st.booleans())
def test_any_number_comes_back_from_its_text(numbers, comma):
    texts = [f"{number:,.3f}" for number in numbers]
    if comma:
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    how, share = numerals(texts, np.ones(len(texts)))
    assert share == 1
    if how.decimal == ("comma" if comma else "point"):  # 0.000 alone may be read in two ways
        np.testing.assert_allclose(
            how.read(texts), [round(number, 3) for number in numbers], atol=1e-3
        )
    else:
        assert all("." not in text or "," not in text for text in texts)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["Yes", "no"], {"yes": 1.0, "no": 0.0}),
        (["J", "N", ""], {"j": 1.0, "n": 0.0}),
        (["TRUE", "FALSE", "None"], {"true": 1.0, "false": 0.0}),
        (["yes", "maybe"], None),
        (["-"], None),
    ],
)
def test_yes_and_no(words, expected):
    assert yes_no(words) == expected


@pytest.mark.parametrize(
    ("values", "order", "first"),
    [
        (["2024-05-01", "2023-12-31"], "year first", "2024-05-01"),
        (["2024-05-01T10:30:00Z"], "year first", "2024-05-01T10:30:00"),
        (["2024/05"], "year first", "2024-05-01"),
        (["31.12.2024", "1.2.2023"], "day first", "2024-12-31"),
        (["1.2.2024"], "day first", "2024-02-01"),
        (["12/31/2024", "01/02/2023"], "month first", "2024-12-31"),
        (["31/12/2024", "01/02/2023"], "day first", "2024-12-31"),
        (["01/02/23 5:07 PM"], "month first", "2023-01-02T17:07:00"),
        (["5 Jan 2024", "12 December 2023"], "day, name of the month", "2024-01-05"),
        (["3. Mär 2024"], "day, name of the month", "2024-03-03"),
        (["May 5, 2024"], "name of the month, day", "2024-05-05"),
        (["14:30", "9:05"], "time of day", "1970-01-01T14:30:00"),
    ],
)
def test_dates_as_people_write_them(values, order, first):
    assert date_order(values) == order
    assert moments_of(values, order)[0] == np.datetime64(first, "s")


def test_a_table_with_decimal_commas_puts_the_day_first():
    assert date_order(["01/02/2024"]) == "month first"
    assert date_order(["01/02/2024"], day_first=True) == "day first"


@pytest.mark.parametrize(
    "values",
    [["31.02.2024"], ["2024-13-01"], ["soon"], ["1.5"], ["2024-05-01", "later"], ["25:61"]],
)
def test_what_is_no_date(values):
    assert date_order(values) is None


@given(
    st.lists(st.datetimes(datetime(1971, 1, 1), datetime(2068, 1, 1)), min_size=1),
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%y"]),
)
def test_any_date_comes_back_from_its_text(moments, form):
    texts = [moment.strftime(form) for moment in moments]
    order = date_order(texts, day_first=True)
    assert order is not None
    expected = [datetime.strptime(text, form) for text in texts]
    assert moments_of(texts, order).tolist() == expected


def test_codes_have_leading_zeros():
    assert are_codes(["01067", "12345"])
    assert not are_codes(["0", "10", "0.5"])


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
    separator = list_separator(values)
    items = [items_of(value, separator) for value in values]
    assert expected is None or items == expected

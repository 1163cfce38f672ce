"""TablePreparer: kinds by evidence, numbers that come out, and tables unlike that of the fit."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import rankdata
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from skcamel import CamelClassifier
from skcamel.data import TablePreparer
from skcamel.data.preparer import notes_on

N = 60
WORDS = ["fever", "cough", "rash", "fall", "burn", "sprain", "fracture", "headache", "nausea"]
WORDS += ["dizzy"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    age = rng.normal(50, 15, N)
    age[rng.random(N) < 0.2] = np.nan
    hours = pd.to_timedelta(rng.integers(0, 500 * 24, N), unit="h")
    born = rng.integers([1, 1, 1930], [29, 13, 2005], (N, 3))
    sizes = rng.integers(1, 4, N)
    allergies = [rng.choice(["nuts", "pollen", "dust"], size, replace=False) for size in sizes]
    return pd.DataFrame(
        {
            "patient": range(1001, 1001 + N),
            "age": age,
            "income": [f"${value:,.2f}" for value in rng.lognormal(10, 1, N)],
            "share": [f"{value:.1f}%" for value in rng.uniform(0, 100, N)],
            "smoker": rng.choice(["Yes", "no", ""], N),
            "ward": rng.choice(["A", "B", "C"], N, p=[0.6, 0.3, 0.1]),
            "admitted": pd.Timestamp("2023-01-01") + hours,
            "born": [f"{day:02d}.{month:02d}.{year}" for day, month, year in born],
            "notes": [" ".join(rng.choice(WORDS, 6)) for _ in range(N)],
            "allergies": ["|".join(own) for own in allergies],
            "zip": rng.choice(["01067", "10115", "80331"], N),
            "country": "DE",
            "comment": [None] * N,
        }
    )


@parametrize_with_checks([TablePreparer()])
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


def test_each_column_is_what_its_cells_say(table):
    numbers = dict.fromkeys(("patient", "age", "income", "share"), "number")
    assert TablePreparer().fit(table).kinds_ == numbers | {
        **{"smoker": "flag", "ward": "category", "admitted": "date", "born": "date"},
        **{"notes": "text", "allergies": "tags", "zip": "category"},
        **{"country": "constant", "comment": "empty"},
    }


def test_outputs_have_names_and_sources(table):
    preparer = TablePreparer().fit(table)
    names, sources = preparer.get_feature_names_out(), preparer.source_columns_
    X = preparer.transform(table)
    assert sparse.issparse(X)
    assert X.shape == (N, len(names)) == (N, len(sources))
    assert len(set(names)) == len(names)
    assert all(name.startswith(source) for name, source in zip(names, sources))
    some = {"age (missing)", "ward=A", "notes: fever", "allergies: nuts", "admitted (hour sin)"}
    assert some <= set(names)
    assert [row[0] for row in preparer.describe()] == list(table.columns)


def column(preparer, table, name):
    X = preparer.transform(table)
    place = list(preparer.get_feature_names_out()).index(name)
    return (X.toarray() if sparse.issparse(X) else X)[:, place]


def test_numbers_become_ranks_and_gaps_the_median(table):
    preparer = TablePreparer().fit(table)
    gaps = table["age"].isna().to_numpy()
    expected = (rankdata(table["age"][~gaps]) - 0.5) / (~gaps).sum()
    age = column(preparer, table, "age")
    np.testing.assert_allclose(age[~gaps], expected, rtol=1e-12)
    np.testing.assert_allclose(age[gaps], 0.5, atol=0.02)
    np.testing.assert_array_equal(column(preparer, table, "age (missing)"), gaps)
    money = table["income"].str.replace(r"[$,]", "", regex=True).astype(float)
    np.testing.assert_allclose(column(preparer, table, "income"), (rankdata(money) - 0.5) / N)
    as_they_are = column(TablePreparer(scaling="none").fit(table), table, "income")
    np.testing.assert_allclose(as_they_are, money)


def test_many_different_numbers_keep_a_thousand_knots():
    numbers = np.random.default_rng(0).normal(size=20_000)
    preparer = TablePreparer().fit({"x": numbers})
    assert len(preparer.columns_[0].ranks.knots) <= 1000
    ranks = (rankdata(numbers) - 0.5) / len(numbers)
    np.testing.assert_allclose(preparer.transform({"x": numbers})[:, 0], ranks, atol=1e-3)


def test_dates_have_a_trend_and_cycles():
    days = pd.date_range("2024-01-01", periods=60, freq="13D")
    preparer = TablePreparer().fit(pd.DataFrame({"day": days}))
    assert list(preparer.get_feature_names_out()) == [
        "day",
        *(f"day ({cycle} {wave})" for cycle in ("month", "weekday") for wave in ("sin", "cos")),
    ]
    X = preparer.transform(pd.DataFrame({"day": days}))
    np.testing.assert_allclose(X[:, 1], np.sin(2 * np.pi * (days.month - 1) / 12) / 2, atol=1e-12)
    np.testing.assert_allclose(X[:, 4], np.cos(2 * np.pi * days.day_of_week / 7) / 2, atol=1e-12)


def test_rare_values_go_together_and_unseen_ones_are_zeros():
    city = ["Rome"] * 40 + ["Oslo"] * 30 + ["Riga", "Bonn", "Lyon"]
    frame = pd.DataFrame({"city": city})
    preparer = TablePreparer().fit(frame)
    assert list(preparer.get_feature_names_out()) == ["city=Oslo", "city=Rome", "city=(rare)"]
    new = pd.DataFrame({"city": ["Riga", "Rome", "Kyiv", None]})
    X, told = preparer.transform_with_differences(new)
    assert X.tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert told == {("unseen", "city"): 1, ("missing", "city"): 1}


def test_new_tables_may_differ_and_say_how(table):
    preparer = TablePreparer().fit(table)
    new = table.iloc[::-1, ::-1].head(5).assign(extra=1)
    new["ward"] = ["A", "Z", "Z", "B", None]
    new["income"] = ["$5", "free", None, "-", "$7"]
    X, told = preparer.transform_with_differences(new)
    assert X.shape == (5, len(preparer.source_columns_))
    income = {("missing", "income"): 2, ("unreadable", "income"): 1}
    ward = {("unseen", "ward"): 2, ("missing", "ward"): 1, ("strange", "ward"): 2}
    assert told == income | ward | {("extra", "extra"): 1}
    assert len(notes_on(told)) == 5


def test_a_missing_column_is_refused_by_name_or_holds_gaps(table):
    preparer = TablePreparer().fit(table)
    with pytest.raises(ValueError, match=r"lacks the columns 'age', 'notes'.*--allow-missing"):
        preparer.transform(table.drop(columns=["age", "notes", "comment"]))
    new = table.drop(columns=["age", "notes"])
    X, told = preparer.set_params(allow_missing=True).transform_with_differences(new)
    assert told == {("absent", "age"): N, ("absent", "notes"): N}
    names = list(preparer.get_feature_names_out())
    assert (X.toarray()[:, names.index("age (missing)")] == 1).all()
    assert (X.toarray()[:, names.index("notes: fever")] == 0).all()


@pytest.mark.parametrize(
    ("parameter", "name", "kind"),
    [
        *(("number", "patient", "number"), ("category", "patient", "category")),
        *(("drop", "notes", "dropped"), ("id", "zip", "id")),
        ("text", "ward", "empty"),  # words of one letter are none
        *(("text", "smoker", "text"), ("number", "zip", "number")),
        *(("date", "admitted", "date"), ("category", "age", "category")),
    ],
)
def test_parameters_overrule_the_cells(table, parameter, name, kind):
    assert TablePreparer(**{parameter: [name]}).fit(table).kinds_[name] == kind


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": ["ages"]}, "drop names 'ages', which is no column; the columns are 'patient'"),
        ({"drop": "age"}, "drop must be a sequence"),
        ({"drop": ["age"], "id": ["age"]}, "named by drop and by id"),
        ({"number": ["notes"]}, "number names 'notes', of which no cell is a number"),
        ({"number": ["comment"]}, "number names 'comment', of which no cell is a number"),
        ({"date": ["notes"]}, "date names 'notes'"),
        ({"scaling": "log"}, "scaling must be"),
    ],
)  # fmt: skip
def test_parameters_that_cannot_be_are_refused(table, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        TablePreparer(**options).fit(table)


def kind(cells, name="it", **options):
    frame = pd.DataFrame({name: cells, "other": np.random.default_rng(0).normal(size=len(cells))})
    preparer = TablePreparer(**options).fit(frame)
    assert np.isfinite(np.asarray(preparer.transform(frame).sum())).all()
    return preparer.kinds_[name]


RNG = np.random.default_rng(1)
FORMATS = ["%d.%m.%Y", "%Y-%m-%d", "%d %b %Y"]
DAYS = pd.date_range("2023-01-01", periods=60, freq="3D")
MIXED = [day.strftime(FORMATS[k % 3]) for k, day in enumerate(DAYS)]
ORDERS = [f"A-{k}" for k in [*RNG.permutation(90_000)[:294], *range(6)]]
SENTENCE = "Well, at first it was {} and later, as they say, {} {}"


@pytest.mark.filterwarnings("ignore:.*not readable")
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([f"P-{k:04d}" for k in range(20)], "id"),
        ([f"user{k}@example.org" for k in range(20)], "id"),
        ([f"Patient {k}" for k in range(20)], "id"),
        ([*ORDERS, *ORDERS[:4]], "id"),
        (range(1, 21), "id"),
        (range(5, 25), "number"),
        ([17 * k * k for k in range(20)], "number"),
        (RNG.choice(100, 60, replace=False), "number"),  # scores
        (RNG.choice(range(150, 200), 20, replace=False), "number"),  # heights
        (range(2010, 2020), "number"),  # years
        (["None", "NULL", "n/a", "-", *map(str, range(0, 320, 20))], "number"),
        (["None", *RNG.normal(size=30).astype(str)], "number"),
        ([*RNG.normal(size=30).astype(str), "-"], "number"),
        (["1,234", "5,678", "12"] * 7, "number"),
        ([*map(str, range(0, 2000, 50)), "unknown"], "number"),
        (pd.Series([10**400, 1, 2, 3] * 5, dtype=object), "number"),
        ([*map(str, range(0, 100, 50)), "low", "high"] * 5, "category"),
        (["50%", "50"] * 10, "category"),  # .5 and 50?
        (["$50", "¥50"] * 10, "category"),
        (pd.Categorical([1, 2, 3] * 10), "category"),
        (["x", None] * 10, "category"),
        (["none", "mild", "severe", "none"] * 5, "category"),
        (["Köln", "Bonn", "New York, NY"] * 5, "category"),
        (["Smith, John", "Doe, Jane"] * 5, "category"),
        (["yes, often", "yes, seldom", "no"] * 5, "category"),
        ([0, 1, None, 1] * 5, "flag"),
        ([True, False] * 10, "flag"),
        (["red, large", "blue", "red, small", "blue, small"] * 5, "tags"),
        ([np.array(["a", "b"]), np.array(["a"]), np.array([])] * 5, "tags"),
        ([SENTENCE.format(WORDS[k % 10], WORDS[k // 3], k) for k in range(20)], "text"),
        ([" ".join(RNG.choice(WORDS, RNG.integers(1, 4))) for _ in range(300)], "text"),
        ([SENTENCE.format(WORDS[k % 10], "here", k % 4) for k in range(160)], "text"),  # canned
        (["這是一個測試文本內容" + chr(0x4E00 + k) for k in range(20)], "text"),
        (["09:30", "10:15", "23:59", "00:00"] * 5, "number"),
        (MIXED, "date"),
    ],
)
def test_kinds_of_single_columns(cells, expected):
    assert kind(cells) == expected


def spelled(lists):
    return {
        "lists": lists,
        "bars": ["|".join(items) for items in lists],
        "json": [json.dumps(items) for items in lists],
        "python": [str(items) for items in lists],
    }


@pytest.mark.parametrize("fitted", ["lists", "bars", "json", "python"])
@pytest.mark.parametrize("given", ["lists", "bars", "json", "python"])
def test_a_list_gives_the_same_items_in_every_spelling(fitted, given):
    train = spelled([["red", "big"], ["blue"], ["red"], ["big", "New York, NY"]] * 5)
    new = spelled([["big", "red"], ["New York, NY"], ["blue", "red"]])
    preparer = TablePreparer().fit({"tags": train[fitted]})
    assert preparer.feature_names_in_.tolist() == ["tags"]
    names = [f"tags: {item}" for item in ("New York, NY", "big", "blue", "red")]
    assert preparer.get_feature_names_out().tolist() == names
    expected = [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 1]]
    np.testing.assert_array_equal(preparer.transform({"tags": new[given]}), expected)


def test_an_identifier_is_known_by_its_name_too():
    numbers = np.random.default_rng(0).permutation(10_000)[:50]
    assert (kind(numbers, "orderId"), kind(numbers, "paid")) == ("id", "number")
    calls = [f"{hour}:31:05" for hour in range(5, 65)]
    assert kind(calls, "call_no") == "number"  # a unit measures something


def test_gaps_get_a_column_where_they_carry_information():
    rng = np.random.default_rng(0)
    gaps = rng.random(200) < 0.3
    x, z = rng.normal(size=200), rng.normal(size=200)
    frame = pd.DataFrame({"x": np.where(gaps, np.nan, x), "z": z})
    unrelated = rng.integers(0, 2, (200, 3))
    related = np.column_stack([gaps, unrelated[:, 0]]).astype(int)
    with_indicator, without = ["x", "x (missing)", "z"], ["x", "z"]
    for y, names in ((None, with_indicator), (unrelated, without), (related, with_indicator)):
        assert list(TablePreparer().fit(frame, y).get_feature_names_out()) == names


def test_no_column_left_is_refused_with_reasons():
    message = "'a' left out: counts or names the rows; --column a=number keeps it"
    with pytest.raises(ValueError, match=message):
        TablePreparer().fit(pd.DataFrame({"a": range(20), "b": 1}))


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(ValueError, match="two columns are called 'a'"):
        TablePreparer().fit(frame)


def test_columns_may_have_any_name():
    frame = pd.DataFrame({"column_names": [1.5, 2, 4], "columns": ["a", "b", "a"], 7: [3, 1, 2]})
    expected = [[1 / 6, 1, 0, 5 / 6], [0.5, 0, 1, 1 / 6], [5 / 6, 1, 0, 0.5]]
    np.testing.assert_allclose(TablePreparer().fit_transform(frame), expected)


TEXT = st.text(max_size=8)
NUMBERS = st.floats() | st.integers(-5, 5)
CELL = st.none() | TEXT | NUMBERS | st.booleans() | st.dates() | st.lists(TEXT, max_size=3)


@pytest.mark.filterwarnings("ignore:.*(not readable|seen by|are missing)")
@given(
    st.lists(st.tuples(CELL, CELL), min_size=1, max_size=30),
    st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5),
)
def test_any_table_gives_finite_numbers_or_one_refusal(rows, new):
    frames = [pd.DataFrame(own, columns=["one", "two"], dtype=object) for own in (rows, new)]
    try:
        preparer = TablePreparer().fit(frames[0])
    except ValueError as error:
        if "No column" not in str(error):
            raise
        return
    for frame in frames:
        X = preparer.transform(frame)
        assert X.shape == (len(frame), len(preparer.get_feature_names_out()))
        assert np.isfinite(X.data if sparse.issparse(X) else X).all()


def test_dates_in_several_formats_are_all_read():
    table = pd.DataFrame({"day": MIXED})
    preparer = TablePreparer().fit(table)
    assert preparer.unreadable_cells_ == {}
    formats = "year first or day first or day, name of the month"
    assert preparer.describe()[0][2].startswith(formats)
    X = preparer.transform(pd.DataFrame({"day": DAYS}))
    np.testing.assert_array_equal(preparer.transform(table), X)
    np.testing.assert_array_equal(X[:, 0], (rankdata(DAYS) - 0.5) / len(DAYS))


def test_unreadable_cells_are_counted_apart_from_missing_ones_and_warned_about():
    table = pd.DataFrame({"size": [*map(str, range(0, 200, 5)), "", "unknown"]})
    preparer = TablePreparer().fit(table)
    assert preparer.unreadable_cells_ == {"size": 1}
    assert preparer.describe()[0][2] == "1 cell not readable as a number, 1 missing value"
    with pytest.warns(UserWarning, match="1 cell of 'size' not readable, taken as missing. Is the"):
        preparer.transform(table)


@pytest.mark.parametrize("codes", [[1, 12, 3], ["1", "2", "3"]])
def test_a_column_of_unseen_values_warns_in_a_pipeline(codes):
    table = pd.DataFrame({"zip": ["001", "012", "120"] * 10, "x": np.arange(30) / 7})
    model = make_pipeline(TablePreparer(), CamelClassifier()).fit(table, np.eye(30, 2, dtype=int))
    with pytest.warns(UserWarning, match="no value of 'zip' was seen by the fit"):
        model.predict(pd.DataFrame({"zip": codes, "x": [1, 2, 3]}))


def test_a_column_without_any_cell_warns():
    table = {"town": ["Ely", "Bath", None] * 10, "x": np.arange(30) / 7}
    preparer = TablePreparer().fit(table)
    gone = "all cells of 'town' are missing; all cells of 'x' are missing. Is the table"
    with pytest.warns(UserWarning, match=gone):
        preparer.transform({"town": [None] * 5, "x": [np.nan] * 5})
    _, told = preparer.transform_with_differences({"town": [None], "x": [np.nan]})
    assert told == {("missing", "x"): 1}  # a row alone may lack cells
    with pytest.warns(UserWarning, match="most values of 'town' were not seen by the fit"):
        preparer.transform({"town": ["York", "York", "Ely"], "x": [1, 2, 3]})


def test_scaling_auto_leaves_numbers_alone_as_they_are(table):
    numbers = table[["age", "income"]]
    preparer = TablePreparer(scaling="auto").fit(numbers)
    assert (preparer.scaling, preparer.scaling_) == ("auto", "none")
    assert preparer.transform(numbers)[:, 0].max() > 1
    assert TablePreparer(scaling="auto").fit(table).scaling_ == "rank"


ODD = [Decimal("sNaN"), np.array(5), {1, "b"}, {"a": 1}]
ODD += [1 + 2j, pd.Interval(0, 1), b"\xff", 10**5000]


@pytest.mark.filterwarnings("ignore:.*not readable")
@pytest.mark.parametrize("cells", [ODD, [np.inf, -np.inf] * 4, [[["x"]], [["y"]]] * 4])
def test_odd_objects_are_cells_too(cells):
    table = {"odd": cells, "x": [k / 7 for k in range(8)]}
    X = TablePreparer(sparse_output=False).fit_transform(table)
    assert np.isfinite(X).all()

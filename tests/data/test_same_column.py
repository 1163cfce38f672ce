"""The same column gives the same features to the last bit, from whatever library or file."""

import io
import json
from itertools import permutations

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skcamel import CamelClassifier, make_pipeline
from skcamel.data import TablePreparer, read_columns

N = 40
RNG = np.random.default_rng(0)
TIMES = pd.Series(pd.Timestamp("2024-03-30 20:15") + pd.to_timedelta(37 * np.arange(N), unit="min"))
COLUMNS = {
    "number": pd.Series(RNG.normal(size=N).round(6)).where(RNG.random(N) > 0.2),
    "single": pd.Series(RNG.normal(size=N).astype("float32").round(4)),
    "whole": pd.Series(RNG.integers(0, 99, N)).astype("Int64").where(RNG.random(N) > 0.2),
    "money": pd.Series([f"${value:,.2f}" for value in RNG.lognormal(8, 2, N)]),
    "flag": pd.Series(RNG.random(N) > 0.5),
    "word": pd.Series(RNG.choice(["red", "green", None, "n/a"], N)),
    "code": pd.Series(RNG.choice(["007", "12", "300"], N)),
    "day": TIMES.dt.normalize(),
    "moment": TIMES.where(RNG.random(N) > 0.2),
    "zoned": TIMES.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"),  # over a change of clocks
    "span": pd.Series(pd.to_timedelta(RNG.integers(-(10**6), 10**6, N), unit="s")),
    "text": pd.Series([" ".join(RNG.choice(["sun", "sea", "rain", "wind"], 6)) for _ in range(N)]),
    "tags": pd.Series(["|".join(RNG.choice(["a", "b", "c"], 2, replace=False)) for _ in range(N)]),
}
OTHER = pd.Series(RNG.normal(size=N).round(6))


def as_csv(frame, path):
    frame.to_csv(path / "t.csv", index=False)
    return read_columns(path / "t.csv")


def as_excel(frame, path):
    book = openpyxl.Workbook()
    book.active.append(list(frame))
    for row in frame.astype(object).itertuples(index=False):
        cells = [None if cell is pd.NA or cell is pd.NaT or cell != cell else cell for cell in row]
        book.active.append([excel_cell(cell) for cell in cells])
    book.save(path / "t.xlsx")
    return read_columns(path / "t.xlsx")


def excel_cell(cell):
    """Excel knows no zones, and only one kind of number."""
    if isinstance(cell, pd.Timestamp) and cell.tz is not None:
        return cell.isoformat()
    if isinstance(cell, pd.Timedelta):
        return str(cell)
    return cell.to_pydatetime() if isinstance(cell, pd.Timestamp) else cell


def as_json(frame, path):
    with (path / "t.jsonl").open("w") as file:
        for row in frame.astype(object).to_dict("records"):
            known = {key: None if pd.isna(value) else value for key, value in row.items()}
            file.write(json.dumps(known, default=str) + "\n")
    return read_columns(path / "t.jsonl")


def as_parquet(frame, path):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path / "t.parquet")
    return read_columns(path / "t.parquet")


CONTAINERS = {
    "pandas": lambda frame, _: frame,
    "pandas objects": lambda frame, _: frame.astype(object),
    "pandas with pyarrow": lambda frame, _: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda frame, _: pl.from_pandas(frame),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame, preserve_index=False),
    "pandas from csv": lambda frame, _: pd.read_csv(io.StringIO(frame.to_csv(index=False))),
    "dict of lists": lambda frame, _: frame.astype(object).to_dict("list"),
    "csv": as_csv,
    "excel": as_excel,
    "json lines": as_json,
    "parquet": as_parquet,
}
# Where cells are no longer what the column held: 007 is 7, and 0.1 is 0.10000000149.
OBJECTS = ["pandas objects", "dict of lists", "excel", "json lines"]
NOT_THE_SAME = {"code": ["pandas from csv"], "single": OBJECTS}


@pytest.mark.parametrize("name", COLUMNS)
def test_all_pairs_of_libraries_and_files_agree(name, tmp_path):
    frame = pd.DataFrame({name: COLUMNS[name], "other": OTHER})
    same = CONTAINERS.keys() - set(NOT_THE_SAME.get(name, ()))
    tables = {key: CONTAINERS[key](frame, tmp_path) for key in sorted(same)}
    fitted = {key: TablePreparer(sparse_output=False).fit(table) for key, table in tables.items()}
    expected = fitted["pandas"].transform(frame)
    assert expected.shape[1] > 1
    for key, preparer in fitted.items():
        assert preparer.kinds_ == fitted["pandas"].kinds_, key
        np.testing.assert_array_equal(preparer.transform(tables[key]), expected, err_msg=key)
    for first, second in permutations(tables, 2):
        X = fitted[first].transform(tables[second])
        np.testing.assert_array_equal(X, expected, err_msg=f"{first} ► {second}")


def test_decimal_marks_are_those_of_the_model_not_of_the_file(tmp_path):
    numbers = RNG.normal(size=(60, 2)).round(3)  # 1,234 is 1.234, not 1234
    written = pd.DataFrame(numbers, columns=["a", "b"])
    text = written.to_csv(sep=";", decimal=",", index=False)
    (tmp_path / "m.csv").write_text(text)
    Y = (numbers > 0).astype(int)
    table = read_columns(tmp_path / "m.csv")
    model = make_pipeline(TablePreparer(), CamelClassifier()).fit(table, Y)
    expected = model.decision_function(written)
    for table in (
        read_columns(tmp_path / "m.csv"),
        pd.read_csv(io.StringIO(text), sep=";"),  # texts with commas
        pl.from_pandas(written),
        as_json(written, tmp_path),
        as_excel(written, tmp_path),
    ):
        np.testing.assert_array_equal(model.decision_function(table), expected)
    (tmp_path / "new.csv").write_text(text + "k.A.;n/a\n")
    found = model.decision_function(read_columns(tmp_path / "new.csv"))
    np.testing.assert_array_equal(found[:-1], expected)
    (tmp_path / "new.csv").write_text(text + "unknown;5,5\n")
    with pytest.warns(UserWarning, match="1 cell of 'a' not readable, taken as missing"):
        found = model.decision_function(read_columns(tmp_path / "new.csv"))
    np.testing.assert_array_equal(found[:-1], expected)

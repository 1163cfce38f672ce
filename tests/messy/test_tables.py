"""The messy tables hold what they say: their files can be read by plain means, and their labels can be learned."""

import csv
import io
import json
from collections import Counter
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

from messy import MAKERS, TABLES
from skcamel import CamelClassifierCV
from skcamel.metrics import average_precision

KINDS = {"number", "flag", "category", "date", "text", "tags", "id", "constant", "empty", "dropped"}
FRESH = [table for table in TABLES if table.spoilt]
# What somebody who opens the file sees, said once more: encoding, separator, lines above the names
TEXT_FILES = {
    "german": ("latin-1", ";", 0),
    "swiss": ("utf-8", ";", 0),
    "reviews": ("utf-8", ";", 1),
    "unicode_export": ("utf-16", "\t", 0),
}
YES, NO = (
    {"1", "TRUE", "True", "yes", "ja", "Y", "x", "t"},
    {"0", "-1", "FALSE", "False", "no", "nein", "N", "", "f"},
)
LISTS = {
    "packages": lambda cell: cell.split("|"),
    "movies": lambda cell: cell.split(", "),
    "clothes": lambda cell: cell.split("; "),
    "recipes": json.loads,
    "members": list,
    "flights": list,
}

each = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


def read(path, name=""):
    """Columns of a file: names ► cells; gaps are None, or "" in text."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pydict()
    if path.suffix == ".jsonl":
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        names = dict.fromkeys(key for record in records for key in record)
        return {key: [record.get(key) for record in records] for key in names}
    if path.suffix == ".xlsx":
        top, names, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        assert set(top) == {None}
    else:
        encoding, separator, above = TEXT_FILES.get(name, ("utf-8", ",", 0))
        text = io.StringIO(path.read_bytes().decode(encoding), newline="")
        names, *rows = list(csv.reader(text, delimiter=separator))[above:]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def same_cells(found, column):
    """Whether cells of a file are those of a frame, as text where the file is text."""
    for cell, wanted in zip(found, column.astype(object), strict=True):
        if pd.isna(wanted):
            assert cell in ("", None)
        else:
            assert cell == (str(wanted) if isinstance(cell, str) else wanted)


def read_labels(table, path, options):
    """Label sets of the rows of `path`."""
    columns = read(path, table.name)
    if options:
        key, other = options[3], read(Path(options[1]))
        if table.labels in other:
            pairs = set(zip(other[key], other[table.labels], strict=True))
            return [
                {name for name in table.label_names if (own, name) in pairs} for own in columns[key]
            ]
        at = {own: r for r, own in enumerate(other[key])}
        columns = {
            name: [other[name][at[own]] for own in columns[key]] for name in table.label_names
        }
    if table.name in LISTS:
        return [set(LISTS[table.name](cell)) - {""} for cell in columns[table.labels]]
    cells = np.array([columns[name] for name in table.label_names], dtype=object)
    cells[cells == None] = ""  # noqa: E711
    assert set(cells.ravel()) <= YES | NO
    return [
        {name for name, cell in zip(table.label_names, row, strict=True) if cell in YES}
        for row in cells.T
    ]


def test_there_are_many_and_every_kind_and_form_is_among_them(tmp_path):
    assert len(TABLES) >= 24
    assert max(Counter(table.name for table in TABLES).values()) == 1
    assert {kind for table in TABLES for kind in table.kinds.values()} == KINDS - {"dropped"}
    assert {table.write(tmp_path)[0].suffix for table in TABLES} == {
        ".csv",
        ".tsv",
        ".jsonl",
        ".parquet",
        ".xlsx",
    }
    assert len(FRESH) >= 3


@each
def test_the_facts_agree_with_each_other(table):
    frame = table.frame()
    assert list(table.kinds) == list(frame)
    assert table.Y.shape == (len(frame), len(table.label_names))
    assert 150 <= len(frame) <= 400
    assert 3 <= frame.shape[1] <= 10 or table.name == "spectra"
    assert 3 <= len(table.label_names) <= 8
    assert list(table.label_names) == sorted(table.label_names)
    train, test = table.split()
    for rows in (train, test):
        np.testing.assert_array_less(0.1, table.Y[rows].mean(axis=0))
        np.testing.assert_array_less(table.Y[rows].mean(axis=0), 0.7)


@pytest.mark.parametrize(
    ("make", "table"), zip(MAKERS, TABLES, strict=True), ids=[table.name for table in TABLES]
)
def test_a_table_made_again_is_the_same(make, table):
    again = make()
    pd.testing.assert_frame_equal(again.frame(), table.frame())
    np.testing.assert_array_equal(again.Y, table.Y)


@each
def test_files_hold_the_rows_that_were_asked_for(table, tmp_path):
    for rows in (slice(None), np.arange(5, 90, 2), slice(100, 140)):
        path, options = table.write(tmp_path, rows)
        columns, frame = read(path, table.name), table.frame().iloc[rows]
        for name in frame:
            same_cells(columns.get(name, [None] * len(frame)), frame[name])
        sets = [
            {name for name, flag in zip(table.label_names, row, strict=True) if flag}
            for row in table.Y[rows]
        ]
        assert read_labels(table, path, options) == sets
        bare, options = table.write(tmp_path, rows, labelled=False)
        assert (set(read(bare, table.name)), options) == (set(frame), [])


@pytest.mark.parametrize("table", FRESH, ids=lambda table: table.name)
def test_fresh_rows_have_values_and_gaps_that_nothing_prepared_for(table, tmp_path):
    train, test = table.split()
    known, new = table.frame().iloc[train], table.frame(fresh=True).iloc[test]
    categories = [name for name, kind in table.kinds.items() if kind == "category"]
    assert any(set(new[name].dropna()) - set(known[name]) for name in categories)
    assert any(new[name].isna().any() and not known[name].isna().any() for name in new)
    path, _ = table.write(tmp_path, test, fresh=True)
    for name, cells in read(path, table.name).items():
        if name in new:
            same_cells(cells, new[name])


def test_tables_without_fresh_rows_say_so(tmp_path):
    table = next(table for table in TABLES if not table.spoilt)
    with pytest.raises(ValueError, match="cannot be spoilt"):
        table.write(tmp_path, fresh=True)


@each
def test_labels_can_be_learned_from_what_a_person_prepares(table):
    train, test = table.split()
    preparation, frame = table.hand(), table.frame()
    model = CamelClassifierCV.from_preset("quick").fit(
        preparation.fit_transform(frame.iloc[train]), table.Y[train]
    )
    by_frequency = np.tile(table.Y[train].mean(axis=0), (len(test), 1))
    found = average_precision(
        table.Y[test], model.decision_function(preparation.transform(frame.iloc[test]))
    )
    assert found >= average_precision(table.Y[test], by_frequency) + 0.1
    if table.spoilt:
        spoilt = average_precision(
            table.Y[test],
            model.decision_function(preparation.transform(table.frame(fresh=True).iloc[test])),
        )
        assert spoilt >= average_precision(table.Y[test], by_frequency) + 0.1

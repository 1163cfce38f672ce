"""The messy tables hold what they say: kinds, forms, the same rows again, labels in balance."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from messy import MAKERS, TABLES
from skcamel.data import read_columns

KINDS = {"number", "flag", "category", "date", "text", "tags", "id", "constant", "empty"}
FRESH = [table for table in TABLES if table.spoilt]
each = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


def test_there_are_many_and_every_kind_and_form_is_among_them(tmp_path):
    assert len(TABLES) >= 20
    assert max(Counter(table.name for table in TABLES).values()) == 1
    assert {kind for table in TABLES for kind in table.kinds.values()} == KINDS
    suffixes = {table.write(tmp_path)[0].suffix for table in TABLES}
    assert suffixes == {".csv", ".tsv", ".jsonl", ".parquet", ".xlsx"}
    assert len(FRESH) >= 3


@each
def test_the_facts_agree_with_each_other(table, tmp_path):
    frame = table.frame()
    assert table.Y.shape == (len(frame), len(table.label_names))
    assert 150 <= len(frame) <= 400
    assert list(table.label_names) == sorted(table.label_names)
    for rows in table.split():
        assert 0.1 < table.Y[rows].mean(axis=0).min() <= table.Y[rows].mean(axis=0).max() < 0.7
    path, _ = table.write(tmp_path, slice(5, 45), labelled=False)
    written = read_columns(path)
    assert (written.num_rows, set(written.column_names)) == (40, set(frame))


@pytest.mark.parametrize(
    ("make", "table"), zip(MAKERS, TABLES, strict=True), ids=[table.name for table in TABLES]
)
def test_a_table_made_again_is_the_same(make, table):
    again = make()
    pd.testing.assert_frame_equal(again.frame(), table.frame())
    np.testing.assert_array_equal(again.Y, table.Y)


@pytest.mark.parametrize("table", FRESH, ids=lambda table: table.name)
def test_fresh_rows_have_values_and_gaps_that_nothing_prepared_for(table):
    train, test = table.split()
    known, new = table.frame().iloc[train], table.frame(fresh=True).iloc[test]
    categories = [name for name, kind in table.kinds.items() if kind == "category"]
    assert any(set(new[name].dropna()) - set(known[name]) for name in categories)
    assert any(new[name].isna().any() and not known[name].isna().any() for name in new)

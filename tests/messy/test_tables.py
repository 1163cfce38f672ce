"""The messy tables hold what they say: labels in balance, every form, fresh rows that differ."""

import pytest

from messy import TABLES

FRESH = [table for table in TABLES if table.spoilt]


def test_labels_are_in_balance_and_every_form_is_among_them(tmp_path):
    suffixes = {table.write(tmp_path)[0].suffix for table in TABLES}
    assert suffixes == {".csv", ".jsonl", ".parquet", ".xlsx"}
    for table in TABLES:
        assert list(table.label_names) == sorted(table.label_names)
        for rows in table.split():
            assert 0.1 < table.Y[rows].mean(axis=0).min() <= table.Y[rows].mean(axis=0).max() < 0.7


@pytest.mark.parametrize("table", FRESH, ids=lambda table: table.name)
def test_fresh_rows_have_values_and_gaps_that_nothing_prepared_for(table):
    train, test = table.split()
    known, new = table.frame().iloc[train], table.frame(fresh=True).iloc[test]
    categories = [name for name, kind in table.kinds.items() if kind == "category"]
    assert any(set(new[name].dropna()) - set(known[name]) for name in categories)
    assert any(new[name].isna().any() and not known[name].isna().any() for name in new)

"""`skcamel fit` and `skcamel predict` take messy tables as they are."""

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from messy import TABLES
from skcamel import CamelClassifierCV
from skcamel.data import TablePreparer
from skcamel.metrics import average_precision

FRESH = [table for table in TABLES if table.spoilt]
AS_GOOD = 0.05  # two sensible preparations differ by about .02 on some 90 held-out rows, either way

each = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
each_fresh = pytest.mark.parametrize("table", FRESH, ids=lambda table: table.name)


def by_hand(table, *, fresh=False):
    """Average precision on the held-out rows behind the preparation by hand."""
    (train, test), preparation = table.split(), table.hand()
    model = CamelClassifierCV.from_preset("quick").fit(
        preparation.fit_transform(table.frame().iloc[train]), table.Y[train]
    )
    return average_precision(
        table.Y[test],
        model.decision_function(preparation.transform(table.frame(fresh=fresh).iloc[test])),
    )


def in_python(table, *, fresh=False):
    """Scores of the held-out rows from the pipeline that the command makes."""
    train, test = table.split()
    words = set(table.kinds.values()) & {"category", "date", "text", "tags"}
    preparer, model = (
        TablePreparer(scaling="rank" if words else "none"),
        CamelClassifierCV.from_preset("quick", prepared=bool(words)),
    )
    model = make_pipeline(preparer, model).fit(table.frame().iloc[train], table.Y[train])
    return model.decision_function(table.frame(fresh=fresh).iloc[test])


@pytest.fixture
def on_the_command_line(cli, tmp_path):
    """`on_the_command_line(table)`: the same from the commands, labels in the table's order."""

    def scores(table, *, fresh=False):
        train, test = table.split()
        (tmp_path / "new").mkdir()
        path, options = table.write(tmp_path, train)
        new, _ = table.write(tmp_path / "new", test, fresh=fresh, labelled=False)
        result = cli("fit", path, "--labels", table.labels, *options, "-o", "m.skcamel")
        assert result.exit_code == 0, result.stderr
        result = cli("predict", "m.skcamel", new, "--scores", "-o", "p.jsonl")
        assert result.exit_code == 0, result.stderr
        records = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
        names = [f"score:{name}" for name in table.label_names]
        return np.array([[record[name] for name in names] for record in records])

    return scores


@each
@pytest.mark.filterwarnings("ignore:.*not readable")
def test_python_is_as_good_as_a_preparation_by_hand(table):
    _, test = table.split()
    assert average_precision(table.Y[test], in_python(table)) >= by_hand(table) - AS_GOOD


@each
@pytest.mark.filterwarnings("ignore:.*not readable")
def test_the_commands_say_what_python_says(table, on_the_command_line):
    np.testing.assert_allclose(on_the_command_line(table), in_python(table), rtol=0, atol=1e-8)


@each_fresh
def test_unseen_categories_and_new_gaps(table, on_the_command_line):
    _, test = table.split()
    found = on_the_command_line(table, fresh=True)
    np.testing.assert_allclose(found, in_python(table, fresh=True), rtol=0, atol=1e-8)
    assert average_precision(table.Y[test], found) >= by_hand(table, fresh=True) - AS_GOOD

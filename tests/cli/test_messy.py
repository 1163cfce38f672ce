"""`skcamel fit` and `skcamel predict` take messy tables as they are."""

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from messy import TABLES
from skcamel import CamelClassifierCV
from skcamel.data import TablePreparer
from skcamel.metrics import average_precision

AS_GOOD = 0.05  # two sensible preparations differ by about .02 on some 90 held-out rows, either way


def in_python(table, *, fresh=False):
    """Scores of the held-out rows from the pipeline that the command makes."""
    train, test = table.split()
    words = set(table.kinds) & {"category", "date", "text", "tags"}
    preparer = TablePreparer(scaling="rank" if words else "none")
    model = make_pipeline(preparer, CamelClassifierCV.from_preset("quick", prepared=bool(words)))
    model.fit(table.frame().iloc[train], table.Y[train])
    assert list(preparer.kinds_.values()) == table.kinds
    return model.decision_function(table.frame(fresh=fresh).iloc[test])


@pytest.fixture
def on_the_command_line(done, tmp_path):
    """`on_the_command_line(table)`: the same from the commands, labels in the table's order."""

    def scores(table, *, fresh=False):
        train, test = table.split()
        (tmp_path / "new").mkdir(exist_ok=True)
        path, options = table.write(tmp_path, train)
        new, _ = table.write(tmp_path / "new", test, fresh=fresh, labelled=False)
        done("fit", path, "--labels", table.labels, *options, "-o", "m.skcamel", "--force")
        done("predict", "m.skcamel", new, "--scores", "-o", "p.jsonl")
        records = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
        names = [f"score:{name}" for name in table.label_names]
        return np.array([[record[name] for name in names] for record in records])

    return scores


UNREADABLE = pytest.mark.filterwarnings("ignore:.*not readable")
CASES = [
    pytest.param(table, id=table.name, marks=() if table.spoilt else UNREADABLE) for table in TABLES
]


@pytest.mark.parametrize("table", CASES)
def test_commands_say_what_python_says_and_are_as_good_as_a_preparation_by_hand(
    table, on_the_command_line
):
    """Also for rows with unseen categories and new gaps, where the table has some."""
    _, test = table.split()
    for fresh, by_hand in enumerate(table.by_hand):
        found = on_the_command_line(table, fresh=fresh)
        np.testing.assert_allclose(found, in_python(table, fresh=fresh), rtol=0, atol=1e-8)
        assert average_precision(table.Y[test], found) >= by_hand - AS_GOOD

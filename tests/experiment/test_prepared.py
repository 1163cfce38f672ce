"""Tables with words and gaps in a study: each fold prepares them by its training rows alone, for every method alike."""

import csv

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from skcamel import CamelClassifierCV
from skcamel.baselines import BinaryRelevance
from skcamel.cli.root import root
from skcamel.data import Dataset, TablePreparer
from skcamel.data.table import read_table
from skcamel.experiment import RecordsError, run_study
from skcamel.experiment.folds import splits
from skcamel.experiment.paper import METHOD_TITLES
from skcamel.metrics import NAMES, evaluate

HEAD = ["plan", "paid", "nr", "message", "old", "new"]
FEATURES = ["plan", "paid", "nr", "message"]


def tickets(path, n=60, head=HEAD):
    """A CSV of tickets: a category with a rare value, a number with gaps, a count of the rows, words; and two labels."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(head)
        for row in range(n):
            old, new = rng.integers(2, size=2)
            cells = {
                "plan": "rare" if row == 7 else rng.choice(["free", "team"]),
                "paid": "" if row % 9 == 0 else round(50 * old + 9 * rng.random(), 2),
            }
            cells |= {
                "nr": row + 1,
                "message": (
                    f"please {'help soon' if new else 'send again'} {'again' if old else 'today'}"
                ),
            }
            cells |= {"old": old, "new": new}
            out.writerow([cells[name] for name in head])
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tickets(tmp_path_factory.mktemp("tickets") / "tickets.csv")


@pytest.fixture(scope="module")
def data(file):
    with pytest.warns(UserWarning, match="is numbered in the order"):
        return read_table(file, labels=["old", "new"])


class Seen(BaseEstimator):
    """Predicts no label, and writes down what it is shown."""

    shown: list = []  # noqa: RUF012 (filled by all clones)

    def fit(self, X, Y):
        self.shape_ = Y.shape[1]
        self.shown.append(X)
        return self

    def predict(self, X):
        self.shown.append(X)
        return np.zeros((X.shape[0], self.shape_), dtype=int)


def test_every_fold_is_prepared_by_its_training_rows_alone(file, data):
    models = {
        "camel": CamelClassifierCV.from_preset("quick", prepared=True, random_state=0),
        "br": BinaryRelevance(),
    }
    records = run_study([data], list(models), preset="quick")
    frame, Y = pd.read_csv(file)[FEATURES], data.Y
    for record in records:
        train, test = splits(Y, "plain", 3, 0)[record["fold"]]
        model = make_pipeline(TablePreparer(id=["nr"]), models[record["method"]]).fit(
            frame.iloc[train], Y[train]
        )
        expected = evaluate(
            Y[test], model.decision_function(frame.iloc[test]), model.predict(frame.iloc[test])
        )
        assert {name: record[name] for name in NAMES} == pytest.approx(expected, nan_ok=True)
        assert record["n_features"] == len(model[0].source_columns_)
    assert records[0]["settings"]["prepared"]["params"]["id"] == ["nr"]


def test_all_methods_of_a_study_take_words_and_gaps(data):
    methods = [name for name in METHOD_TITLES if name != "random-forest"]  # as extra-trees
    records = run_study([data], methods, preset="quick", n_folds=2)
    assert not records.failures
    assert {record["method"] for record in records} == set(methods)


def test_gaps_among_numbers_are_filled_in_and_nothing_is_scaled(tmp_path):
    path = tickets(tmp_path / "numbers.csv", head=["paid", "old", "new"])
    Seen.shown.clear()
    record, *_ = run_study([read_table(path, labels=["old", "new"])], [Seen()], preset="quick")
    train, test = splits(np.zeros((60, 2)), "plain", 3, 0)[0]
    paid = pd.read_csv(path)["paid"]
    filled = paid.fillna(paid[train].median()).to_numpy()
    for shown, rows in zip(Seen.shown, (train, test), strict=False):
        np.testing.assert_allclose(shown[:, 0], filled[rows])
    assert record["settings"]["prepared"]["params"]["scaling"] == "none"


def test_a_table_of_whole_numbers_has_the_units_that_it_always_had(tmp_path):
    path = tickets(tmp_path / "whole.csv", head=["nr", "old", "new"])
    whole = read_table(path, labels=["old", "new"])
    bare = Dataset(whole.X, whole.Y, name="whole")
    assert whole.table is None
    assert (
        run_study([whole], ["br"], preset="quick").asked
        == run_study([bare], ["br"], preset="quick").asked
    )


def test_gaps_that_nothing_prepares_are_refused_before_any_unit_runs(tmp_path):
    gappy = Dataset([[np.nan, 1.0]] * 9, [[1, 0], [0, 1], [1, 1]] * 3, name="gappy")
    with pytest.raises(
        ValueError,
        match=r"gappy has 9 gaps \(NaN\) among its features, which br does not take; fill them in",
    ):
        run_study([gappy], [Seen(), "br"], preset="quick", out=tmp_path / "out")
    assert not run_study([gappy], [Seen()], preset="quick").failures


def test_a_column_of_groups_is_not_prepared(data):
    Seen.shown.clear()
    run_study([data], [Seen()], preset="quick", n_folds=2, groups="plan")
    widths = [X.shape[1] for X in Seen.shown]
    Seen.shown.clear()
    run_study([data], [Seen()], preset="quick", n_folds=2)
    assert max(widths) < min(X.shape[1] for X in Seen.shown)


def test_other_words_of_the_same_order_are_other_data(file, data, tmp_path):
    run_study([data], [Seen()], preset="quick", out=tmp_path)
    other = tmp_path / "tickets.csv"
    other.write_text(file.read_text().replace("help soon", "help sooner"))
    with pytest.warns(UserWarning, match="is numbered"):
        changed = read_table(other, labels=["old", "new"])
    assert np.array_equal(changed.X, data.X, equal_nan=True)
    with pytest.raises(RecordsError, match="other values"):
        run_study([changed], [Seen()], preset="quick", out=tmp_path)


def test_the_command_says_that_folds_prepare_a_table(file, tmp_path):
    told = CliRunner().invoke(root, ["study", "--datasets", str(file), "--labels", "old,new", "--methods", "camel", "--preset", "quick",
                                     "--n-jobs", "2", "-o", str(tmp_path / "out")])  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "each fold prepares it by its training rows, as 'skcamel fit' does" in told.stderr
    assert "is numbered" not in told.stderr
    assert "tickets (mean ± std of 3 folds)" in told.stdout

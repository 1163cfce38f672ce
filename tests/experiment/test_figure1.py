"""The script of Figure 1: each point is a refit, the alternation's own curve, and the picture shows what the file holds."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")

from skcamel import CamelClassifier
from skcamel.data import Dataset
from skcamel.experiment import paper_cell
from skcamel.metrics import NAMES, coverage

STUDY = Path(__file__).parents[2] / "studies" / "paper-2019"
pytestmark = pytest.mark.skipif(
    not STUDY.is_dir(), reason="studies are part of a clone, not of an installed package"
)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("figure1", STUDY / "figure1.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(60, n_features=6, n_classes=4, n_labels=2, random_state=0)
    return Dataset(X, Y, name="made")


@pytest.fixture(scope="module")
def result(script, data):
    return script.results(data, n_folds=3, seed=4)


def test_each_parameter_varies_alone_around_the_best_setting(script, data, result):
    (train, test), *_ = KFold(3, shuffle=True, random_state=4).split(data.X)
    for name, grid in script.GRIDS.items():
        curve = result["curves"][name]
        assert curve["values"] == list(grid)
        assert {np.shape(curve[metric]) for metric in NAMES} == {(len(grid), 3)}
        model = CamelClassifier(**(result["base"] | {name: grid[1]})).fit(
            data.X[train], data.Y[train]
        )
        assert curve["coverage"][1][0] == pytest.approx(
            coverage(data.Y[test], model.decision_function(data.X[test]))
        )
    at_base = [
        result["curves"][name]["coverage"][script.GRIDS[name].index(value)]
        for name, value in result["base"].items()
    ]
    assert at_base[0] == at_base[1] == at_base[2]


def test_algorithm_1_converges(result):
    delta = result["convergence"]["delta"]
    assert (np.diff(delta) < 0).all()
    assert len(delta) > 3


def test_the_picture_shows_the_curves(script, result):
    *panels, last = script.figure(result, "ranking_loss").axes
    for ax, name in zip(panels, script.GRIDS, strict=True):
        drawn = ax.lines[0].get_ydata()
        assert drawn == pytest.approx(np.mean(result["curves"][name]["ranking_loss"], axis=1))
    assert last.lines[0].get_ydata().tolist() == result["convergence"]["delta"]


def test_the_script_computes_a_file_and_draws_it(script, data, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "load_dataset", lambda name: data)
    monkeypatch.setattr(
        script, "GRIDS", {"alpha": (0.0, 0.5), "lambda1": (1.0,), "lambda2": (0.1, 1.0)}
    )
    script.main(True, "made", tmp_path)
    assert (
        len(
            json.loads((tmp_path / "sensitivity" / "made.json").read_text())["curves"]["lambda2"][
                "coverage"
            ][0]
        )
        == 10
    )
    first = (tmp_path / "figure1.svg").read_bytes()
    script.main(False, "made", tmp_path)
    assert (tmp_path / "figure1.svg").read_bytes() == first


def test_the_kept_curves_have_their_best_value_where_the_setting_is(script):
    result = json.loads((STUDY / "sensitivity" / "enron.json").read_text())
    printed = paper_cell("enron", "coverage", "camel")
    for name, curve in result["curves"].items():
        means = np.mean(curve["coverage"], axis=1)
        at_setting = means[curve["values"].index(result["base"][name])]
        assert at_setting <= means.min() + printed.std

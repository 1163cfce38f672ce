"""ML-MLM, a method of the study of alternatives: its left-out predictions are those of refits."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from baselines import overlapping

SCRIPT = Path(__file__).parents[2] / "studies" / "alternatives" / "minimal_learning_machine.py"
pytestmark = pytest.mark.skipif(
    not SCRIPT.is_file(), reason="studies are part of a clone, not of an installed package"
)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("minimal_learning_machine", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_power_is_chosen_by_predictions_without_the_row(script, monkeypatch):
    X, Y = overlapping.make(25)
    seen = {}
    monkeypatch.setattr(
        script, "ranking_loss", lambda labels, scores: seen.setdefault(len(seen), scores)[0, 0]
    )
    script.MinimalLearningMachine(powers=(2,)).fit(X, Y)
    for row in range(3):
        others = np.delete(np.arange(25), row)
        model = script.MinimalLearningMachine(powers=(2,)).fit(X[others], Y[others])
        np.testing.assert_allclose(seen[0][row], model.predict_proba(X[[row]])[0], atol=1e-4)


def test_training_rows_and_copies_of_rows_get_their_labels(script):
    X, Y = overlapping.make(25)
    X, Y = np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)
    model = script.MinimalLearningMachine().fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)

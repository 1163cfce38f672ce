"""From outcomes to a record: which outcome is shown, and all that is kept."""

import os
import subprocess
import sys

import numpy as np
import pytest

from skcamel.experiment import Outcome
from skcamel.experiment.compute import measured
from skcamel.metrics import NAMES, edge_cases, evaluate


@pytest.fixture
def truth(rng):
    Y = rng.integers(0, 2, (12, 4))
    Y[:, 3] = 0
    return Y


@pytest.fixture
def outcomes(rng, truth):
    """An outcome for each criterion, all different."""
    scores = {name: rng.normal(size=truth.shape) for name in NAMES}
    return {
        name: Outcome(F, (0.2 * k < F).astype(int), {"k": np.int64(k)})
        for k, (name, F) in enumerate(scores.items())
    }


def test_of_several_outcomes_a_record_shows_each_metric_under_its_own(truth, outcomes):
    record = measured(truth, outcomes)
    assert (record["criterion"], record["params"]) == ("each", {})
    for name in NAMES:
        assert (
            record[name] == evaluate(truth, outcomes[name].scores, outcomes[name].decisions)[name]
        )
    counted = edge_cases(truth, outcomes["macro_f1"].decisions)
    assert record["edge_labels_absent"] == counted.labels_absent
    assert record["edge_labels_never_predicted"] == counted.labels_never_predicted


def test_all_seven_outcomes_are_kept(truth, outcomes):
    record = measured(truth, outcomes)
    for criterion, outcome in outcomes.items():
        values = evaluate(truth, outcome.scores, outcome.decisions)
        assert {name: record[f"{name}_by_{criterion}"] for name in NAMES} == values
        assert record[f"params_by_{criterion}"] == outcome.params


def test_the_only_outcome_is_shown(truth, outcomes):
    record = measured(truth, {"coverage": outcomes["coverage"]})
    assert (record["criterion"], record["params"]) == ("coverage", {"k": 2})
    assert not any("_by_" in key for key in record)


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="only Linux can forget a peak"
)
def test_the_peak_of_memory_is_that_of_the_unit_alone():
    # In a process of its own: what other tests have left in this one moves too.
    code = (
        "import numpy as np\nfrom skcamel import memory\nheld = np.ones(2**24)\nhigh ="
        " memory.peak()\ndel held\nmemory.forget_peak()\nassert memory.peak() < high - 2**26"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

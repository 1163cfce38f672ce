"""skcamel study: what it prints, refuses and resumes; the runner has tests of its own."""

import re
import warnings

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from skcamel.data import write_dataset
from skcamel.experiment import Records, run_study
from study_methods import comparable, made


@pytest.fixture
def arff(tmp_path):
    write_dataset(made(30), tmp_path / "made.arff")
    return tmp_path / "made.arff"


STUDY = ("--methods", "br,nn=sklearn.neighbors:KNeighborsClassifier", "--n-folds", "2")


def test_a_study_prints_its_tables_and_fills_the_folder(cli, arff):
    result = cli("study", "--datasets", arff, *STUDY, "-o", "DIR")
    assert result.exit_code == 0, result.stderr
    assert "Results on data sets that the paper does not have" in result.stdout
    assert re.search(r"\| BR +\| +(\*\*)?0\.\d{3}±0\.\d{3}", result.stdout)
    assert "More: skcamel tables DIR --significance" in result.stdout
    assert len(re.findall(r"^\d/4  made, ", result.stderr, re.MULTILINE)) == 4
    with warnings.catch_warnings(action="error"):
        same = run_study([arff], [("nn", KNeighborsClassifier()), "br"], preset="quick", n_folds=2)
    assert comparable(Records("DIR")) == comparable(same)
    again = cli("study", "--datasets", arff, *STUDY, "-o", "DIR")
    assert (again.exit_code, again.stderr, again.stdout) == (0, "", result.stdout)


def test_failures_are_named_and_the_exit_code_is_1(cli, arff, tmp_path):
    (tmp_path / "bad_of_a_test.py").write_text(
        "from study_methods import Mean\nclass Bad(Mean):\n    def fit(self, X, Y):\n"
        "        raise RuntimeError('no luck')\n"
    )
    result = cli(
        *("study", "--datasets", arff, "--methods", "br,bad=bad_of_a_test:Bad"),
        *("--n-folds", "2", "-o", "DIR"),
    )
    assert result.exit_code == 1
    for fold in (1, 2):
        assert f"fold {fold} of 2: FAILED (RuntimeError: no luck)" in result.stderr
    assert "2 of 4 units failed" in result.stderr
    assert "BR" in result.stdout


def test_tables_bring_labels_groups_and_metrics_of_ones_own(cli, tmp_path):
    rng = np.random.default_rng(0)
    lines = ["size,colour,ward,label_sea,label_sun"]
    for row in range(40):
        size, colour = rng.normal(), ["red", "blue"][row % 2]
        lines.append(f"{size:.3f},{colour},w{row // 4},{int(size > 0)},{row % 2}")
    (tmp_path / "mine.csv").write_text("\n".join(lines) + "\n")
    result = cli(
        *("study", "--datasets", "mine.csv", "--labels", "label_*", "--groups", "ward"),
        *("--methods", "br", "--n-folds", "2", "-o", "DIR"),
        *("--metrics", "auc=sklearn.metrics:roc_auc_score:largest"),
    )
    assert result.exit_code == 0, result.stderr
    record = Records("DIR")[0]
    assert (record["folds"], record["n_labels"]) == ("grouped", 2)
    assert 0 <= record["auc"] <= 1
    assert "auc ↑" in result.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("nothing", "method='nothing'"),
        ("nothing:Class", "No module named 'nothing'"),
        ("br --preset slow", "'slow' is not one of"),
        ("br --n-folds 1", "1 is not in the range"),
        ("br --time-limit 0", "0 is not in the range"),
        ("br --metrics auc", "write name=package.module:function:largest"),
    ],
)
def test_wrong_use_is_refused(refused, arff, options, sentence):
    methods = ("--methods", *options.split())
    refused(2, sentence, "study", "--datasets", arff, *methods, "-o", "DIR")

"""The study of what a user would pick instead: within its protocol and size, and every table of it recomputed from its records."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")

from click.testing import CliRunner
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

from skcamel.cli.root import root
from skcamel.experiment import Records, get_method
from skcamel.experiment.paper import LARGE, REGULAR

STUDY = Path(__file__).parents[2] / "studies" / "alternatives"
pytestmark = pytest.mark.skipif(
    not (STUDY / "records.jsonl").is_file(),
    reason="records are part of a clone, not of an installed package",
)
OTHERS = {
    "imcc",
    "extra-trees",
    "random-forest",
    "logistic",
    "svc",
    "hist-gradient-boosting",
    "lightgbm",
    "boomer",
    "mlknn",
}


@pytest.fixture(scope="module")
def records():
    return Records(STUDY)


def loaded(name):
    """A module that lies in the folder of the study."""
    spec = importlib.util.spec_from_file_location(f"alternatives_{name}", STUDY / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def summary():
    return loaded("summary")


def test_every_unit_belongs_to_the_protocol_and_ran_once(records):
    folds = dict.fromkeys(REGULAR, 5) | dict.fromkeys(LARGE, 2)
    wanted = {
        (name, fold, method, "best")
        for name, n in folds.items()
        for fold in range(n)
        for method in {"camel", *OTHERS}
    }
    wanted |= {(name, fold, "camel", "quick") for name, n in folds.items() for fold in range(n)}
    units = [*records, *records.failures]
    ran = [(u["dataset"], u["fold"], u["method"], u["preset"]) for u in units]
    assert len(set(ran)) == len(ran)
    assert set(ran) == wanted
    assert all(unit["n_folds"] == folds[unit["dataset"]] for unit in units)
    assert {(unit["seed"], unit["folds"]) for unit in units} == {(0, "plain")}
    assert all(
        "VarianceThreshold" in str(unit["settings"]) for unit in units if unit["method"] == "boomer"
    )  # see README.md
    assert {failure["error"] for failure in records.failures} <= {
        "TimeoutError: took longer than 600 s"
    }


@pytest.mark.filterwarnings(
    "ignore:Converting data to scipy sparse matrix"
)  # of LightGBM, each time
@pytest.mark.parametrize("package", ["sklearn", "lightgbm", "mlrl.boosting", "skmultilearn"])
def test_its_own_methods_take_sparse_rows_and_tune_their_thresholds(package):
    pytest.importorskip(package)
    names = {
        "sklearn": "hist_gradient_boosting",
        "lightgbm": "lightgbm",
        "mlrl.boosting": "boomer",
        "skmultilearn": "mlknn",
    }
    method = get_method(f"{STUDY / 'methods.py'}:{names[package]}")
    X, Y = make_multilabel_classification(60, n_features=4, n_classes=2, random_state=0)
    found = method.fit(sparse.csr_array(X), Y, seed=0).outcomes(sparse.csr_array(X))[""]
    assert found.scores.shape == found.decisions.shape == (60, 2)
    assert "'threshold': 'micro_f1'" in str(method.settings)


def test_the_records_stay_small():
    both = [
        path
        for study in ("alternatives", "paper-2019")
        for path in (STUDY.parent / study).rglob("*.json*")
    ]
    assert sum(path.stat().st_size for path in both) <= 4 * 10**6


def test_the_summary_is_that_of_the_records(records, summary):
    assert summary.summary_text(summary.Results(records)) == (STUDY / "summary.md").read_text(
        encoding="utf-8"
    )


def test_the_page_of_the_docs_shows_the_records(records, summary):
    page = summary.PAGE.read_text(encoding="utf-8")
    assert summary.filled(page, summary.Results(records)) == page


def test_the_tables_are_those_of_the_records():
    result = CliRunner().invoke(
        root, ["tables", str(STUDY), "--form", "markdown"], prog_name="skcamel"
    )
    assert result.exit_code == 0
    assert result.stdout == (STUDY / "tables.md").read_text(encoding="utf-8")


def test_the_counts_in_the_text_are_those_of_the_records(records):
    text, table = (
        (STUDY / name).read_text(encoding="utf-8") for name in ("README.md", "summary.md")
    )
    (within,) = (
        line.split(" | ")[3] for line in table.splitlines() if line.startswith("| CAMEL (best) |")
    )
    assert f"in {within} cells" in text
    assert f"{len(list(records))} finished and {len(records.failures)} timed out" in text

"""The study of what a user would pick instead: within its protocol and size, and every table of it recomputed from its records."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")

from click.testing import CliRunner

from skcamel.cli.root import root
from skcamel.experiment import Records
from skcamel.experiment.paper import LARGE, REGULAR

STUDY = Path(__file__).parents[2] / "studies" / "alternatives"
pytestmark = pytest.mark.skipif(not (STUDY / "records.jsonl").is_file(), reason="records are part of a clone, not of an installed package")
OTHERS = {"imcc", "extra-trees", "random-forest", "logistic", "svc", "hist-gradient-boosting", "lightgbm", "boomer", "mlknn"}


@pytest.fixture(scope="module")
def records():
    return Records(STUDY)


@pytest.fixture(scope="module")
def summary():
    spec = importlib.util.spec_from_file_location("alternatives_summary", STUDY / "summary.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_unit_is_finished_or_timed_out(records):
    folds = dict.fromkeys(REGULAR, 5) | dict.fromkeys(LARGE, 2)
    wanted = {(name, fold, method, "best") for name, n in folds.items() for fold in range(n) for method in {"camel", *OTHERS}}
    wanted |= {(name, fold, "camel", "quick") for name, n in folds.items() for fold in range(n)}
    units = [*records, *records.failures]
    assert sorted((u["dataset"], u["fold"], u["method"], u["preset"]) for u in units) == sorted(wanted)
    assert all(unit["n_folds"] == folds[unit["dataset"]] for unit in units)
    assert {(unit["seed"], unit["folds"]) for unit in units} == {(0, "plain")}
    assert {failure["error"] for failure in records.failures} <= {"TimeoutError: took longer than 600 s"}


def test_the_records_stay_small():
    both = [path for study in ("alternatives", "paper-2019") for path in (STUDY.parent / study).rglob("*.json*")]
    assert sum(path.stat().st_size for path in both) <= 4 * 10**6


def test_the_summary_is_that_of_the_records(records, summary):
    assert summary.summary_text(summary.Results(records)) == (STUDY / "summary.md").read_text(encoding="utf-8")


def test_the_page_of_the_docs_shows_the_records(records, summary):
    page = summary.PAGE.read_text(encoding="utf-8")
    assert summary.filled(page, summary.Results(records)) == page


def test_the_tables_are_those_of_the_records():
    result = CliRunner().invoke(root, ["tables", str(STUDY), "--form", "markdown"], prog_name="skcamel")
    assert result.exit_code == 0
    assert result.stdout == (STUDY / "tables.md").read_text(encoding="utf-8")

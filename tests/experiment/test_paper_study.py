"""The study that was run: complete, within its size, and every table of it recomputed from its records."""

import re
from pathlib import Path

import pytest

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")

from click.testing import CliRunner

from skcamel.baselines import JFSCCV, LLSFCV
from skcamel.cli.root import root
from skcamel.experiment import Records, compare_with_paper
from skcamel.experiment.identity import jsonable
from skcamel.experiment.paper import LARGE, REGULAR
from skcamel.experiment.tables import signed
from skcamel.metrics import NAMES
from skcamel.metrics.conventions import RANKING

STUDY = Path(__file__).parents[2] / "studies" / "paper-2019"
pytestmark = pytest.mark.skipif(
    not STUDY.is_dir(), reason="studies are part of a clone, not of an installed package"
)
METHODS = ("camel", "br", "ecc", "rakel", "llsf", "jfsc")


@pytest.fixture(scope="module")
def records():
    return list(Records(STUDY))


def test_no_unit_is_missing_and_none_failed(records):
    wanted = {("paper", "camel", name, fold) for name in (*REGULAR, *LARGE) for fold in range(10)}
    wanted |= {("best", "camel", name, fold) for name in (*REGULAR, *LARGE) for fold in range(10)}
    wanted |= {
        ("paper", method, name, fold)
        for method in METHODS
        for name in (*REGULAR, *LARGE)
        for fold in range(10)
    }
    assert sorted((r["preset"], r["method"], r["dataset"], r["fold"]) for r in records) == sorted(
        wanted
    )
    assert {(r["seed"], r["folds"], r["n_folds"]) for r in records} == {(0, "plain", 10)}
    assert not list(Records(STUDY).failures)


def test_records_keep_the_outcome_under_every_criterion_and_name_their_grids(records):
    for record in records:
        if record["method"] == "camel":
            assert {f"{metric}_by_{criterion}" for metric in NAMES for criterion in NAMES} <= set(
                record
            )
        if record["method"] in ("llsf", "jfsc"):
            kind = LLSFCV if record["method"] == "llsf" else JFSCCV
            assert record["settings"]["grid"] == jsonable(kind.GRIDS["coarse"])
        if record["method"] == "rakel":
            assert {f"{metric}_ties_by_index" for metric in RANKING} <= set(record["more"])


def test_the_records_stay_small():
    assert (
        sum(path.stat().st_size for path in STUDY.parent.glob("*/*.json*")) <= 4 * 10**6
    )  # of all studies together


def test_faithful_camel_is_seldom_worse_than_the_paper_by_two_of_its_deviations(records):
    comparison = compare_with_paper(records, preset="paper", selected_by="nearest")
    assert len(comparison.cells) == 112
    assert sum(cell.no_worse for cell in comparison.cells) >= 100


def test_best_reaches_the_best_printed_figure_of_any_method(records):
    comparison = compare_with_paper(records, preset="best", std="larger")
    assert sum(cell.as_good_as_best for cell in comparison.cells) >= 95
    assert sum(cell.near_best for cell in comparison.cells) >= 110


def test_every_miss_of_best_is_named_with_by_how_much(records):
    for name, selected_by in (("best", None), ("best-one", "average_precision")):
        comparison = compare_with_paper(
            records, preset="best", selected_by=selected_by, std="larger"
        )
        text = (STUDY / f"{name}.md").read_text()
        assert f"{comparison.counts()['as_good_as_best']}/112" in text
        listed = text.partition("cells that miss a criterion")[2]
        for cell in comparison.missed("as_good_as_best"):
            shortfall = signed(cell.ahead_of_best, 3)
            assert re.search(
                rf"^\| {cell.dataset} .*\| +{re.escape(shortfall)} \|", listed, re.MULTILINE
            ), cell


@pytest.mark.parametrize("name", ["tables", "nearest", "best", "best-one"])
def test_tables_are_those_of_the_records(name):
    command = next(
        line for line in (STUDY / "README.md").read_text().splitlines() if f"[{name}.md]" in line
    ).split("`")[-2]
    arguments = [
        str(STUDY) if word == "studies/paper-2019" else word for word in command.split()[1:]
    ]
    result = CliRunner().invoke(root, arguments, prog_name="skcamel")
    assert result.exit_code == 0
    assert result.stdout == (STUDY / f"{name}.md").read_text()


def test_the_counts_in_the_text_are_those_of_the_records(records):
    text = " ".join((STUDY / "README.md").read_text().split())
    each, one = (
        compare_with_paper(records, preset="best", selected_by=by, std="larger").counts()
        for by in (None, "average_precision")
    )
    assert (
        f"in {each['as_good_as_best']} of 112 cells and within one std of it in"
        f" {each['near_best']};" in text
    )
    assert (
        f"selected by average precision, in {one['as_good_as_best']} and {one['near_best']}."
        in text
    )

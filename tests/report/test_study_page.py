"""The page of a study: what it says is what the records say, and nothing of it depends on anything else."""

import json
import os
import re
import shlex
import subprocess
import sys
import tracemalloc
from pathlib import Path
from statistics import median

import numpy as np
import pytest

import made_records
import made_studies
from skcamel import memory
from skcamel.data import Dataset
from skcamel.experiment import Records, compare_with_paper, result_tables, run_study, summarise
from skcamel.experiment.published import PAPER_METHODS
from skcamel.experiment.significance import compare_methods, groups_of
from skcamel.experiment.summary import METHOD_TITLES
from skcamel.experiment.tables import effect_text, signed
from skcamel.metrics import NAMES
from skcamel.metrics.conventions import RANKING
from study_methods import Mean, made

pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")
pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install skcamel[report]")

from skcamel.report import build_report
from skcamel.report.facts import StudyFacts
from skcamel.report.page import render
from skcamel.report.study_page import BYTES_OF_A_RECORD, study_page

ALL = ["ranks", "results", "significance", "cost", "cards", "failures", "reproduce", "paper"]
KEPT = Path(__file__).parents[2] / "studies" / "paper-2019"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_studies.sixteen(tmp_path_factory.mktemp("study") / "sixteen")


@pytest.fixture(scope="module")
def records(folder):
    return list(Records(folder))


@pytest.fixture(scope="module")
def page(folder):
    return study_page(StudyFacts.of(folder))


def section(page, name):
    return next(each for each in page.sections if each.name == name)


def page_of(records):
    return study_page(StudyFacts.of(records))


def names(page):
    return [each.name for each in page.sections]


def test_sixteen_sets_fill_every_section_in_less_than_three_megabytes(folder, tmp_path):
    build_report(folder, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall(r'<section id="(\w+)"', text) == ALL
    assert len(text.encode()) < 3e6


def test_the_same_records_give_the_same_bytes_in_any_process(folder, tmp_path):
    code = (
        "import sys; from skcamel.report import build_report; build_report(sys.argv[1],"
        " sys.argv[2])"
    )
    for seed in "12":
        subprocess.run(
            [sys.executable, "-c", code, folder, tmp_path / seed],
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_folder_and_its_records_give_the_same_page(folder, page):
    assert render(page_of(Records(folder))) == render(page)


@pytest.mark.parametrize("choice", [None])
def test_figures_are_those_of_the_tables_under_every_criterion(page, records, choice):
    shared = page.shared
    which = [each["name"] for each in shared["choices"]].index(choice or "")
    summary = summarise(records)
    assert shared["choices"][which]["notes"] == summary.notes()
    for table in result_tables(summary).values():
        for metric, part in enumerate(table.sections):
            for title, cells in part.rows:
                m = [each["title"] for each in shared["methods"]].index(title)
                rows = shared["figures"][which][m] or shared["figures"][0][m]
                for dataset, cell in zip(table.head, cells, strict=True):
                    mean, std, *_ = rows[shared["datasets"].index(dataset)][metric]
                    assert f"{mean}±{std}" == cell.text


@pytest.mark.parametrize(
    ("method", "preset"), [("camel", "paper"), ("camel", "best"), ("jfsc", "paper")]
)
def test_the_comparison_is_that_of_compare_with_paper(page, records, method, preset):
    data = section(page, "paper").data
    title = METHOD_TITLES[method] + (f" ({preset})" if method == "camel" else "")
    found = next(
        each for each in data["methods"] if page.shared["methods"][each["index"]]["title"] == title
    )["choices"][0]
    name = f"camel[{preset}]" if method == "camel" else method
    expected = compare_with_paper(records, method=name)
    assert [found["n"], *found["counts"]] == list(expected.counts().values())
    shown = [page.shared["datasets"][d] for d in data["datasets"]]
    for cell in expected.cells:
        difference, text, *misses = found["cells"][shown.index(cell.dataset)][
            NAMES.index(cell.metric)
        ]
        assert difference == pytest.approx(cell.difference, abs=1e-3)
        assert text == signed(cell.difference)
        assert misses == [
            i
            for i, met in enumerate((cell.no_worse, cell.as_good_as_best, cell.near_best))
            if not met
        ]


def test_how_models_were_selected_is_said_plainly(page):
    methods = {
        page.shared["methods"][each["index"]]["title"]: each["choices"]
        for each in section(page, "paper").data["methods"]
    }
    assert methods["CAMEL (paper)"][0]["note"].startswith(
        "One model per set and fold, selected by average precision. Ranking metrics: tied labels"
    )
    assert methods["BR"][0]["note"].startswith("Nothing was selected: the method has one setting.")


def test_findings_are_counted_from_the_records(page, records):
    figures = summarise(records, preset="paper").figures
    tests = [compare_methods(figures, metric, methods=PAPER_METHODS) for metric in NAMES]
    first = sum(min(one.ranks, key=one.ranks.get) == "camel" for one in tests)
    assert page.findings[0].startswith(
        f"CAMEL has the best average rank in {first} of 7 metrics, of 6 methods on 16 data sets."
    )
    taken = {}
    for record in records:
        taken.setdefault((record["method"], record["preset"]), {}).setdefault(
            record["dataset"], []
        ).append(record["fit_seconds"])
    typical = [median(median(folds) for folds in sets.values()) for sets in taken.values()]
    assert f" is the quickest to fit, {min(typical):.2g} s on " in page.findings[1]
    assert f" the slowest, {max(typical):.2g} s on " in page.findings[1]
    assert page.findings[2] == "2 units failed; see Failures for the reasons."
    assert not any("paper’s" in finding for finding in page.findings)


def test_findings_against_the_paper_stand_in_its_section_which_is_the_last(page, records):
    assert page.sections[-1].name == "paper"
    for preset, finding in zip(
        ("paper", "best"), section(page, "paper").context["findings"], strict=True
    ):
        counts = compare_with_paper(records, method=f"camel[{preset}]").counts()
        assert finding.startswith(
            f"CAMEL ({preset}) keeps up with the paper’s CAMEL, to within 2 std, in"
            f" {counts['no_worse']} of 112 figures"
        )
        assert f"the best figure printed for any method in {counts['as_good_as_best']}." in finding


def test_ranks_and_tests_are_of_one_preset(page, records):
    context = section(page, "ranks").context
    assert (
        context["sentence"]
        == "6 methods of preset paper are ranked on the 16 data sets that all of them have."
    )
    assert context["limits"] == []
    expected = compare_methods(
        summarise(records, preset="paper").figures,
        "coverage",
        methods=PAPER_METHODS,
        control="camel",
    )
    place = NAMES.index("coverage")
    assert context["table"]["rows"][place] == ("Coverage ↓", *expected.ranks.values())
    tests = section(page, "significance").context
    friedman = expected.friedman
    assert tests["friedman"]["rows"][place][1:] == (
        16,
        friedman.chi2,
        friedman.f,
        friedman.f_p,
        expected.nemenyi,
        expected.bonferroni_dunn,
    )
    assert tests["p_values"]["rows"][place][1:] == tuple(pair.p_holm for pair in expected.wilcoxon)
    assert tests["effects"]["rows"][place][1:] == tuple(map(effect_text, expected.wilcoxon))
    differ = [METHOD_TITLES[pair.second] for pair in expected.wilcoxon if pair.p_holm < 0.05]
    diagram = section(page, "ranks").data["diagrams"][place]
    assert all(name in diagram["sentence"].partition("Wilcoxon")[2] for name in differ)
    assert {name: rank for name, rank, _ in diagram["ranks"]} == {
        METHOD_TITLES[name]: rank for name, rank in expected.ranks.items()
    }
    groups = groups_of(expected.ranks, expected.nemenyi)
    assert diagram["groups"] == [
        [expected.ranks[group[0]], expected.ranks[group[-1]]] for group in groups
    ]


def test_a_page_says_what_its_tests_cannot_tell():
    page = page_of(
        made_records.study(["a", "b", "c", "d"], ["camel", "br", "ecc", "llsf"], n_folds=2)
    )
    (sentence,) = section(page, "ranks").context["limits"]
    assert "can be below 0.375" in sentence
    assert sentence.replace("'", "&#39;") in render(page)


def test_the_papers_own_diagram_stands_in_its_section(page):
    ranks = {name: rank for name, rank, _ in section(page, "paper").data["diagram"]["ranks"]}
    assert min(ranks, key=ranks.get) == "CAMEL"


def further(folder):
    """A study that records a metric beside the seven, the smaller the better, and RAkEL's ranking figures under two rules for ties."""
    by_index = dict.fromkeys((f"{name}_ties_by_index" for name in RANKING), 0.125)
    rows = made_records.study(["yeast", "scene"], ["rakel", "br"], n_folds=2)
    records = [
        row | by_index | {"log_loss": 2.0 if row["method"] == "rakel" else 1.0} for row in rows
    ]
    metrics = {"log_loss": {"title": "Log loss", "best": "smallest"}}
    return page_of(made_studies.write(folder, records, metrics=metrics))


def test_further_metrics_are_shown_ranked_and_tested(tmp_path):
    page = further(tmp_path / "study")
    assert page.shared["metrics"][7:] == [{"name": "log_loss", "title": "Log loss ↓", "loss": True}]
    assert page.shared["figures"][0][0][0][7][0] == "1.000"
    assert section(page, "ranks").context["table"]["rows"][7] == ("Log loss ↓", 1.0, 2.0)
    render(page)


def test_rakel_stands_against_the_paper_under_the_tie_rule_of_its_software(tmp_path):
    page = further(tmp_path / "study")
    data = section(page, "paper").data
    rakel = next(
        each
        for each in data["methods"]
        if page.shared["methods"][each["index"]]["title"] == "RAkEL"
    )["choices"][0]
    replaced = {(int(d), int(k)) for d, k in map(str.split, rakel["replaced"])}
    assert replaced == {(d, NAMES.index(name)) for d in range(2) for name in RANKING}
    assert {cell[0] for cell in rakel["replaced"].values()} == {"0.125"}
    assert "tied labels are ranked by their index" in rakel["note"]


def test_own_sets_and_methods_have_no_section_on_the_paper():
    page = page_of(made_records.study(["mine", "yours"], ["knn", "tree"], n_folds=3))
    assert names(page) == ["ranks", "results", "significance", "failures"]
    assert not any("paper" in finding for finding in page.findings)


def test_camel_on_own_sets_is_not_compared_with_the_paper():
    page = page_of(made_records.study(["mine", "yours"], ["camel", "knn"], n_folds=3))
    assert "paper" not in names(page)


@pytest.mark.parametrize(
    ("datasets", "methods"),
    [
        (["mine"], ["knn", "tree"]),
        (["mine", "yours"], ["knn"]),
        (["mine"], ["knn"]),
        (["yeast"], ["camel"]),
    ],
)
def test_too_little_for_tests_is_said_in_one_sentence(datasets, methods):
    page = page_of(made_records.study(datasets, methods, n_folds=3))
    context = section(page, "significance").context
    assert re.fullmatch(
        r"Tests compare at least two methods on at least two data sets [^.]*\.", context["sentence"]
    )
    assert "ranks" not in names(page)
    assert 'id="wilcoxon"' not in render(page)


def test_methods_that_share_no_data_set_are_not_tested():
    records = [
        *made_records.study(["a", "b"], ["knn"], n_folds=2),
        *made_records.study(["c"], ["tree"], n_folds=2),
    ]
    assert (
        "not two sets that all methods have"
        in section(page_of(records), "significance").context["sentence"]
    )


def test_one_set_names_who_has_the_best_means():
    records = [
        made_records.record("mine", "a", **dict.fromkeys(NAMES[:4], 0.1)),
        made_records.record("mine", "b", macro_f1=0.9),
    ]
    assert page_of(records).findings == [
        "a has the best mean in 6 of 7 cells."
    ]  # ties count for both
    equal = [made_records.record("mine", name) for name in "abc"]
    assert page_of(equal).findings == ["a, b and c have the best mean in 7 of 7 cells."]


def test_an_empty_study_is_one_clear_sentence(tmp_path):
    made_studies.write(tmp_path / "study", [])
    build_report(tmp_path / "study", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (
        "This study has no finished unit yet; run skcamel study, then make the page again." in text
    )
    assert not re.findall(r'<section id="', text)


def test_a_study_that_only_failed_says_why(tmp_path):
    folder = made_studies.write(
        tmp_path / "study",
        [],
        runs=[made_studies.run(["yeast"], ["ecc"])],
        failures=[made_studies.failure()],
    )
    page = page_of(folder)
    assert names(page) == ["failures", "reproduce"]
    assert "yeast, ecc, paper, fold 1 of 10" in render(page)
    assert "ValueError: no luck" in render(page)


def test_undefined_metrics_and_unfinished_folds_are_shown_as_such():
    records = made_records.study(["mine"], ["knn"], n_folds=3)[:2]
    for record in records:
        record["macro_f1"] = float("nan")
    page = page_of(records)
    assert page.shared["figures"][0][0][0][NAMES.index("macro_f1")] is None
    assert "Folds finished so far: mine knn 2 of 3." in page.shared["choices"][0]["notes"]
    render(page)


def test_a_study_that_was_not_kept_has_a_page():
    page = page_of(
        run_study(
            [made(), made(name="other")], [("mean", Mean()), ("second", Mean())], preset="quick"
        )
    )
    assert {"cost", "cards", "reproduce"} < set(names(page))
    assert not section(page, "reproduce").context["commands"]
    assert ("skcamel", made_version()) in section(page, "reproduce").context["versions"]


def made_version():
    import skcamel

    return skcamel.__version__


def test_names_are_text(tmp_path):
    html = render(page_of(made_studies.nasty(tmp_path / "nasty")))
    assert "<script>window" not in html
    assert "<img src=x" not in html
    assert "&lt;script&gt;window.ran = true&lt;/script&gt;" in html


def test_commands_ask_for_what_was_asked(folder):
    click = pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
    from skcamel.cli.study import study

    commands = section(page_of(folder), "reproduce").context["commands"]
    runs = Records(folder).runs
    for command, run in zip(commands, runs, strict=False):
        program, subcommand, *options = shlex.split(command)
        assert (program, subcommand) == ("skcamel", "study")
        asked = click.Context(study).command.make_context("study", options).params
        assert asked["datasets"].split(",") == run["datasets"]
        assert asked["methods"].split(",") == [*run["methods"]]
        assert all(asked[name] == run[name] for name in ("preset", "seed", "n_folds", "folds"))
    assert commands[3:] == ["skcamel report DIR -o page.html"]


def test_methods_from_python_are_named(tmp_path):
    folder = made_studies.write(
        tmp_path / "study",
        made_records.study(["mine"], ["knn"]),
        runs=[made_studies.run(["mine"], ["knn", "br"]) | {"methods": {"knn": None, "br": "br"}}],
    )
    page = page_of(folder)
    files, methods = section(page, "reproduce").context["notes"]
    assert files.startswith("1 data set (mine) is not in the catalogue; give the files:")
    assert methods.startswith("1 method (knn) was given in Python")
    assert not section(page, "reproduce").context["commands"]
    assert dict(section(page, "reproduce").context["versions"])["Units finished"] == "10 of 20"


def test_several_versions_are_counted():
    first, second = made_studies.costly(made_records.study(["mine"], ["knn"], n_folds=2))
    versions = section(page_of([first, second | {"version_numpy": "3.0"}]), "reproduce").context[
        "versions"
    ]
    assert dict(versions)["numpy"] == "2.5.2 (1 unit), 3.0 (1 unit)"
    assert dict(versions)["skcamel"] == "0.1.0"


def test_costs_are_medians_and_devices_are_named(page, records):
    context = section(page, "cost").context
    row = next(row for row in context["rows"] if row[:2] == ("yeast", "ECC"))
    assert row[4] == median(
        record["fit_seconds"]
        for record in records
        if (record["dataset"], record["method"]) == ("yeast", "ecc")
    )
    assert row[2] == "cpu"
    assert context["sentence"].endswith(
        "CAMEL (best), CAMEL (paper) on cuda. Across devices, times compare only roughly."
    )


def test_warnings_are_counted(page):
    context = section(page, "failures").context
    assert context["sentence"].startswith("2 units failed and 1,120 units finished;")
    assert context["sentence"].endswith("1 unit gave a warning.")
    assert context["warnings"] == [("ConvergenceWarning: not yet", "cal500", "CAMEL", 1)]


def test_failures_are_grouped_by_their_error(tmp_path):
    many = [made_studies.failure(fold=fold, error="MemoryError: too large") for fold in range(3)]
    folder = made_studies.write(
        tmp_path / "study", [], failures=[made_studies.failure(method="br"), *many]
    )
    first, second = section(page_of(folder), "failures").context["failures"]
    assert (first["error"], first["units"]) == (
        "MemoryError: too large",
        [f"yeast, ecc, paper, fold {fold} of 10" for fold in (1, 2, 3)],
    )
    assert (second["error"], len(second["units"])) == ("ValueError: no luck", 1)
    assert "too large" in first["traceback"]
    assert render(page_of(folder)).count("<details") == 2


def test_odd_things_about_a_data_set_are_named(page):
    assert section(page, "cards").context["rows"][0][-1] == "1 row without labels, 2 repeated rows"


def test_label_shares_are_those_of_the_rows_that_know_the_label(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 3))
    Y = np.array([[1, 1, np.nan]] * 3 + [[0, np.nan, np.nan]] * 9)
    Y[3, 1] = 0
    data = Dataset(X, Y, label_names=("quarter", "three of four", "nobody knows"), name="gaps")
    run_study([data], ["br"], n_folds=2, out=tmp_path, preset="quick")
    (told,) = section(page_of(tmp_path), "cards").data["sets"]
    assert told["labels"] == ["three of four", "quarter", "nobody knows"]
    assert told["shares"] == [3 / 4, 3 / 12, 0]
    assert told["of"] == "rows that know it"
    assert (
        section(page_of(tmp_path), "cards")
        .context["rows"][0][-1]
        .endswith(f"{100 * 20 / 36:.2g} % of the labels unknown")
    )


def test_cards_of_earlier_versions_have_the_shares_of_all_rows(page):
    sets = section(page, "cards").data["sets"]
    assert sets[0]["shares"] == [0.5, 0.33, 0.25, 0.2, 0.165]
    assert sets[0]["of"] == "rows"


@pytest.mark.skipif(
    not KEPT.is_dir(), reason="the study of the paper's comparison is not in this checkout"
)
def test_the_study_that_is_kept_has_a_small_page(tmp_path):
    build_report(KEPT, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 3e6
    runs = json.loads((KEPT / "study.json").read_bytes())["runs"]
    assert runs


def test_a_page_asks_for_its_memory(tmp_path):
    folder = made_studies.write(
        tmp_path / "study", made_records.study(["yeast", "mine"], ["camel", "br"], n_folds=10)
    )
    records = Records(folder)
    tracemalloc.start()
    try:
        build_report(records, tmp_path / "page.html")
        assert tracemalloc.get_traced_memory()[1] - 2**23 <= BYTES_OF_A_RECORD * len(
            records
        )  # diagrams and scripts
    finally:
        tracemalloc.stop()
    with (
        memory.allowance(1000),
        pytest.raises(
            MemoryError,
            match=r"The page of 40 records needs about .*Make a page of a part of the study",
        ),
    ):
        build_report(records, tmp_path / "other.html")

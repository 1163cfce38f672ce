"""The page of a study says what the records say."""

import html
import os
import re
import subprocess
import sys
from statistics import median

import pytest

import made_records
import made_studies
from pages import cells, option, sections
from skcamel.experiment import (
    METHOD_TITLES,
    Records,
    compare_methods,
    compare_with_paper,
    result_tables,
    summarise,
)
from skcamel.experiment.published import PAPER_METHODS
from skcamel.metrics import NAMES
from skcamel.report import build_report

ALL = ["ranks", "results", "paper", "costs", "failures", "protocol"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_studies.sixteen(tmp_path_factory.mktemp("study") / "sixteen")


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    build_report(folder, path)
    return path.read_text(encoding="utf-8")


def answer(text):
    return html.unescape(re.search(r'<p class="answer">(.*?)</p>', text).group(1))


def test_sixteen_sets_fill_every_section_in_less_than_a_megabyte(page):
    assert sections(page) == ALL
    assert len(page.encode()) < 1e6


def test_the_same_records_give_the_same_bytes_in_another_process(folder, page, tmp_path):
    code = "import sys; from skcamel.report import build_report; build_report(*sys.argv[1:])"
    command = [sys.executable, "-c", code, folder, tmp_path / "page.html"]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": "1"})
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_the_first_sentence_says_which_method_leads(folder, page):
    figures = summarise(Records(folder), preset="paper").figures
    tests = [compare_methods(figures, metric, methods=PAPER_METHODS) for metric in NAMES]
    first = sum(min(one.ranks, key=one.ranks.get) == "camel" for one in tests)
    different = sum(one.friedman.f_p < 0.05 for one in tests)
    assert answer(page) == (
        f"CAMEL has the best average rank in {first} of 7 metrics, of 6 methods on 16 data sets;"
        f" Friedman's test sees a difference between the methods in {different} of them."
    )
    assert "<h1" in page
    assert "6 methods on 16 data sets: cal500, emotions, genbase" in page


def test_results_are_those_of_the_tables(folder, page):
    for expected in result_tables(summarise(Records(folder))).values():
        for metric, part in zip(NAMES, expected.sections, strict=True):
            shown = cells(option(page, f"results-{metric}"), expected.title)
            wanted = [
                [(name, False), *((cell.text, cell.bold) for cell in row)]
                for name, row in part.rows
            ]
            assert shown == wanted


def test_ranks_are_of_one_preset_and_every_metric_has_its_diagram(folder, page):
    figures = summarise(Records(folder), preset="paper").figures
    for metric in NAMES:
        found = compare_methods(figures, metric, methods=PAPER_METHODS)
        drawing = option(page, f"ranks-{metric}")
        for method, rank in found.ranks.items():
            assert f">{METHOD_TITLES[method]} {rank:.2f}</text>" in drawing
        assert f"critical difference {found.nemenyi:.2f}" in drawing
    assert "CAMEL (best)" not in page.partition('id="results"')[0].partition("<main")[2]


def test_differences_from_the_paper_are_drawn_and_counted(folder, page):
    for method in ("camel[best]", "camel[paper]", "br"):
        comparison = compare_with_paper(summarise(Records(folder)), method=method)
        counts = comparison.counts()
        part = option(page, f"paper-{method}")
        assert f"at most 2 std worse than the printed figure in {counts['no_worse']} of 112" in part
        assert f"printed for any method in {counts['as_good_as_best']}." in part
        differences = [f"{cell.difference:.1f}" for cell in comparison.cells]
        shown = re.findall(r">(−?\d+\.\d)</text>", part)
        wanted = [text.replace("-", "−") for text in differences if text not in ("0.0", "-0.0")]
        assert sorted(shown) == sorted(wanted)


def test_own_sets_and_methods_have_no_section_on_the_paper(page_of):
    text = page_of(made_records.study(["mine", "yours"], ["knn", "tree"], n_folds=3))
    assert sections(text) == ["ranks", "results", "failures", "protocol"]


def test_too_little_for_tests_is_said_in_one_sentence(page_of):
    for datasets, methods in ((["mine"], ["knn", "tree"]), (["mine", "yours"], ["knn"])):
        text = page_of(made_records.study(datasets, methods, n_folds=3))
        assert "Tests compare at least two methods on at least two data sets" in text
        assert "critical difference" not in text


def test_one_set_names_who_has_the_best_means(page_of):
    records = [
        made_records.record("mine", "a", **dict.fromkeys(NAMES[:4], 0.1)),
        made_records.record("mine", "b", macro_f1=0.9),
    ]
    assert answer(page_of(records)) == "a has the best mean in 6 of 7 cells."  # ties count for both
    equal = [made_records.record("mine", name) for name in "abc"]
    assert answer(page_of(equal)) == "a, b and c have the best mean in 7 of 7 cells."
    assert "a has results in 7 cells" in answer(page_of(equal[:1]))


def test_an_empty_study_is_one_clear_sentence(page_of, tmp_path):
    text = page_of(made_studies.write(tmp_path / "study", []))
    assert answer(text) == (
        "This study has no finished unit yet; run skcamel study, then make the page again."
    )
    assert not sections(text)


def test_failures_are_grouped_by_their_error_with_a_traceback(page_of, tmp_path):
    many = [made_studies.failure(fold=fold, error="MemoryError: too large") for fold in range(3)]
    failures = [made_studies.failure(method="br"), *many]
    text = page_of(made_studies.write(tmp_path / "study", [], failures=failures))
    assert sections(text) == ["failures"]
    first, second = re.findall(r"<details>(.*?)</details>", text, re.S)
    assert "<summary>MemoryError: too large (3 units)</summary>" in first
    assert all(f"yeast, ecc, paper, fold {fold}" in first for fold in (1, 2, 3))
    assert "Traceback" in first
    assert "ValueError: no luck (1 unit)" in second


def test_warnings_are_counted_and_not_listed(page):
    assert "2 units failed, 1,120 units finished." in page
    assert "Warnings: ConvergenceWarning (1)." in page
    assert "not yet" not in page.partition('id="failures"')[2]


def test_costs_are_medians_and_devices_are_named(folder, page):
    records = [
        one for one in Records(folder) if (one["dataset"], one["method"]) == ("yeast", "ecc")
    ]
    rows = [[text for text, _ in row] for row in cells(page, "Costs")]
    row = next(row for row in rows if row[:2] == ["yeast", "ECC"])
    seconds = median(one["fit_seconds"] for one in records)
    assert row[2:] == ["cpu", "90", f"{seconds:.3f}", "0.100", "300.0"]
    assert "Methods computed on cpu and cuda: their times compare only roughly." in page


@pytest.mark.parametrize(
    ("peaks", "shown"), [((None, None), ["–", "–"]), ((0.0, 3e8), ["–", "300.0"])]
)
def test_memory_that_was_not_measured_is_not_0_mb(page_of, peaks, shown):
    records = made_studies.costly(made_records.study(["mine", "yours"], ["knn"], n_folds=1))
    records = [
        {key: value for key, value in one.items() if key != "peak_memory_bytes"}
        | ({} if peak is None else {"peak_memory_bytes": peak})
        for one, peak in zip(records, peaks, strict=True)
    ]
    text = page_of(records)
    assert [row[-1][0] for row in cells(text, "Costs")] == shown

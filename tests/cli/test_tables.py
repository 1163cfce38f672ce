"""skcamel tables: what it prints of a folder, and what it refuses; reading enters few modules."""

import pytest

import made_studies
from entered import entered
from skcamel.experiment import Records, result_tables, summarise, write_tables


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return made_studies.sixteen(tmp_path_factory.mktemp("tables") / "DIR")


def test_all_tables_are_printed_by_default(cli, study):
    result = cli("tables", study)
    assert result.exit_code == 0, result.stderr
    expected = result_tables(summarise(Records(study)))
    assert result.stdout.endswith(write_tables([*expected.values()]) + "\n")
    assert result.stdout.startswith("**Table 1: data sets**")
    assert "CAMEL (best)" in result.stdout


@pytest.mark.parametrize("which", ["1", "2", "3"])
def test_one_table_is_printed_alone(cli, study, which):
    result = cli("tables", study, "--table", which, "--preset", "paper", "--methods", "camel,br")
    assert result.stdout.startswith(f"**Table {which}: ")
    assert result.stdout.count("**Table ") == 1
    assert "RAkEL" not in result.stdout


def test_published_figures_and_tests_are_added_where_asked_for(cli, study):
    paper = cli("tables", study, "--preset", "paper", "--against", "paper").stdout
    assert paper.count("| · paper") == 2 * 7 * 6
    tests = ("tables", study, "--preset", "paper", "--significance", "--metrics", "coverage")
    for ties, words in (("worst", "a tie counts as an error"), ("index", "ranked by their index")):
        text = cli(*tests, "--ties", ties).stdout
        assert "**Average ranks**" in text
        assert text.count("| Coverage ↓ ") == 4
        assert text.count(words) == 4  # two tables of results, ranks and Wilcoxon's tests


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (("--table", "other"), 1, "holds nothing for Table other"),
        (("--methods", "knn"), 1, "holds no finished unit"),
        (("--metrics", "gain"), 2, "no metric 'gain'"),
        (("--methods", "camel", "--preset", "paper", "--significance"), 1, "share fewer than 2"),
    ],
)
def test_what_makes_no_sense_is_refused(refused, study, options, code, sentence):
    refused(code, sentence, "tables", study, *options)


def test_tables_enter_at_most_fifteen_modules(cli, study):
    modules, _ = entered(lambda: cli("tables", study, "--preset", "paper"))
    assert len(modules) <= 15, modules

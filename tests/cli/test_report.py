"""`skcamel report`: pages of model files, and refusals in one sentence."""

import pytest

import made_records
import made_studies
import pages
import tiny
from skcamel import CamelClassifier, save
from skcamel.data import read_dataset

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")
pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")

from click.testing import CliRunner

from skcamel.cli.root import root


@pytest.fixture
def cli(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.arff").write_bytes(tiny.arff())
    (tmp_path / "mine.xml").write_bytes(tiny.xml())
    given = read_dataset("mine.arff")
    save(CamelClassifier().fit(given.X[:30], given.labels[:30]), "model.skcamel")
    return lambda *arguments: CliRunner().invoke(
        root, ["report", *map(str, arguments)], prog_name="skcamel"
    )


def test_a_model_file_becomes_a_page(cli, tmp_path):
    result = cli("model.skcamel", "-o", "page.html")
    assert result.output.startswith("wrote page.html (0.")
    assert 'id="why"' not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_with_data_it_shows_quality_and_reasons(cli, tmp_path):
    assert cli("model.skcamel", "--data", "mine.arff", "-o", "page.html").exit_code == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="errors"' in text
    assert 'id="why"' in text


def test_columns_of_a_table_are_found_by_name_and_coded_as_at_the_fit(cli, tmp_path, rng):
    words, numbers, labels = (
        rng.choice(["red", "green", "blue"], 40),
        rng.normal(size=40).round(3),
        rng.integers(2, size=(40, 2)),
    )
    rows = list(zip(words, numbers, labels[:, 0], labels[:, 1], strict=True))
    (tmp_path / "fit.csv").write_text(
        "colour,size,sea,sun\n" + "".join(f"{w},{x},{a},{b}\n" for w, x, a, b in rows)
    )
    red = [
        row for row in rows if row[0] == "red"
    ]  # the words of these rows alone would be coded otherwise
    (tmp_path / "red.csv").write_text(
        "colour,size,sea,sun\n" + "".join(f"{w},{x},{a},{b}\n" for w, x, a, b in red)
    )
    (tmp_path / "turned").mkdir()
    (tmp_path / "turned" / "red.csv").write_text(
        "sun,size,colour,sea\n" + "".join(f"{b},{x},{w},{a}\n" for w, x, a, b in red)
    )
    fitted = CliRunner().invoke(
        root, ["fit", "fit.csv", "--labels", "sea,sun", "-o", "mine.skcamel"]
    )
    assert fitted.exit_code == 0, fitted.output
    assert cli("mine.skcamel", "--data", "red.csv", "-o", "page.html").exit_code == 0
    assert cli("mine.skcamel", "--data", "turned/red.csv", "-o", "turned.html").exit_code == 0
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "turned.html").read_bytes()


def test_a_study_folder_becomes_a_page(cli, tmp_path):
    made_studies.write(tmp_path / "study", made_records.study(["mine"], ["knn", "tree"], n_folds=2))
    assert cli("study", "-o", "page.html").output.startswith("wrote page.html (0.")
    assert 'id="results"' in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_damaged_study_is_refused_in_one_sentence(cli, tmp_path):
    made_studies.write(tmp_path / "study", made_records.study(["mine"], ["knn"], n_folds=2))
    (tmp_path / "study" / "study.json").write_text("{")
    result = cli("study", "-o", "page.html")
    assert result.exit_code == 1
    assert result.output.startswith("Error: study/study.json is not JSON")
    assert not (tmp_path / "page.html").exists()


def test_help_shows_an_example(cli):
    assert "skcamel report model.skcamel --data yeast -o page.html" in cli("--help").output


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ["mine.arff"],
            1,
            (
                "mine.arff is neither a study folder nor a model file: mine.arff is not a whole"
                " skcamel model file"
            ),
        ),
        (
            ["folder"],
            1,
            (
                "folder is no study folder: it has no study.json or records.jsonl; 'skcamel study'"
                " makes one."
            ),
        ),
        (["nothing.skcamel"], 2, "'nothing.skcamel' does not exist"),
        (["folder", "--data", "mine.arff"], 2, "--data is for model files"),
        (
            ["model.skcamel", "--data", "other.arff"],
            1,
            (
                "other.arff: the labels 'l0', 'l1' of the model are missing; give a file that holds"
                " the truth"
            ),
        ),
        (["model.skcamel", "-o", "nowhere/page.html"], 2, "nowhere: There is no such folder."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_neither_model_nor_study_is_refused_in_one_sentence(
    cli, tmp_path, arguments, code, sentence
):
    from skcamel.data import write_dataset

    (tmp_path / "folder").mkdir()
    write_dataset(pages.data(2, 20), "other.arff")
    result = cli(*arguments, *([] if "-o" in arguments else ["-o", "page.html"]))
    assert result.exit_code == code, result.output
    assert sentence in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert "bug in skcamel" not in result.output
    assert not (tmp_path / "page.html").exists()

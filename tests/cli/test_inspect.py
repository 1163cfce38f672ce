"""`skcamel inspect`: words, JSON and a model card of a model file."""

import json

import pytest

from skcamel import inspect


@pytest.fixture
def model(cli, tmp_path):
    rows = [f"{'red' if k % 3 else 'blue'},{k % 7},{int(k % 3 > 0)},{k % 2}\n" for k in range(40)]
    (tmp_path / "mine.csv").write_text("colour,size,sea,sun\n" + "".join(rows))
    assert cli("fit", "mine.csv", "--labels", "sea,sun", "-o", "mine.skcamel").exit_code == 0
    return "mine.skcamel"


def test_a_file_is_told_in_words_and_as_json(cli, model, tmp_path):
    result = cli("inspect", model)
    assert result.stdout.startswith(
        "mine.skcamel: CamelClassifierCV behind TablePreparer, 2 labels\n"
    )
    assert "whether a given row was in the fit: yes. The rows themselves show it." in result.stdout
    assert "\n  colour: category, 2 values\n" in result.stdout
    told = json.loads(cli("inspect", model, "--json").stdout)
    assert told["data"] == inspect(tmp_path / model).data
    assert told["model"]["labels"] == ["sea", "sun"]


def test_a_card_goes_to_a_file_or_to_standard_output(cli, model, tmp_path):
    result = cli("inspect", model, "--card", "-o", "CARD.md")
    assert result.stdout == "wrote CARD.md; fill in what is marked 'To be filled in by a person'\n"
    card = (tmp_path / "CARD.md").read_text(encoding="utf-8")
    assert card.startswith("# mine\n")
    assert cli("inspect", model, "--card").stdout == card


def test_what_does_not_go_together_is_refused(refused, model, tmp_path):
    refused(
        2,
        "--card writes Markdown, --json writes JSON; choose one.",
        "inspect",
        model,
        "--card",
        "--json",
    )
    refused(2, "-o is for the model card; add --card", "inspect", model, "-o", "x")
    (tmp_path / "text").write_text("no model")
    refused(1, "text is not a whole skcamel model file", "inspect", "text")

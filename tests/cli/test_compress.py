"""`skcamel compress`: a smaller model file, and refusals in one sentence."""

import numpy as np
import pytest

from skcamel import CamelClassifier, load, save
from skcamel.text import file_size

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")

from click.testing import CliRunner

from skcamel.cli.root import root

X = np.random.default_rng(0).normal(size=(80, 4))
Y = (X[:, :2] > 0).astype(int)


@pytest.fixture
def cli(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    save(CamelClassifier().fit(X, Y), "model.skcamel")
    return lambda *arguments: CliRunner().invoke(root, list(map(str, arguments)), prog_name="skcamel")


def test_a_model_file_becomes_smaller(cli, tmp_path):
    result = cli("compress", "model.skcamel", "--landmarks", 20, "-o", "small.skcamel")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("wrote small.skcamel: 80 rows became 20 centres")
    before, after = ((tmp_path / f"{name}.skcamel").stat().st_size for name in ("model", "small"))
    assert after < before
    assert f"a file of {file_size(before)} became {file_size(after)};" in result.output
    assert load("small.skcamel").compression_["rows_after"] == 20
    assert len(load("small.skcamel").X_fit_) == 20


def test_a_table_is_predicted_by_the_small_model_of_its_pipeline(cli, tmp_path):
    lines = [f"{'red' if a > 0 else 'blue'},{b:.3f},{int(a > 0)},{int(b > 0)}" for a, b in X[:, :2]]
    (tmp_path / "mine.csv").write_text("\n".join(["colour,size,warm,large", *lines]))
    assert cli("fit", "mine.csv", "--labels", "warm,large", "-o", "table.skcamel").exit_code == 0
    assert cli("compress", "table.skcamel", "--landmarks", 10, "-o", "small.skcamel").exit_code == 0
    result = cli("predict", "small.skcamel", "mine.csv", "-o", "found.csv")
    assert result.exit_code == 0, result.output


def test_what_cannot_be_compressed_is_refused(cli):
    assert "is the same file" in cli("compress", "model.skcamel", "-o", "model.skcamel").output
    assert "--landmarks" in cli("compress", "model.skcamel", "--landmarks", 0, "-o", "small.skcamel").output

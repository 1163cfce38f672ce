"""`cli(...)` for every command: a place without data, with results as click has them."""

import pytest

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")

from click.testing import CliRunner

from skcamel.cli.app import root
from tables import table


@pytest.fixture
def cli(monkeypatch, tmp_path):
    monkeypatch.delenv("SKCAMEL_DATA", raising=False)
    monkeypatch.setenv("SKCAMEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(
        root, [str(argument) for argument in arguments], prog_name="skcamel"
    )


@pytest.fixture
def done(cli):
    """`done(*arguments)`: standard output of a command that must succeed."""

    def run(*arguments):
        result = cli(*arguments)
        assert result.exit_code == 0, result.stdout + result.stderr
        return result.stdout

    return run


@pytest.fixture
def refused(cli):
    """`refused(exit_code, sentence, *arguments)`: the command ends so, without a result."""

    def check(exit_code, sentence, *arguments):
        result = cli(*arguments)
        said = " ".join(result.stderr.split())
        assert (result.exit_code, result.stdout) == (exit_code, ""), result.stdout + said
        assert sentence in said
        assert "bug in skcamel" not in said
        assert "Traceback" not in said

    return check


@pytest.fixture
def model(done, tmp_path):
    """A model file of a small table with the labels sea and sun, in the current folder."""
    table(tmp_path / "mine.csv", range(40))
    done("fit", "mine.csv", "--labels", "sea,sun", "-o", "m.skcamel")
    return tmp_path / "m.skcamel"

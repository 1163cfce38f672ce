"""The command as a whole: its help, its size, how it ends, and that no name harms a terminal."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

import skcamel
from skcamel.cli import main
from skcamel.cli.app import root
from tables import table

SOURCE = Path(skcamel.__file__).parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SOURCE.parent)}
COMMANDS = (
    "fit predict evaluate explain label-errors inspect export report serve study tables datasets"
)


def commands():
    """All commands, by their path."""
    inside = root.commands["datasets"].commands.items()
    whole = {(name,): command for name, command in root.commands.items()}
    return whole | {("datasets", name): command for name, command in inside}


def started(*command, **options):
    """A process that finds this skcamel, and its output in pipes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, *command], env=ENVIRONMENT, **pipes | options)


def test_there_are_twelve_commands_and_few_options(done):
    assert list(root.commands) == COMMANDS.split()
    parameters = [own for command in commands().values() for own in command.params]
    assert sum(isinstance(own, click.Option) for own in parameters) <= 75
    for arguments in ((), ("datasets",)):
        assert done(*arguments) == done(*arguments, "--help")


@pytest.mark.parametrize("path", commands(), ids="-".join)
def test_each_help_begins_with_an_example_and_fits_on_two_screens(done, path):
    lines = done(*path, "--help").splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 100
    assert not any(line.startswith("     ") for line in lines[: lines.index("Options:")])
    first = next(k for k, line in enumerate(lines) if "  skcamel " in line and "Usage" not in line)
    assert first <= 6


def test_help_imports_nothing_heavy():
    code = "import sys; from skcamel.cli import main; main(['fit', '--help']); "
    code += "sys.exit(bool({'numpy', 'sklearn', 'pyarrow'} & set(sys.modules)))"
    with started("-c", code) as running:
        running.communicate()
    assert running.returncode == 0


def test_the_exit_code_and_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"skcamel {skcamel.__version__}\n"
    assert main(["fitt"]) == 2


def test_without_the_extra_one_line_names_it():
    code = "import sys; sys.modules['click'] = None; import importlib.util as u; f = u.find_spec; "
    code += "u.find_spec = lambda name: None if name == 'click' else f(name); "
    code += "from skcamel.cli import main; sys.exit(main([]))"
    with started("-c", code, text=True) as running:
        _, said = running.communicate()
    assert (running.returncode, said.count("\n")) == (2, 1)
    assert "skcamel[cli]" in said


@pytest.mark.parametrize("path", sorted((SOURCE / "cli").glob("*.py")), ids=lambda path: path.stem)
def test_every_word_passes_the_one_place_that_makes_it_safe(path):
    text = path.read_text()
    assert "click.echo" not in text
    assert "print(" not in text.replace("_print(", "")


def test_an_unforeseen_error_is_a_sentence_too(cli, tmp_path, monkeypatch):
    table(tmp_path / "mine.csv", range(40))

    def broken(*_, **__):
        raise RuntimeError("odd")

    monkeypatch.setattr("skcamel.camel.classifier_cv.CamelClassifierCV.fit", broken)
    result = cli("fit", "mine.csv", "--labels", "sea,sun")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "RuntimeError: odd; this is a bug in skcamel" in result.stderr
    monkeypatch.setenv("SKCAMEL_DEBUG", "1")
    assert "Traceback" in cli("fit", "mine.csv", "--labels", "sea,sun").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals and devices of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_fit_and_leaves_nothing(tmp_path, number):
    table(tmp_path / "mine.csv", range(40))
    code = "import sys, time, numpy\ndef half(file, *_, **__):\n    file.write(b'half')\n"
    code += "    print('READY', flush=True)\n    time.sleep(60)\n"
    code += "import skcamel.model_file as m\nm.write = half\nimport skcamel.cli\n"
    code += "import skcamel.camel.classifier_cv as c\n"
    code += "c.CamelClassifierCV.fit = lambda *_, **__: half(sys.stderr.buffer)\n"
    code += "sys.exit(skcamel.cli.main())"
    fit = ("fit", "mine.csv", "--labels", "sea,sun")
    with started("-c", code, *fit, cwd=tmp_path) as running:
        assert running.stdout.readline() == b"READY\n"
        running.send_signal(number)
        assert running.wait(30) == 128 + number
        assert b"Traceback" not in running.stderr.read()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals and devices of Unix")
def test_an_output_that_takes_no_more_is_one_sentence_or_none(tmp_path):
    command = ("-m", "skcamel", "datasets", "list")
    with Path("/dev/full").open("w") as full, started(*command, stdout=full) as running:
        assert running.wait(60) == 1
        assert running.stderr.read() == b"Error: standard output: No space left on device.\n"
    with started(*command, cwd=tmp_path) as running:
        running.stdout.close()
        time.sleep(0.1)
        assert running.wait(60) == 1
        assert running.stderr.read() == b""

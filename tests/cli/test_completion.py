"""Tab completion: the script for each shell, and what it is answered."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skcamel
from skcamel.cli.root import root

SOURCE = str(Path(skcamel.__file__).parents[1])


def completed(words, shell="bash"):
    """What the command answers a shell for these words, the last of which is being typed."""
    variables = {"_SKCAMEL_COMPLETE": f"{shell}_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    environment = os.environ | {"PYTHONPATH": SOURCE} | variables
    command = [sys.executable, "-m", "skcamel"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
    assert result.stderr == ""
    return result.stdout.split()


def test_commands_options_names_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "yellow.csv").touch()
    (tmp_path / "yes").mkdir()
    assert completed(["skcamel", "fit", "yel"]) == ["file,yel"]
    assert completed(["skcamel", ""]) == [f"plain,{name}" for name in root.list_commands(None)]
    assert completed(["skcamel", "fit", "ye"]) == ["plain,yeast", "plain,yellow.csv", "plain,yes/"]
    assert completed(["skcamel", "datasets", "card", "emo"]) == ["plain,emotions"]
    assert completed(["skcamel", "datasets", "fetch", "emo"]) == ["plain,emotions"]
    assert completed(["skcamel", "predict", "m"]) == ["file,m"]
    assert completed(["skcamel", "predict", "m.skcamel", "sce"]) == ["plain,scene"]
    assert completed(["skcamel", "suspects", "emo"]) == ["plain,emotions"]
    assert completed(["skcamel", "suspects", "yeast", "--pre"]) == ["plain,--preset"]
    assert completed(["skcamel", "fit", "yeast", "--scal"]) == ["plain,--scalings", "plain,--scaling"]
    assert completed(["skcamel", "fit", "yeast", "--scalings", "none,st"]) == ["plain,none,standard"]
    assert completed(["skcamel", "fit", "yeast", "--preset", ""]) == ["plain,quick", "plain,paper", "plain,best"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_understands(cli, tmp_path, shell):
    result = cli("completion", shell)
    assert result.exit_code == 0
    assert f"_SKCAMEL_COMPLETE={shell}_complete" in result.stdout
    if program := shutil.which(shell):
        (tmp_path / "script").write_text(result.stdout)
        checked = subprocess.run([program, "-n", "script"], cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_with_it(cli, tmp_path):
    (tmp_path / "script").write_text(cli("completion", "bash").stdout)
    (tmp_path / "skcamel").write_text(f'#!/bin/sh\nPYTHONPATH="{SOURCE}" exec "{sys.executable}" -m skcamel "$@"\n')
    (tmp_path / "skcamel").chmod(0o755)
    typed = 'source ./script; COMP_WORDS=(skcamel fit yea); COMP_CWORD=2; _skcamel_completion skcamel; echo "${COMPREPLY[0]}"'
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run(["bash", "-c", typed], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)  # noqa: S603, S607
    assert result.stdout == "yeast\n", result.stderr


def test_another_shell_is_wrong_use(refused):
    refused(2, "'csh' is not one of 'bash', 'zsh', 'fish'", "completion", "csh")

"""`skcamel datasets`: what it prints, its exit codes, and errors that are one sentence with a cure."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import skcamel
import tiny
from skcamel.data import catalogue, read_dataset, write_dataset

pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
pytest.importorskip("rich", reason="rich is not installed: pip install skcamel[cli]")

from skcamel import load
from skcamel.__main__ import main
from skcamel.cli.root import root

ROOT_COMMANDS = root.list_commands(None)
COMMANDS = ("list", "fetch", "check")
SOURCE = str(Path(skcamel.__file__).parents[1])


@pytest.fixture
def mulan_file(tmp_path):
    (tmp_path / "mine.arff").write_bytes(tiny.arff())
    (tmp_path / "mine.xml").write_bytes(tiny.xml())
    return tmp_path / "mine.arff"


@pytest.fixture
def only_tiny(monkeypatch):
    monkeypatch.setattr(catalogue, "_warned", set())

    def put(**changes):
        monkeypatch.setattr(catalogue, "_catalogue", lambda: {"tiny": tiny.facts(**changes)})

    put()
    return put


def python(code, *arguments):
    """A fresh interpreter with the package on its path."""
    environment = os.environ | {"PYTHONPATH": SOURCE}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def test_version(cli):
    assert cli("--version").stdout == f"skcamel {skcamel.__version__}\n"


@pytest.mark.parametrize(
    "command",
    [[], *([name] for name in ROOT_COMMANDS), *(["datasets", name] for name in COMMANDS)],
    ids=" ".join,
)
def test_each_help_shows_an_example(cli, command):
    result = cli(*command, "--help")
    assert result.exit_code == 0
    assert "Example:\n    " in result.stdout.replace("\n  Example", "\nExample")
    assert "skcamel " + " ".join(command) in result.stdout.split("Example:")[1]


HELPS = [["--help"], *([*name.split(), "--help"] for name in (*ROOT_COMMANDS, "datasets check"))]


@pytest.mark.parametrize("command", [["--version"], *HELPS], ids=" ".join)
def test_help_imports_nothing_heavy(command):
    code = (
        "import sys\nfrom skcamel.cli import main\nassert main(sys.argv[1:]) == 0\n"
        "print('HEAVY', sorted({'numpy', 'scipy', 'sklearn', 'rich'} & set(sys.modules)))"
    )
    result = python(code, *command)
    assert "HEAVY []" in result.stdout, result.stderr


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra_one_line_names_it(missing):
    code = (
        "import sys\nfrom importlib import util\nfound = util.find_spec\nutil.find_spec = lambda"
        f" name, *rest: None if name == {missing!r} else found(name, *rest)\nsys.modules['click'] ="
        " None\nfrom skcamel.cli import main\nsys.exit(main(['--version']))"
    )
    result = python(code)
    assert (result.returncode, result.stdout, result.stderr) == (
        2,
        "",
        "The skcamel command needs: pip install 'skcamel[cli]'\n",
    )


def test_python_m_skcamel():
    environment = os.environ | {"PYTHONPATH": SOURCE}
    command = [sys.executable, "-m", "skcamel", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert result.stdout == f"skcamel {skcamel.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--version"], 0), (["datasets", "check", "emotion"], 1), (["datasets", "fetch"], 2)],
)
def test_the_console_script_returns_the_exit_code(arguments, code, capsys):
    assert main(arguments) == code
    assert "Traceback" not in capsys.readouterr().err


def test_a_mistyped_command_is_wrong_use(cli):
    result = cli("dataset", "list")
    assert result.exit_code == 2
    assert "No such command 'dataset'" in result.stderr


def test_list_names_every_set_and_where_it_is(cli, only_tiny, tmp_path):
    assert "no: fetch tiny" in cli("datasets", "list").stdout
    only_tiny(download=None)
    assert "no: bring a copy" in cli("datasets", "list").stdout
    tiny.put(tmp_path / "home")
    assert "yes: data_home" in cli("datasets", "list", "--data-home", tmp_path / "home").stdout


def test_list_fits_a_terminal_and_is_complete_as_json(cli):
    table = cli("datasets", "list").stdout
    assert max(map(len, table.splitlines())) <= 80
    assert "…" not in table
    rows = json.loads(cli("datasets", "list", "--json").stdout)
    assert len(rows) == 23
    assert rows[0]["name"] == "cal500"
    assert rows[0]["found_in"] is None
    assert rows[0]["fetchable"]


def test_a_missing_set_is_one_sentence_with_the_command_that_gets_it(cli):
    result = cli("datasets", "check", "emotions")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: The data set emotions is not here.")
    assert "skcamel datasets fetch emotions" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_unknown_name_and_a_missing_file(cli):
    result = cli("datasets", "check", "emotion")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "did you mean emotions" in result.stderr
    result = cli("datasets", "check", "nowhere/mine.arff")
    assert result.exit_code == 2
    assert "there is no such file; 'skcamel datasets list' shows" in " ".join(result.stderr.split())


def test_files_whose_format_or_labels_are_unknown(cli, mulan_file, tmp_path):
    (tmp_path / "mine.doc").write_text("x")
    assert "names no known format; known are .arff" in cli("datasets", "check", "mine.doc").stderr
    mulan_file.with_suffix(".xml").unlink()
    assert (
        "no mine.xml lies beside it and its relation has no -C n"
        in cli("datasets", "check", mulan_file).stderr
    )


def test_a_broken_file_is_one_sentence(cli, mulan_file):
    mulan_file.write_text("not an ARFF file\n")
    result = cli("datasets", "check", mulan_file)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("Error: mine.arff")


def test_an_unforeseen_error_is_a_sentence_too(cli, mulan_file, monkeypatch):
    def broken(*_, **__):
        raise KeyError("x")

    monkeypatch.setattr("skcamel.data.sources.read_dataset", broken)
    result = cli("datasets", "check", mulan_file)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "KeyError: 'x'; this is a bug in skcamel" in result.stderr
    monkeypatch.setenv("SKCAMEL_DEBUG", "1")
    assert "Traceback" in cli("datasets", "check", mulan_file).stderr


def test_a_folder_without_permission_is_named(cli, mulan_file, monkeypatch):
    def closed(*_, **__):
        raise PermissionError(13, "Permission denied", str(mulan_file))

    monkeypatch.setattr("skcamel.data.sources.read_dataset", closed)
    assert (
        cli("datasets", "check", mulan_file).stderr == f"Error: {mulan_file}: Permission denied.\n"
    )


def test_check_says_what_it_found_and_fails_only_then(cli, mulan_file):
    result = cli("datasets", "check", mulan_file)
    assert (result.exit_code, result.stdout) == (
        0,
        f"Nothing found in {tiny.N} rows, {tiny.D} features, {tiny.Q} labels.\n",
    )
    X, Y = tiny.arrays()
    rows = "\n".join(",".join(map(str, [*x, *y, y[0]])) for x, y in zip(X, Y, strict=True))
    mulan_file.write_text(
        tiny.arff().decode().split("@data")[0] + f"@attribute leak {{0,1}}\n@data\n{rows}\n"
    )
    result = cli("datasets", "check", mulan_file)
    assert result.exit_code == 1
    assert "leak" in result.stdout
    findings = json.loads(cli("datasets", "check", mulan_file, "--json").stdout)
    assert findings[0]["code"] == "label-in-features"


@pytest.mark.parametrize("columns", ["l*", "2", "l0,l1"])
def test_label_columns_by_prefix_count_or_name(cli, mulan_file, columns):
    with pytest.warns(UserWarning, match="which columns are labels"):
        write_dataset(read_dataset(mulan_file), "out.csv")
    assert (
        f"{tiny.D} features, {tiny.Q} labels"
        in cli("datasets", "check", "out.csv", "--labels", columns).stdout
    )


def test_one_position_and_names_with_commas(cli, tmp_path):
    (tmp_path / "odd.csv").write_text('x,"a, b",c\n5,1,0\n7,0,1\n')
    for columns, names in (('"a, b"', ["a, b"]), ('c, "a, b"', ["a, b", "c"])):
        cli("fit", "odd.csv", "--labels", columns, "--force")
        assert list(load("odd.skcamel").label_names_) == names
    assert "--labels is empty" in cli("datasets", "check", "odd.csv", "--labels", ",").stderr


def test_labels_and_xml_are_refused_where_they_mean_nothing(cli, only_tiny, mulan_file, tmp_path):
    tiny.put(tmp_path / "cache")
    for source in (mulan_file, "tiny"):
        result = cli("datasets", "check", source, "--labels", "l0")
        assert result.exit_code == 2
        assert "--labels names columns of a table" in " ".join(result.stderr.split())
    result = cli("datasets", "check", "tiny", "--xml", "mine.xml")
    assert result.exit_code == 2
    assert "--xml is the label file of an ARFF file; tiny is none" in " ".join(
        result.stderr.split()
    )


def test_a_file_called_like_a_set_does_not_hide_it(cli, only_tiny, tmp_path):
    tiny.put(tmp_path / "cache")
    (tmp_path / "tiny").write_text("something else")
    result = cli("datasets", "check", "tiny")
    assert result.exit_code == 0
    assert "Note: tiny is taken as the benchmark set, not as the file of that name" in result.stderr


def test_matlab_and_gzipped_files_are_read(cli, mulan_file, tmp_path):
    from scipy.io import savemat

    X, Y = tiny.arrays()
    savemat(tmp_path / "mine.mat", {"data": X, "target": Y.T.astype(float)})
    assert f"{tiny.Q} labels" in cli("datasets", "check", "mine.mat").stdout
    packed = gzip.compress(b"@relation 'x: -C -2'\n" + tiny.arff().split(b"\n", 1)[1])
    (tmp_path / "other.arff.gz").write_bytes(packed)
    assert "2 labels" in cli("datasets", "check", "other.arff.gz").stdout
    (tmp_path / "other.arff.gz").write_bytes(packed[:40])
    assert cli("datasets", "check", "other.arff.gz").stderr.startswith("Error: other.arff.gz")


def test_fetch(cli, only_tiny, monkeypatch, tmp_path):
    files = tiny.served()

    def urlopen(address, timeout):
        return io.BytesIO(files[unquote(address.removeprefix("https://raw.githubusercontent.com"))])

    monkeypatch.setattr(catalogue.urllib.request, "urlopen", urlopen)
    only_tiny(terms=True)
    result = cli("datasets", "fetch", "tiny")
    assert result.exit_code == 2
    assert "Licence: none, it is made up" in result.stderr
    assert "run: skcamel datasets fetch tiny --yes" in " ".join(result.stderr.split())
    result = cli("datasets", "fetch", "tiny", "--yes")
    folder = tmp_path / "cache" / "tiny"
    assert result.stdout == f"tiny: 40 rows, 3 features, 2 labels; in {folder}\n"
    assert "Please cite: Nobody, 2000" in result.stderr
    only_tiny(digest="0" * 64)
    result = cli("datasets", "fetch", "tiny")
    assert (result.exit_code, result.stdout) == (1, "")
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: What was sent for tiny is not the expected data")

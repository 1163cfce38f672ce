"""Where the commands write: what can be known to fail is told before any work, and devices and pipes are written into."""

import os
import stat
import sys
from importlib import util

import pytest

from made_studies import sixteen
from skcamel.cli.root import _show_as_note
from tables import table

FIT = ("fit", "mine.csv", "--labels", "2", "-o")
WRITING = {  # every command with an output, up to the name of what it writes
    "fit": FIT,
    "predict": ("predict", "m.skcamel", "mine.csv", "-o"),
    "report": ("report", "m.skcamel", "-o"),
    "study": ("study", "--datasets", "mine.csv", "--labels", "2", "--methods", "br", "-o"),
}
SUFFIX = {"fit": ".skcamel", "predict": ".csv", "report": ".html"}


@pytest.fixture
def place(cli, tmp_path, monkeypatch):
    """A folder with a table, a model and a study, where whoever begins to read or to compute is found out."""
    table(tmp_path / "mine.csv", range(40))
    assert cli(*FIT, "m.skcamel").exit_code == 0
    sixteen(tmp_path / "study")
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()

    def worked(*_, **__):
        raise AssertionError("it began to work")

    with monkeypatch.context() as patch:
        for name in (
            "data.sources.read_dataset",
            "model_file.load",
            "experiment.records.Records.__init__",
            "data.matching.read_rows",
        ):
            patch.setattr(f"skcamel.{name}", worked)
        yield tmp_path


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize(
    "place_of", ["", "folder", "file/out", "missing/out", "x" * 300, "locked/out"]
)
def test_a_place_that_cannot_be_written_to_is_told_before_any_work(
    refused, place, command, place_of, monkeypatch
):
    is_folder = command == "study"
    if is_folder and place_of in ("folder", "missing/out"):
        pytest.skip("a folder is made where none is")
    if place_of == "locked/out":
        (place / "locked").mkdir()
        before = os.access
        monkeypatch.setattr(
            "os.access", lambda path, mode: "locked" not in str(path) and before(path, mode)
        )  # root may write anywhere
    name = place_of + (SUFFIX.get(command, "") if place_of not in ("", "folder") else "")
    refused(2, "Error: Invalid value for", *WRITING[command], name)


@pytest.mark.parametrize(
    ("command", "module", "sentence"),
    [
        (
            ("report", "m.skcamel", "-o", "page.html"),
            "jinja2",
            "Pages need jinja2: pip install 'skcamel[report]'",
        ),
        (
            (*WRITING["predict"], "p.parquet"),
            "pyarrow",
            "Parquet files need pyarrow: pip install 'skcamel[tables]'",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_a_missing_extra_is_told_before_any_work(
    refused, place, monkeypatch, command, module, sentence
):
    before = util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *rest: None if name == module else before(name, *rest),
    )
    refused(2, sentence, *command)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ((*FIT, "n.skcamel", "--threshold", "middle"), "threshold='middle' is not known"),
        ((*FIT, "n.skcamel", "--threshold", "nan"), "threshold=nan is not known"),
        ((*FIT, "n.skcamel", "--test-size", "nan"), "nan is not a finite number"),
        ((*FIT, "n.skcamel", "--random-state", "99999999999"), "is not in the range"),
        ((*FIT, "m.skcamel"), "m.skcamel exists already"),
        ((*WRITING["study"], "new", "--methods", "nothing"), "nothing"),
        ((*WRITING["study"], "new", "--n-jobs", "-3"), "-3 is not in the range"),
        (("fit", "x" * 5000, "--labels", "2"), "File name too long"),
        (("fit", ""), "The name of a data set is empty"),
        (("fit", "folder/"), "No data set"),
    ],
    ids=lambda value: None if isinstance(value, tuple) else value[:30],
)
def test_wrong_values_are_told_before_any_work(cli, place, command, sentence):
    result = cli(*command)
    said = " ".join(result.stderr.split())
    assert result.exit_code == (1 if sentence == "No data set" else 2), said
    assert sentence in said
    assert len(said) < 1500


def test_labels_without_a_name(refused, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    for labels in ("", ",", '""', "  "):
        refused(
            2, "--labels is empty; name at least one column.", "fit", "mine.csv", "--labels", labels
        )
    for labels in ("a\nb", "x" * 200_000):
        refused(
            1,
            "put names with commas or ends of line in double quotes",
            "fit",
            "mine.csv",
            "--labels",
            labels,
        )


@pytest.mark.skipif(sys.platform == "win32", reason="devices of Unix")
@pytest.mark.parametrize("command", [name for name in WRITING if name != "study"])
def test_devices_and_pipes_are_written_into(cli, tmp_path, command):
    table(tmp_path / "mine.csv", range(40))
    sixteen(tmp_path / "study")
    assert cli(*FIT, "m.skcamel").exit_code == 0
    pipe = tmp_path / f"pipe{SUFFIX[command]}"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    if command == "report":  # larger than what a pipe holds while nobody reads
        pipe = "/dev/null"
    result = cli(*WRITING[command], pipe)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""  # words go to stderr: standard output may be the very pipe
    if pipe == "/dev/null":
        assert stat.S_ISCHR(os.stat(pipe).st_mode)
    else:
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert len(os.read(reader, 100)) == 100
    os.close(reader)


def test_a_full_device_is_named(cli, tmp_path):
    table(tmp_path / "mine.csv", range(40))
    result = cli(*FIT, "/dev/full")
    assert (result.exit_code, result.stderr) == (1, "Error: /dev/full: No space left on device.\n")


def test_want_of_memory_is_no_fault_of_the_program(cli, tmp_path, monkeypatch):
    table(tmp_path / "mine.csv", range(40))
    monkeypatch.setattr("skcamel.model_file.save", lambda *_: (_ for _ in ()).throw(MemoryError()))
    result = cli(*FIT, "m.skcamel")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: there is not enough memory; use fewer rows, columns or labels.\n",
    )


def test_warnings_for_developers_are_no_notes(capsys):
    _show_as_note("old", DeprecationWarning, "file.py", 1)
    assert capsys.readouterr().err == ""
    _show_as_note("told\ntwice", UserWarning, "file.py", 1)
    assert capsys.readouterr().err == "Note: told twice\n"

"""Random command lines, out of click's own list, on small files with hostile names and damages.

Whatever comes, the command must end with exit code 0, 1 or 2 and say so in a few lines without
control characters; it must leave its input as it was, and no temporary file behind.
"""

import contextlib
import io
import json
import os
import random
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path
from unittest import mock

import click
import numpy as np

import made_studies
import tiny
from skcamel import load, save
from skcamel.cli.app import root, run

MOST_LINES = 12  # of errors and notes, beside one line of progress for each unit of a study
BAD_NAMES = ("\x1b[31mred", "\u202egnp", "\x9b2J", "[red]x[/red]", "[/]", "=cmd|' /C calc'!A0")
BAD_NAMES += ("a\nb", "\udcff", "-1", "☀", " ", "x" * 300)
BAD_NUMBERS = (*["nan", "inf", "-1", "0", "1e400", "99999999999999999999", "0x10", "1_0", "٣"], "")
MODELS = ("camel.skcamel", "hostile.skcamel")
# Name of an option or argument that is free text to click ► what is plausible, what is wrong
VALUES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "labels": (
        ("2", "l0,l1", "l*", "-2", "3,4", "1"),
        ("9", "l0", "''", ",", '"', "*", "1e9", "-0", "", "٣"),
    ),
    "label": (("l0", "l1"), ("nothing", "")),
    "threshold": (("zero", "common", "label", "tuned", "0.5"), ("nan", "nothing", "")),
    "methods": (
        ("br", "camel", "llsf", "sklearn.tree:DecisionTreeClassifier"),
        ("os:nothing", "no.such:Thing", "br,br", ":", "math:pi"),
    ),
    "device": (("cuda", "cpu"), ("nothing", "")),
    "preset": (("quick", "paper"), ("nothing", "")),
    "n_jobs": (("1",), ("0", "-3", "nan")),  # workers take long to come
    "test_size": (("0.25", "0.5"), ("0.001", "0.999", *BAD_NUMBERS)),
    "output": (
        ("out.csv", "out.json", "out.html", "out.skcamel", "/dev/null"),
        ("", ".", "sub", "no/a.csv", "data.csv/a.csv", f"{'x' * 300}.csv"),
    ),
    "host": (("127.0.0.1",), ("nothing.invalid", "", "999.1.1.1")),
    "port": (("0",), ("-1", "65536", "nan")),
    "model": (MODELS, ("data.csv", "nothing.skcamel", "sub")),
    "folder": (("study", "nasty"), ("empty", "sub", "nothing", "data.csv")),
    "what": ((*MODELS, "study", "nasty"), ("data.csv", "empty", "nothing")),
}
DATA = (
    ("data.csv", "data.tsv", "data.arff", "meka.arff", "hostile.csv"),
    ("data.svm", "nothing.csv", "emotions", "sub", "text.csv", ""),
)
STUDIES = (("work", "study"), ("work", "nasty"))


def attack(seed: int, folder: Path) -> None:
    """One command line, and what became of it."""
    rng = random.Random(seed)  # noqa: S311 no secret
    work, temporary = folder / "work", folder / "tmp"
    shutil.copytree(_files(), work, symlinks=True)
    temporary.mkdir()
    if rng.random() < 0.3:
        _damage(rng, work)
    arguments = _command_line(rng)
    before = _content(folder)
    code, out, err = _run(arguments, work, temporary)
    told = f"skcamel {arguments!r} ended with {code}: {err[-2000:]}"
    assert code in (0, 1, 2), told
    assert "Traceback (most recent call last)" not in err, told
    assert "bug in skcamel" not in err, told
    aside = "/dev/null" in arguments  # then words go to stderr
    assert err.count("\n") <= MOST_LINES + (20 if arguments[0] == "study" or aside else 0), told
    assert max(map(len, err.split("\n"))) <= 3000, told
    _check_letters(arguments, out, err, told)
    is_help = {"-h", "--help", "--version"} & set(arguments)
    if code == 0 and "--json" in arguments and not aside and not is_help:
        json.loads(out)
    after = _content(folder)
    for path, content in before.items():
        may_change = "--force" in arguments
        may_change |= arguments[0] == "study" and path.parts[:2] in STUDIES
        assert may_change or after.get(path) == content, (told, path)
    for path in after.keys() - before.keys():
        assert path.parts[0] != "tmp", (told, path)
        assert not path.name.endswith(".skcamel-tmp"), (told, path)


def _check_letters(arguments: list[str], out: str, err: str, told: str) -> None:
    assert all(letter == "\n" or letter.isprintable() for letter in err), told
    if arguments[0] not in ("predict", "tables"):  # tables for other programs: names as they are
        assert all(letter == "\n" or letter.isprintable() for letter in out), told


def _no_server() -> contextlib.AbstractContextManager[object]:
    """A server that is stopped as soon as it is up; nothing where there is no uvicorn."""
    try:
        from skcamel.serve import app
    except ImportError:
        return contextlib.nullcontext()
    return mock.patch.object(app.Server, "run")


def _run(arguments: list[str], work: Path, temporary: Path) -> tuple[int, str, str]:
    out, err, here = io.StringIO(), io.StringIO(), Path.cwd()
    places = {"SKCAMEL_DATA": str(work), "SKCAMEL_CACHE": str(work / "cache"), "COLUMNS": "100"}
    os.chdir(work)
    try:
        with (
            mock.patch.dict(os.environ, places),
            mock.patch.object(tempfile, "tempdir", str(temporary)),
            warnings.catch_warnings(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            _no_server(),
        ):
            warnings.simplefilter("ignore")
            return run(arguments), out.getvalue(), err.getvalue()
    finally:
        os.chdir(here)


def _content(folder: Path) -> dict[Path, bytes | None]:
    """Every file below, and every folder as None."""
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def _command_line(rng: random.Random) -> list[str]:
    context = click.Context(root)
    name = rng.choice(root.list_commands(context))
    words, command = [name], root.get_command(context, name)
    if isinstance(command, click.Group):
        words.append(rng.choice(command.list_commands(context)))
        command = command.get_command(context, words[-1])
    assert command is not None
    oddity = rng.choice((0.0, 0.03, 0.3))
    for param in command.params:
        needed = param.required or not isinstance(param, click.Option)
        needed |= param.name == "labels" and any(word.endswith((".csv", ".tsv")) for word in words)
        if rng.random() < (0.98 if needed else 0.15):
            words += _words(rng, param, oddity)
    if rng.random() < oddity:
        odd = (*BAD_NAMES, "--", "-", "--no-such", "-h", "--json", "-o")
        words.insert(rng.randrange(1, len(words) + 1), rng.choice(odd))
    return words


def _words(rng: random.Random, param: click.Parameter, oddity: float) -> list[str]:
    if not isinstance(param, click.Option):
        return [_value(rng, param, oddity)]
    if param.is_flag:
        return [rng.choice([*param.opts, *param.secondary_opts])]
    return [rng.choice(param.opts), _value(rng, param, oddity)]


def _value(rng: random.Random, param: click.Parameter, oddity: float) -> str:
    name, odd = str(param.name), rng.random() < oddity
    if odd and rng.random() < 0.3:
        return rng.choice(BAD_NAMES)
    if name not in VALUES and isinstance(param.type, click.Choice):
        return str(rng.choice(param.type.choices))
    is_number = "range" in param.type.name or param.type.name in ("integer", "float")
    if name not in VALUES and is_number:
        return rng.choice(BAD_NUMBERS if odd else ("1", "2", "3"))
    return rng.choice(VALUES.get(name, DATA)[odd])


def _damage(rng: random.Random, work: Path) -> None:
    """Change, cut or double a few bytes of one file."""
    path = rng.choice(sorted(path for path in work.rglob("*") if path.is_file()))
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(content) + 1)
        content[place : place + rng.choice((0, 1, 1, 8))] = rng.randbytes(rng.choice((0, 1, 1, 4)))
    path.write_bytes(content[: rng.randrange(len(content) + 1)] if rng.random() < 0.2 else content)


@cache
def _files() -> Path:
    """A folder with everything that a command may ask for, made once in a process."""
    holder = tempfile.TemporaryDirectory()
    _KEPT.append(holder)
    work = Path(holder.name)
    (work / "data.arff").write_bytes(tiny.arff())
    (work / "data.xml").write_bytes(tiny.xml())
    (work / "meka.arff").write_bytes(tiny.arff(relation="'made: -C -2'"))
    for name, separator in (("data.csv", ","), ("data.tsv", "\t")):
        _write_table(work / name, ["f0", "f1", "f2", "l0", "l1"], separator)
    names = ["\x1b[31m", "a\u202eb", '"new\nline"', "[red]l0[/red]", "=l1"]
    _write_table(work / "hostile.csv", names, ",")
    (work / "text.csv").write_text("f0,f1,l0,l1\nred,1,0,1\nblue,,1,0\n=cmd,NaN,1,1\n")
    (work / "data.svm").write_text("0 1:1 2:2\n1 1:3\n0,1 3:1\n" * 4)
    for name, source in (("camel", "data"), ("hostile", "hostile")):
        fit = ["fit", f"{source}.csv", "--labels", "2", "-o", f"{name}.skcamel"]
        assert _run(fit, work, work)[0] == 0
    hostile = load(work / "hostile.skcamel")
    hostile.label_names_ = np.array(["\x1b[31m[red]", "=a\nb"], dtype=object)
    save(hostile, work / "hostile.skcamel")
    made_studies.nasty(work / "nasty")
    study = "study --datasets data.csv --labels 2 --methods br,llsf --preset quick -o study"
    assert _run(study.split(), work, work)[0] == 0
    for name in ("empty", "sub"):
        (work / name).mkdir()
    return work


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def _write_table(path: Path, names: list[str], separator: str) -> None:
    X, Y = tiny.arrays()
    rows = [separator.join(map(str, row)) for row in np.hstack([X, Y]).tolist()]
    path.write_text("\n".join([separator.join(names), *rows, ""]), encoding="utf-8")

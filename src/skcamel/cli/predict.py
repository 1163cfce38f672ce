"""``skcamel predict``: a model file and rows ► predictions as CSV, TSV, JSON, JSON lines or Parquet; and how such a file is read.

A table has the columns ``row`` (from 1), those that name the rows, and ``labels``, the predicted
names separated by semicolons (a name
that holds one stands in double quotes), and for every label as asked for ``score:NAME``,
``decision:NAME``, ``probability:NAME`` and
``set:NAME``, which is yes, no or open. Numbers are written with all their digits.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from skcamel.cli.inputs import open_model, rows_in_batches
from skcamel.cli.options import (
    SHARE,
    OutputFile,
    data_home,
    examples,
    keep_apart,
    model_file,
    output_file,
    rows_file,
)
from skcamel.cli.output import hand_over, say
from skcamel.data import DataError
from skcamel.files import whole_file
from skcamel.predictions import KINDS, WORDS, Predictions
from skcamel.text import one_line, original_cell, plain_cell

if TYPE_CHECKING:
    import numpy as np

    from skcamel.camel.outputs import Outputs

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
OUTPUT = OutputFile(*SUFFIXES)
NUMBERS = dict(zip(WORDS, (0, 1, -1), strict=True))


@click.command(
    epilog=examples(
        "skcamel predict mine.skcamel new.csv",
        "skcamel predict mine.skcamel new.csv -o predictions.parquet --probabilities",
        "skcamel predict mine.skcamel new.csv --no-scores --no-decisions -o labels.jsonl",
        "skcamel predict mine.skcamel new.csv --sets 0.95 --no-scores -o answers.csv",
    )
)
@model_file
@rows_file
@output_file(
    OUTPUT, "File to write: .csv, .tsv, .json, .jsonl or .parquet. Default: CSV to the screen."
)
@click.option(
    "--scores/--no-scores",
    default=True,
    show_default=True,
    help="The score of every label; higher is more likely.",
)
@click.option(
    "--decisions/--no-decisions", default=True, show_default=True, help="1 or 0 for every label."
)
@click.option(
    "--probabilities/--no-probabilities",
    default=False,
    show_default=True,
    help="The probability of every label.",
)
@click.option(
    "--sets",
    type=SHARE,
    help=(
        "Also yes, no or open for every label, such that this share of the yes answers (say 0.9) is"
        " right."
    ),
)
@click.option(
    "--allow-missing", is_flag=True, help="Let columns of the model that FILE lacks count as gaps."
)
@data_home
def predict(
    model: str,
    file: str,
    output: str | None,
    data_home: str | None,
    *,
    sets: float | None,
    allow_missing: bool,
    **asked: bool,
) -> None:
    """Predict the labels of every row of FILE.

    FILE is a table (- for standard input), an ARFF, svmlight or Matlab file, or the name of a
    benchmark set. Its columns are matched
    with the model's by name, in any order; label columns and unknown ones are left aside. A file
    that exists is written over.

    Output has one row for each row of FILE: its number from 1, the columns that name the rows, the
    predicted labels (separated by
    semicolons), and for each label score:NAME and decision:NAME.

    With --sets 0.9, set:NAME is yes, no or open: of the yes answers about 90 % are right, and of
    the labels that rows have at most about
    10 % are answered no, over all labels together.

    A large Parquet file is read and answered in batches.
    """
    keep_apart(output, model, file)
    from skcamel.checks import names_compared
    from skcamel.data.pipeline import final

    fitted = open_model(model)
    estimator = final(fitted)
    if asked["probabilities"] and not hasattr(estimator, "predict_proba"):
        raise click.UsageError(
            f"{type(estimator).__name__} in {model} has scores but no probabilities; leave out"
            " --probabilities."
        )
    n = 0

    def answered() -> Iterator[Predictions]:
        nonlocal n
        for rows in rows_in_batches(fitted, file, data_home=data_home, allow_missing=allow_missing):
            with names_compared():
                outputs = estimator.outputs(rows.X)
            answers = None if sets is None else sets_of(outputs, sets)
            yield Predictions.of(
                outputs, [key for key, wanted in asked.items() if wanted], answers, rows.ids, n
            )
            n += len(outputs.label_sets)

    if output is None:
        _write_separated(answered(), hand_over)
        return
    _write(answered(), output, OUTPUT.suffix(output))
    say(f"{n:,} rows; wrote {one_line(output)}", err=True)


def sets_of(outputs: Outputs, confidence: float) -> np.ndarray:
    """Prediction sets, int8 (n, q); an error of usage where the model has none."""
    try:
        return outputs.sets(confidence)
    except (AttributeError, ValueError) as error:
        raise click.UsageError(f"{error} Or leave out --sets.") from error


def _write(parts: Iterable[Predictions], path: str | Path, suffix: str) -> None:
    """Write a file in the form that a suffix names, part by part; it appears whole or not at all."""
    with whole_file(path) as file:
        if suffix == ".parquet":
            _write_parquet(parts, file)
            return
        text = io.TextIOWrapper(
            file, encoding="utf-8", errors="backslashreplace", newline=""
        )  # half a character
        if suffix in (".json", ".jsonl"):
            _write_json(parts, text, lines=suffix == ".jsonl")
        else:
            _write_separated(parts, text.write, "\t" if suffix == ".tsv" else ",")
        text.flush()
        text.detach()


def _write_separated(
    parts: Iterable[Predictions], write: Callable[[str], Any], separator: str = ","
) -> None:
    """Write a table of text."""
    for part in parts:
        if not part.first:
            write(_record([plain_cell(name) for name in part.columns()], separator) + "\n")
        for r, names in enumerate(part.label_sets):
            numbers = (
                str(value) for matrix in part.values.values() for value in matrix[r].tolist()
            )  # or words
            ids = [plain_cell(cells[r]) for cells in part.ids.values()]
            write(
                _record(
                    [str(part.first + r + 1), *ids, plain_cell(_record(names, ";")), *numbers],
                    separator,
                )
                + "\n"
            )


def _record(cells: Sequence[str], separator: str) -> str:
    """One line of a table; cells with the separator, quotes or ends of line are quoted."""
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="\r\n").writerow(
        cells
    )  # both characters, so that both are quoted
    return line.getvalue()[:-2]


def _write_json(parts: Iterable[Predictions], file: IO[str], *, lines: bool) -> None:
    before, between, after = ("", "\n", "\n") if lines else ("[\n", ",\n", "\n]\n")
    for part in parts:
        for told in part.records():
            file.write(
                (between if told["row"] > 1 else before) + json.dumps(told, ensure_ascii=False)
            )
    file.write(after)


def _write_parquet(parts: Iterable[Predictions], file: Any) -> None:
    from skcamel.data.tables import pyarrow_module

    parquet, arrow = pyarrow_module("pyarrow.parquet"), pyarrow_module()
    with ExitStack() as stack:
        writer: Any = None
        for part in parts:
            sets = arrow.array(
                [list(names) for names in part.label_sets], arrow.list_(arrow.string())
            )
            ids = [arrow.array(cells, arrow.string()) for cells in part.ids.values()]
            columns = [
                arrow.array(
                    range(part.first + 1, part.first + len(part.label_sets) + 1), arrow.int64()
                ),
                *ids,
                sets,
            ]
            columns += [
                arrow.array(column) for matrix in part.values.values() for column in matrix.T
            ]
            table = arrow.Table.from_arrays(columns, names=part.columns())
            writer = writer or stack.enter_context(parquet.ParquetWriter(file, table.schema))
            writer.write_table(table)


def read_predictions(path: str | Path) -> tuple[tuple[str, ...], dict[str, np.ndarray]]:
    """Label names, and "scores", "decisions", "probabilities" or "sets" ► matrix (n, q), of a file that ``skcamel predict`` wrote.

    Answers in "sets" are 1 yes, 0 no and -1 open. A table of 0 and 1 with one column per label is
    one of decisions.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(
            f"predictions are {', '.join(SUFFIXES)}, by suffix, as 'skcamel predict' writes them.",
            path=path,
        )
    read = {".json": _json_columns, ".jsonl": _json_columns, ".parquet": _parquet_columns}.get(
        suffix, _separated_columns
    )
    columns = read(Path(path))
    if not columns or not len(next(iter(columns.values()))):
        raise DataError("holds no row.", path=path)
    found = {
        key: [name for name in columns if name.startswith(f"{prefix}:")]
        for key, prefix in KINDS.items()
    }
    if not any(found.values()):
        found = {"decisions": [name for name in columns if name not in ("row", "labels")]}
    values = {
        key: _matrix(columns, names, path, NUMBERS if key == "sets" else {})
        for key, names in found.items()
        if names
    }
    key = "decisions" if "decisions" in values else next(iter(values), "decisions")
    label_names = tuple(name.removeprefix(f"{KINDS[key]}:") for name in found[key])
    for other, names in found.items():
        if names and [name.removeprefix(f"{KINDS[other]}:") for name in names] != list(label_names):
            raise DataError(
                f"{other} and {key} are of different labels; write the file again with 'skcamel"
                " predict'.",
                path=path,
            )
    return label_names, values


def _matrix(
    columns: Mapping[str, Sequence[Any]],
    names: list[str],
    path: str | Path,
    words: Mapping[str, int],
) -> np.ndarray:
    import numpy as np

    try:
        return np.array(
            [[float(words.get(value, value)) for value in columns[name]] for name in names]
        ).T
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a score or decision is not a number ({error}); columns are score:NAME and"
            " decision:NAME.",
            path=path,
        ) from None


def _separated_columns(path: Path) -> dict[str, list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *rows = list(
                csv.reader(
                    file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True
                )
            ) or [[]]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(
            f"is no whole table ({error}); write it again with 'skcamel predict'.", path=path
        ) from None
    rows = [row for row in rows if row]
    if wrong := next((number for number, row in enumerate(rows, 1) if len(row) != len(head)), None):
        raise DataError(
            f"row {wrong} has {len(rows[wrong - 1])} cells, the first line {len(head)}; is the file"
            " cut short?",
            path=path,
        )
    return {
        original_cell(name): [row[position] for row in rows] for position, name in enumerate(head)
    }


def _json_columns(path: Path) -> dict[str, list[Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        records = (
            [json.loads(line) for line in text.splitlines() if line]
            if path.suffix.lower() == ".jsonl"
            else json.loads(text)
        )
        columns: dict[str, list[Any]] = {"row": [record["row"] for record in records]}
        for key, prefix in KINDS.items():
            for name in records[0].get(key, ()) if records else ():
                columns[f"{prefix}:{name}"] = [record[key][name] for record in records]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"is not what 'skcamel predict' writes ({type(error).__name__}: {error}); write it"
            " again.",
            path=path,
        ) from None
    return columns


def _parquet_columns(path: Path) -> dict[str, list[Any]]:
    from skcamel.data.tables import pyarrow_module

    parquet, arrow = pyarrow_module("pyarrow.parquet"), pyarrow_module()
    try:
        return parquet.read_table(path).to_pydict()
    except (arrow.ArrowException, OSError) as error:
        raise DataError(
            f"is damaged or no Parquet file ({str(error)[:120]}); write it again.", path=path
        ) from error

"""What the commands read and write.

They read labelled files, and rows for a model. They write safe text, JSON, progress, and records as
a table.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.options import kinds_of
from skcamel.data import DataError
from skcamel.files import whole_file
from skcamel.text import one_line, plain_cell, printable

if TYPE_CHECKING:
    import numpy as np

    from skcamel.data import Dataset, TablePreparer
    from skcamel.data.batches import ParquetFiles
    from skcamel.data.matching import Rows

COPIES = "copies"  # rows that are equal, as groups
TABLES = (".csv", ".jsonl", ".parquet")  # what write_records writes
BATCH = 10_000  # records of a group of rows of Parquet

Record = Mapping[str, Any]  # of a row: text, numbers, lists of text, or None


@dataclass
class Labelled:
    """A labelled file or benchmark set, and how its columns become numbers."""

    source: str
    dataset: Dataset
    preparer: TablePreparer | None  # None where the features are numbers
    label_columns: tuple[str, ...] = ()
    files: ParquetFiles | None = None  # of which the data set is a sample
    all_labels: Any = None  # of the files
    groups: str | None = None  # the column of --groups

    @property
    def name(self) -> str:
        """The name of the data set, or of the file without its suffixes."""
        return self.dataset.name

    @property
    def Y(self) -> Any:  # noqa: N802 - as a Dataset has it
        """Labels with their names, (n, q), NaN where missing."""
        return self.dataset.labels

    def prepared(self, rows: np.ndarray | None = None) -> tuple[Any, bool]:
        """Fit the preparer on some rows, or all; these as numbers, and whether they have words.

        Rows with words must not be scaled. Plain numbers are left as they are: a search knows more
        ways to scale them.
        """
        X = self.rows(rows)
        Y = self.Y if rows is None else self.Y[rows]
        if self.preparer is None:
            return X, False
        try:
            self.preparer.fit(X, Y)
            return self.preparer.transform(X), self.preparer.scaling_ == "rank"
        except ValueError as error:
            raise DataError(str(error), path=self.source) from error

    def rows(self, rows: np.ndarray | None) -> Any:
        """Some rows of the features as they were read, or all."""
        X = self.dataset.X
        if rows is None:
            return X
        return X[rows] if self.preparer is None else X.take(rows)

    def ids(self) -> dict[str, list[str]]:
        """The columns that name the rows; known once the preparer is fitted."""
        from skcamel.data import matching

        return {} if self.preparer is None else matching.ids_of(self.preparer, self.dataset.X)

    def columns(self) -> list[dict[str, str]]:
        """What becomes of each column; known once the preparer is fitted."""
        if self.preparer is None:
            return []
        described = self.preparer.describe()
        columns = [dict(zip(("column", "kind", "detail"), each)) for each in described]
        for column in columns:
            if column["column"] == self.groups and column["kind"] == "id":
                column["detail"] = "left out: holds the groups of the rows"
        return columns

    def dataset_of_numbers(self) -> Dataset:
        """The whole data set, its columns as numbers."""
        from skcamel.data import Dataset

        X, _ = self.prepared()
        if self.preparer is None:
            return self.dataset
        names = self.preparer.get_feature_names_out()
        return Dataset(X, self.Y, names, self.dataset.label_names, name=self.name)

    def copies(self) -> np.ndarray:
        """A number for each row, the same for rows with equal features."""
        from skcamel.data import dataset

        return dataset.row_kinds(self.dataset.X)


def open_labelled(data: str, choices: Mapping[str, Any], groups: str | None = None) -> Labelled:
    """Open a benchmark set or a labelled file.

    `choices` are the options ``--labels``, ``--column`` and ``--text-encoder``.
    """
    labels = choices["labels"]
    if not is_table(data):
        if labels or choices["columns"]:
            raise click.UsageError(f"--labels and --column are for tables; {data} is none.")
        return Labelled(data, _matrix(data), None)
    from skcamel.data import Dataset, read_columns, take_labels

    if labels is None:
        raise click.UsageError(
            f"{data}: a table does not say which columns are labels; name them by --labels."
        )
    rest, found = take_labels(read_columns(data), labels, data)
    dataset = Dataset(rest, found.Y, label_names=found.names, name=_stem(data), source=data)
    preparer = _preparer(choices, groups)
    return Labelled(data, dataset, preparer, found.columns, groups=groups)


def open_batches(data: Sequence[str], choices: Mapping[str, Any]) -> Labelled | None:
    """Parquet files as one table to be read in batches; None where one file is read as a whole."""
    from skcamel.data import Dataset, batches
    from skcamel.data.labels import without

    one_in_batches = choices["max_memory"] is not None and batches.is_parquet(data[0])
    if len(data) == 1 and not one_in_batches:
        return None
    files = batches.opened(data)
    if choices["labels"] is None:
        raise click.UsageError("files that are read in batches hold their labels: use --labels.")
    labels = files.labels(choices["labels"])
    sample, rows = files.sample(seed=choices["seed"])
    table = without(sample, labels.columns)
    dataset = Dataset(table, labels.Y[rows], label_names=labels.names, name=_stem(data[0]))
    source = ", ".join(data)
    found = Labelled(source, dataset, _preparer(choices), labels.columns, files, labels)
    note("rows are read in batches, and summed up by landmarks.")
    return found


def _preparer(choices: Mapping[str, Any], groups: str | None = None) -> TablePreparer:
    from skcamel.data import TablePreparer

    kinds: dict[str, Any] = kinds_of(choices["columns"])
    named = [name for names in kinds.values() for name in names]
    if groups not in (None, COPIES, *named):
        kinds.setdefault("id", []).append(str(groups))
    encoder = _encoder_of(choices.get("text_encoder"))
    return TablePreparer(**kinds, scaling="auto", text_encoder=encoder)


def _encoder_of(name: str | None) -> Any:
    """The text encoder that ``--text-encoder module:factory`` makes."""
    if name is None:
        return None
    from skcamel.data import preparer

    return preparer.import_encoder(name)


def groups_of(source: Labelled, groups: str | None, rows: np.ndarray | None = None) -> Any:
    """The group of each row, of some rows or all: equal values of a column, or equal rows."""
    if groups is None:
        return None
    import numpy as np

    from skcamel.data.cells import is_missing

    if groups == COPIES:
        found = source.copies()
    elif source.preparer is None or groups not in source.dataset.X.column_names:
        raise click.UsageError(f"--groups {groups}: {source.source} has no such column.")
    else:
        names = map(str, source.dataset.X.column(groups).to_pylist())
        found = np.array(["nan" if is_missing(name) else name for name in names])
    return found if rows is None else found[rows]


def is_catalogue_name(data: str) -> bool:
    """Whether a benchmark set is meant; a file without suffix is of no known format."""
    from skcamel.data import list_datasets

    path = Path(data)
    if data.lower() in list_datasets():
        return True
    if path.is_dir():
        raise click.UsageError(f"{data} is a folder; give a file.")
    if not path.exists() and path.suffix:
        raise click.UsageError(f"{data}: there is no such file.")
    return not path.exists()  # a misspelt name: the catalogue says which are near


def is_table(data: str) -> bool:
    """Whether a table is meant; standard input is taken as one."""
    from skcamel.data import sources

    return data == "-" or (not is_catalogue_name(data) and sources.format_of(data) == "table")


def _matrix(data: str) -> Dataset:
    """A benchmark set, or a file whose features are numbers."""
    from skcamel.data import load_dataset, matching, read_dataset

    if is_catalogue_name(data):
        return load_dataset(data)
    dataset = read_dataset(data)
    matching.check_complete(dataset.X, dataset.feature_names, data)
    return dataset


def _stem(path: str) -> str:
    from skcamel.data import sources

    return "" if path == "-" else sources.stem(path)


def open_model(path: str, text_encoder: str | None = None) -> Any:
    """Load a model of label matrices: an estimator, or a Pipeline that ends in one."""
    from skcamel.data import pipeline
    from skcamel.model_file import ModelFileError, load

    model = load(path, text_encoder=_encoder_of(text_encoder))
    if getattr(pipeline.final(model), "_target", "matrix") != "matrix":
        raise ModelFileError(
            f"{path} was fitted on one column of classes, not on labels; use it from Python."
        )
    return model


def label_names_of(model: Any) -> list[str]:
    """Names of the labels of a model."""
    from skcamel.data import pipeline

    return [str(name) for name in pipeline.final(model).label_names_]


def ids_at(row: int, ids: Mapping[str, Sequence[str]], *taken: str) -> dict[str, str]:
    """The cells that name a row; a column whose name is taken gets "id:" in front of it."""
    found = {}
    for name, cells in ids.items():
        clear = f"id:{name}" if name in taken else name
        found[clear] = cells[row]
    return found


def rows_for(model: Any, data: str, *, truth: bool = False, allow_missing: bool = False) -> Rows:
    """Rows of a file or benchmark set as a model wants them.

    Notes say how they differ from those of the fit.
    """
    from skcamel.data import matching

    if data != "-" and is_catalogue_name(data):
        rows = matching.match(model, _matrix(data), data, truth=truth)
    else:
        rows = matching.read_rows(model, data, truth=truth, allow_missing=allow_missing)
    for remark in rows.notes(data):
        note(remark)
    return rows


def rows_in_batches(model: Any, data: str, *, allow_missing: bool) -> Iterator[Rows]:
    """The same; a large Parquet table comes in batches, and the notes after the last."""
    from skcamel.data import batches, matching

    files = None
    if matching.preparer_of(model) and batches.is_parquet(data) and is_table(data):
        files = batches.opened([data])
    if files is None or files.n_rows <= batches.BATCH_ROWS:
        yield rows_for(model, data, allow_missing=allow_missing)
        return
    last: Any = None
    for batch in files.batches():
        rows = matching.match(model, batch.table, data, allow_missing=allow_missing)
        yield rows
        if last is not None:
            rows = rows._replace(differences=last.differences + rows.differences)
        last = rows
    for remark in last.notes(data):
        note(remark)


def sets_of(outputs: Any, confidence: float) -> np.ndarray:
    """Prediction sets, int8 (n, q); an error of usage where the model has none."""
    try:
        return outputs.sets(confidence)
    except (AttributeError, ValueError) as error:
        raise click.UsageError(f"{error} Or leave out --sets.") from error


def missing_share(Y: Any) -> float:
    """The share of missing labels."""
    import numpy as np

    return float(np.isnan(np.asarray(Y, dtype=float)).mean())


def say(text: str = "", *, err: bool = False) -> None:
    """Write text and an end of line; control characters become escapes."""
    (sys.stderr if err else sys.stdout).write(f"{printable(text)}\n")


def note(text: str) -> None:
    """Write a note, which is not part of the result, to standard error."""
    say(f"Note: {one_line(text)}", err=True)


def say_json(value: object) -> None:
    """Write a value as JSON, with null for numbers that are not finite."""
    sys.stdout.write(json.dumps(_plain(value), indent=1) + "\n")


def _plain(value: Any) -> Any:
    """The value as JSON would hand it back, with None for numbers that are not finite."""
    text = json.dumps(value, default=lambda array: array.tolist())
    return json.loads(text, parse_constant=lambda _: None)


def hand_over(text: str) -> None:
    """Write text for another program as it is, for a terminal with escapes."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


@contextmanager
def progress_bar(name: str) -> Iterator[Callable[[Any], None]]:
    """Progress on standard error, if that is a terminal.

    Call what is yielded with steps, which know how much is `done` and the `total`.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as shown:
        task = shown.add_task(name, total=None)

        def update(step: Any) -> None:
            shown.update(task, completed=step.done, total=step.total)

        yield update


def write_records(records: Iterable[Record], path: str | None) -> None:
    """Write records as the suffix of a file says, or as CSV to standard output.

    A file appears whole or not at all. No cell of CSV is a formula; lists of text are joined by
    semicolons there.
    """
    if path is None:
        _write_csv(records, sys.stdout)
        return
    suffix = Path(path).suffix.lower()
    with whole_file(path) as file:
        if suffix == ".parquet":
            _write_parquet(records, file)
            return
        text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="")
        if suffix == ".jsonl":
            text.writelines(f"{_line(record)}\n" for record in records)
        else:
            _write_csv(records, text)
        text.flush()
        text.detach()


def _line(record: Record) -> str:
    return json.dumps(_plain(record), ensure_ascii=False)


def _write_csv(records: Iterable[Record], file: Any) -> None:
    writer = csv.writer(file, lineterminator="\n")
    for number, record in enumerate(records):
        if not number:
            writer.writerow([plain_cell(name) for name in record])
        writer.writerow([_cell(value) for value in record.values()])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        line = io.StringIO()
        csv.writer(line, delimiter=";", lineterminator="").writerow(value)
        return plain_cell(line.getvalue() if any(value) else "")
    return plain_cell(str(value))


def _write_parquet(records: Iterable[Record], file: Any) -> None:
    import pyarrow
    from pyarrow import parquet

    rows = iter(records)
    batch = list(islice(rows, BATCH))
    schema = pyarrow.Table.from_pylist(batch).schema
    if "labels" in schema.names:  # which may be empty in all rows
        kind = pyarrow.field("labels", pyarrow.list_(pyarrow.string()))
        schema = schema.set(schema.get_field_index("labels"), kind)
    with parquet.ParquetWriter(file, schema) as writer:
        while batch:
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            batch = list(islice(rows, BATCH))

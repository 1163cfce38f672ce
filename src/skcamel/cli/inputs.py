"""The data sets, tables and models that the commands read, and how a file is matched with what a model expects."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.output import note
from skcamel.data import DataError

if TYPE_CHECKING:
    import numpy as np

    from skcamel.data.dataset import Dataset, NamedLabels
    from skcamel.data.labels import Labels
    from skcamel.data.matching import Rows
    from skcamel.data.preparer import TablePreparer


@dataclass(frozen=True)
class LabelledTable:
    """The columns of a table file that are no labels, and its labels."""

    columns: Any  # pyarrow.Table
    labels: Labels
    source: str

    @property
    def name(self) -> str:
        """The name of the file without its suffixes."""
        from skcamel.data.text import stem

        return "" if self.source == "-" else stem(self.source)

    @property
    def Y(self) -> NamedLabels:  # noqa: N802 - as a Dataset has it
        """Labels as `fit` takes them, (n, q): int64, or float64 with NaN where some are unknown."""
        from skcamel.data.dataset import NamedLabels
        from skcamel.data.matching import whole_if_known

        return NamedLabels.of(whole_if_known(self.labels.Y), self.labels.names)


def is_catalogue_name(name_or_file: str) -> bool:
    """Whether a benchmark set is meant; a file without suffix is of no known format, so it never is."""
    from skcamel.data.catalogue import list_datasets

    path = Path(name_or_file)
    try:
        is_file, is_folder = path.exists(), path.is_dir()  # a pipe is a file too
    except (OSError, ValueError) as error:
        raise click.UsageError(
            f"{name_or_file}: {getattr(error, 'strerror', None) or error}."
        ) from error
    if name_or_file.lower() in list_datasets():
        if is_file and not is_folder:
            note(
                f"{name_or_file} is taken as the benchmark set, not as the file of that name; give"
                " the file a suffix, such as .csv."
            )
        return True
    if not name_or_file:
        raise click.UsageError(
            "The name of a data set is empty; give a file, or a name that 'skcamel datasets list'"
            " shows."
        )
    if is_folder and (path.suffix or len(path.parts) != 1):
        raise click.UsageError(f"{name_or_file} is a folder; give a file.")
    if not is_file and (path.suffix or len(path.parts) > 1):
        raise click.UsageError(
            f"{name_or_file}: there is no such file; 'skcamel datasets list' shows the sets that"
            " have a name."
        )
    return not is_file or is_folder  # a misspelt name: the catalogue says which are near


def is_table(name_or_file: str) -> bool:
    """Whether a table file is meant, or standard input, which is taken as one."""
    from skcamel.data.sources import format_of

    return name_or_file == "-" or (
        not is_catalogue_name(name_or_file) and format_of(name_or_file) == "table"
    )


def open_dataset(
    name_or_file: str, *, labels: str | None, xml: str | None, data_home: str | None
) -> Dataset:
    """Open a catalogue name or a file; what looks like a file (it exists, or has a suffix or a separator) is one."""
    from skcamel.data.catalogue import load_dataset
    from skcamel.data.sources import format_of, read_dataset

    by_name = is_catalogue_name(name_or_file)
    kind = "set" if by_name else format_of(name_or_file)
    if labels is not None and kind != "table":
        raise click.UsageError(
            f"--labels names columns of a table; {name_or_file} says itself what its labels are."
        )
    if xml is not None and kind != "arff":
        raise click.UsageError(f"--xml is the label file of an ARFF file; {name_or_file} is none.")
    if by_name:
        return load_dataset(name_or_file, data_home)
    return read_dataset(
        name_or_file,
        xml=xml,
        labels=checked_labels(labels, name_or_file) if kind == "table" else None,
    )


def preparer_with(of_table: Mapping[str, Sequence[str]]) -> TablePreparer:
    """What prepares a table, with the options that overrule its cells."""
    from skcamel.data.preparer import TablePreparer

    return TablePreparer().set_params(
        **{key: column_names(value, f"--{key}") for key, value in of_table.items()}
    )


def open_table(
    source: str, preparer: TablePreparer, *, labels: str | None, labels_file: str | None
) -> LabelledTable:
    """Read a table file as a preparer wants it, with labels that are columns of it or come from a second file."""
    from skcamel.data.labels import join_labels, take_labels
    from skcamel.data.tables import read_columns

    columns = read_columns(source)
    if labels_file is None:
        return LabelledTable(*take_labels(columns, checked_labels(labels, source), source), source)
    if len(preparer.id) != 1:
        raise click.UsageError(
            "--labels-file is joined by the column that names the rows in both files; name it by"
            " --id."
        )
    other = read_columns(labels_file)
    found = join_labels(columns, preparer.id[0], other, source, labels_file, labels)
    return LabelledTable(*found, source)


def open_labelled(
    data: str, how: dict[str, Any], of_table: dict[str, Any]
) -> tuple[Dataset | LabelledTable, TablePreparer | None]:
    """A labelled file or benchmark set, and for a table what will prepare it."""
    if is_table(data):
        of_table = dict(of_table)
        labels_file = of_table.pop("labels_file")
        preparer = preparer_with(of_table)
        return open_table(data, preparer, labels=how["labels"], labels_file=labels_file), preparer
    if unfit := [key for key, value in of_table.items() if value]:
        raise click.UsageError(
            f"--{unfit[0].replace('_', '-')} is about the columns of a table; {data} is none."
        )
    dataset = open_dataset(data, **how)
    _check_dataset(dataset, data)
    return dataset, None


def prepare(
    preparer: TablePreparer, table: LabelledTable, rows: np.ndarray | None = None
) -> tuple[Any, bool]:
    """Fit a preparer on some rows of a table, or on all: these rows prepared, and whether they hold more than numbers.

    Numbers alone are not scaled: a search knows more ways to do that.
    """
    columns, Y = (
        (table.columns, table.Y) if rows is None else (table.columns.take(rows), table.Y[rows])
    )
    try:
        preparer.set_params(scaling="auto").fit(columns, Y)
    except ValueError as error:
        raise DataError(str(error), path=table.source) from error
    return preparer.transform_with_differences(columns)[0], preparer.scaling_ == "rank"


def told_unknown(known: float) -> str:
    """Say how many label entries are unknown, given the share of the known ones."""
    return f"{100 * (1 - known):.2g} % of the label entries are unknown"


def checked_labels(labels: str | None, source: str) -> str:
    """The label columns of a table, which must be named."""
    if labels is None:
        raise click.UsageError(
            f"{source}: a table does not say which columns are labels; name them by --labels, as"
            " --help explains."
        )
    if not labels.strip('", '):
        raise click.UsageError("--labels is empty; name at least one column.")
    return labels


def column_names(given: Sequence[str], option: str) -> list[str]:
    """Names in all uses of an option, separated by commas; those with a comma stand in double quotes."""
    try:
        names = [
            name.strip()
            for name in (
                cell for record in csv.reader(given, skipinitialspace=True) for cell in record
            )
            if name.strip()
        ]
    except csv.Error as error:  # an end of line, or a name longer than any
        raise click.UsageError(
            f"{option} cannot be read ({error}); put names with commas or ends of line in double"
            " quotes."
        ) from error
    if given and not names:
        raise click.UsageError(f"{option} is empty; name at least one column.")
    return names


def sizes(dataset: Dataset) -> str:
    """Rows, features and labels in words."""
    return f"{dataset.n} rows, {dataset.d} features, {dataset.q} labels"


def remember(model: Any, dataset: Dataset) -> None:
    """Keep with a model what is needed to read another file as this one was read."""
    import numpy as np

    from skcamel.data.matching import REMEMBERED

    names = np.array(dataset.feature_names, dtype=object)
    for own in (model, *getattr(model, "members_", ())):
        own.feature_names_in_ = names  # a frame in Python is compared with them
    known = {
        "features": dataset.feature_names,
        "categories": dict(dataset.categories),
        "dropped": dataset.dropped,
    }
    if dataset.zero_based is not None:
        known["zero_based"] = dataset.zero_based
    setattr(model, REMEMBERED, known)


def open_model(path: str) -> Any:
    """Load a model of label matrices: an estimator, or a Pipeline that ends in one."""
    from skcamel.data.pipeline import final
    from skcamel.model_file import ModelFileError, load

    model = load(path)
    if getattr(final(model), "_target", "matrix") != "matrix":
        raise ModelFileError(
            f"{path} was fitted on one column of classes, not on labels; use it from Python."
        )
    return model


def rows_for(
    model: Any,
    name_or_file: str,
    *,
    data_home: str | None,
    truth: bool,
    allow_missing: bool = False,
) -> Rows:
    """Rows of a file or benchmark set as the estimator of a model wants them; notes say what was not used."""
    from skcamel.data.matching import match, read_rows

    if name_or_file != "-" and is_catalogue_name(name_or_file):
        from skcamel.data.catalogue import load_dataset

        rows = match(model, load_dataset(name_or_file, data_home), name_or_file, truth=truth)
    else:
        rows = read_rows(model, name_or_file, truth=truth, allow_missing=allow_missing)
    for said in rows.notes(name_or_file):
        note(said)
    return rows


def rows_in_batches(
    model: Any, name_or_file: str, *, data_home: str | None, allow_missing: bool
) -> Iterator[Rows]:
    """The same as :func:`rows_for` without the truth; a large Parquet table comes in batches, and the notes after the last."""
    from skcamel.data.batches import BATCH_ROWS, is_parquet, opened
    from skcamel.data.matching import match, preparer_of

    in_batches = is_parquet(name_or_file) and is_table(name_or_file)
    files = opened([name_or_file]) if in_batches and preparer_of(model) is not None else None
    if files is None or files.n_rows <= BATCH_ROWS:
        yield rows_for(
            model, name_or_file, data_home=data_home, truth=False, allow_missing=allow_missing
        )
        return
    rows: Rows | None = None
    total: Any = None
    for batch in files.batches():
        rows = match(model, batch.table, name_or_file, allow_missing=allow_missing)
        total = rows.differences if total is None else total.plus(rows.differences)
        yield rows
    if rows is not None:
        for said in rows._replace(differences=total).notes(name_or_file):
            note(said)


def _check_dataset(dataset: Dataset, source: str) -> None:
    from skcamel.data.matching import check_complete

    if both := set(dataset.feature_names) & set(dataset.label_names):
        raise DataError(
            f"{min(both)!r} is the name of a feature and of a label; rename one.", path=source
        )
    often = Counter(dataset.feature_names)
    if twice := [name for name in dataset.categories if often[name] > 1]:
        raise DataError(
            f"two columns are called {twice[0]!r}, one of them holds text; rename one.", path=source
        )
    check_complete(dataset.X, dataset.feature_names, source)

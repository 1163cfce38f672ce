"""The data sets and models that the commands read, and how a file is matched with what a model expects."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.output import note
from skcamel.data import DataError
from skcamel.text import count

if TYPE_CHECKING:
    import numpy as np

    from skcamel.data.dataset import Dataset
    from skcamel.data.formats import Expected, Rows

# What a model fitted by the command knows of its file, saved with it: names of the features, values of those that
# were text, columns that were left out, and a digest of every training row.
REMEMBERED = "input_columns_"


def is_catalogue_name(name_or_file: str) -> bool:
    """Whether a benchmark set is meant; a file without suffix is of no known format, so it never is."""
    from skcamel.data.catalogue import list_datasets

    path = Path(name_or_file)
    try:
        is_file, is_folder = path.exists(), path.is_dir()  # a pipe is a file too
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{name_or_file}: {getattr(error, 'strerror', None) or error}.") from error
    if name_or_file.lower() in list_datasets():
        if is_file and not is_folder:
            note(f"{name_or_file} is taken as the benchmark set, not as the file of that name; give the file a suffix, such as .csv.")
        return True
    if not name_or_file:
        raise click.UsageError("The name of a data set is empty; give a file, or a name that 'skcamel datasets list' shows.")
    if is_folder and (path.suffix or len(path.parts) != 1):
        raise click.UsageError(f"{name_or_file} is a folder; give a file.")
    if not is_file and (path.suffix or len(path.parts) > 1):
        raise click.UsageError(f"{name_or_file}: there is no such file; 'skcamel datasets list' shows the sets that have a name.")
    return not is_file or is_folder  # a misspelt name: the catalogue says which are near


def open_dataset(name_or_file: str, *, labels: str | None, xml: str | None, data_home: str | None, nominal: str = "index") -> Dataset:
    """Open a catalogue name or a file; what looks like a file (it exists, or has a suffix or a separator) is one."""
    from skcamel.data.catalogue import load_dataset
    from skcamel.data.formats import format_of, read_dataset

    by_name = is_catalogue_name(name_or_file)
    kind = "set" if by_name else format_of(name_or_file)
    if labels is not None and kind != "table":
        raise click.UsageError(f"--labels names columns of a CSV, TSV or Parquet file; {name_or_file} says itself what its labels are.")
    if xml is not None and kind != "arff":
        raise click.UsageError(f"--xml is the label file of an ARFF file; {name_or_file} is none.")
    if kind == "table" and labels is None:
        raise click.UsageError(f"{name_or_file}: a table does not say which columns are labels; name them by --labels, as --help explains.")
    if nominal != "index" and kind != "table":
        raise click.UsageError(f"--nominal is about text in a CSV, TSV or Parquet file; {name_or_file} is none.")
    if by_name:
        return load_dataset(name_or_file, data_home)
    return read_dataset(name_or_file, xml=xml, labels=None if labels is None else _label_columns(labels), nominal=nominal)


def _label_columns(text: str) -> int | str | list[str] | list[int]:
    """Understand ``6`` (last columns), ``-6`` (first ones), ``0,3`` and ``3,`` (positions), ``topic_*`` (prefix), ``a,"b, c"`` (names)."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if text.endswith("*"):
        return text[:-1]
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]
    except csv.Error as error:  # an end of line, or a name longer than any
        raise click.UsageError(f"--labels cannot be read ({error}); put names with commas or ends of line in double quotes.") from error
    if not names:
        raise click.UsageError("--labels is empty; name at least one column.")
    return [int(name) for name in names] if all(name.isdecimal() for name in names) else names


def sizes(dataset: Dataset) -> str:
    """Rows, features and labels in words."""
    return f"{dataset.n} rows, {dataset.d} features, {dataset.q} labels"


def remember(model: Any, dataset: Dataset, nominal: str, fitted_rows: np.ndarray) -> None:
    """Keep with a model what is needed to read another file as this one was read, and to know its training rows again."""
    import numpy as np

    from skcamel.data.dataset import row_digests

    names = np.array(dataset.feature_names, dtype=object)
    for own in (model, *getattr(model, "members_", ())):
        own.feature_names_in_ = names  # a frame in Python is compared with them
    known = {
        "features": dataset.feature_names,
        "categories": dict(dataset.categories),
        "dropped": dataset.dropped,
        "nominal": nominal,
        "rows": row_digests(dataset.X[fitted_rows]),
    }
    setattr(model, REMEMBERED, known)


def note_training_rows(model: Any, rows: Rows) -> None:
    """Warn where a model is judged by what it was fitted on."""
    import numpy as np

    from skcamel.data.dataset import row_digests

    fitted = getattr(model, REMEMBERED, {}).get("rows")
    if fitted is not None and (again := int(np.isin(row_digests(rows.X), fitted).sum())):
        note(f"{again:,} of the {rows.X.shape[0]:,} rows were in the fit; judged by them, the model looks better than it is.")


def open_model(path: str) -> Any:
    """Load a model of label matrices."""
    from skcamel.persistence import ModelFileError, load

    model = load(path)
    if getattr(model, "_target", "matrix") != "matrix":
        raise ModelFileError(f"{path} was fitted on one column of classes, not on labels; use it from Python.")
    return model


def _expected_by(model: Any) -> Expected:
    """What a model wants to see; one fitted on a frame in Python knows its feature names too."""
    from skcamel.data.formats import Expected

    known = getattr(model, REMEMBERED, {})
    features = known.get("features", getattr(model, "feature_names_in_", None))
    return Expected(
        int(model.n_features_in_),
        None if features is None else tuple(map(str, features)),
        known.get("categories", {}),
        tuple(map(str, model.label_names_)),
        known.get("nominal", "index"),
    )


def rows_for(model: Any, name_or_file: str, *, data_home: str | None, truth: bool) -> Rows:
    """Rows of a file or benchmark set as the model wants them; notes say what was not used."""
    from skcamel.data.catalogue import load_dataset
    from skcamel.data.formats import match, read_matching
    from skcamel.data.text import shortened

    expected = _expected_by(model)
    if is_catalogue_name(name_or_file):
        rows = match(load_dataset(name_or_file, data_home), expected, truth=truth)
    else:
        rows = read_matching(name_or_file, expected, truth=truth)
    if rows.labels and not truth:
        note(f"{name_or_file} holds {count(len(rows.labels), 'label')}, left aside: {shortened(rows.labels)}.")
    dropped = set(getattr(model, REMEMBERED, {}).get("dropped", ()))
    if unknown := [name for name in rows.ignored if name not in dropped]:
        note(f"{name_or_file} holds {count(len(unknown), 'column')} that the model does not know, left aside: {shortened(unknown)}.")
    if rows.by_position:
        note("model and file have no common names of features, so the columns are taken in their order.")
    check_complete(rows.X, expected.features, name_or_file)
    return rows


def check_complete(X: Any, names: tuple[str, ...] | None, source: str) -> None:
    """Refuse missing and infinite values: no method here takes them."""
    import numpy as np
    from scipy import sparse

    stored = X.tocoo() if sparse.issparse(X) else None
    odd = ~np.isfinite(X if stored is None else stored.data)
    if not odd.any():
        return
    row, column = np.argwhere(odd)[0].tolist() if stored is None else (int(stored.row[odd][0]), int(stored.col[odd][0]))
    name = "" if names is None else f" ({names[column]!r:.60})"
    found = "1 value is" if odd.sum() == 1 else f"{int(odd.sum()):,} values are"
    raise DataError(
        f"{found} missing or infinite, the first in row {row + 1}, feature {column + 1}{name}; fill them, for instance numbers with "
        "the median of their column and text with a word of its own, or leave out these rows.",
        path=source,
    )

"""What the commands on model files share: a model, what it expects of a file, and the rows of that file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.datasets import complete_source, is_catalogue_name
from skcamel.cli.output import note

if TYPE_CHECKING:
    import numpy as np

    from skcamel.data.dataset import Dataset
    from skcamel.data.formats import Expected, Rows

# What a model fitted by the command knows of its file, saved with it: names of the features, values of those that
# were text, columns that were left out, and a digest of every training row.
REMEMBERED = "input_columns_"

model_file = click.argument("model", type=click.Path(exists=True, dir_okay=False))
rows_file = click.argument("file", metavar="FILE", shell_complete=complete_source)


def remember(model: Any, dataset: Dataset, nominal: str, fitted_rows: np.ndarray) -> None:
    """Keep with a model what is needed to read another file as this one was read, and to know its training rows again."""
    from skcamel.data.dataset import row_digests

    digests = row_digests(dataset.X[fitted_rows])
    setattr(
        model,
        REMEMBERED,
        {
            "features": dataset.feature_names,
            "categories": dict(dataset.categories),
            "dropped": dataset.dropped,
            "nominal": nominal,
            "rows": digests,
        },
    )


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


def expected_by(model: Any) -> Expected:
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

    expected = expected_by(model)
    if is_catalogue_name(name_or_file):
        rows = match(load_dataset(name_or_file, data_home), expected, truth=truth)
    else:
        rows = read_matching(name_or_file, expected, truth=truth)
    if rows.labels and not truth:
        note(f"{name_or_file} holds {count(rows.labels, 'label')}, left aside: {shortened(rows.labels)}.")
    dropped = set(getattr(model, REMEMBERED, {}).get("dropped", ()))
    unknown = [name for name in rows.ignored if name not in dropped]
    if unknown:
        note(f"{name_or_file} holds {count(unknown, 'column')} that the model does not know, left aside: {shortened(unknown)}.")
    if rows.by_position:
        note("model and file have no common names of features, so the columns are taken in their order.")
    check_complete(rows.X, expected.features, name_or_file)
    return rows


def count(things: Any, noun: str) -> str:
    """``1 label``, ``2 labels``."""
    return f"{len(things):,} {noun}{'' if len(things) == 1 else 's'}"


def check_complete(X: Any, names: tuple[str, ...] | None, source: str) -> None:
    """Refuse missing and infinite values: no method here takes them."""
    import numpy as np
    from scipy import sparse

    from skcamel.data.errors import DataError

    stored = X.tocoo() if sparse.issparse(X) else None
    odd = ~np.isfinite(X.data if sparse.issparse(X) else X)
    if not odd.any():
        return
    where = np.argwhere(odd)[0] if stored is None else np.array([stored.row[odd][0], stored.col[odd][0]])
    row, column = where.tolist()
    name = "" if names is None else f" ({names[column]!r:.60})"
    found = "1 value is" if odd.sum() == 1 else f"{int(odd.sum()):,} values are"
    raise DataError(
        f"{found} missing or infinite, the first in row {row + 1}, feature {column + 1}{name}; fill them, for instance numbers with "
        "the median of their column and text with a word of its own, or leave out these rows.",
        path=source,
    )


@contextmanager
def nameless() -> Iterator[None]:
    """Quiet scikit-learn about arrays for a model fitted on a frame: their names were compared already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield

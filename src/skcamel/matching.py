"""Columns of new rows ► what a fitted model takes, for the command line and the server: by name, read as at the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skcamel.data import DataError

if TYPE_CHECKING:
    from skcamel.data.formats import Expected
    from skcamel.data.preparer import Differences, TablePreparer

# What the estimator of a model fitted by the command knows of its file, saved with it. Of a table:
# the columns that held the labels; the
# rest is in the TablePreparer before it. Of another file: names of the features, values of those
# that were nominal, and columns that
# were left out.
LABEL_COLUMNS, REMEMBERED = "label_columns_", "input_columns_"
LEFT_OUT = ("id", "constant", "empty", "dropped")  # kinds of columns that are no features


def preparer_of(model: Any) -> TablePreparer | None:
    """What prepares tables for a model; None where rows are taken as they are."""
    from skcamel.data.pipeline import transformers
    from skcamel.data.preparer import TablePreparer

    steps = transformers(model)
    return steps[0] if steps and isinstance(steps[0], TablePreparer) else None


def check_remembered(estimator: Any) -> None:
    """Refuse what a model file says of the columns unless the command remembers such."""
    known = getattr(
        estimator,
        REMEMBERED,
        {"features": [""] * estimator.n_features_in_, "categories": {}, "dropped": ()},
    )
    features, categories, dropped = known["features"], known["categories"], known["dropped"]
    texts = [*features, *dropped, *categories]
    for values in categories.values():
        texts += values
        if len(set(values)) < len(values):
            raise ValueError(f"{REMEMBERED} has a category twice")
    base = known.get("zero_based", (True, True))
    if len(base) != 2 or not all(isinstance(flag, bool) for flag in base):
        raise ValueError(f"{REMEMBERED} must say of features and labels whether they count from 0")
    if (
        len(features) != estimator.n_features_in_
        or len({*known} - {"zero_based"}) != 3
        or not all(isinstance(text, str) for text in texts)
    ):
        raise ValueError(
            f"{REMEMBERED} must name {estimator.n_features_in_} features, and values of others"
        )


def expected_by(model: Any) -> Expected:
    """What a model wants to see: the names of its columns if it knows them, as from a file or a frame, else how many there are.

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel import CamelClassifier
    >>> expected_by(CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int)))
    Expected(n_features=4, features=None, categories={}, labels=('label1', 'label2'), zero_based=None)
    """
    from skcamel.data.formats import Expected
    from skcamel.data.pipeline import final, transformers

    estimator, preparer, first = (
        final(model),
        preparer_of(model),
        (*transformers(model), final(model))[0],
    )
    known = getattr(estimator, REMEMBERED, {})
    features = known.get("features", getattr(first, "feature_names_in_", None))
    if preparer is not None:
        features = [name for name, kind in preparer.kinds_.items() if kind not in LEFT_OUT]
    return Expected(
        int(first.n_features_in_) if preparer is None else len(features),
        None if features is None else tuple(map(str, features)),
        known.get("categories", {}),
        tuple(map(str, estimator.label_names_)),
        known.get("zero_based"),
    )


class Matched(NamedTuple):
    """Rows of a table as the estimator of a model takes them."""

    X: Any  # (n, d)
    ids: dict[str, list[str]]  # columns that name the rows
    columns: Any  # of the table without labels
    labels: list[str]  # columns that hold labels, left aside
    differences: Differences  # from the table of the fit


def match_columns(
    model: Any, preparer: TablePreparer, columns: Any, source: str, *, allow_missing: bool = False
) -> Matched:
    """Rows of a table for a model that begins with a preparer; a DataError names `source`.

    Parameters
    ----------
    model : fitted Pipeline
    preparer : its first step
    columns : pyarrow.Table, with or without the labels
    source : str
    allow_missing : bool, default=False
        Whether the table may lack columns, which are then missing values, also where the preparer
        does not allow it.
    """
    from skcamel.data.pipeline import final, transformers

    estimator = final(model)
    names = [str(name) for name in estimator.label_names_]
    there = [
        name
        for name in (*getattr(estimator, LABEL_COLUMNS, ()), *names)
        if name in columns.column_names
    ]
    labels = [name for name in dict.fromkeys(there) if name not in preparer.kinds_]
    columns = columns.drop_columns(labels)
    try:
        X, differences = preparer.transform_with_differences(columns, allow_missing=allow_missing)
    except ValueError as error:
        raise DataError(str(error), path=source) from error
    for step in transformers(model)[1:]:
        X = step.transform(X)
    return Matched(X, ids_of(preparer, columns), columns, labels, differences)


def ids_of(preparer: TablePreparer, columns: Any) -> dict[str, list[str]]:
    """The columns of a table that name its rows, as text."""
    from skcamel.data.cells import Cells

    ids = {
        name: Cells.of(columns[name]).texts()
        for name in preparer.id_columns_
        if name in columns.column_names
    }
    return {name: own.spread(own.values, "").tolist() for name, own in ids.items()}


def check_complete(X: Any, names: tuple[str, ...] | None, source: str) -> None:
    """Refuse missing and infinite values: no method here takes them."""
    import numpy as np
    from scipy import sparse

    stored = X.tocoo() if sparse.issparse(X) else None
    odd = ~np.isfinite(X if stored is None else stored.data)
    if not odd.any():
        return
    row, column = (
        np.argwhere(odd)[0].tolist()
        if stored is None
        else (int(stored.row[odd][0]), int(stored.col[odd][0]))
    )
    name = "" if names is None else f" ({names[column]!r:.60})"
    found = "1 value is" if odd.sum() == 1 else f"{int(odd.sum()):,} values are"
    raise DataError(
        f"{found} missing or infinite, the first in row {row + 1}, feature {column + 1}{name}; fill"
        " them, for instance numbers with the median of their column and text with a word of its"
        " own, or leave out these rows.",
        path=source,
    )

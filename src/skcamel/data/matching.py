"""Rows of a file, table or data set ► what a fitted model takes, with columns matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from skcamel.data import DataError, Path_, checks, labels, sources
from skcamel.data.cells import as_text
from skcamel.data.columns import REASONS
from skcamel.data.dataset import Dataset
from skcamel.data.pipeline import final, transformers
from skcamel.data.preparer import Differences, TablePreparer, notes_on
from skcamel.text import count

# What the estimator of a model fitted by the command knows of its file, beside the names of its
# features, saved with it. Of a table: the columns that held the labels. Of another file: values of
# nominal features, columns that were left out, and whether the numbers of columns count from 0.
LABEL_COLUMNS, REMEMBERED = "label_columns_", "input_columns_"


class Expected(NamedTuple):
    """What a model wants to see."""

    n_features: int
    features: tuple[str, ...] | None  # None where the model knows no names: taken in their order
    labels: tuple[str, ...]


class Rows(NamedTuple):
    """New rows as the final estimator of a model takes them, and what was not used of them."""

    X: Any  # (n, d)
    ids: dict[str, list[str]]  # columns that name the rows
    unused: tuple[str, ...] = ()  # columns that the model does not take
    unknown: tuple[str, ...] = ()  # labels of the truth that it does not know
    Y: np.ndarray | None = None  # (n, q), NaN where unknown; None unless the truth was wanted
    table: Any = None  # the cells of a table that was prepared
    differences: Differences = Differences()  # of the cells from those of the fit

    def notes(self, source: str) -> list[str]:
        """What a user should know of rows from `source` that do not look like those of the fit."""
        found = notes_on(self.differences)
        if self.unused:
            names = sources.shortened(self.unused)
            found.insert(0, f"{count(len(self.unused), 'column')} left aside: {names}")
        if self.unknown:
            names = sources.shortened(self.unknown)
            found.insert(0, f"labels that the model does not know, left aside: {names}")
        return [f"{source}: {note}." for note in found]


def preparer_of(model: Any) -> TablePreparer | None:
    """What prepares tables for a model; None where rows are taken as they are."""
    steps = transformers(model)
    return steps[0] if steps and isinstance(steps[0], TablePreparer) else None


def remember(model: Any, dataset: Dataset) -> None:
    """Store with an estimator what is needed to read another file as this one was read."""
    names = np.array(dataset.feature_names, dtype=object)
    for each in (model, *getattr(model, "members_", ())):
        each.feature_names_in_ = names
    known: dict[str, Any] = {"dropped": dataset.dropped, "categories": dict(dataset.categories)}
    if dataset.zero_based is not None:
        known["zero_based"] = dataset.zero_based
    setattr(model, REMEMBERED, known)


def check_remembered(estimator: Any) -> None:
    """Refuse what a model file says of its data unless :func:`remember` stores such."""
    known = getattr(estimator, REMEMBERED, {})
    categories = known.get("categories", {})
    texts = chain(known.get("dropped", ()), categories, *categories.values())
    bases = known.get("zero_based", (True, True))
    if not all(isinstance(text, str) for text in texts) or len(bases) != 2:
        problem = "must hold names of columns, values of nominal ones, and two bases of numbers"
        raise ValueError(f"{REMEMBERED} {problem}")


def expected_by(model: Any) -> Expected:
    """What a model wants to see: the names of its columns if it knows them, else how many.

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel import CamelClassifier
    >>> expected_by(CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int)))
    Expected(n_features=4, features=None, labels=('label1', 'label2'))
    """
    estimator, preparer = final(model), preparer_of(model)
    label_names = tuple(map(str, estimator.label_names_))
    if preparer is not None:
        kinds = preparer.kinds_.items()
        features = tuple(name for name, kind in kinds if kind not in REASONS)
        return Expected(len(features), features, label_names)
    first = (*transformers(model), estimator)[0]
    names = getattr(first, "feature_names_in_", None)
    features = None if names is None else tuple(map(str, names))
    return Expected(int(first.n_features_in_), features, label_names)


def read_rows(model: Any, path: Path_, *, truth: bool = False, allow_missing: bool = False) -> Rows:
    """Read the rows of a file for a model; see :func:`match`."""
    expected = expected_by(model)
    kind = "table" if str(path) == "-" else sources.format_of(path)
    if kind == "table":
        from skcamel.data import tables

        found: Any = tables.read_columns(path)
    elif kind == "arff":
        from skcamel.data import arff

        found = arff.read_with_labels(path, expected.labels, expected.features or ())
    else:
        found = _read_nameless(path, kind, model)
    return match(model, found, str(path), truth=truth, allow_missing=allow_missing)


def _read_nameless(path: Path_, kind: str, model: Any) -> Dataset:
    """Rows of a file that holds no names, under the names of the model."""
    expected = expected_by(model)
    d, q = expected.n_features, len(expected.labels)
    if kind == "svmlight":
        from skcamel.data import svmlight

        # sparse rows need not reach the first and last columns
        base = getattr(final(model), REMEMBERED, {}).get("zero_based", "auto")
        dataset = svmlight.read_svmlight(path, n_features=d, n_labels=q, zero_based=base)
    else:
        dataset = sources.read_dataset(path)
    if expected.features is not None and dataset.d == d:
        dataset = replace(dataset, feature_names=expected.features)
    if dataset.q == q:
        dataset = replace(dataset, label_names=expected.labels)
    return dataset


def match(
    model: Any, found: Any, source: str, *, truth: bool = False, allow_missing: bool = False
) -> Rows:
    """New rows as the final estimator of a model takes them.

    A DataError names `source`, column, row and value.

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one
    found : Dataset, or pyarrow.Table with or without the labels
    source : str
        What messages call the rows.
    truth : bool, default=False
        Whether all labels of the model are wanted too; else they are left aside unread.
    allow_missing : bool, default=False
        Whether a table may lack columns, which are then missing values, also where the preparer
        does not allow it.
    """
    expected, preparer = expected_by(model), preparer_of(model)
    if preparer is not None and isinstance(found, Dataset):
        from skcamel.data import tables

        found = tables.as_table(found, source)
    if isinstance(found, Dataset):
        columns, label_columns = found, found.label_names
    else:
        label_columns = _label_columns(model, found)
        columns = labels.without(found, label_columns)
    if preparer is None:
        rows = _matrix(model, columns, source)
    else:
        rows = _prepared(preparer, columns, source, allow_missing=allow_missing)
    X = rows.X
    for step in transformers(model)[preparer is not None :]:
        X = step.transform(X)
    if truth:
        Y, unknown = _truth(found, label_columns, expected.labels, source)
        return rows._replace(X=X, Y=Y, unknown=unknown)
    return rows._replace(X=X, unused=(*label_columns, *rows.unused))


def _label_columns(model: Any, table: Any) -> tuple[str, ...]:
    """Columns of a table that hold labels of a model."""
    preparer = preparer_of(model)
    features = () if preparer is None else preparer.kinds_
    names = [*getattr(final(model), LABEL_COLUMNS, ()), *expected_by(model).labels]
    possible = [name for name in dict.fromkeys(names) if name not in features]
    return tuple(name for name in possible if name in table.column_names)


def _prepared(preparer: TablePreparer, table: Any, source: str, *, allow_missing: bool) -> Rows:
    """Rows of a table, without the labels, as a preparer makes them."""
    try:
        X, differences = preparer.transform_with_differences(table, allow_missing=allow_missing)
    except ValueError as error:
        raise DataError(str(error), path=source) from error
    unused = tuple(name for what, name in differences if what == "extra")
    return Rows(X, ids_of(preparer, table), unused, table=table, differences=differences)


def ids_of(preparer: TablePreparer, table: Any) -> dict[str, list[str]]:
    """The columns of a table that name its rows, as text; "" for missing cells."""
    names = [name for name in preparer.id_columns_ if name in table.column_names]
    return {name: [as_text(cell) for cell in table[name].to_pylist()] for name in names}


def _matrix(model: Any, found: Any, source: str) -> Rows:
    """Rows of a table or a data set, without labels, in the order of the features of a model."""
    expected, known = expected_by(model), getattr(final(model), REMEMBERED, {})
    is_data = isinstance(found, Dataset)
    names = found.feature_names if is_data else tuple(found.column_names)
    wanted = names if expected.features is None else expected.features
    if len(wanted) != expected.n_features:
        raise DataError(
            f"has {len(names)} columns beside the labels, the model was fitted on"
            f" {expected.n_features}; bring the columns of the fit, in the same order.",
            path=source,
        )
    positions = _positions(names, wanted, source)
    if is_data:
        _check_categories(found.categories, known.get("categories", {}), wanted, source)
        X = found.X[:, positions]
    else:
        from skcamel.data import tables

        X, odd = tables.numbers_of(found.select(positions), source)
        if odd:
            problem = f"column {odd!r:.60} holds cells that are no plain numbers"
            hint = "correct them, or fit again with a TablePreparer (skcamel fit has one)"
            raise DataError(f"{problem}; {hint}.", path=source)
    check_complete(X, wanted, source)
    used = {*wanted, *known.get("dropped", ())}
    unused = tuple(name for name in names if name not in used)
    differences = Differences()
    if expected.features is None:
        differences["order", ""] = len(wanted)
    return Rows(X, {}, unused, differences=differences)


def _positions(names: Sequence[str], wanted: Sequence[str], source: Path_) -> list[int]:
    """Where each wanted name stands."""
    places = {name: position for position, name in enumerate(names)}
    missing = [name for name in wanted if name not in places]
    if missing:
        hint = "which the model knows from its fit; add these columns, or correct their names"
        raise DataError(f"lacks {sources.shortened(missing)}, {hint}.", path=source)
    sources.check_different_labels(names, source, "columns")
    return [places[name] for name in wanted]


def _check_categories(theirs: Any, mine: Any, names: Sequence[str], source: Path_) -> None:
    """Refuse a header whose nominal values have other numbers than at the fit."""
    for name in names:
        values = theirs.get(name, ())
        expected = mine.get(name, ())
        if values != expected[: len(values)]:
            at_fit = sources.shortened(expected, 8) or "numbers"
            problem = (
                f"{name!r:.60} holds {sources.shortened(values, 8)}, at the fit it held {at_fit}"
            )
            hint = "declare them alike and in the same order"
            raise DataError(f"{problem}; {hint}.", path=source)


def _truth(
    found: Any, columns: Sequence[str], wanted: Sequence[str], source: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The labels of a model (n, q), NaN where unknown; and the names of others."""
    if isinstance(found, Dataset):
        names, Y = found.label_names, found.Y
    else:
        names, Y = labels.labels_in(found, columns, source, possible=wanted)
    truth = Y[:, _positions(names, wanted, source)]
    others = tuple(name for name in names if name not in wanted)
    if others and not (truth > 0).any():
        problem = f"no row has a label that the model knows, such as {wanted[0]!r:.60}"
        hint = f"correct the names of {sources.shortened(others)}"
        raise DataError(f"{problem}; {hint}.", path=source)
    if not np.isnan(truth).any():
        truth = truth.astype(np.int64)
    return truth, others


def check_complete(X: Any, names: Sequence[str], source: str) -> None:
    """Refuse missing and infinite values: no method here takes them."""
    places = checks.non_finite_cells(X)
    if not len(places):
        return
    row, column = places[0].tolist()
    where = f"the first in row {row + 1}, column {names[column][:60]!r}"
    hint = "fill them, for instance with the median of their column, or leave out these rows"
    problem = f"{count(len(places), 'value')} missing or infinite, {where}"
    raise DataError(f"{problem}; {hint}.", path=source)

"""New rows ► what a fitted model takes: columns found by name in a file, a table or a data set, and read as at the fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import dense
from skcamel.data import DataError, Path_
from skcamel.data.attributes import feature_codes
from skcamel.data.cells import Cells, is_missing
from skcamel.data.dataset import Dataset, is_table
from skcamel.data.labels import cells_of, labels_in
from skcamel.data.pipeline import final, transformers
from skcamel.data.preparer import TablePreparer
from skcamel.data.sources import check_memory, first_repeated, format_of, shortened
from skcamel.data.tables import column_numbers, read_columns
from skcamel.text import count

# What the estimator of a model fitted by the command knows of its file, saved with it. Of a table:
# the columns that held the labels; the rest is in the TablePreparer before it. Of another file:
# names of the features, values of nominal ones, and columns that were left out.
LABEL_COLUMNS, REMEMBERED = "label_columns_", "input_columns_"
LEFT_OUT = ("id", "constant", "empty", "dropped")  # kinds of columns that are no features
NO_TRUTH = "give a file that holds the truth, or use 'predict'"
HINT = "give the columns the names that they had at the fit"


class Expected(NamedTuple):
    """What a model wants to see."""

    n_features: int
    features: tuple[str, ...] | None  # None where the model knows no names: taken in their order
    categories: dict[str, tuple[str, ...]]  # values of nominal features
    labels: tuple[str, ...]
    zero_based: tuple[bool, bool] | None = None  # how the svmlight file of the fit counted


class Rows(NamedTuple):
    """New rows as the final estimator of a model takes them, and what was not used of them."""

    X: Any  # (n, d)
    ids: dict[str, list[str]]  # columns that name the rows
    extra: tuple[str, ...]  # columns that the model does not know
    Y: np.ndarray | None = None  # (n, q), NaN where unknown; None unless the truth was wanted
    table: Any = None  # the cells of a table that was prepared
    labels: tuple[str, ...] = ()  # columns that hold labels
    differences: Any = None  # of the cells from those of the fit, where there is a preparer
    by_position: bool = False  # no names were compared
    unknown: tuple[str, ...] = ()  # labels of the truth that the model does not know

    def notes(self, source: str) -> list[str]:
        """What a user should know of rows from `source` that do not look like those of the fit."""
        unknown = " that the model does not know"
        lists = (
            (() if self.Y is not None else self.labels, "label column", ""),
            (self.extra, "column", unknown),
            (self.unknown, "label", unknown),
        )
        said = [
            f"{source} holds {count(len(names), noun)}{which}, left aside: {shortened(names)}."
            for names, noun, which in lists
            if names
        ]
        if self.differences is not None:
            said += [f"{source}: {difference}." for difference in self.differences.notes()]
        if self.by_position:
            lacking = "model and file have no common names of features"
            said.append(f"{lacking}, so the columns are taken in their order.")
        return said


def preparer_of(model: Any) -> TablePreparer | None:
    """What prepares tables for a model; None where rows are taken as they are."""
    steps = transformers(model)
    return steps[0] if steps and isinstance(steps[0], TablePreparer) else None


def remember(model: Any, dataset: Dataset) -> None:
    """Store with an estimator what is needed to read another file as this one was read."""
    names = np.array(dataset.feature_names, dtype=object)
    for each in (model, *getattr(model, "members_", ())):
        each.feature_names_in_ = names  # a frame in Python is compared with them
    known = {"features": dataset.feature_names, "dropped": dataset.dropped}
    known["categories"] = dict(dataset.categories)
    if dataset.zero_based is not None:
        known["zero_based"] = dataset.zero_based
    setattr(model, REMEMBERED, known)


def check_remembered(estimator: Any) -> None:
    """Refuse what a model file says of the columns unless the command remembers such."""
    known = getattr(estimator, REMEMBERED, None)
    if known is None:
        return
    features, categories = known["features"], known["categories"]
    base = known.get("zero_based", (True, True))
    texts = [*features, *known["dropped"], *categories]
    for values in categories.values():
        texts += values
    if (
        len(features) != estimator.n_features_in_
        or any(first_repeated(values) for values in categories.values())
        or any(not isinstance(text, str) for text in texts)
        or [type(flag) for flag in base] != [bool, bool]
        or set(known) - {"features", "categories", "dropped", "zero_based"}
    ):
        raise ValueError(
            f"{REMEMBERED} must name {estimator.n_features_in_} features, values of nominal ones,"
            " all different, and whether features and labels count from 0"
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
    estimator, preparer = final(model), preparer_of(model)
    first = (*transformers(model), estimator)[0]
    known = getattr(estimator, REMEMBERED, {})
    if preparer is None:
        features = known.get("features", getattr(first, "feature_names_in_", None))
        n_features = int(first.n_features_in_)
    else:
        features = [name for name, kind in preparer.kinds_.items() if kind not in LEFT_OUT]
        n_features = len(features)
    return Expected(
        n_features,
        None if features is None else tuple(map(str, features)),
        known.get("categories", {}),
        tuple(map(str, estimator.label_names_)),
        known.get("zero_based"),
    )


def read_rows(model: Any, path: Path_, *, truth: bool = False, allow_missing: bool = False) -> Rows:
    """Read the rows of a file for a model; see :func:`match`."""
    expected = expected_by(model)
    kind = "table" if str(path) == "-" else format_of(path)
    if kind == "table":
        found: Any = read_columns(path)
    elif kind == "arff":
        from skcamel.data.arff import read_with_labels

        found = read_with_labels(path, expected.labels, expected.features or ())
    else:
        found = _read_nameless(path, kind, expected, truth=truth)
    rows = match(model, found, str(path), truth=truth, allow_missing=allow_missing)
    return rows if kind in ("table", "arff") else rows._replace(by_position=True)


def _read_nameless(path: Path_, kind: str, expected: Expected, *, truth: bool) -> Dataset:
    """Rows of a file that holds no names, under the names of the model."""
    q = len(expected.labels)
    if kind == "mat":
        from skcamel.data.mat import read_mat

        dataset = read_mat(path)
    else:
        from skcamel.data.svmlight import read_svmlight

        # sparse rows need not reach the first and last columns
        base = expected.zero_based or "auto"
        dataset = read_svmlight(path, n_features=expected.n_features, n_labels=q, zero_based=base)
    _check_count(dataset.d, expected, path)
    names = expected.labels if dataset.q == q else dataset.label_names
    if truth and dataset.q != q:
        has = f"has {count(dataset.q, 'label')}, {q} are needed"
        raise DataError(f"{has}; is it of the same kind?", path=path)
    features = expected.features or dataset.feature_names
    return replace(dataset, feature_names=features, label_names=names)


def match(
    model: Any, found: Any, source: str, *, truth: bool = False, allow_missing: bool = False
) -> Rows:
    """New rows as the final estimator of a model takes them; a DataError names `source`, column, row and value.

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
    if isinstance(found, Dataset) and is_table(found.X):
        found = found.X
    Y, unknown = None, ()
    if isinstance(found, Dataset):
        labels = found.label_names
        if truth:
            Y = found.Y[:, _positions(labels, expected.labels, "label", found.source)]
        columns, extra = _columns(found, expected, source)
    else:
        labels = _label_columns(model, preparer, found)
        if truth:
            Y, unknown = _truth(found, labels, expected.labels, source)
        columns, extra = found.drop_columns(list(labels)), ()
        if preparer is None:
            columns, extra = _numbers(columns, expected, source)
    if preparer is None:
        known = getattr(final(model), REMEMBERED, {}).get("dropped", ())
        extra = tuple(name for name in extra if name not in known)
        check_complete(columns, expected.features, source)
        rows = Rows(columns, {}, extra, by_position=expected.features is None)
    else:
        if not is_table(columns):
            columns = dict(zip(expected.features or (), dense(columns).T, strict=True))
        rows = _prepared(preparer, columns, source, allow_missing=allow_missing)
    X = rows.X
    for step in transformers(model)[preparer is not None :]:
        X = step.transform(X)
    return rows._replace(X=X, Y=Y, labels=labels, unknown=unknown)


def _prepared(preparer: TablePreparer, columns: Any, source: str, *, allow_missing: bool) -> Rows:
    """Rows of a table, or of a mapping of columns, without the labels."""
    try:
        X, differences = preparer.transform_with_differences(columns, allow_missing=allow_missing)
    except ValueError as error:
        raise DataError(str(error), path=source) from error
    table = columns if is_table(columns) else None
    ids = ids_of(preparer, columns)
    extra = tuple(differences.extra)
    return Rows(X, ids, extra, table=table, differences=differences)


def _columns(dataset: Dataset, expected: Expected, source: str) -> tuple[Any, tuple[str, ...]]:
    """Features of a data set in the order of a model, and the names of those that it does not know."""
    names = dataset.feature_names
    if expected.features is None:
        _check_count(dataset.d, expected, source)
        return dataset.X, ()
    _check_categories(dataset, expected, source)
    if names == expected.features:
        return dataset.X, ()
    positions = _positions(names, expected.features, "feature", source)
    extra = tuple(name for name in names if name not in expected.features)
    return dataset.X[:, positions], extra


def _numbers(table: Any, expected: Expected, source: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Features of a table in the order of a model without a preparer, (n, d), and the names of the others."""
    names = table.column_names
    wanted = names if expected.features is None else expected.features
    if expected.features is None:
        _check_count(len(names), expected, source)
    check_memory(8 * len(table) * len(wanted), "A matrix of the numbers", source)
    X = np.empty((len(table), len(wanted)))
    for k, position in enumerate(_positions(names, wanted, "feature", source)):
        X[:, k] = _column(table, names[position], expected, source)
    return X, tuple(name for name in names if name not in wanted)


def _column(table: Any, name: str, expected: Expected, source: str) -> np.ndarray:
    """The numbers of a column, or of its words where it was nominal at the fit."""
    numbers = None if name in expected.categories else column_numbers(table.column(name))
    if numbers is not None:
        return numbers
    cells = cells_of(table, name)
    values = expected.categories.get(name, ())
    number: Callable[[str], float] = feature_codes(values).__getitem__ if values else float
    codes: list[float] = []
    for cell in cells.values:
        try:
            codes.append(np.nan if is_missing(str(cell)) else number(str(cell)))
        except (KeyError, ValueError):
            what = f"had the values {shortened(values, 8)}" if values else "holds numbers"
            place = f"{str(cell)[:40]!r} in column {name[:60]!r}, row {cells.row(cell)}"
            advice = "correct the cell, or fit again with a TablePreparer (skcamel fit has one)"
            raise DataError(f"{place}, which {what}; {advice}.", path=source) from None
    return cells.each(codes, np.nan)


def _label_columns(model: Any, preparer: TablePreparer | None, table: Any) -> tuple[str, ...]:
    """Columns of a table that hold labels of a model."""
    estimator = final(model)
    names = (*getattr(estimator, LABEL_COLUMNS, ()), *map(str, estimator.label_names_))
    features = () if preparer is None else preparer.kinds_
    found = [name for name in dict.fromkeys(names) if name in table.column_names]
    return tuple(name for name in found if name not in features)


def _truth(
    table: Any, columns: Sequence[str], names: Sequence[str], source: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The labels of these names, (n, q), NaN where unknown, from the columns that hold labels; and the names of others."""
    found, Y = labels_in(table, columns, source) if columns else ((), None)
    places = {name: k for k, name in enumerate(found)}
    absent = [name for name in names if name not in places]
    if Y is None:
        raise DataError(f"no column holds the labels {shortened(names)}; {NO_TRUTH}.", path=source)
    if absent and found == tuple(columns):  # of lists, a label may be in no row
        raise _missing(absent, "label", source)
    unlisted = np.where(np.isnan(Y).all(axis=1), np.nan, 0.0)  # unknown with its row
    chosen = [Y[:, places[name]] if name in places else unlisted for name in names]
    others = tuple(name for name in found if name not in names)
    truth = np.column_stack(chosen)
    return truth if np.isnan(truth).any() else truth.astype(np.int64), others


def _positions(names: Sequence[str], wanted: Sequence[str], noun: str, source: Path_) -> list[int]:
    """Where each wanted name stands."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise _missing(missing, noun, source)
    twice = first_repeated([*wanted]) or first_repeated(name for name in names if name in wanted)
    if twice is not None:
        problem = f"two columns are called {twice[:60]!r}; rename one, and fit again."
        raise DataError(problem, path=source)
    places = {name: position for position, name in enumerate(names)}
    return [places[name] for name in wanted]


def _missing(names: Sequence[str], noun: str, source: Path_) -> DataError:
    hint = HINT if noun == "feature" else NO_TRUTH
    noun, verb = (noun, "is") if len(names) == 1 else (f"{noun}s", "are")
    problem = f"the {noun} {shortened(names)} of the model {verb} missing; {hint}."
    return DataError(problem, path=source)


def _check_count(n_columns: int, expected: Expected, source: Path_) -> None:
    if n_columns != expected.n_features:
        known = "" if expected.features is None else ", and its columns have no names to go by"
        raise DataError(
            f"has {n_columns} columns beside the labels, the model was fitted on"
            f" {expected.n_features}{known}; bring the columns of the fit, in the same order.",
            path=source,
        )


def _check_categories(dataset: Dataset, expected: Expected, source: str) -> None:
    """Refuse a header whose nominal values have other numbers than at the fit."""
    for name in expected.features or ():
        theirs, mine = dataset.categories.get(name, ()), expected.categories.get(name, ())
        agree = feature_codes(theirs).items() <= feature_codes(mine).items()
        if theirs != mine and not (theirs and agree):
            raise DataError(
                f"{name[:60]!r} holds {shortened(theirs, 8) or 'numbers'}, at the fit it held"
                f" {shortened(mine, 8) or 'numbers'}; declare them alike and in the same order.",
                path=source,
            )


def ids_of(preparer: TablePreparer, columns: Any) -> dict[str, list[str]]:
    """The columns of a table that name its rows, as text; "" for missing cells."""
    names = columns if isinstance(columns, dict) else columns.column_names
    ids = [name for name in preparer.id_columns_ if name in names]
    cells = {name: Cells.of(columns[name]).texts() for name in ids}
    return {name: own.values[own.codes].tolist() for name, own in cells.items()}


def check_complete(X: Any, names: tuple[str, ...] | None, source: str) -> None:
    """Refuse missing and infinite values: no method here takes them."""
    if np.isfinite(X.data if sparse.issparse(X) else X).all():
        return
    stored = sparse.coo_array(X)
    odd = np.flatnonzero(~np.isfinite(stored.data))
    row, column = int(stored.row[odd[0]]), int(stored.col[odd[0]])
    name = "" if names is None else f" ({names[column]!r:.60})"
    found = "1 value is" if len(odd) == 1 else f"{len(odd):,} values are"
    raise DataError(
        f"{found} missing or infinite, the first in row {row + 1}, feature {column + 1}{name}; fill"
        " them, for instance numbers with the median of their column and text with a word of its"
        " own, or leave out these rows.",
        path=source,
    )

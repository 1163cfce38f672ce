"""A file with or without labels ► rows as a model wants them: features by name and in its order, text numbered as at the fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from skcamel.data.arff_header import feature_codes
from skcamel.data.dataset import Dataset
from skcamel.data.errors import DataError
from skcamel.data.formats import format_of
from skcamel.data.table_rows import TableRows
from skcamel.data.tabular import read_rows
from skcamel.data.text import Path_, shortened

CURE = "give the columns the names that they had at the fit"


class Expected(NamedTuple):
    """What a model wants to see."""

    n_features: int
    features: tuple[str, ...] | None  # None where the model knows no names: columns are then taken in their order
    categories: Mapping[str, tuple[str, ...]]  # values of text features
    labels: tuple[str, ...]
    nominal: str = "index"  # "onehot": text features of three or more values are one column ``name=value`` for each

    def columns(self) -> list[str] | None:
        """Columns of a table that hold the features."""
        if self.features is None or self.nominal == "index":
            return None if self.features is None else list(self.features)
        origin = {f"{name}={value}": name for name, values in self.categories.items() if len(values) > 2 for value in values}
        return list(dict.fromkeys(origin.get(name, name) for name in self.features))


class Rows(NamedTuple):
    """Rows for a model, and which columns of the file were not among its features."""

    X: Any  # (n, d), columns in the order of the model
    Y: np.ndarray | None  # (n, q), labels in the order of the model; None where they were not asked for
    labels: tuple[str, ...]  # label columns in the file
    ignored: tuple[str, ...]  # neither features nor labels
    by_position: bool  # no names were compared


def read_matching(path: Path_, expected: Expected, *, truth: bool) -> Rows:
    r"""Read the rows of a file that a model is to see; the file may have the labels, or lack them.

    Parameters
    ----------
    path : str or path
        Of any format that ``read_dataset`` knows.
    expected : Expected
    truth : bool
        Whether labels are wanted too, all of them; else they are left aside unread.

    Raises
    ------
    DataError
        Where features or wanted labels are missing, or text has values without a number.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> expected = Expected(2, ("x", "colour"), {"colour": ("blue", "red")}, ("sea",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "new.csv")
    ...     _ = file.write_text("colour,sea,x\nred,0,1.5\n")
    ...     read_matching(file, expected, truth=False).X
    array([[1.5, 1. ]])
    """
    kind = format_of(path)
    if kind == "table":
        return _from_table(path, expected, truth=truth)
    if kind == "arff":
        from skcamel.data.arff import read_with_labels

        return match(read_with_labels(path, expected.labels, expected.features or ()), expected, truth=truth)
    if kind == "svmlight":
        from skcamel.data.svmlight import read_svmlight

        return _by_position(read_svmlight(path, n_features=expected.n_features, n_labels=len(expected.labels)), expected, truth=truth)
    from skcamel.data.mat import read_mat

    return _by_position(read_mat(path), expected, truth=truth)


def match(dataset: Dataset, expected: Expected, *, truth: bool) -> Rows:
    """Rows of a data set as a model wants them; see :func:`read_matching`."""
    Y = match_labels(dataset, expected.labels) if truth else None
    if expected.features is None:
        _check_count(dataset.d, expected, dataset.source)
        return Rows(dataset.X, Y, dataset.label_names, (), True)
    if dataset.feature_names == expected.features:
        X, ignored = dataset.X, ()
    else:
        positions = _positions(dataset.feature_names, expected.features, "feature", dataset.source)
        X = dataset.X[:, positions]
        used = set(positions)
        ignored = tuple(name for position, name in enumerate(dataset.feature_names) if position not in used)
    _check_categories(dataset, expected)
    return Rows(X, Y, dataset.label_names, ignored, False)


def read_labels(path: Path_, labels: tuple[str, ...]) -> np.ndarray:
    """Labels of these names from a file, (n, q); nothing else in it is looked at where the format allows."""
    kind = format_of(path)
    if kind == "table":

        def start(found: Sequence[str], decimal_comma: bool) -> TableRows:
            _positions(found, labels, "label", path)
            wanted = set(labels)
            is_label = np.array([name in wanted for name in found])
            return TableRows(found, is_label, path, is_feature=np.zeros_like(is_label), categories={}, decimal_comma=decimal_comma)

        Y, names = read_rows(path, start).finish_labels()
        return Y[:, _positions(names, labels, "label", path)]
    if kind == "arff":
        from skcamel.data.arff import read_with_labels

        return match_labels(read_with_labels(path, labels, ()), labels)
    from skcamel.data.formats import read_dataset

    dataset = read_dataset(path)
    if dataset.q != len(labels):
        raise DataError(f"has {dataset.q} labels, {len(labels)} are needed; is it of the same kind?", path=path)
    return dataset.Y


def match_labels(dataset: Dataset, labels: tuple[str, ...]) -> np.ndarray:
    """Labels of these names from a data set, (n, q)."""
    return dataset.Y[:, _positions(dataset.label_names, labels, "label", dataset.source)]


def _by_position(dataset: Dataset, expected: Expected, *, truth: bool) -> Rows:
    """Formats without names."""
    _check_count(dataset.d, expected, dataset.source)
    if truth and dataset.q != len(expected.labels):
        raise DataError(f"has {dataset.q} labels, the model {len(expected.labels)}; is it of the same kind?", path=dataset.source)
    return Rows(dataset.X, dataset.Y if truth else None, dataset.label_names, (), True)


def _from_table(path: Path_, expected: Expected, *, truth: bool) -> Rows:
    names: list[str] = []
    order: list[int] = []
    labels = set(expected.labels)

    def start(found: Sequence[str], decimal_comma: bool) -> TableRows:
        names.extend(found)
        is_label = np.array([name in labels for name in found])
        wanted_columns = expected.columns()
        if wanted_columns is None:
            order.extend(np.flatnonzero(~is_label).tolist())
            _check_count(len(order), expected, path)
        else:
            order.extend(_positions(found, wanted_columns, "feature", path))
        if truth:
            _positions(found, expected.labels, "label", path)
        is_feature = np.zeros(len(found), dtype=bool)
        is_feature[order] = True
        wanted = is_label & ~is_feature if truth else np.zeros_like(is_label)
        return TableRows(found, wanted, path, is_feature=is_feature, categories=expected.categories, decimal_comma=decimal_comma)

    X, Y, feature_names, label_names, _, _ = read_rows(path, start).finish(expected.nominal)
    columns = range(len(feature_names)) if expected.features is None else _positions(feature_names, expected.features, "feature", path)
    used = set(order)
    rest = [name for position, name in enumerate(names) if position not in used]
    return Rows(
        X[:, list(columns)],
        Y[:, _positions(label_names, expected.labels, "label", path)] if truth else None,
        tuple(name for name in rest if name in labels),
        tuple(name for name in rest if name not in labels),
        expected.features is None,
    )


def _positions(names: Sequence[str], wanted: Sequence[str], noun: str, path: Path_) -> list[int]:
    """Where each wanted name stands; of equal names the first wanted one is the first that stands there, and so on."""
    places: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        places.setdefault(name, []).append(position)
    missing = [name for name in wanted if name not in places]
    if missing:
        cure = CURE if noun == "feature" else "give a file that holds the truth, or use 'predict'"
        many = f"{noun}s" if len(missing) > 1 else noun
        raise DataError(f"the {many} {shortened(missing)} of the model {'are' if len(missing) > 1 else 'is'} missing; {cure}.", path=path)
    times = Counter(wanted)
    for name, known in times.items():
        if max(known, len(places[name])) > 1 and known != len(places[name]):
            raise DataError(f"{len(places[name])} columns are called {name[:60]!r}, the model knows {known}; {CURE}.", path=path)
    remaining = {name: iter(places[name]) for name in times}
    return [next(remaining[name]) for name in wanted]


def _check_count(count: int, expected: Expected, path: Path_) -> None:
    if count != expected.n_features:
        known = "" if expected.features is None else ", and its columns have no names to go by"
        raise DataError(
            f"has {count} columns beside the labels, the model was fitted on {expected.n_features}{known}; bring the columns of the fit, "
            "in the same order.",
            path=path,
        )


def _check_categories(dataset: Dataset, expected: Expected) -> None:
    """Refuse a header whose nominal values have other numbers than at the fit."""
    for name in expected.features or ():
        theirs, mine = dataset.categories.get(name, ()), expected.categories.get(name, ())
        if theirs == mine:
            continue
        known = feature_codes(mine)
        if not theirs or any(known.get(value) != code for value, code in feature_codes(theirs).items() if value != "?"):
            raise DataError(
                f"{name[:60]!r} holds {shortened(theirs, 8) or 'numbers'}, at the fit it held {shortened(mine, 8) or 'numbers'}; "
                "declare them alike and in the same order.",
                path=dataset.source,
            )

"""Data sets of a study and their outer folds: by a seed, with groups left whole, or as given."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.model_selection import KFold

from skcamel.checks import check_number
from skcamel.data.catalogue import load_dataset
from skcamel.data.dataset import Dataset, is_table, row_numbers
from skcamel.data.preparer import TablePreparer
from skcamel.data.sources import read_dataset
from skcamel.data.splitting import MultilabelStratifiedKFold
from skcamel.experiment.unit import Source, Split

KINDS = ("plain", "stratified", "given")
PAIR = re.compile(r"(.+)([-_.])train(\..+)", re.IGNORECASE)


def splits(
    Y: np.ndarray, kind: str, n_folds: int, seed: int, groups: np.ndarray | None = None
) -> list[Split]:
    """Training and test rows of each outer fold, the same on every machine with the same seed.

    >>> [test.tolist() for _, test in splits(np.ones((4, 1)), "plain", 2, seed=0)]
    [[2, 3], [0, 1]]
    >>> groups = np.array([0, 1, 1, 0])
    >>> [test.tolist() for _, test in splits(np.ones((4, 1)), "plain", 2, 0, groups)]
    [[1, 2], [0, 3]]
    """
    rows = np.zeros((len(Y), 1))
    if kind == "stratified":
        stratified = MultilabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return list(stratified.split(rows, Y, groups))
    splitter = KFold(n_folds, shuffle=True, random_state=seed)
    if groups is None:
        return list(splitter.split(rows))
    names, index = np.unique(groups, return_inverse=True)
    tested = [np.isin(index, test) for _, test in splitter.split(names)]
    return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in tested]


def source_of(
    origin: Any, *, n_folds: int, folds: Any = "plain", seed: int = 0, groups: Any = None
) -> Source:
    """The data set that a user named, with its folds.

    Parameters
    ----------
    origin : str, path, Dataset or (name, any of these)
        Catalogue name, file or data; ``name=file`` and a pair give a name of one's own.
    n_folds, folds, seed, groups
        As in :func:`skcamel.experiment.run_study`; `folds` and `groups` may be mappings by data
        set.
    """
    name, origin = _named(origin)
    is_given = isinstance(folds, str) and folds == "given"
    pair = paired(origin) if is_given and isinstance(origin, Path) else None
    dataset = _read(origin, None if pair is None else pair[1])
    name = pair[0] if name is None and pair is not None else name
    dataset = dataset if name is None else replace(dataset, name=name)
    if not dataset.name:
        raise ValueError(
            "A Dataset of a study needs a name, by which its records are found; make it with"
            " Dataset(..., name='mine')."
        )
    groups = groups.get(dataset.name) if isinstance(groups, Mapping) else groups
    folds = folds.get(dataset.name, "plain") if isinstance(folds, Mapping) else folds
    numbers = None
    if groups is not None:
        dataset, numbers = with_groups(dataset, groups)
    if not isinstance(folds, str) or folds == "given":
        parts = _given(dataset, folds)
    else:
        check_number("n_folds", n_folds, 2, whole=True)
        count = dataset.n if numbers is None else len(np.unique(numbers))
        if count < n_folds:
            what = "rows" if numbers is None else "groups"
            raise ValueError(f"{dataset.name} has {count} {what}, too few for n_folds={n_folds}.")
        parts = splits(dataset.Y, folds, n_folds, seed, numbers)
    is_made = numbers is None and isinstance(folds, str) and folds != "given"
    division = "" if is_made else joblib.hash(parts)
    return Source(dataset, tuple(parts), numbers, division, _preparer(dataset))


def _named(origin: Any) -> tuple[str | None, str | Path | Dataset]:
    """A name of one's own, where there is one, and a catalogue name, a path or data."""
    name = None
    if isinstance(origin, tuple) and len(origin) == 2:
        name, origin = origin
    elif isinstance(origin, str) and "=" in origin and not Path(origin).exists():
        name, _, origin = origin.partition("=")
    if isinstance(origin, Dataset):
        return name, origin
    if not isinstance(origin, (str, os.PathLike)):
        raise TypeError(
            "A data set is a catalogue name, a file or a skcamel.data.Dataset, got"
            f" {type(origin).__name__}."
        )
    path = Path(origin)
    is_path = not isinstance(origin, str) or path.is_file() or path.suffix or len(path.parts) > 1
    return name, path.resolve() if is_path else str(origin)


def _read(origin: str | Path | Dataset, test: Path | None = None) -> Dataset:
    if isinstance(origin, Dataset):
        return origin
    if isinstance(origin, str):
        return load_dataset(origin)
    if not origin.is_file():
        raise FileNotFoundError(
            f"{origin}: there is no such file; 'skcamel datasets list' shows the sets that have a"
            " name."
        )
    return read_dataset(origin, test=test)


def paired(path: Path) -> tuple[str, Path] | None:
    """Name of the data set and its test file, where a file is the training half of a pair.

    >>> paired(Path("nowhere/mine-train.arff")) is None
    True
    """
    found = PAIR.fullmatch(path.name)
    if found is None:
        return None
    for word in ("test", "Test", "TEST"):
        test = path.with_name(f"{found[1]}{found[2]}{word}{found[3]}")
        if test.is_file():
            return found[1], test
    return None


def with_groups(dataset: Dataset, groups: Any) -> tuple[Dataset, np.ndarray]:
    """A data set and the groups of its rows: values, or a column, which then is no feature any more."""
    where = f"groups of {dataset.name}"
    if isinstance(groups, str):
        names = list(dataset.feature_names)
        if names.count(groups) != 1:
            near = ", ".join(names[:5])
            raise ValueError(f"{dataset.name} has no column {groups!r}; it has {near}, ….")
        column = names.index(groups)
        others = np.arange(dataset.d) != column
        where = f"The column {groups!r} of {dataset.name}"
        table = None if dataset.table is None else dataset.table.drop_columns([groups])
        if is_table(dataset.X):
            values, X = np.array(dataset.X[groups].to_pylist(), dtype=object), table
        else:
            values, X = dataset.X[:, [column]], dataset.X[:, others]
            values = (values.toarray() if hasattr(values, "toarray") else values).ravel()
        left = tuple(name for name in names if name != groups)
        dataset = replace(dataset, X=X, feature_names=left, table=table)
        groups = values
    values = np.asarray(groups)
    if values.shape != (dataset.n,):
        raise ValueError(f"{where} has shape {values.shape}; each of {dataset.n} rows needs one.")
    listed = values.tolist()
    if any(value is None or value != value for value in listed):
        raise ValueError(f"{where} lacks some; give each row a group, if need be of its own.")
    known = {value: number for number, value in enumerate(dict.fromkeys(listed))}
    return dataset, np.array([known[value] for value in listed])


def _given(dataset: Dataset, folds: Any) -> list[Split]:
    """Folds as (train, test) of row numbers or masks, or the parts that the data set brings."""
    if isinstance(folds, str):
        if dataset.train is None or dataset.test is None:
            raise ValueError(
                f"{dataset.name} brings no training and test part; give folds=[(train, test), …],"
                " or a pair of files named as mine-train.arff and mine-test.arff."
            )
        folds = [(dataset.train, dataset.test)]
    found = []
    for number, (train, test) in enumerate(folds, 1):
        where = f"of fold {number} of {dataset.name}"
        parts: list[np.ndarray] = []
        for name, rows in (("train", train), ("test", test)):
            numbers = row_numbers(np.asarray(rows), dataset.n, f"{name} {where}")
            if numbers is None or not len(numbers):
                raise ValueError(f"{name} {where} is empty; it needs at least one row.")
            parts.append(numbers)
        if len(both := np.intersect1d(parts[0], parts[1])):
            raise ValueError(f"Row {both[0]} is in train and in test {where}; keep one of them.")
        found.append((parts[0], parts[1]))
    return found


def _preparer(dataset: Dataset) -> TablePreparer | None:
    """What prepares a table in each fold; all rows say which columns name rows, as a fold may not."""
    if dataset.table is None:
        return None
    found = TablePreparer(scaling="auto").fit(dataset.table, dataset.Y)
    return TablePreparer(id=found.id_columns_, scaling=found.scaling_)

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

from skcamel.arrays import dense
from skcamel.checks import check_number, choice
from skcamel.data import (
    Dataset,
    MultilabelStratifiedKFold,
    TablePreparer,
    load_dataset,
    read_dataset,
)
from skcamel.data.dataset import is_table, row_numbers
from skcamel.experiment.unit import Source, Split

KINDS = ("plain", "stratified", "given")
GROUPED = {"plain": "grouped", "stratified": "grouped-stratified"}  # in records
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
    dataset = _opened(origin, is_pair=isinstance(folds, str) and folds == "given")
    if not dataset.name:
        raise ValueError(
            "A Dataset of a study needs a name, by which its records are found; make it with"
            " Dataset(..., name='mine')."
        )
    groups = groups.get(dataset.name) if isinstance(groups, Mapping) else groups
    folds = folds.get(dataset.name, "plain") if isinstance(folds, Mapping) else folds
    if isinstance(groups, str):
        dataset, groups = _without(dataset, groups)
    numbers = None if groups is None else _numbered(groups, dataset)
    if not isinstance(folds, str) or choice(folds, KINDS, "folds") == "given":
        parts = _given(dataset, folds)
    else:
        check_number("n_folds", n_folds, 2, whole=True)
        count = dataset.n if numbers is None else len(np.unique(numbers))
        if count < n_folds:
            what = "rows" if numbers is None else "groups"
            raise ValueError(f"{dataset.name} has {count} {what}, too few for n_folds={n_folds}.")
        parts = splits(dataset.Y, folds, n_folds, seed, numbers)
    is_made = numbers is None and folds in ("plain", "stratified")
    division = "" if is_made else joblib.hash(parts)
    return Source(dataset, tuple(parts), numbers, division, _preparer(dataset))


def _opened(origin: Any, *, is_pair: bool) -> Dataset:
    """The data set, under a name of one's own where there is one; with `is_pair` a file may have a test file beside it."""
    name, test = None, None
    if isinstance(origin, tuple) and len(origin) == 2:
        name, origin = origin
    elif isinstance(origin, str) and "=" in origin and not Path(origin).exists():
        name, _, origin = origin.partition("=")
    if not isinstance(origin, (str, os.PathLike, Dataset)):
        raise TypeError(
            "A data set is a catalogue name, a file or a skcamel.data.Dataset, got"
            f" {type(origin).__name__}."
        )
    if not isinstance(origin, Dataset):
        path = Path(origin)
        is_file = path.is_file() or path.suffix or len(path.parts) > 1 or path is origin
        if is_pair and (pair := paired(path)):
            name, test = name or pair[0], pair[1]
        if is_file and not path.is_file():
            raise FileNotFoundError(
                f"{path}: there is no such file; 'skcamel datasets list' shows the sets that have"
                " a name."
            )
        origin = read_dataset(path.resolve(), test=test) if is_file else load_dataset(str(origin))
    return origin if name is None else replace(origin, name=name)


def paired(path: Path) -> tuple[str, Path] | None:
    """Name of the data set and its test file, where a file is the training half of a pair.

    >>> paired(Path("nowhere/mine-train.arff")) is None
    True
    """
    found = PAIR.fullmatch(path.name)
    if found is None:
        return None
    tests = [path.with_name(found.expand(rf"\1\2{word}\3")) for word in ("test", "Test", "TEST")]
    return next(((found[1], test) for test in tests if test.is_file()), None)


def _without(dataset: Dataset, name: str) -> tuple[Dataset, np.ndarray]:
    """A data set without a column, and the values of that column."""
    names = list(dataset.feature_names)
    if names.count(name) != 1:
        near = ", ".join(names[:5])
        raise ValueError(f"{dataset.name} has no column {name!r}; it has {near}, ….")
    column = names.index(name)
    others = np.arange(dataset.d) != column
    table = None if dataset.table is None else dataset.table.drop_columns([name])
    if is_table(dataset.X):
        values, X = np.array(dataset.X[name].to_pylist(), dtype=object), table
    else:
        values, X = dense(dataset.X[:, [column]]).ravel(), dataset.X[:, others]
    left = tuple(one for one in names if one != name)
    return replace(dataset, X=X, feature_names=left, table=table), values


def _numbered(groups: Any, dataset: Dataset) -> np.ndarray:
    """Groups as numbers from 0 on, whatever they are called."""
    values = np.asarray(groups)
    if values.shape != (dataset.n,):
        raise ValueError(
            f"groups of {dataset.name} has shape {values.shape}; each of {dataset.n} rows needs"
            " one."
        )
    listed = values.tolist()
    if any(value is None or value != value for value in listed):
        raise ValueError(f"groups of {dataset.name} lacks some; give each row a group.")
    known = {value: number for number, value in enumerate(dict.fromkeys(listed))}
    return np.array([known[value] for value in listed])


def _given(dataset: Dataset, folds: Any) -> list[Split]:
    """Folds as (train, test) of row numbers or masks, or the parts that the data set brings."""
    pairs = [(dataset.train, dataset.test)] if isinstance(folds, str) else list(folds)
    found = []
    for number, pair in enumerate(pairs, 1):
        where = f"of fold {number} of {dataset.name}"
        names = ("train", "test")
        train, test = (
            row_numbers(None if rows is None else np.asarray(rows), dataset.n, f"{name} {where}")
            for name, rows in zip(names, pair, strict=True)
        )
        if train is None or test is None or not len(train) or not len(test):
            raise ValueError(
                f"The training or the test part {where} is missing or empty; give folds=[(train,"
                " test), …], or a pair of files named as mine-train.arff and mine-test.arff."
            )
        if len(both := np.intersect1d(train, test)):
            raise ValueError(f"Row {both[0]} is in train and in test {where}; keep one of them.")
        found.append((train, test))
    return found


def _preparer(dataset: Dataset) -> TablePreparer | None:
    """What prepares a table in each fold; all rows say which columns name rows, as a fold may not."""
    if dataset.table is None:
        return None
    found = TablePreparer(scaling="auto").fit(dataset.table, dataset.Y)
    return TablePreparer(id=found.id_columns_, scaling=found.scaling_)

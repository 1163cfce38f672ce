"""Data sets of a study and their outer folds: by a seed, with groups left whole, or as given."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from skcamel.arrays import Array, MaybeArray, dense
from skcamel.checks import check_number, choice
from skcamel.data import (
    Dataset,
    MultilabelStratifiedKFold,
    TablePreparer,
    load_dataset,
    read_dataset,
)
from skcamel.data.cells import is_missing
from skcamel.data.dataset import is_table, row_numbers
from skcamel.experiment.unit import Source, Split

KINDS = ("plain", "stratified", "given")
GROUPED = {"plain": "grouped", "stratified": "grouped-stratified"}  # in records
PAIR = re.compile(r"(.+)([-_.])train(\..+)", re.IGNORECASE)


def splits(Y: Array, kind: str, n_folds: int, seed: int, groups: MaybeArray = None) -> list[Split]:
    """Training and test rows of each outer fold, the same on every machine with the same seed.

    >>> [test.tolist() for _, test in splits(np.ones((4, 1)), "plain", 2, seed=0)]
    [[2, 3], [0, 1]]
    >>> groups = np.array([0, 1, 1, 0])
    >>> [test.tolist() for _, test in splits(np.ones((4, 1)), "plain", 2, 0, groups)]
    [[1, 2], [0, 3]]
    """
    kinds: dict[str, Any] = {"plain": KFold, "stratified": MultilabelStratifiedKFold}
    if groups is not None:
        kinds["plain"] = GroupKFold
    splitter = kinds[kind](n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros((len(Y), 1)), Y, groups))


def source_of(
    origin: Any, *, n_folds: int, folds: Any = "plain", seed: int = 0, groups: Any = None
) -> Source:
    """The data set that a user named, with its folds.

    Parameters
    ----------
    origin : str, path, Dataset or (name, any of these)
        Catalogue name, file or data; ``name=file`` and a pair give a name of one's own.
    n_folds, folds, seed, groups
        As in :func:`skcamel.experiment.run_study`.
    """
    dataset = _opened(origin, is_pair=isinstance(folds, str) and folds == "given")
    name = dataset.name
    if not name:
        raise ValueError(
            "A Dataset of a study needs a name, by which its records are found; make it with"
            " Dataset(..., name='mine')."
        )
    if isinstance(groups, str):
        dataset, groups = _without(dataset, groups)
    if groups is not None:
        groups = _numbered(groups, dataset)
    if not isinstance(folds, str) or choice(folds, KINDS, "folds") == "given":
        parts = _given(dataset, folds)
    else:
        check_number("n_folds", n_folds, 2, whole=True)
        what, count = "rows", dataset.n
        if groups is not None:
            what, count = "groups", len(np.unique(groups))
        if count < n_folds:
            raise ValueError(f"{name} has {count} {what}, too few for n_folds={n_folds}.")
        parts = splits(dataset.Y, folds, n_folds, seed, groups)
    division = ""  # the seed alone decides
    if groups is not None or folds not in ("plain", "stratified"):
        division = joblib.hash(parts)
    return Source(dataset, tuple(parts), groups, division, _preparer(dataset))


def _opened(origin: Any, *, is_pair: bool) -> Dataset:
    """The data set, under the name given; with `is_pair` a file may have a test file beside it."""
    name = None
    if isinstance(origin, tuple) and len(origin) == 2:
        name, origin = origin
    elif isinstance(origin, str) and "=" in origin and not Path(origin).exists():
        name, _, origin = origin.partition("=")
    if isinstance(origin, (str, os.PathLike)):
        dataset = _read(Path(origin), is_pair=is_pair, is_path=not isinstance(origin, str))
    elif isinstance(origin, Dataset):
        dataset = origin
    else:
        raise TypeError(
            "A data set is a catalogue name, a file or a skcamel.data.Dataset, got"
            f" {type(origin).__name__}."
        )
    if name is None:
        return dataset
    return replace(dataset, name=name)


def _read(path: Path, *, is_pair: bool, is_path: bool) -> Dataset:
    """The data set of a file, or of a name of the catalogue."""
    if path.is_file():
        pair = paired(path) if is_pair else None
        if pair is None:
            return read_dataset(path.resolve())
        name, test = pair
        return replace(read_dataset(path.resolve(), test=test), name=name)
    if is_path or path.suffix or len(path.parts) > 1:
        raise FileNotFoundError(
            f"{path}: there is no such file; 'skcamel datasets list' shows the sets that have a"
            " name."
        )
    return load_dataset(str(path))


def paired(path: Path) -> tuple[str, Path] | None:
    """Name of the data set and its test file, where a file is the training half of a pair.

    >>> paired(Path("nowhere/mine-train.arff")) is None
    True
    """
    found = PAIR.fullmatch(path.name)
    if found is None:
        return None
    for word in ("test", "Test", "TEST"):
        test = path.with_name(found.expand(rf"\1\2{word}\3"))
        if test.is_file():
            return found[1], test
    return None


def _without(dataset: Dataset, name: str) -> tuple[Dataset, Array]:
    """A data set without a column, and the values of that column."""
    names = list(dataset.feature_names)
    if names.count(name) != 1:
        near = ", ".join(names[:5])
        raise ValueError(f"{dataset.name} has no column {name!r}; it has {near}, ….")
    place = names.index(name)
    names.remove(name)
    changed: dict[str, Any] = {"feature_names": names}
    if dataset.table is not None:
        changed["table"] = dataset.table.drop_columns([name])
    if is_table(dataset.X):
        values = np.array(dataset.X[name].to_pylist(), dtype=object)
        changed["X"] = changed["table"]
    else:
        values = dense(dataset.X[:, [place]]).ravel()
        changed["X"] = dataset.X[:, np.arange(dataset.d) != place]
    return replace(dataset, **changed), values


def _numbered(groups: Any, dataset: Dataset) -> Array:
    """Groups as numbers from 0 on, whatever they are called."""
    values = np.asarray(groups)
    if values.shape != (dataset.n,):
        raise ValueError(
            f"groups of {dataset.name} has shape {values.shape}; each of {dataset.n} rows needs"
            " one."
        )
    listed = values.tolist()
    if any(value is None or is_missing(str(value)) for value in listed):
        raise ValueError(f"groups of {dataset.name} lacks some; give each row a group.")
    known = {value: number for number, value in enumerate(dict.fromkeys(listed))}
    return np.array([known[value] for value in listed])


def _given(dataset: Dataset, folds: Any) -> list[Split]:
    """Folds as (train, test) of row numbers or masks, or the parts that the data set brings."""
    pairs = [(dataset.train, dataset.test)] if isinstance(folds, str) else folds
    found = []
    for number, pair in enumerate(pairs, 1):
        where = f"of fold {number} of {dataset.name}"
        parts = []
        for name, rows in zip(("train", "test"), pair, strict=True):
            part = row_numbers(rows, dataset.n, f"{name} {where}")
            if part is None or not len(part):
                raise ValueError(
                    f"The training or the test part {where} is missing or empty; give"
                    " folds=[(train, test), …], or a pair of files named as mine-train.arff and"
                    " mine-test.arff."
                )
            parts.append(part)
        train, test = parts
        both = np.intersect1d(train, test)
        if len(both):
            raise ValueError(f"Row {both[0]} is in train and in test {where}; keep one of them.")
        found.append((train, test))
    return found


def _preparer(dataset: Dataset) -> TablePreparer | None:
    """What prepares a table in each fold; all rows say which columns are ids, as a fold may not."""
    if dataset.table is None:
        return None
    found = TablePreparer(scaling="auto").fit(dataset.table, dataset.Y)
    return TablePreparer(id=found.id_columns_, scaling=found.scaling_)

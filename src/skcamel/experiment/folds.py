"""Data sets of a study and their outer folds: which rows train and which test, by a seed, with groups kept whole, or as given."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from skcamel.data import DataError
from skcamel.data.catalogue import load_dataset
from skcamel.data.dataset import Dataset, row_numbers
from skcamel.data.formats import read_dataset
from skcamel.data.splitting import MultilabelStratifiedKFold
from skcamel.data.text import stem
from skcamel.experiment.identity import short_digest

Split = tuple[np.ndarray, np.ndarray]
GROUPED = {
    "plain": "grouped",
    "stratified": "grouped-stratified",
}  # kinds of folds without and with groups
FORMS = (
    "one word for each row of the data set, 'train' or 'test' or the number of its fold; or JSON,"
    ' {"train": [0, …], "test": […]}'
)
PAIR = re.compile(r"(.+)([-_.])train(\..+)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Division:
    """What decides about the folds of a data set beside kind, number and seed: groups, or the parts themselves."""

    groups: np.ndarray | None = None  # (n,)
    given: tuple[Split, ...] = ()

    @cached_property
    def sha256(self) -> str:
        """Twenty digits that tell it from others; empty where there is neither."""
        parts = (
            [part for split in self.given for part in split]
            if self.groups is None
            else [self.groups]
        )
        return (
            short_digest(
                b"|".join(np.ascontiguousarray(part, dtype="<i8").tobytes() for part in parts)
            )
            if parts
            else ""
        )


def splits(
    Y: np.ndarray, kind: str, n_folds: int, seed: int, division: Division | None = None
) -> list[Split]:
    """Training and test rows of each outer fold, the same for every method, run and machine with the same seed.

    Kinds are "plain" (shuffled) and "stratified", over which each label of Y (n, q) is spread
    evenly; "grouped" and
    "grouped-stratified", which leave groups whole; and "given".

    >>> [test.tolist() for _, test in splits(np.ones((4, 1)), "plain", 2, seed=0)]
    [[2, 3], [0, 1]]
    >>> [test.tolist() for _, test in splits(np.ones((4, 1)), "grouped", 2, 0, Division(np.array([0, 1, 1, 0])))]
    [[1, 2], [0, 3]]
    """
    division = Division() if division is None else division
    if kind == "given":
        return list(division.given)
    rows = np.zeros((len(Y), 1))
    if kind.endswith("stratified"):
        return list(
            MultilabelStratifiedKFold(n_folds, shuffle=True, random_state=seed).split(
                rows, Y, division.groups
            )
        )
    splitter = KFold(n_folds, shuffle=True, random_state=seed)
    if division.groups is None:
        return list(splitter.split(rows))
    names, index = np.unique(division.groups, return_inverse=True)
    tested = [np.isin(index, test) for _, test in splitter.split(names)]
    return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in tested]


def with_groups(dataset: Dataset, groups: Any) -> tuple[Dataset, Division]:
    """A data set and its groups: values for the rows, or the name of a column, which then is no feature any more."""
    if not isinstance(groups, str):
        values = np.asarray(groups)
        if values.shape != (dataset.n,):
            raise ValueError(
                f"groups has shape {values.shape}; {dataset.name} needs one group for each of its"
                f" {dataset.n} rows."
            )
        return dataset, Division(_numbered(values, dataset.name))
    names = list(dataset.feature_names)
    if groups in dataset.dropped:
        raise ValueError(
            f"The column {groups!r} of {dataset.name} has another value in every row; groups of one"
            " row are plain folds."
        )
    if names.count(groups) != 1:
        near = ", ".join(names[:5]) + ("…" if len(names) > 5 else "")
        raise ValueError(
            f"{dataset.name} has no column {groups!r} to take the groups from; it has {near}."
        )
    column = names.index(groups)
    values = dataset.X[:, [column]]
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values).ravel()
    kept = np.arange(dataset.d) != column
    cells = None if dataset.table is None else dataset.table.drop_columns([groups])
    rest = replace(
        dataset,
        X=dataset.X[:, kept],
        feature_names=tuple(name for name in names if name != groups),
        table=cells,
    )
    return rest, Division(_numbered(values, f"The column {groups!r} of {dataset.name}"))


def _numbered(values: np.ndarray, where: str) -> np.ndarray:
    """Groups as numbers from 0 on, in the order of their first rows, whatever they are called."""
    if any(value is None or value != value for value in values.tolist()):
        raise ValueError(
            f"{where} has rows without a group; fill them in, for example with a group of their"
            " own."
        )
    numbers: dict[Any, int] = {}
    return np.array(
        [numbers.setdefault(value, len(numbers)) for value in values.tolist()], dtype=np.int64
    )


def with_parts(dataset: Dataset, given: Any = None) -> Division:
    """Given folds: (train, test) pairs of row numbers or masks, a file that holds them, or the parts that the data set brings."""
    if given is None:
        if dataset.train is None or dataset.test is None:
            cure = (
                "give a file by split= (--split), or a pair of files named as mine-train.arff and"
                " mine-test.arff"
            )
            raise ValueError(f"{dataset.name} brings no training and test part; {cure}.")
        given = [(dataset.train, dataset.test)]
    elif isinstance(given, (str, os.PathLike)):
        given = _read_parts(Path(given), dataset)
    return Division(given=tuple(_checked(pair, i, dataset) for i, pair in enumerate(_pairs(given))))


def _pairs(given: Any) -> list[Any]:
    """A list of pairs; a single pair of rows is one."""
    pairs = list(given)
    alone = len(pairs) == 2 and all(
        hasattr(part, "__len__") and all(np.ndim(row) == 0 for row in part[:1]) for part in pairs
    )
    return [pairs] if alone else pairs


def _checked(pair: Any, number: int, dataset: Dataset) -> Split:
    where = f"fold {number + 1} of {dataset.name}"
    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise ValueError(
            f"{where} is {pair!r}; give (train, test), row numbers from 0 on or masks."
        )
    train, test = (
        row_numbers(np.asarray(part), dataset.n, f"{name} of {where}")
        for name, part in zip(("train", "test"), pair, strict=True)
    )
    if train is None or test is None or not len(train) or not len(test):
        raise ValueError(f"{where} has an empty part; both need at least one row.")
    both = np.intersect1d(train, test)
    if len(both):
        raise ValueError(
            f"{where} trains and tests on row {both[0]} (and {len(both) - 1} more); a row belongs"
            " to one part."
        )
    return train, test


def _read_parts(path: Path, dataset: Dataset) -> list[Split]:
    """Parts from a file; see `FORMS`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path}: there is no such file; it holds {FORMS}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read ({error}); it holds {FORMS}.", path=path) from error
    if text.lstrip()[:1] in ("{", "["):
        return _from_json(text, path)
    words = text.replace(",", "\n").split()
    if len(words) == dataset.n + 1:  # a header
        words = words[1:]
    if len(words) != dataset.n:
        raise DataError(
            f"has {len(words)} words for the {dataset.n} rows of {dataset.name}; it holds {FORMS}.",
            path=path,
        )
    return _from_words([word.strip("\"'").lower() for word in words], path)


def _from_words(words: Sequence[str], path: Path) -> list[Split]:
    parts = np.array(words)
    if set(words) == {"train", "test"}:
        return [(np.flatnonzero(parts == "train"), np.flatnonzero(parts == "test"))]
    wrong = next((word for word in words if not re.fullmatch(r"-1|\d{1,9}", word)), None)
    if wrong is not None:
        raise DataError(f"has the word {wrong!r}; it holds {FORMS} (-1: never tested).", path=path)
    numbers = parts.astype(np.int64)
    return [
        (np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold))
        for fold in np.unique(numbers[numbers >= 0])
    ]


def _from_json(text: str, path: Path) -> list[Split]:
    try:
        found = json.loads(text)
        pairs = found if isinstance(found, list) else [found]
        return [
            (np.array(pair["train"], dtype=np.int64), np.array(pair["test"], dtype=np.int64))
            for pair in pairs
        ]
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise DataError(
            f"is no JSON of train and test rows ({type(error).__name__}: {error}); it holds"
            f" {FORMS}.",
            path=path,
        ) from error


def paired(path: Path) -> tuple[str, Path] | None:
    """Name of the data set and its test file, where a file is the training half of a pair, as mine-train.arff is.

    >>> paired(Path("nowhere/mine-train.arff")) is None
    True
    """
    found = PAIR.fullmatch(path.name)
    if found is None:
        return None
    tests = (
        path.with_name(f"{found[1]}{found[2]}{word}{found[3]}") for word in ("test", "Test", "TEST")
    )
    return next(((found[1], test) for test in tests if test.is_file()), None)


def opened(
    origin: Any, *, groups: Any = None, given: bool = False, split: Any = None
) -> tuple[Dataset, Division]:
    """The data set that a user named, and what decides about its folds.

    Parameters
    ----------
    origin : str, path, Dataset or (name, any of these)
        Catalogue name, file or data; ``name=file`` and a pair give a name of one's own.
    groups : str, array of shape (n,) or mapping of these by data set, default=None
        Groups of the rows that no fold divides, or the column that holds them.
    given : bool, default=False
        Whether folds are given: by `split`, or by the data themselves.
    split : path, (train, test) pairs or mapping of these by data set, default=None
        See :func:`with_parts`.
    """
    name, origin = _named(origin)
    own = name or (
        origin.name
        if isinstance(origin, Dataset)
        else stem(origin)
        if isinstance(origin, Path)
        else origin
    )
    groups, split = (
        value.get(own) if isinstance(value, Mapping) else value for value in (groups, split)
    )
    if given and split is None and isinstance(origin, Path) and (pair := paired(origin)):
        name, origin = name or pair[0], read_dataset(origin, test=pair[1])
    dataset = _read(origin)
    if name is not None:
        dataset = replace(dataset, name=name)
    if not dataset.name:
        raise ValueError(
            "A Dataset of a study needs a name, by which its records are found; make it with"
            " Dataset(..., name='mine')."
        )
    if groups is not None:
        return with_groups(dataset, groups)
    return dataset, with_parts(dataset, split) if given else Division()


def _named(origin: Any) -> tuple[str | None, str | Path | Dataset]:
    """A name of one's own, where there is one, and a catalogue name, a path or data."""
    name = None
    if isinstance(origin, tuple) and len(origin) == 2 and isinstance(origin[0], str):
        name, origin = origin
    elif isinstance(origin, str) and "=" in origin and not Path(origin).exists():
        name, _, origin = origin.partition("=")
    if isinstance(origin, (str, os.PathLike)):
        path = Path(origin)
        looks_like_a_file = (
            not isinstance(origin, str)
            or path.is_file()
            or bool(path.suffix)
            or len(path.parts) > 1
        )
        return name, path.resolve() if looks_like_a_file else str(origin)
    if not isinstance(origin, Dataset):
        raise TypeError(
            "A data set is a catalogue name, a file or a skcamel.data.Dataset, got"
            f" {type(origin).__name__}."
        )
    return name, origin


def _read(origin: str | Path | Dataset) -> Dataset:
    if isinstance(origin, Dataset):
        return origin
    if isinstance(origin, Path):
        if not origin.is_file():
            raise FileNotFoundError(
                f"{origin}: there is no such file; 'skcamel datasets list' shows the sets that have"
                " a name."
            )
        return read_dataset(origin)
    return load_dataset(origin)

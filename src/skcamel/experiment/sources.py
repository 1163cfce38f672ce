"""Where a data set of a study comes from: a catalogue name, a file, or a Dataset from Python; loaded once in each process."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skcamel.data.catalogue import load_dataset
from skcamel.data.dataset import Dataset, digest
from skcamel.data.errors import DataError
from skcamel.data.formats import read_dataset
from skcamel.experiment.folds import Split, splits


@dataclass(frozen=True)
class Source:
    """A data set by where it comes from, and the digest of its values.

    Another process gets it without data, which are sent once for all units that follow each other.
    """

    name: str
    origin: str | Path | Dataset | None  # None: the data come by other means
    sha256: str
    n: int  # rows

    @property
    def identity(self) -> tuple[str, str]:
        """Name and digest: equal values under another name may be stored otherwise, dense or sparse."""
        return self.name, self.sha256

    def without_data(self) -> Source:
        """What travels with each unit."""
        return replace(self, origin=None)


# the last data set of this process, and the last folds: each a pair that threads swap in one step
_last_data: tuple[Any, Any] = (None, None)
_last_folds: tuple[Any, list[Split]] = (None, [])
_one_reads = threading.Lock()  # threads that ask for the same data at once read them once


def as_source(origin: str | os.PathLike[str] | Dataset) -> Source:
    """The source that a user named; its data are loaded now, so that a wrong name fails before any work."""
    if isinstance(origin, (str, os.PathLike)):
        path = Path(origin)
        looks_like_a_file = not isinstance(origin, str) or path.is_file() or bool(path.suffix) or len(path.parts) > 1
        origin = path.resolve() if looks_like_a_file else str(origin)
    elif not isinstance(origin, Dataset):
        raise TypeError(f"A data set is a catalogue name, a file or a skcamel.data.Dataset, got {type(origin).__name__}.")
    dataset = _read(origin)
    if not dataset.name:
        raise ValueError("A Dataset of a study needs a name, by which its records are found; make it with Dataset(..., name='mine').")
    source = Source(dataset.name, origin, digest(dataset.X, dataset.Y), dataset.n)
    _remember(source, dataset)
    return source


def load(source: Source, dataset: Dataset | None = None) -> Dataset:
    """The data of a source, checked against its digest; a source asked for twice in a row is loaded once.

    Parameters
    ----------
    source : Source
    dataset : Dataset, default=None
        The data, where they were brought to this process by other means.
    """
    with _one_reads:
        known, last = _last_data
        if known == source.identity:
            return last
        dataset = _read(source.origin) if dataset is None else dataset
        found = digest(dataset.X, dataset.Y)
        if found != source.sha256:
            where = source.origin if isinstance(source.origin, (str, Path)) else "this process"
            raise DataError(
                f"the data set {source.name} has other values here (digest {found[:12]}…) than where the study was started "
                f"({source.sha256[:12]}…); give all machines the same file.",
                path=where,
            )
        _remember(source, dataset)
        return dataset


def load_split(source: Source, kind: str, n_folds: int, seed: int, fold: int, dataset: Dataset | None = None) -> tuple[Dataset, Split]:
    """Data and one of their folds; the folds too are made once for units that follow each other."""
    global _last_folds  # noqa: PLW0603 (a cache of one process)
    dataset = load(source, dataset)
    asked = (source.sha256, kind, n_folds, seed)
    known, folds = _last_folds
    if known != asked:
        folds = splits(dataset.Y, kind, n_folds, seed)
        _last_folds = (asked, folds)
    return dataset, folds[fold]


def _remember(source: Source, dataset: Dataset) -> None:
    global _last_data  # noqa: PLW0603 (a cache of one process)
    _last_data = (source.identity, dataset)


def _read(origin: str | Path | Dataset | None) -> Dataset:
    if origin is None:
        raise LookupError("The data of this unit have not come along.")
    if isinstance(origin, Dataset):
        return origin
    if isinstance(origin, Path):
        if not origin.is_file():
            raise FileNotFoundError(f"{origin}: there is no such file; 'skcamel datasets list' shows the sets that have a name.")
        return read_dataset(origin)
    return load_dataset(origin)

"""Unit: the smallest piece of a study, done once: one method on one fold of one data set."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

KEY = re.compile("[0-9a-f]{20}")  # how files of units are called


@dataclass(frozen=True)
class Unit:
    """What identifies a unit of work; two units with equal fields are the same work and have the same `key`.

    Parameters
    ----------
    dataset, method, preset : str
    fold : int
        From 0 to n_folds - 1.
    n_folds : int
    folds : {"plain", "stratified"}
    seed : int
    settings : dict
        What the method was told, ready for JSON.

    Examples
    --------
    >>> unit = Unit("yeast", "br", "quick", fold=0, n_folds=3, folds="plain", seed=0)
    >>> unit.key
    'dd03a55877e7f501bf69'
    >>> print(unit)
    yeast, br, quick, fold 1 of 3
    """

    dataset: str
    method: str
    preset: str
    fold: int
    n_folds: int
    folds: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.dataset}, {self.method}, {self.preset}, fold {self.fold + 1} of {self.n_folds}"

    def as_dict(self) -> dict[str, Any]:
        """The fields, in their order."""
        return asdict(self)

    @property
    def key(self) -> str:
        """Twenty hexadecimal digits, the same on every machine."""
        text = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """The unit that a record or a failure belongs to; KeyError where a field is missing."""
        return cls(**{part.name: record[part.name] for part in fields(cls)})

"""What the runner asks of a method: learn from a training part, then answer for the test part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from skcamel.arrays import Array


class Outcome(NamedTuple):
    """Scores and decisions for the test rows, and the hyper-parameters that gave them."""

    scores: np.ndarray  # (m, q)
    decisions: np.ndarray  # (m, q) of 0 and 1
    params: dict[str, Any]


class Fitted(Protocol):
    """A method that has learned."""

    def outcomes(self, X: Array) -> Mapping[str, Outcome]:
        """Outcome for each selection criterion; ``{"": outcome}`` where nothing is selected."""
        ...


@runtime_checkable
class Method(Protocol):
    """A method of a study; anything with these three can be given to `run_study`.

    `settings` holds what tells this method from others of its name, ready for JSON: it is part of the identity of a unit.
    """

    name: str
    settings: dict[str, Any]

    def fit(self, X: Array, Y: np.ndarray, *, seed: int) -> Fitted:
        """Learn from rows X (n, d) with labels Y (n, q) in {0, 1}; all that is random comes from `seed`."""
        ...

"""Win, tie and loss counts as the paper states them, from any table of means: ours or its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from skcamel.experiment.paper import LARGE, REGULAR, Key, gain, paper_claims, thousandths

GROUPS = {"regular": REGULAR, "large": LARGE, "all": REGULAR + LARGE}


class HasMean(Protocol):
    """A cell of a table of results."""

    @property
    def mean(self) -> float:
        """Mean over folds."""
        ...


class Counts(NamedTuple):
    """Pairs of cells in which a method is better, equal or worse at three decimals."""

    wins: int
    ties: int
    losses: int

    @property
    def cases(self) -> int:
        """All of them."""
        return sum(self)


class Claim(NamedTuple):
    """A count that the paper states, beside the same count from a table."""

    kind: str  # "first": no method is better; "superior": strictly better, one case for each cell and method
    datasets: str  # "regular", "large" or "all"
    against: tuple[str, ...]
    printed: tuple[int, int]  # count and cases
    counted: tuple[int, int]


def compare_cells(figures: Mapping[Key, HasMean], metric: str, dataset: str, method: str, other: str) -> int | None:
    """1 where `method` is better than `other` at three decimals, 0 where equal, -1 where worse; None where one is missing."""
    cells = [figures.get((dataset, metric, name)) for name in (method, other)]
    means = [cell.mean for cell in cells if cell is not None and not math.isnan(cell.mean)]
    if len(means) < 2:
        return None
    difference = gain(metric, *map(thousandths, means))
    return (difference > 0) - (difference < 0)


def win_tie_loss(figures: Mapping[Key, HasMean], method: str, against: Sequence[str], datasets: Sequence[str] | None = None) -> Counts:
    """Count the pairs (cell, other method) in which `method` wins, ties and loses.

    Parameters
    ----------
    figures : mapping
        (data set, metric, method) ► something with a mean.
    method : str
    against : sequence of str
        Other methods; a pair of which one is missing is not counted.
    datasets : sequence of str, default=None
        None: all.

    Examples
    --------
    >>> from skcamel.experiment.paper import paper_figures
    >>> win_tie_loss(paper_figures(), "camel", ["br", "ecc", "rakel"])
    Counts(wins=315, ties=2, losses=19)
    """
    results = [compare_cells(figures, metric, dataset, method, other) for dataset, metric in _cells(figures, datasets) for other in against]
    return Counts(results.count(1), results.count(0), results.count(-1))


def ranks_first(
    figures: Mapping[Key, HasMean], method: str, against: Sequence[str], datasets: Sequence[str] | None = None
) -> tuple[int, int]:
    """In how many cells no other method is better, and how many cells hold all of them; equal firsts both count.

    Examples
    --------
    >>> from skcamel.experiment.paper import REGULAR, paper_figures
    >>> ranks_first(paper_figures(), "camel", ["br", "ecc", "rakel", "llsf", "jfsc"], REGULAR)
    (45, 56)
    """
    rows = [[compare_cells(figures, metric, dataset, method, other) for other in against] for dataset, metric in _cells(figures, datasets)]
    complete = [row for row in rows if None not in row]
    return sum(-1 not in row for row in complete), len(complete)


def recount_claims(figures: Mapping[Key, HasMean], method: str = "camel") -> list[Claim]:
    """The four counts of the paper's discussion, recounted from a table of means.

    Parameters
    ----------
    figures : mapping
        (data set, metric, method) ► something with a mean; the paper's own or ours. Incomplete ones give fewer cases.
    method : str, default="camel"
        The method in CAMEL's place.

    Examples
    --------
    >>> from skcamel.experiment.paper import paper_figures
    >>> [(claim.printed[0], claim.counted[0]) for claim in recount_claims(paper_figures())]
    [(45, 45), (39, 38), (315, 315), (180, 179)]
    """
    claims = []
    for stated in paper_claims():
        against, datasets = tuple(stated["against"]), GROUPS[stated["datasets"]]
        if stated["claim"] == "first":
            counted = ranks_first(figures, method, against, datasets)
        else:
            pairs = win_tie_loss(figures, method, against, datasets)
            counted = pairs.wins, pairs.cases
        claims.append(Claim(stated["claim"], stated["datasets"], against, (stated["count"], stated["cases"]), counted))
    return claims


def _cells(figures: Mapping[Key, HasMean], datasets: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """Pairs (data set, metric), each once."""
    pairs = dict.fromkeys((dataset, metric) for dataset, metric, _ in figures)
    return (pair for pair in pairs if datasets is None or pair[0] in datasets)

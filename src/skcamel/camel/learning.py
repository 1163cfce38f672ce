"""Training data ► what a fit learns beside coefficients: S, cuts, probabilities, estimates; and warnings about digits."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skcamel.arrays import Array, to_match, to_numpy
from skcamel.camel import correlation, unknown
from skcamel.camel.candidates import Scores, candidate_metrics, stacks
from skcamel.camel.coverage import Reference, reference
from skcamel.camel.representation import Data, Representation
from skcamel.camel.search import chosen_rule
from skcamel.camel.spectral import Solution
from skcamel.camel.thresholds import Rule, slopes


@dataclass(frozen=True)
class Model:
    """Everything a fit found out, before it is stored in attributes."""

    representation: Representation
    S: Array
    G: Array
    lambda2: float
    solution: Solution
    answering: Answering
    solver: str = "spectral"


@dataclass(frozen=True)
class Answering:
    """How scores become answers."""

    rule: Rule  # what "auto" came to
    cuts: np.ndarray  # (q,)
    slopes: np.ndarray | None = None  # (q,) of the probabilities; None where there are no leave-one-out scores
    reference: Reference | None = None  # what new scores are compared with by answers with a stated coverage


class Held(NamedTuple):
    """Leave-one-out scores (n, q) of a model, and what decides about its cuts."""

    scores: Array
    rule: Rule
    scoring: str = ""


def learn_correlation(estimator: Any, data: Data | tuple[Array, float]) -> Array:
    """S of the training labels, or of how often they occur together, with a warning where its certificate misses the tolerance."""
    options: dict[str, Any] = {"strength": estimator.sparsity, "tol": estimator.tol, "max_iter": estimator.max_iter}
    centred = estimator.correlation == "centred"
    if isinstance(data, Data):
        found = correlation.learn(data.Y, centred=centred, weights=data.weights, **options)
    else:
        found = correlation.of_gram(correlation.gram_of_counts(*data, centred=centred), **options)
    worst = float(found.violation.max())
    if worst > estimator.tol:
        warnings.warn(
            f"Label correlation stopped after {found.n_iter} iterations with a KKT violation of {worst:.1e} of the penalty, above "
            f"tol={estimator.tol:.1e}; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return found.S


def learn_to_answer(held: Sequence[Held], data: Data, seed: int = 0) -> list[Answering]:
    """Cuts, probabilities and answers of some models from the leave-one-out scores of the training rows."""
    relevant, weights = _truth(data, held[0].scores)
    rules = [chosen_rule(relevant, own.scores, own.rule, own.scoring, weights=weights, seed=seed) for own in held]
    cuts = [to_numpy(rule.cuts(relevant, own.scores, weights)) for rule, own in zip(rules, held, strict=True)]
    if not data.is_complete:  # labels that nobody knows have the score 0, and are not predicted
        never = np.isnan(data.Y).all(axis=0)
        cuts = [np.where(never, np.maximum(own, 0.0), own) if rule.is_tuned else own for rule, own in zip(rules, cuts, strict=True)]
    found = [to_numpy(slopes(relevant, stack, weights)) for stack in stacks(own.scores for own in held)]  # (c, q) each
    references = [reference(data.Y, to_numpy(own.scores), data.weights) for own in held]
    return [Answering(*parts) for parts in zip(rules, cuts, np.concatenate(found), references, strict=True)]


def estimated(held: Sequence[Held], answering: Sequence[Answering], data: Data) -> list[Scores]:
    """The seven metrics of some models by leave-one-out, with their cuts."""
    relevant, weights = _truth(data, held[0].scores)
    found: list[Scores] = []
    for stack in stacks(own.scores for own in held):
        cuts = np.stack([own.cuts for own in answering[len(found) : len(found) + len(stack)]])  # (c, q)
        found += candidate_metrics(relevant, stack, to_match(cuts[:, None], stack), weights)
    return found


def _truth(data: Data, like: Array) -> tuple[Array, Array | None]:
    """Which labels are present, and the weights of the rows, or of the entries if some are unknown, where `like` lives."""
    return to_match(data.Y, like) > 0, None if data.counts is None else to_match(data.counts, like)


class RoundingWarning(UserWarning):
    """The kernel matrix is so large that its rounding outweighs the penalty."""


def warn_of_rounding(largest: float, lambda2: float) -> None:
    """Say so where eigenvalues that should be 0 come out larger than the ridge: they are then fitted as if they were data."""
    if np.finfo(np.float64).eps * largest > lambda2:
        warnings.warn(
            f"The kernel matrix is so large (its greatest eigenvalue is {largest:.1e}) that its rounding exceeds lambda2={lambda2:g}: "
            "scores may be noise. Scale the features (scaling='standard'), give smaller weights, or raise lambda2.",
            RoundingWarning,
            stacklevel=4,
        )


def warn_of_filling(solution: Solution) -> None:
    """Say so where unknown labels were not filled to the last digits."""
    if solution.convergence is None and solution.n_iter >= unknown.MOST_ROUNDS:
        warnings.warn(
            f"Unknown labels were still changing after {solution.n_iter} rounds: lambda2 is very small for so few known labels, or lambda1 "
            "very large. Scores may lack digits; raise lambda2.",
            ConvergenceWarning,
            stacklevel=4,
        )

"""Checked data ► Model: what both estimators do once the hyper-parameters are known."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skcamel import correlation, kernel, scaling
from skcamel.arrays import Array, to_device, to_match, to_numpy
from skcamel.selection import calibration
from skcamel.selection.engine import chosen_rule
from skcamel.selection.search import Data, Representation, Scores, candidate_metrics, on_device, rows_for, stacks
from skcamel.selection.thresholds import Rule
from skcamel.solve import alternating, spectral
from skcamel.solve.problem import Solution


@dataclass(frozen=True)
class Model:
    """Everything a fit found out, before it is stored in attributes."""

    representation: Representation
    S: np.ndarray
    G: np.ndarray
    lambda2: float
    solution: Solution
    answering: Answering


@dataclass(frozen=True)
class Answering:
    """How scores become answers."""

    rule: Rule  # what "auto" came to
    cuts: np.ndarray  # (q,)
    slopes: np.ndarray | None = None  # (q,) of the probabilities; None where there are no leave-one-out scores


class Held(NamedTuple):
    """Leave-one-out scores (n, q) of a model, and what decides about its cuts."""

    scores: Array
    rule: Rule
    scoring: str = ""


def learn_correlation(estimator: Any, data: Data) -> np.ndarray:
    """S of the training labels, with a warning where its certificate misses the tolerance."""
    found = correlation.learn(
        data.Y,
        centred=estimator.correlation == "centred",
        strength=estimator.sparsity,
        weights=data.weights,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
    )
    worst = float(found.violation.max())
    if worst > estimator.tol:
        warnings.warn(
            f"Label correlation stopped after {found.n_iter} iterations with a KKT violation of {worst:.1e} of the penalty, above "
            f"tol={estimator.tol:.1e}; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return found.S


def fit_spectral(estimator: Any, data: Data, S: np.ndarray, G: np.ndarray) -> Model:
    """Exact fit of one candidate."""
    representation, K, weights = _represent(estimator, data)
    spectrum = spectral.decompose(K, weights)
    targets, basis = spectral.project(spectrum, to_match(data.Y, K)), spectral.label_basis(to_match(G, K))
    penalties = estimator.lambda1, estimator.lambda2
    solution = spectral.solve_in(spectrum, targets, basis, lambda1=penalties[0], lambda2=penalties[1])
    warn_of_rounding(spectral.greatest(spectrum), estimator.lambda2)
    ((_, _, scores),) = spectral.leave_one_out(spectrum, targets, [basis], [penalties])
    (answering,) = learn_to_answer([Held(scores, estimator._rule())], data)
    return Model(representation, S, G, estimator.lambda2, solution, answering)


def learn_to_answer(held: Sequence[Held], data: Data, seed: int = 0) -> list[Answering]:
    """Cuts and probabilities of some models from the leave-one-out scores of the training rows."""
    relevant, weights = _truth(data, held[0].scores)
    rules = [chosen_rule(relevant, own.scores, own.rule, own.scoring, weights=weights, seed=seed) for own in held]
    cuts = [to_numpy(rule.cuts(relevant, own.scores, weights)) for rule, own in zip(rules, held, strict=True)]
    slopes = [to_numpy(calibration.slopes(relevant, stack, weights)) for stack in stacks(own.scores for own in held)]  # (c, q) each
    return [Answering(*found) for found in zip(rules, cuts, np.concatenate(slopes), strict=True)]


def estimated(held: Sequence[Held], answering: Sequence[Answering], data: Data) -> list[Scores]:
    """The seven metrics of some models by leave-one-out, with their cuts."""
    relevant, weights = _truth(data, held[0].scores)
    found: list[Scores] = []
    for stack in stacks(own.scores for own in held):
        cuts = np.stack([own.cuts for own in answering[len(found) : len(found) + len(stack)]])  # (c, q)
        found += candidate_metrics(relevant, stack, to_match(cuts[:, None], stack), weights)
    return found


def _truth(data: Data, like: Array) -> tuple[Array, Array | None]:
    """Which labels are present, and the weights of the rows, where `like` lives."""
    return to_match(data.Y, like) > 0, None if data.weights is None else to_match(data.weights, like)


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


def fit_alternating(estimator: Any, data: Data, S: np.ndarray, G: np.ndarray) -> Model:
    """Fit by Algorithm 1, with a warning where it stops early."""
    representation, K, weights = _represent(estimator, data)
    Y = to_match(data.Y, K)
    solution = alternating.solve(
        K,
        Y,
        to_match(G, K),
        lambda1=estimator.lambda1,
        lambda2=estimator.lambda2,
        weights=weights,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
    )
    relative = float(to_numpy(solution.convergence)[-1]) / max(float(np.linalg.norm(to_numpy(solution.Z))), 1e-300)
    if relative > estimator.tol:
        warnings.warn(
            f"Algorithm 1 stopped after {solution.n_iter} alternations with ||ΔZ|| / ||Z|| = {relative:.1e}, above "
            f"tol={estimator.tol:.1e}; raise max_iter or use solver='spectral', which is exact.",
            ConvergenceWarning,
            stacklevel=3,
        )
    rule = estimator._rule()
    return Model(representation, S, G, estimator.lambda2, solution, Answering(rule, to_numpy(rule.cuts(Y > 0, Y))))


def _represent(estimator: Any, data: Data) -> tuple[Representation, Array, Array | None]:
    """The one representation of a plain fit, its kernel matrix and the weights, all on the device."""
    plain = scaling.fitted(estimator.scaling, data.X, data.weights)
    scaler, rows = rows_for(estimator.kernel, plain, data.X)
    X = on_device(rows, estimator.device)
    weights = None if data.weights is None else to_device(data.weights, estimator.device)
    with np.errstate(over="ignore", invalid="ignore"):  # a matrix that is not finite is refused by both solvers
        rounding = scaler.rounding(X.shape[1])
        fitted, K = kernel.fitted(estimator.kernel, X, bandwidth=estimator.bandwidth, weights=weights, rounding=rounding)
    return Representation(scaler, fitted, rows, X), K, weights

"""Training data ► what a fit learns beside coefficients: label correlations, and from leave-one-out scores how to answer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skcamel.arrays import Array, to_match, to_numpy
from skcamel.camel import correlation, unknown
from skcamel.camel.link import Link, SetThresholds, cross_fitted, fit_link, fit_sets, probabilities
from skcamel.camel.representation import Data
from skcamel.camel.search import Model, Scores, candidate_metrics
from skcamel.camel.thresholds import is_tuned, thresholds
from skcamel.checks import Labels
from skcamel.text import listed

NAMED = 5  # labels in a warning


@dataclass(frozen=True)
class Answers:
    """How scores become answers, and how good these are by leave-one-out."""

    link: Link | None  # None for exclusive classes
    thresholds: np.ndarray  # (q,) on the scale of the scores
    sets: SetThresholds | None = None
    estimate: Scores = field(default_factory=dict)  # the seven metrics
    of_labels: dict[str, np.ndarray] = field(default_factory=dict)  # (q,) each
    n_rows: int = 0  # that were judged; 0: nothing was


class NeverPredictedWarning(UserWarning):
    """Labels that no training row gets when it is left out."""


class RoundingWarning(UserWarning):
    """The kernel matrix is so large that its rounding outweighs the penalty."""


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


def learn_answers(estimator: Any, data: Data, labels: Labels, scores: Array, seed: int) -> Answers:
    """Link, thresholds, prediction sets and estimates from leave-one-out scores (n, q) of the rows of `data`."""
    relevant = to_match(data.Y, scores) > 0
    weights = None if data.counts is None else to_match(data.counts, scores)
    link, judged, z = None, scores, None
    if labels.target != "multiclass":
        offsets = labels.target == "matrix"  # of a 1-d y the greatest probability is that of the predicted class
        link = fit_link(relevant, scores, weights, offsets=offsets)
        z = cross_fitted(relevant, scores, weights, offsets=offsets, groups=data.groups, seed=seed)
        if estimator.scores == "log_odds":
            scores, judged = link.log_odds(scores), z
    at = to_numpy(thresholds(estimator.threshold, relevant, scores, weights))
    if is_tuned(estimator.threshold):  # labels that nobody knows have the score 0, and are not predicted
        at = np.where(np.isnan(data.Y).all(axis=0), np.maximum(at, 0.0), at)
    link = None if link is None else Link(to_numpy(link.slope), to_numpy(link.offset))
    if estimator.miss_cost is not None:
        at = _of_costs(estimator, link, labels, at)
    predicted = judged > to_match(at, judged)
    _warn_of_labels_never_predicted(labels, data.Y, to_numpy(predicted.any(axis=0)))
    (estimate,) = candidate_metrics(relevant, judged[None], to_match(at, judged), weights)
    sets = None
    if z is not None:
        sets = fit_sets(to_numpy(relevant), probabilities(to_numpy(z)), to_numpy(predicted), data.counts)
    return Answers(link, at, sets, estimate, _of_labels(to_numpy(relevant), to_numpy(predicted), data.counts), len(data.Y))


def learn_link(data: Data, labels: Labels, scores: Array) -> Link | None:
    """The link alone, in numpy, from leave-one-out scores (n, q); None for exclusive classes."""
    if labels.target == "multiclass":
        return None
    weights = None if data.counts is None else to_match(data.counts, scores)
    link = fit_link(to_match(data.Y, scores) > 0, scores, weights, offsets=labels.target == "matrix")
    return Link(to_numpy(link.slope), to_numpy(link.offset))


def _of_costs(estimator: Any, link: Link | None, labels: Labels, at: np.ndarray) -> np.ndarray:
    """Thresholds at the probability 1 / (1 + cost) in place of those in `at`, on the scale of the scores."""
    if link is None or labels.target != "matrix":
        raise ValueError("miss_cost needs calibrated probabilities, which a 1-d y has not; give a matrix with one column per label.")
    names = [str(name) for name in labels.names]
    costs = estimator.miss_cost if isinstance(estimator.miss_cost, Mapping) else dict.fromkeys(names, estimator.miss_cost)
    if unknown_names := [str(name) for name in costs if str(name) not in names]:
        raise ValueError(f"miss_cost names {listed(unknown_names)}, and the labels are {listed(names)}; use their names.")
    at = at.copy()
    for name, cost in costs.items():
        j = names.index(str(name))
        at[j] = -np.log(cost) if estimator.scores == "log_odds" else (-np.log(cost) - link.offset[j]) / link.slope[j]
    return at


def _of_labels(relevant: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """For each label: rows that know it and positives, by weight, and precision, recall and F1; NaN where undefined."""
    w = np.ones(relevant.shape)
    if weights is not None:
        w *= weights if weights.ndim == 2 else weights[:, None]
    hits, positives, predictions = ((w * part).sum(axis=0) for part in (relevant & predicted, relevant, predicted))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {"precision": hits / predictions, "recall": hits / positives, "f1": 2 * hits / (positives + predictions)}
    return {"rows": w.sum(axis=0), "positives": positives, **found}


def _warn_of_labels_never_predicted(labels: Labels, Y: np.ndarray, is_predicted: np.ndarray) -> None:
    """One warning for labels that occur and that no row gets when it is left out."""
    never = (Y > 0).any(axis=0) & (Y < 0).any(axis=0) & ~is_predicted
    if labels.target == "matrix" and never.any():
        names = [str(name) for name in labels.names[never]]
        named = listed(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        warnings.warn(
            f"{len(names)} of {len(never)} labels are predicted for no training row when it is left out ({named}); new rows will hardly "
            "ever get them. threshold='macro_f1' or miss_cost predicts rare labels more often.",
            NeverPredictedWarning,
            stacklevel=4,
        )


def warn_of_digits(model: Model) -> None:
    """Say so where rounding is fitted as if it were data, or unknown labels were not filled to the last digits."""
    lambda2 = model.params["lambda2"]
    if np.finfo(np.float64).eps * model.largest > lambda2:
        warnings.warn(
            f"The kernel matrix is so large (its greatest eigenvalue is {model.largest:.1e}) that its rounding exceeds "
            f"lambda2={lambda2:g}: scores may be noise. Scale the features (scaling='standard'), give smaller weights, or raise lambda2.",
            RoundingWarning,
            stacklevel=4,
        )
    if model.solution.convergence is None and model.solution.n_iter >= unknown.MOST_ROUNDS:
        warnings.warn(
            f"Unknown labels were still changing after {model.solution.n_iter} rounds: lambda2 is very small for so few known labels, or "
            "lambda1 very large. Scores may lack digits; raise lambda2.",
            ConvergenceWarning,
            stacklevel=4,
        )

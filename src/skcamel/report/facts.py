"""A model and a data set ► the arrays that the sections of its page show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.display.ordering import similar_order
from skcamel.estimator import Outputs
from skcamel.explanation import Evidence, evidence, how_learned


def chosen(model: Any, name: str) -> Any:
    """A hyper-parameter as it was used: what a search chose, or what the model was given."""
    return getattr(model, f"{name}_", None) if hasattr(model, f"{name}_") else getattr(model, name)


@dataclass(frozen=True)
class ModelFacts:
    """What a page says of a fitted model."""

    model: Any

    @cached_property
    def names(self) -> list[str]:
        """Label names, as text."""
        return [str(name) for name in self.model.label_names_]

    @property
    def alpha(self) -> float:
        """Degree of collaboration; of a combined model the weighted mean of its members'."""
        alphas = [chosen(member, "alpha") for _, member in self.members]
        return float(np.average(alphas, weights=[weight for weight, _ in self.members]))

    @cached_property
    def members(self) -> list[tuple[float, Any]]:
        """Weights and models whose scores add up; the model itself where nothing is combined."""
        return self.model.weighted_members()

    @property
    def is_combined(self) -> bool:
        """Whether the scores are those of several models."""
        return hasattr(self.model, "members_")

    def deviations(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """f(x) - f̄ as it counts for a label itself, with 1 - α, and as it pushes others, with α s; (m, q) each, one where they agree."""
        if not self.is_combined:
            own = self.model.deviations(X)
            return own, own
        parts = [(weight, float(member.alpha), member.deviations(X)) for weight, member in self.members]
        own = sum(weight * (1 - alpha) * part for weight, alpha, part in parts)
        pushing = sum(weight * alpha * part for weight, alpha, part in parts)
        return np.asarray(own / (1 - self.alpha or 1.0)), np.asarray(pushing / (self.alpha or 1.0))

    @property
    def S(self) -> np.ndarray:  # noqa: N802 - the paper's letter
        """Label correlation, (q, q)."""
        return self.model.label_correlation_

    @cached_property
    def order(self) -> np.ndarray:
        """Labels such that those that push each other are neighbours, (q,)."""
        return similar_order(self.S)

    @cached_property
    def evidence(self) -> Evidence | None:
        """What the training rows show about pairs of labels, where that is known."""
        return evidence(self.model)

    @property
    def learned(self) -> str:
        """What S was learned from, in words that follow "learned"."""
        return how_learned(self.model.correlation)

    @property
    def n_train(self) -> int:
        """Number of training rows."""
        return len(self.members[0][1].dual_coef_)


@dataclass(frozen=True)
class Evaluated:
    """A model applied to a data set whose labels are in the order of the model."""

    model: Any
    X: Any
    relevant: np.ndarray  # (m, q) bool
    outputs: Outputs
    name: str
    note: str  # how the labels of the two were matched, where it needs saying

    @property
    def scores(self) -> np.ndarray:
        """Scores, (m, q)."""
        return self.outputs.scores

    @property
    def predicted(self) -> np.ndarray:
        """Decisions, (m, q); the best class alone where the model was fitted on classes."""
        return self.outputs.decisions

    @cached_property
    def n_seen(self) -> int:
        """How many of the rows the model was trained on."""
        _, model = self.model.weighted_members()[0]
        if model.X_fit_ is None:
            return 0
        known = set(_row_keys(model.X_fit_))
        return sum(key in known for key in _row_keys(model.scaled_rows(self.X)))


def evaluated(model: Any, dataset: Any) -> Evaluated:
    """Apply `model` to `dataset`; labels are matched by name, else by position.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV
    dataset : skcamel.data.Dataset
    """
    names, theirs = [str(name) for name in model.label_names_], list(dataset.label_names)
    if len(theirs) != len(names):
        raise ValueError(f"The data has {len(theirs)} labels but the model {len(names)}; give the data that the model was made for.")
    if dataset.X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"The data has {dataset.X.shape[1]} features but the model {model.n_features_in_}; give the data that the model was made for."
        )
    by_name = set(theirs) == set(names)
    columns = [theirs.index(name) for name in names] if by_name else list(range(len(names)))
    note = "" if by_name else "Label names of the data and of the model differ; columns were matched by their position."
    X = dataset.X.astype(np.float64)
    return Evaluated(model, X, dataset.Y[:, columns] > 0, model.outputs(X), dataset.name, note)


def _row_keys(X: Any) -> list[bytes]:
    if not sparse.issparse(X):
        return [row.tobytes() for row in np.ascontiguousarray(X, dtype=np.float64)]
    X = sparse.csr_array(X)
    X.sort_indices()
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [X.indices[a:b].astype(np.int64).tobytes() + X.data[a:b].astype(np.float64).tobytes() for a, b in bounds]

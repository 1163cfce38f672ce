"""A model file ► what it is, from what data, how good, what it reveals about training rows, and what takes how much room.

Steps of other libraries are never built for this: their types are read from the text that skops wrote, so any file can be inspected.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np

from skcamel import model_file
from skcamel.camel.explanation import LEARNED, training_size
from skcamel.metrics import LOSSES
from skcamel.model_file.archive import name_of, opened, read
from skcamel.model_file.state import SEALED, Reader, Sealed
from skcamel.pipeline import final, transformers
from skcamel.text import count, listed

WEAKEST = 5  # labels named first
OF_LABELS = ("rows", "positives", "precision", "recall", "f1")
NOTHING = "The file holds no estimates by leave-one-out; measure the model on rows that were kept out of the fit (skcamel evaluate)."
LEAVE_ONE_OUT = "leave-one-out of the training rows"
# Attributes by what they are for; the others are "other numbers".
PARTS = {
    "training rows or what stands for them": ("X_fit_",),
    "coefficients": ("dual_coef_", "A_", "Z_", "b_", "intercept_", "_offset", "_kernel_mean"),
    "pairs of labels": ("label_correlation_", "collaboration_", "cooccurrence_", "known_together_"),
    "probabilities and prediction sets": ("link_slopes_", "link_offsets_", "set_thresholds_"),
    "results of the search": ("cv_results_",),
    "preparation of the table": ("parts_",),
}
MEMBERSHIP = {
    "yes": "The rows themselves tell it.",
    "in part": "The rows that it holds tell it of themselves.",
    "no": "It holds no row.",
}
OTHER, FOREIGN, TEXT = "other numbers", "steps of other libraries", "names, settings and the frame of the file"


@dataclass(frozen=True)
class Inspection:
    """What a model file says of itself; ``str()`` tells it in words, :meth:`card` as a model card.

    Attributes
    ----------
    file : dict
        name, bytes, format_version, written_by and environment; None where the file does not tell.
    model : dict
        class, steps, solver, members (weight, scaling, kernel, bandwidth, alpha, lambda1, lambda2), threshold, correlation, labels.
    data : dict
        rows, columns (name, kind, detail), features, known_labels (share).
    quality : dict
        source, figures, labels (label, rows, positives, precision, recall, f1), weakest; or the reason why there are none.
    reveals : list of dict
        what, held ("yes", "no", "in part", "unknown") and detail.
    size : list of dict
        part and bytes, largest first.
    """

    file: dict[str, Any]
    model: dict[str, Any]
    data: dict[str, Any]
    quality: dict[str, Any]
    reveals: list[dict[str, str]]
    size: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; undefined numbers are NaN."""
        return asdict(self)

    def card(self, title: str | None = None) -> str:
        """Write a model card in Markdown; what only a person can know is marked to be filled in.

        Parameters
        ----------
        title : str, default=None
            None: the name of the file.
        """
        from skcamel.model_file.card import card

        return card(self, title)

    def __str__(self) -> str:
        from skcamel.model_file.card import words

        return words(self)


def inspect(model: Any) -> Inspection:
    """Tell what a model file is, from what data, how good, what it reveals about training rows, and its size by part.

    Parameters
    ----------
    model : str, path or binary file object; or fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
        A model is told as the file that :func:`skcamel.save` would write of it.

    Returns
    -------
    Inspection

    Notes
    -----
    Numbers are checked as by :func:`skcamel.load`. Steps of other libraries are not built and need not be trusted.

    Examples
    --------
    >>> import numpy as np, skcamel
    >>> model = skcamel.CamelClassifier(scaling="standard").fit(np.eye(40, 5), np.eye(40, 3, dtype=int))
    >>> told = skcamel.inspect(model)
    >>> told.model["class"], told.data["rows"], told.reveals[0]["what"], told.reveals[0]["held"]
    ('CamelClassifier', 40, 'training rows', 'yes')
    """
    if not isinstance(model, (str, os.PathLike)) and not hasattr(model, "read"):
        with tempfile.TemporaryFile() as file:
            model_file.save(model, file)
            file.seek(0)
            return _inspected(file, "")
    with opened(model) as file:
        return _inspected(file, name_of(model))


def _inspected(file: BinaryIO, name: str) -> Inspection:
    header, arrays = read(file)
    model = Reader(arrays, SEALED).model(header["model"])
    estimator: Any = final(model)
    size = file.seek(0, os.SEEK_END)
    about = {"name": name, "bytes": size, "format_version": header["format"]}
    about |= {key: _plain(header.get(key)) for key in ("written_by", "environment")}
    return Inspection(
        about,
        _model(model, estimator),
        _data(model, estimator),
        _quality(estimator),
        list(_reveals(model, estimator)),
        _sizes(header, arrays, size),
    )


def _plain(value: Any) -> Any:
    """Text, or a mapping from text to text, cut to a length that can be shown; None for all else: nothing checked it before."""
    if isinstance(value, dict):
        return {str(key)[:80]: str(item)[:80] for key, item in list(value.items())[:20]}
    return value[:200] if isinstance(value, str) else None


def _model(model: Any, estimator: Any) -> dict[str, Any]:
    """What it is."""
    names = [str(name) for name in estimator.label_names_]
    threshold = estimator.threshold if np.ndim(estimator.threshold) == 0 else "one for each label"
    told = {
        "class": type(estimator).__name__,
        "steps": [_type_of(step) for step in transformers(model)],
        "labels": names,
        "threshold": threshold,
    }
    return told | {
        "solver": listed(sorted({own.solver_ for _, own in estimator.weighted_members()})),
        "members": [_member(weight, own) for weight, own in estimator.weighted_members()],
        "correlation": LEARNED[estimator.correlation],
    }


def _type_of(step: Any) -> str:
    return step.type if isinstance(step, Sealed) else type(step).__name__


def _member(weight: float, own: Any) -> dict[str, Any]:
    """A kernel and its parameters: what a search chose, or what the model was given."""
    chosen = {name: getattr(own, f"{name}_", getattr(own, name, None)) for name in ("scaling", "kernel", "alpha", "lambda1", "lambda2")}
    return {"weight": weight, **chosen, "bandwidth": None if chosen["kernel"] in ("linear", "precomputed") else own.bandwidth_}


def _data(model: Any, estimator: Any) -> dict[str, Any]:
    """From what."""
    together = getattr(estimator, "known_together_", None)
    known = 1.0 if together is None else float(np.diag(together).mean() / estimator.total_weight_)
    return {
        "rows": training_size(estimator)[0],
        "columns": _columns(model, estimator),
        "features": int(estimator.n_features_in_),
        "known_labels": known,
    }


def _columns(model: Any, estimator: Any) -> list[dict[str, str]]:
    """Names of the columns of the data, with kinds where the model knows them."""
    for step in transformers(model):
        if hasattr(step, "describe"):
            return [{"name": name, "kind": kind, "detail": detail} for name, kind, detail in step.describe()]
    from_a_file = getattr(estimator, "input_columns_", None)
    names = from_a_file["features"] if from_a_file else getattr(estimator, "feature_names_in_", ())
    return [{"name": str(name), "kind": "", "detail": ""} for name in names]


def weakest(f1: np.ndarray, positives: np.ndarray, k: int) -> list[int]:
    """Positions of the labels that occur and have the lowest F1, lowest first; of equal ones the more frequent.

    >>> weakest(np.array([0.5, 0.2, 0.2]), np.array([3.0, 1.0, 2.0]), 2)
    [2, 1]
    """
    order = np.lexsort((-positives, f1))
    return [int(j) for j in order if positives[j] > 0][:k]


def _quality(estimator: Any) -> dict[str, Any]:
    """How good, by what the file holds."""
    told: dict[str, Any] = {"source": None, "figures": {}, "labels": [], "weakest": [], "reason": ""}
    if hasattr(estimator, "label_estimates_"):
        names = [str(name) for name in estimator.label_names_]
        estimates = estimator.label_estimates_
        columns = {"label": names} | {key: estimates[key].tolist() for key in OF_LABELS}
        labels = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        n_rows, summed = training_size(estimator)
        is_sample = summed and estimator.n_judged_ < n_rows
        source = f"leave-one-out of a sample of {count(estimator.n_judged_, 'training row')}" if is_sample else LEAVE_ONE_OUT
        lowest = [labels[j] for j in weakest(estimates["f1"], estimates["positives"], WEAKEST)]
        return told | {"source": source, "figures": estimator.estimate_, "labels": labels, "weakest": lowest}
    if hasattr(estimator, "best_score_"):
        name = estimator.scoring_
        score = -estimator.best_score_ if name in LOSSES else estimator.best_score_
        return told | {"source": "the folds of its search", "figures": {name: float(score)}}
    return told | {"reason": NOTHING}


def _reveals(model: Any, estimator: Any) -> Iterator[dict[str, str]]:
    """What the file holds of the training data, as sentences."""
    held, detail = _rows_held(estimator)
    yield {"what": "training rows", "held": held, "detail": detail}
    labels = ("yes", "Each row has its coefficients; as a rule its labels can be computed from them.")
    labels = labels if held == "yes" else ("no", "Only counts over all rows are kept.")
    yield {"what": "labels of training rows", "held": labels[0], "detail": labels[1]}
    yield {"what": "whether a given row was in the fit", "held": held, "detail": MEMBERSHIP[held]}
    yield from _values_held(model, estimator)
    pairs = "how often each label, and each pair of labels, occurs"
    held_too = "; ".join(["Names of labels", pairs, "means or ranges of columns"])
    yield {"what": "summaries of all rows", "held": "yes", "detail": f"{held_too}."}
    for step in transformers(model):
        if isinstance(step, Sealed):
            yield {"what": f"step {step.type}", "held": "unknown", "detail": f"It was not opened. It names the types {listed(step.types)}."}


def _rows_held(estimator: Any) -> tuple[str, str]:
    """Whether training rows are in the file."""
    own: list[Any] = [member for _, member in estimator.weighted_members() if member.X_fit_ is not None]
    if not own:
        primal = "" if estimator._is_pairwise() else "It has coefficients for columns (solver primal)."
        return "no", primal or "A precomputed kernel was given; its rows are elsewhere."
    _, summed = training_size(estimator)
    if not summed:
        return (
            "yes",
            f"All {count(own[0].X_fit_.shape[0], 'row')} are in the file, scaled; the scaling is in the file too and can be undone.",
        )
    how = estimator.landmarks if isinstance(estimator.landmarks, str) else "given"
    if how == "kmeans":
        return "no", f"{summed} are centres of clusters, each the mean of at least two different rows."
    return "in part", f"{summed} are training rows, scaled ({how}); a fit with landmarks='kmeans' (skcamel fit --landmarks) holds none."


def _values_held(model: Any, estimator: Any) -> Iterator[dict[str, str]]:
    """Single values and words of columns, in words."""
    said = [words for step in transformers(model) for part in getattr(step, "parts_", ()) if (words := _of_part(part))]
    ranks = [own._scaling.ranks for _, own in estimator.weighted_members() if own._scaling.ranks]
    if ranks:
        said.append(f"scaling by rank: {count(len(ranks[0].knots), 'value')} of the columns, sorted")
    categories: Mapping[str, Any] = getattr(estimator, "input_columns_", {}).get("categories", {})
    said += [f"{name}: {count(len(values), 'value')}" for name, values in categories.items()]
    detail = "; ".join(said) + "." if said else "None beyond means, ranges and names of columns."
    yield {"what": "values, words and categories of single columns", "held": "yes" if said else "no", "detail": detail}


def _of_part(part: Any) -> str:
    """What a part of a preparer holds of the cells of its column; nothing for some."""
    kind = type(part).__name__
    if kind in ("Category", "Tags"):
        rare = f" and {count(len(part.rare), 'rare one')}" if part.rare else ""
        return f"{part.name}: {count(len(part.values), 'value')}{rare}"
    if kind == "Text":
        return f"{part.name}: {count(len(part.words), 'word')}"
    if kind in ("Number", "Moment") and part.steps is not None:
        return f"{part.name}: {count(len(part.steps.knots), 'value')}, sorted"
    return ""


def _sizes(header: dict[str, Any], arrays: dict[str, np.ndarray], size: int) -> list[dict[str, Any]]:
    """Bytes by part, largest first; an array that two attributes share counts for the first."""
    found: dict[str, int] = {}
    home = {attribute: part for part, attributes in PARTS.items() for attribute in attributes}
    left = {name: array.nbytes for name, array in arrays.items()}

    def add(node: Any, part: str) -> None:
        for item in node if isinstance(node, list) else ():
            add(item, part)
        for key, item in node.items() if isinstance(node, dict) else ():
            own = FOREIGN if key == "$skops" else home.get(key, part)
            if key in ("$array", "$skops", "$csr"):
                names = item if key == "$csr" else [item]
                found[own] = found.get(own, 0) + sum(left.pop(name, 0) for name in names)
            else:
                add(item, own)

    add(header["model"], OTHER)
    found[TEXT] = size - sum(found.values())
    return [{"part": part, "bytes": own} for part, own in sorted(found.items(), key=lambda pair: -pair[1])]

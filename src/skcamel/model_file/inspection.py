"""A model file ► what it is, from what data, how good, what it reveals, and its size by part.

All of it is plain data first (:class:`Inspection`), then lines of text, which a terminal shows
below headings and `card.md` as lists. Steps of other libraries are never built for this: their
types are read from the text that skops wrote, so any file can be inspected.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from skcamel import model_file
from skcamel.camel.explanation import LEARNED, training_size
from skcamel.data.pipeline import final, transformers
from skcamel.metrics.seven import LOSSES, NAMES, TITLES
from skcamel.model_file.archive import name_of, opened, read
from skcamel.model_file.state import SEALED, Reader, Sealed
from skcamel.text import count, file_size, listed, one_line

WEAKEST = 5  # labels that are named
LARGEST = 8  # parts that are named
OF_LABELS = ("rows", "positives", "precision", "recall", "f1")
FEW = 10  # rows that have a label, for figures that mean much
MOST = 30  # columns and labels that are shown; the others are counted
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
CHOSEN = ("scaling", "kernel", "bandwidth", "alpha", "lambda1", "lambda2")
MEMBER = (
    "Scores: weight {weight:.4g}, kernel {kernel}, bandwidth {bandwidth:.4g}, scaling {scaling},"
    " alpha {alpha:.4g}, lambda1 {lambda1:.4g}, lambda2 {lambda2:.4g}."
)
WRITTEN = "Written by {written_by}, format version {format_version}"
SIZES = "{rows:,} rows, {features:,} features, {known_labels:.1%} of the labels known."
LABEL = "Weak label {label}: F1 {f1:.3f} ({positives:,.6g} of {rows:,.6g} rows have it)"
NOTHING = (
    "The file holds no estimates by leave-one-out; measure the model on rows that were kept out of"
    " the fit (skcamel evaluate)."
)
COUNTS = "The file has counts over all rows only."
REVEALED = {  # of labels, and of whether a row was in the fit, by whether rows are held
    "yes": (
        "Each row has its coefficients; as a rule its labels can be computed from them.",
        "The rows themselves show it.",
    ),
    "in part": (COUNTS, "The rows that it holds show it of themselves."),
    "no": (COUNTS, "It holds no row."),
}
SUMMARIES = (
    "Names of labels; how often each label, and each pair of labels, occurs; means or ranges of"
    " columns."
)
WORDS = ("category", "tags", "text")  # kinds of columns of which values are in the file
RANKED = ("number", "date")  # further ones where they are ranked


@dataclass(frozen=True)
class Inspection:
    """What a model file says of itself: ``str()`` in words, :meth:`card` as a model card.

    Attributes
    ----------
    file : dict
        name, bytes, format_version, written_by and environment, the versions of libraries.
    model : dict
        class, steps, solver, members (weight, scaling, kernel, bandwidth, alpha, lambda1, lambda2),
        threshold, correlation, labels.
    data : dict
        rows, columns (name, kind, detail), features, known_labels (share).
    quality : dict
        source, figures, labels (label, rows, positives, precision, recall, f1), weakest; or the
        reason why there are none.
    reveals : list of dict
        what, held ("yes", "no", "in part", "unknown") and detail.
    size : list of dict
        part (an attribute) and bytes, largest first.
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
        path = Path(self.file["name"])
        template = Path(__file__).with_name("card.md").read_text(encoding="utf-8")
        return template.format(
            title=plain(title or path.stem or self.model["class"]),
            kind=plain(self._kind()),
            labels=plain(listed(self.model["labels"], MOST)),
            settings=_as_list(self._settings()),
            data=_as_list(self._data()),
            quality=_as_list(self._quality()),
            limits=_as_list(self._limits()),
            reveals=_as_list(self._reveals()),
            file=path.name or "model.skcamel",
        )

    def __str__(self) -> str:
        name = self.file["name"]
        title = f"{self._kind()}, {count(len(self.model['labels']), 'label')}"
        largest = [f"{file_size(part['bytes']):>8}  {part['part']}" for part in self.size[:LARGEST]]
        sections = {
            f"{name}: {title}" if name else title: self._settings(),
            "Data": self._data(),
            "How good": self._quality(),
            "What the file reveals about its training data": self._reveals(),
            f"Size: {file_size(self.file['bytes'])}": largest,
        }
        paragraphs = []
        for heading, lines in sections.items():
            paragraphs.append("\n  ".join(map(one_line, [heading, *lines])))
        return "\n\n".join(paragraphs)

    def _kind(self) -> str:
        steps = self.model["steps"]
        return self.model["class"] + (f" behind {listed(steps)}" if steps else "")

    def _settings(self) -> Iterator[str]:
        """Solver, kernels, thresholds, and who wrote it."""
        yield "Solver: {solver}; label correlation learned {correlation}.".format(**self.model)
        yield from map(MEMBER.format_map, self.model["members"])
        yield "Thresholds of the scores: {threshold}.".format(**self.model)
        libraries = listed([" ".join(library) for library in self.file["environment"].items()])
        yield f"{WRITTEN.format(**self.file)}; {libraries}"

    def _data(self) -> Iterator[str]:
        """Sizes, and the columns."""
        columns = self.data["columns"]
        yield SIZES.format(**self.data)
        for column in columns[:MOST]:
            yield "{name}: {kind}, {detail}".format(**column).rstrip(", :")
        if len(columns) > MOST:
            yield f"… and {len(columns) - MOST} more"

    def _quality(self) -> Iterator[str]:
        quality = self.quality
        yield quality["reason"] or f"Measured by {quality['source']} (↓: smaller is better)."
        for name, value in quality["figures"].items():
            yield f"{TITLES[name]}: {value:.3f} {'↓' if name in LOSSES else '↑'}"
        yield from map(LABEL.format_map, quality["weakest"])

    def _limits(self) -> Iterator[str]:
        yield (
            "It knows the labels above and no others, and answers for rows like those of the fit:"
            " it does not notice other rows."
        )
        rare = [label["label"] for label in self.quality["labels"] if label["positives"] < FEW]
        if rare:
            names = listed(rare, MOST)
            yield f"Fewer than {FEW} rows have {names}: figures of such labels are uncertain."

    def _reveals(self) -> Iterator[str]:
        yield from map("{what}: {held}. {detail}".format_map, self.reveals)


def plain(text: Any) -> str:
    r"""Text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> plain("a|b <i>*\n")
    'a\\|b \\<i\\>\\*\\\\n'
    """
    return MARKDOWN.sub(r"\\\1", one_line(str(text)))


def _as_list(lines: Iterator[str]) -> str:
    return "\n".join(f"- {plain(line)}" for line in lines)


def inspect(model: Any) -> Inspection:
    """Say what a model file is, how good, what it reveals about training rows, and its size.

    Parameters
    ----------
    model : str, path or binary file object; or fitted CamelClassifier or CamelClassifierCV, or
    fitted Pipeline that ends in one
        A model is inspected as the file that :func:`skcamel.save` would write of it.

    Returns
    -------
    Inspection

    Notes
    -----
    Numbers are checked as by :func:`skcamel.load`. Steps of other libraries are not built and need
    not be trusted.

    Examples
    --------
    >>> import numpy as np, skcamel
    >>> X, Y = np.eye(40, 5), np.eye(40, 3, dtype=int)
    >>> model = skcamel.CamelClassifier(scaling="standard").fit(X, Y)
    >>> found = skcamel.inspect(model)
    >>> found.model["class"], found.data["rows"], found.reveals[0]["what"], found.reveals[0]["held"]
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
    n_bytes = file.seek(0, os.SEEK_END)
    sizes: Counter[str] = Counter()
    for part, array in zip(header["parts"], arrays.values(), strict=True):
        sizes[str(part)] += array.nbytes
    sizes["names, settings and the frame of the file"] = n_bytes - sizes.total()
    about = {"name": name, "bytes": n_bytes, "format_version": header["format"]}
    about["written_by"] = str(header["written_by"])
    libraries = header["environment"].items()
    about["environment"] = {str(library): str(version) for library, version in libraries}
    return Inspection(
        about,
        _model(model, estimator),
        _data(model, estimator),
        _quality(estimator),
        _records(("what", "held", "detail"), _revealed(model, estimator)),
        _records(("part", "bytes"), sizes.most_common()),
    )


def _records(names: Sequence[str], rows: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _model(model: Any, estimator: Any) -> dict[str, Any]:
    """What it is: what a search chose, or what the model was given."""
    members = []
    for weight, own in estimator.weighted_members():
        chosen = {name: getattr(own, f"{name}_", getattr(own, name, None)) for name in CHOSEN}
        members.append({"weight": weight, **chosen})
    steps = [getattr(step, "type", type(step).__name__) for step in transformers(model)]
    return {
        "class": type(estimator).__name__,
        "steps": steps,
        "labels": [str(name) for name in estimator.label_names_],
        "threshold": _rule(estimator),
        "solver": listed(sorted({own.solver_ for _, own in estimator.weighted_members()})),
        "members": members,
        "correlation": LEARNED[estimator.correlation],
    }


def _rule(estimator: Any) -> Any:
    """What decides the thresholds."""
    rule = estimator.threshold
    if np.ndim(rule):
        rule = "one for each label"
    if isinstance(estimator.miss_cost, Mapping):
        return f"{rule}, miss_cost={estimator.miss_cost}"
    if estimator.miss_cost is not None:
        return f"miss_cost={estimator.miss_cost:g}"
    return rule


def _data(model: Any, estimator: Any) -> dict[str, Any]:
    """From what; columns with their kinds where a step of the model knows them."""
    names = getattr(estimator, "feature_names_in_", ())
    described = [step.describe() for step in transformers(model) if hasattr(step, "describe")]
    columns = described[0] if described else [(str(name), "", "") for name in names]
    known = 1.0
    if hasattr(estimator, "known_together_"):
        known = float(np.diag(estimator.known_together_).mean() / estimator.total_weight_)
    return {
        "rows": training_size(estimator)[0],
        "columns": _records(("name", "kind", "detail"), columns),
        "features": int(estimator.n_features_in_),
        "known_labels": known,
    }


def _quality(estimator: Any) -> dict[str, Any]:
    """How good, by what the file holds."""
    found: dict[str, Any] = {"source": None, "figures": {}, "labels": [], "weakest": []}
    found["reason"] = NOTHING
    if hasattr(estimator, "label_estimates_"):
        estimates = estimator.label_estimates_
        columns = [estimates[key].tolist() for key in OF_LABELS]
        rows = zip(map(str, estimator.label_names_), *columns, strict=True)
        labels = _records(("label", *OF_LABELS), rows)
        occurring = [label for label in labels if label["positives"] > 0]
        weakest = sorted(occurring, key=lambda label: (label["f1"], -label["positives"]))
        found |= {"labels": labels, "weakest": weakest[:WEAKEST], "reason": ""}
        found["source"] = f"leave-one-out of {count(estimator.n_judged_, 'training row')}"
        found["figures"] = {name: estimator.estimate_[name] for name in NAMES}
    elif hasattr(estimator, "best_score_"):
        name = estimator.scoring_
        score = estimator.best_score_
        figures = {name: -score if name in LOSSES else score}
        found |= {"source": "the folds of its search", "figures": figures, "reason": ""}
    return found


def _revealed(model: Any, estimator: Any) -> Iterator[tuple[str, str, str]]:
    """What the file holds of the training data: what, whether, and a sentence."""
    held, detail = _rows_held(estimator)
    labels, membership = REVEALED[held]
    values = "; ".join(_values_held(model, estimator))
    yield "training rows", held, detail
    yield "labels of training rows", "yes" if held == "yes" else "no", labels
    yield "whether a given row was in the fit", held, membership
    detail = values or "None beyond means, ranges and names of columns"
    yield "values, words and categories of single columns", "yes" if values else "no", f"{detail}."
    yield "summaries of all rows", "yes", SUMMARIES
    for step in transformers(model):
        if isinstance(step, Sealed):
            detail = f"It was not opened. It names the types {listed(step.types)}."
            yield f"step {step.type}", "unknown", detail


def _rows_held(estimator: Any) -> tuple[str, str]:
    """Whether training rows are in the file."""
    rows = estimator.weighted_members()[0][1].X_fit_
    _, summed = training_size(estimator)
    if rows is None and estimator._is_pairwise():
        return "no", "A precomputed kernel was given; its rows are elsewhere."
    if rows is None:
        return "no", "It has coefficients for columns (solver primal)."
    if not summed:
        n_rows = count(rows.shape[0], "row")
        return "yes", f"All {n_rows} are in the file, scaled; the scaling in it can be undone."
    how = estimator.landmarks if isinstance(estimator.landmarks, str) else "given"
    if how == "kmeans":
        return "no", f"{summed} are centres of clusters, each the mean of at least two rows."
    hint = "a fit with landmarks='kmeans' (skcamel fit --landmarks) holds none"
    return "in part", f"{summed} are training rows, scaled ({how}); {hint}."


def _values_held(model: Any, estimator: Any) -> Iterator[str]:
    """Columns of which single values are in the file."""
    for step in transformers(model):
        holding = (*WORDS, *RANKED) if getattr(step, "scaling_", "") == "rank" else WORDS
        for name, kind, _ in step.describe() if hasattr(step, "describe") else ():
            if kind in holding:
                yield f"{kind} {name}"
    for _, own in estimator.weighted_members():
        if own._scaling.ranks is not None:
            values = count(len(own._scaling.ranks.knots), "value")
            yield f"scaling by rank: {values} of the columns, sorted"
    for name in getattr(estimator, "input_columns_", {}).get("categories", ()):
        yield f"category {name}"

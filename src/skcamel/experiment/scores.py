"""Outcomes of a unit that a study keeps, so that a new metric needs no new fit: packed into one file, read again, measured again."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skcamel.experiment.methods import Outcome
from skcamel.experiment.units import RecordsError

FORMAT = 1


class Kept(NamedTuple):
    """What was kept of a unit."""

    rows: np.ndarray  # (m,) row numbers of the test part in the data set
    outcomes: dict[str, Outcome]  # by criterion; without parameters, which the record has


def packed(rows: np.ndarray, outcomes: Mapping[str, Outcome]) -> bytes:
    """The content of a file: scores, decisions, and probabilities where there are some, compressed.

    Scores are float32 where that leaves the order of each row and of each column as it is, ties included; else float64. Decisions
    are bits. Probabilities lose no digit; where they are the scores, they are stored once.

    >>> outcome = Outcome(np.array([[0.25, -1.0]]), np.array([[1, 0]]), {})
    >>> found = unpacked(io.BytesIO(packed(np.array([7]), {"": outcome})), "here")
    >>> found.rows.tolist(), found.outcomes[""].scores.tolist(), found.outcomes[""].decisions.tolist()
    ([7], [[0.25, -1.0]], [[1, 0]])
    """
    parts: dict[str, Any] = {"format": FORMAT, "rows": rows, "criteria": np.array(list(outcomes), dtype=np.str_)}
    for i, outcome in enumerate(outcomes.values()):
        scores, P = np.asarray(outcome.scores, dtype=np.float64), outcome.given_probabilities()
        parts[f"decisions{i}"] = np.packbits(np.asarray(outcome.decisions) == 1, axis=1)
        if P is not None:
            parts[f"probabilities{i}"] = _short(np.asarray(P, dtype=np.float64), lossless=True)
        if P is None or not np.array_equal(scores, P):
            parts[f"scores{i}"] = _short(scores)
    file = io.BytesIO()
    np.savez_compressed(file, **parts)
    return file.getvalue()


def unpacked(file: Path | io.BytesIO, where: str) -> Kept:
    """What :func:`packed` wrote; RecordsError where it is damaged."""
    try:
        with np.load(file, allow_pickle=False) as parts:
            if int(parts["format"]) != FORMAT:
                raise ValueError(f"its format {int(parts['format'])} is not known to this version")
            outcomes = {str(criterion): _outcome(parts, i) for i, criterion in enumerate(parts["criteria"])}
            return Kept(parts["rows"], outcomes)
    except FileNotFoundError as error:
        raise RecordsError(f"{where} is not there: the unit was computed without keep='scores' (--keep scores).") from error
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise RecordsError(f"{where} is damaged ({error}); delete it, and compute its unit again by rerun=True (--rerun).") from error


def _outcome(parts: Any, i: int) -> Outcome:
    P = parts[f"probabilities{i}"].astype(np.float64) if f"probabilities{i}" in parts else None
    scores = parts[f"scores{i}"].astype(np.float64) if f"scores{i}" in parts else P
    if scores is None:
        raise ValueError(f"scores{i} is missing")
    decisions = np.unpackbits(parts[f"decisions{i}"], axis=1, count=scores.shape[1]).astype(np.int64)
    return Outcome(scores, decisions, {}, P)


def _short(values: np.ndarray, *, lossless: bool = False) -> np.ndarray:
    """A matrix (m, q) as float32 if nothing is lost: no digit, or no order within a row or a column."""
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    enough = (short == values).all() if lossless else all(_ties(short, axis) == _ties(values, axis) for axis in (0, 1))
    return short if enough else values


def _ties(values: np.ndarray, axis: int) -> int:
    """Neighbours that are equal after sorting; rounding never swaps two values, it can only make them equal."""
    ordered = np.sort(values, axis=axis)
    return int(np.count_nonzero(np.diff(ordered, axis=axis) == 0)) if np.isfinite(ordered).all() else -1 - values.itemsize

"""What the JSON files of a study folder must hold; every reader checks before anything uses the values.

A shape is a :class:`Kind`, a list of one shape for all items, a mapping of names to shapes, in which a name with a question
mark may be missing and others may be there, or :class:`Each`, a mapping in which every value has one shape.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from skcamel.experiment.folds import KINDS
from skcamel.experiment.paper import PRESETS
from skcamel.metrics.conventions import NAMES

LARGEST = 2**53  # of all numbers: what JSON keeps exactly everywhere
DIGITS = 19  # of integers, below 64 bits
LONGEST = 60  # letters shown of a value that is refused


class RecordsError(ValueError):
    """A file of a study folder cannot be read, or does not belong there; the message names it and the cure."""


class Kind(NamedTuple):
    """A plain value: what it is in words, its types, and what bounds it."""

    words: str
    types: tuple[type, ...]
    low: float = 0
    high: float = LARGEST
    pattern: str = "(?s).*"
    null: bool = False

    def fits(self, value: Any) -> bool:
        """Whether a value is one."""
        if value is None or isinstance(value, bool) or not isinstance(value, self.types):
            return self.null and value is None
        if isinstance(value, str):
            return re.fullmatch(self.pattern, value) is not None
        return isinstance(value, (dict, list)) or self.low <= value <= self.high


class Each(NamedTuple):
    """A mapping of any names to values of one shape."""

    shape: Any


TEXT = Kind("text", (str,))
NAME = Kind("a name", (str,), pattern=r"(?s)[^\ud800-\udfff]+")  # half a character cannot be written into files
MAPPING = Kind("a mapping", (dict,))
COUNT = Kind("a count", (int,))
POSITIVE = Kind("a count from 1 on", (int,), low=1)
NUMBER = Kind("a number", (int, float), low=-LARGEST)
AMOUNT = Kind("a number from 0 on, or null", (int, float), null=True)
# a metric lies between 0 and 1, up to rounding; null where it is undefined
METRIC = Kind("a number from 0 to 1, or null", (int, float), low=-1e-9, high=1 + 1e-9, null=True)
ODDITY = Kind("a count or a list", (int, list))
TIME = Kind("a time", (str,), pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

SEED, N_FOLDS = Kind("an integer from 0 to 4294967295", (int,), high=2**32 - 1), Kind("an integer from 2 on", (int,), low=2)
PRESET, FOLDS = (Kind(f"one of {', '.join(names)}", (str,), pattern="|".join(names)) for names in (PRESETS, KINDS))
PROTOCOL = {"preset": PRESET, "n_folds": N_FOLDS, "folds": FOLDS, "seed": SEED}
UNIT = {"dataset": NAME, "method": NAME, "fold": COUNT, "settings": MAPPING} | PROTOCOL
FAILURE = UNIT | {"error": TEXT, "traceback": TEXT, "finished_at?": TIME}
COSTS = {"n_train?": COUNT, "n_test?": COUNT, "n_features?": COUNT, "n_labels?": COUNT, "peak_memory_bytes?": AMOUNT}
COSTS |= dict.fromkeys(("fit_seconds?", "predict_seconds?", "unit_seconds?"), AMOUNT)
RECORD = UNIT | COSTS | {"criterion": TEXT, "params": MAPPING} | dict.fromkeys(NAMES, METRIC)
RECORD |= {"device?": NAME, "data_sha256?": TEXT, "warnings?": [TEXT], "finished_at?": TIME}
# of names that not every record has, by how they begin
FURTHER = {"params_by_": MAPPING, "version_": TEXT, "edge_": COUNT} | {f"{name}_by_": METRIC for name in NAMES}

RUNS = {"runs": [{"datasets": [NAME], "methods": [{"name": NAME, "settings": MAPPING}]} | PROTOCOL]}
CARD = {"n": POSITIVE, "d": COUNT, "q": COUNT, "cardinality": NUMBER, "density": NUMBER, "label_counts": [COUNT], "label_names?": [TEXT]}
CARD |= dict.fromkeys(("label_sets?", "mean_ir?", "sparsity?"), AMOUNT)
CARD |= {f"{name}_rows?": ODDITY for name in ("unlabelled", "zero", "duplicate")}
CARD |= dict.fromkeys(("constant_features?", "empty_labels?", "full_labels?", "missing_values?"), ODDITY)
SETTING = dict.fromkeys(("alpha", "lambda1", "lambda2"), NUMBER)
CURVE = {"values": [NUMBER]} | {name: [[METRIC]] for name in NAMES}
CURVES = {"dataset": NAME, "folds": COUNT, "base": SETTING, "base_found_by?": TEXT, "curves": dict.fromkeys(SETTING, CURVE)}
CURVES |= {"convergence": {"delta": [NUMBER]}}


def decoded(text: bytes, check: Callable[[Any], None]) -> Any:
    """Strict JSON that passes a check; ValueError says what is wrong with it.

    Examples
    --------
    >>> decoded(b'{"runs": [{"datasets": "yeast"}]}', check_runs)
    Traceback (most recent call last):
    ValueError: runs[0].datasets is 'yeast', not a list
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_integer)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    check(value)
    return value


def read_json(path: Path, default: Any, check: Callable[[Any], None], cure: str = "delete it, and the next run writes it again") -> Any:
    """Content of a file of the folder, or `default` where there is none; RecordsError where it fails the check."""
    try:
        return decoded(path.read_bytes(), check)
    except FileNotFoundError:
        return default
    except (ValueError, IsADirectoryError) as error:
        raise RecordsError(f"{path} is damaged ({error}); {cure}.") from error


def check_shape(value: Any, shape: Any, where: str = "") -> None:
    """Raise ValueError, with the place and what belongs there, unless `value` has the shape."""
    if isinstance(shape, Kind):
        if not shape.fits(value):
            raise _wrong(where, value, shape.words)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise _wrong(where, value, "a list")
        for i, item in enumerate(value):
            check_shape(item, shape[0], f"{where}[{i}]")
    elif not isinstance(value, dict):
        raise _wrong(where, value, "a mapping")
    elif isinstance(shape, Each):
        for name, item in value.items():
            check_shape(item, shape.shape, _inside(where, name))
    else:
        for name, part in shape.items():
            if name.removesuffix("?") in value:
                check_shape(value[name.removesuffix("?")], part, _inside(where, name.removesuffix("?")))
            elif not name.endswith("?"):
                raise ValueError(f"{_inside(where, name)} is missing")


def check_record(record: Mapping[str, Any]) -> None:
    """Raise ValueError unless all fields of a record fit, those too that not every record has."""
    check_shape(record, RECORD)
    for name, value in record.items():
        for start, shape in FURTHER.items():
            if name.startswith(start):
                check_shape(value, shape, name)
    _check_fold(record)


def check_failure(failure: Mapping[str, Any]) -> None:
    """Raise ValueError unless all fields of a failure fit."""
    check_shape(failure, FAILURE)
    _check_fold(failure)


def check_runs(content: Any) -> None:
    """Raise ValueError unless this is what ``study.json`` holds."""
    check_shape(content, RUNS)


def check_cards(cards: Any) -> None:
    """Raise ValueError unless this is what ``cards.json`` holds."""
    check_shape(cards, Each(CARD))
    for name, card in cards.items():
        if len(card.get("label_names", card["label_counts"])) != len(card["label_counts"]):
            raise ValueError(f"{name} has {len(card['label_names'])} label_names, but {len(card['label_counts'])} label_counts")


def check_curves(result: Any) -> None:
    """Raise ValueError unless this is what ``sensitivity/NAME.json`` holds: a row of folds for each value."""
    check_shape(result, CURVES)
    for name, curve in result["curves"].items():
        for metric in NAMES:
            lengths = {len(row) for row in curve[metric]}
            if len(curve[metric]) != len(curve["values"]) or len(lengths) != 1 or 0 in lengths:
                raise ValueError(f"curves.{name}.{metric} has not one row of folds for each of the {len(curve['values'])} values")
    if not result["convergence"]["delta"]:
        raise ValueError("convergence.delta is empty")


def _check_fold(unit: Mapping[str, Any]) -> None:
    if unit["fold"] >= unit["n_folds"]:
        raise ValueError(f"fold is {unit['fold']}, and folds are counted from 0 to {unit['n_folds'] - 1}")


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _wrong(where: str, value: Any, words: str) -> ValueError:
    shown = repr(value)
    shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
    return ValueError(f"{where or 'the content'} is {shown}, not {words}")


def _refuse(constant: str) -> Any:
    raise ValueError(f"it holds {constant[:LONGEST]}, which is not finite or too large")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _integer(text: str) -> int:
    return int(text) if len(text) < DIGITS else _refuse(text)

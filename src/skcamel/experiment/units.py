"""What the JSON files of a study folder may hold: units, records, failures, requests and cards; and how they are read.

Every reader checks the values first. A shape is a :class:`Kind`, a list of one shape for all items,
or a mapping of names to
shapes, in which a name with a question mark may be missing; further names are allowed.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Self

from skcamel.experiment.identity import canonical, short_digest
from skcamel.experiment.paper import METHOD_TITLES, PRESETS
from skcamel.metrics.conventions import NAMES

PLACE = itemgetter(
    "dataset", "method", "preset", "seed", "fold"
)  # of a record, by which records are sorted
FOLD_KINDS = ("plain", "stratified", "grouped", "grouped-stratified", "given")
BEST = ("largest", "smallest")  # values of a metric
LARGEST = 2**53  # of all numbers: what JSON keeps exactly everywhere
DIGITS = 19  # of integers, below 64 bits
LONGEST = 60  # letters shown of a value that is refused
Run = Mapping[str, Any]


class RecordsError(ValueError):
    """A file of a study folder cannot be read, or does not belong there; the message names it and the cure."""


@dataclass(frozen=True)
class Unit:
    """The smallest piece of a study: one method on one fold of one data set.

    Two units with equal fields are the same work and have the same `key`.

    Parameters
    ----------
    dataset, method, preset : str
    fold : int
        From 0 to n_folds - 1.
    n_folds : int
    folds : {"plain", "stratified", "grouped", "grouped-stratified", "given"}
    seed : int
    settings : dict
        What the method was told, ready for JSON; under `split`, where folds have groups or are
        given, a digest of these.
    data_sha256 : str, default=""
        Digest of the values of the data set.

    Examples
    --------
    >>> unit = Unit("yeast", "br", "quick", fold=0, n_folds=3, folds="plain", seed=0)
    >>> unit.key
    '5354191b4333cd6550be'
    >>> print(unit)
    yeast, br, quick, fold 1 of 3
    """

    dataset: str
    method: str
    preset: str
    fold: int
    n_folds: int
    folds: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    data_sha256: str = ""

    def __str__(self) -> str:
        return (
            f"{self.dataset}, {self.method}, {self.preset}, fold {self.fold + 1} of {self.n_folds}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields, in their order."""
        return asdict(self)

    @property
    def key(self) -> str:
        """Twenty hexadecimal digits, the same on every machine."""
        return short_digest(canonical(self.as_dict()))

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """The unit that a record or a failure belongs to; KeyError where a field is missing."""
        needed = {
            part.name: record[part.name] for part in fields(cls) if part.name != "data_sha256"
        }
        return cls(**needed, data_sha256=record.get("data_sha256", ""))


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


TEXT = Kind("text", (str,))
METRIC_NAME = Kind("a name of letters, digits and _", (str,), pattern="[A-Za-z][A-Za-z0-9_]*")
NAME = Kind(
    "a name", (str,), pattern=r"(?s)[^\ud800-\udfff]+"
)  # half a character cannot be written into files
MAPPING = Kind("a mapping", (dict,))
COUNT = Kind("a count", (int,))
POSITIVE = Kind("a count from 1 on", (int,), low=1)
NUMBER = Kind("a number", (int, float), low=-LARGEST)
AMOUNT = Kind("a number from 0 on, or null", (int, float), null=True)
# a metric lies between 0 and 1, up to rounding; null where it is undefined
METRIC = Kind("a number from 0 to 1, or null", (int, float), low=-1e-9, high=1 + 1e-9, null=True)
VALUE = Kind(
    "a number, or null", (int, float), low=-LARGEST, null=True
)  # of a metric beside the seven
SHARE = Kind("a number from 0 to 1", (int, float), high=1)
ODDITY = Kind("a count or a list", (int, list))
TIME = Kind("a time", (str,), pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

SEED, N_FOLDS = (
    Kind("an integer from 0 to 4294967295", (int,), high=2**32 - 1),
    Kind("an integer from 1 on", (int,), low=1),
)
PRESET, FOLDS = (
    Kind(f"one of {', '.join(names)}", (str,), pattern="|".join(names))
    for names in (PRESETS, FOLD_KINDS)
)
PROTOCOL = {"preset": PRESET, "n_folds": N_FOLDS, "folds": FOLDS, "seed": SEED}
UNIT = {
    "dataset": NAME,
    "method": NAME,
    "fold": COUNT,
    "settings": MAPPING,
    "data_sha256?": TEXT,
} | PROTOCOL
FAILURE = UNIT | {"error": TEXT, "traceback": TEXT, "finished_at?": TIME}
COSTS = {
    "n_train?": COUNT,
    "n_test?": COUNT,
    "n_features?": COUNT,
    "n_labels?": COUNT,
    "peak_memory_bytes?": AMOUNT,
}
COSTS |= dict.fromkeys(("fit_seconds?", "predict_seconds?", "unit_seconds?"), AMOUNT)
RECORD = UNIT | COSTS | {"criterion": TEXT, "params": MAPPING} | dict.fromkeys(NAMES, METRIC)
RECORD |= {"more?": MAPPING, "device?": NAME, "warnings?": [TEXT], "finished_at?": TIME}
# of names that not every record has, by how they begin
FURTHER = {"params_by_": MAPPING, "version_": TEXT, "edge_": COUNT} | {
    f"{name}_by_": METRIC for name in NAMES
}

RUNS = {
    "runs": [
        {
            "datasets": [NAME],
            "methods": [{"name": NAME, "settings": MAPPING, "spec?": TEXT}],
            "metrics?": [TEXT],
            "groups?": TEXT,
            "split?": TEXT,
        }
        | PROTOCOL
    ],
    "metrics?": MAPPING,
}
DIRECTION = Kind(f"one of {', '.join(BEST)}", (str,), pattern="|".join(BEST))
METRIC_ENTRY = {
    "title": NAME,
    "best": DIRECTION,
    "function": Kind("text, or null", (str,), null=True),
}
CARD = {
    "n": POSITIVE,
    "d": COUNT,
    "q": COUNT,
    "cardinality": NUMBER,
    "density": NUMBER,
    "label_counts": [COUNT],
    "label_names?": [TEXT],
}
CARD |= dict.fromkeys(("label_sets?", "mean_ir?", "sparsity?"), AMOUNT)
CARD |= {f"{name}_rows?": ODDITY for name in ("unlabelled", "zero", "duplicate")}
CARD |= {"known?": SHARE, "label_known?": [COUNT]}
CARD |= dict.fromkeys(
    ("constant_features?", "empty_labels?", "full_labels?", "missing_values?"), ODDITY
)


def check_shape(value: Any, shape: Any, where: str = "") -> None:
    """Raise ValueError, with the place and what belongs there, unless `value` has the shape."""
    kind = (
        shape
        if isinstance(shape, Kind)
        else Kind("a list", (list,))
        if isinstance(shape, list)
        else MAPPING
    )
    if not kind.fits(value):
        shown = repr(value)
        shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
        raise ValueError(f"{where or 'the content'} is {shown}, not {kind.words}")
    if isinstance(shape, list):
        for i, item in enumerate(value):
            check_shape(item, shape[0], f"{where}[{i}]")
    elif isinstance(shape, dict):
        for name, part in shape.items():
            plain = name.removesuffix("?")
            inside = f"{where}.{plain}" if where else plain
            if plain in value:
                check_shape(value[plain], part, inside)
            elif plain == name:
                raise ValueError(f"{inside} is missing")


def check_record(record: Mapping[str, Any]) -> None:
    """Raise ValueError unless all fields of a record fit, those too that not every record has."""
    check_shape(record, RECORD)
    for name, value in record.items():
        for start, shape in FURTHER.items():
            if name.startswith(start):
                check_shape(value, shape, name)
    for name, value in record.get("more", {}).items():
        check_shape(value, VALUE, f"more.{name}")
    _check_fold(record)


def check_failure(failure: Mapping[str, Any]) -> None:
    """Raise ValueError unless all fields of a failure fit."""
    check_shape(failure, FAILURE)
    _check_fold(failure)


def _check_fold(unit: Mapping[str, Any]) -> None:
    if unit["fold"] >= unit["n_folds"]:
        raise ValueError(
            f"fold is {unit['fold']}, and folds are counted from 0 to {unit['n_folds'] - 1}"
        )


def _check_study(study: Any) -> None:
    check_shape(study, RUNS)
    for name, entry in study.get("metrics", {}).items():
        check_shape(entry, METRIC_ENTRY, f"metrics.{name}")


def _check_cards(cards: Any) -> None:
    check_shape(cards, MAPPING)
    for name, card in cards.items():
        check_shape(card, CARD, name)
        for key in ("label_names", "label_known"):
            if len(card.get(key, card["label_counts"])) != len(card["label_counts"]):
                raise ValueError(
                    f"{name} has {len(card[key])} {key}, but {len(card['label_counts'])}"
                    " label_counts"
                )


def decoded(text: bytes, check: Callable[[Any], None]) -> Any:
    """Strict JSON that passes a check; ValueError says what is wrong with it.

    >>> decoded(b'{"runs": [{"datasets": "yeast"}]}', _check_study)
    Traceback (most recent call last):
    ValueError: runs[0].datasets is 'yeast', not a list
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_integer)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    check(value)
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it holds {constant[:LONGEST]}, which is not finite or too large")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _integer(text: str) -> int:
    return int(text) if len(text) < DIGITS else _refuse(text)


def _read_json(path: Path, default: Any, check: Callable[[Any], None]) -> Any:
    """Content of a file, or `default` where there is none."""
    try:
        return decoded(path.read_bytes(), check)
    except FileNotFoundError:
        return default
    except (ValueError, IsADirectoryError) as error:
        raise RecordsError(
            f"{path} is damaged ({error}); delete it, and the next run writes it again."
        ) from error


def read_requests(folder: Path) -> list[Run]:
    """All requests of ``study.json``, in their order."""
    return _read_study(folder)["runs"]


def read_metrics(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Metrics beside the seven that any run recorded: name ► title, best ("largest" or "smallest"), and function, None if built in."""
    return _read_study(folder).get("metrics", {})


def _read_study(folder: Path) -> Mapping[str, Any]:
    return _read_json(folder / "study.json", {"runs": []}, _check_study)


def read_runs(folder: Path) -> list[Run]:
    """Requests of ``study.json``, in their order; without those that another one includes."""
    runs = read_requests(folder)
    return [run for run in runs if not any(_includes(other, run) for other in runs)]


def _includes(run: Run, other: Run) -> bool:
    """Whether `run` asks for all that `other` does, and for more."""
    parts = ("datasets", "methods", "metrics")
    same = all(run.get(name) == other.get(name) for name in {*run, *other} - {*parts})
    return (
        run != other
        and same
        and all(item in run.get(part, ()) for part in parts for item in other.get(part, ()))
    )


def read_cards(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Cards of the data sets, by name."""
    return _read_json(folder / "cards.json", {}, _check_cards)


def planned_units(runs: Iterable[Run]) -> int:
    """How many units the runs ask for; one that several ask for counts once, whatever its settings."""
    asked = {
        (dataset, method["name"], run["preset"], run["seed"], run["folds"], run["n_folds"])
        for run in runs
        for dataset in run["datasets"]
        for method in run["methods"]
    }
    return sum(n_folds for *_, n_folds in asked)


def study_command(run: Run, *, device: str = "cpu") -> str:
    """The command for a request of ``study.json``, on a device, into a study folder DIR.

    >>> run = {"datasets": ["yeast", "my set"], "methods": [{"name": "br", "settings": {}}], "preset": "paper", "seed": 0,
    ...        "n_folds": 10, "folds": "plain"}
    >>> study_command(run)
    "skcamel study --datasets 'yeast,my set' --methods br --preset paper --folds plain --n-folds 10 --seed 0 -o DIR"
    """
    options = {
        "datasets": ",".join(run["datasets"]),
        "methods": ",".join(method.get("spec", method["name"]) for method in run["methods"]),
    }
    kind = run["folds"].removeprefix("grouped-")
    options |= {"preset": run["preset"], "folds": "plain" if kind == "grouped" else kind}
    options |= {} if kind == "given" else {"n-folds": str(run["n_folds"])}
    options |= {"groups": run.get("groups", "COLUMN")} if "grouped" in run["folds"] else {}
    options |= {"split": run["split"]} if "split" in run else {}
    options |= {"seed": str(run["seed"])}
    if run.get("metrics"):
        options["metrics"] = ",".join(run["metrics"])
    if device != "cpu":
        options["device"] = device
    words = [
        "skcamel study",
        *(f"--{name} {shlex.quote(value)}" for name, value in options.items()),
    ]
    # CAMEL always selected a model for each metric before settings said so
    if any(
        method["settings"].get("per_metric", True)
        for method in run["methods"]
        if method["name"] == "camel"
    ):
        words.append("--per-metric")
    return " ".join([*words, "-o DIR"])


def methods_from_python(run: Run) -> list[str]:
    """Names of methods that the command does not know: estimators given in Python."""
    return [
        method["name"]
        for method in run["methods"]
        if method["name"] not in METHOD_TITLES and "spec" not in method
    ]

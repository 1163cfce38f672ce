"""What a study folder holds beside its records: what was asked for, cards of its data sets, and curves of Figure 1."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from skcamel.experiment.paper import METHOD_TITLES
from skcamel.experiment.shapes import check_cards, check_curves, check_runs, read_json

Run = Mapping[str, Any]


def read_runs(folder: Path) -> list[Run]:
    """Requests of ``study.json``, in their order; without those that another one includes, as a resumed part does."""
    runs = read_json(folder / "study.json", {"runs": []}, check_runs)["runs"]
    return [run for i, run in enumerate(runs) if not any(_includes(other, run) for j, other in enumerate(runs) if j != i)]


def read_cards(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Cards of the data sets, by name."""
    return read_json(folder / "cards.json", {}, check_cards)


def read_sensitivity(folder: Path) -> list[dict[str, Any]]:
    """What ``run_sensitivity`` found for each data set, by name."""
    paths = sorted(path for path in (folder / "sensitivity").glob("*.json") if not path.name.startswith("."))
    return [read_json(path, None, check_curves, "delete it, and run skcamel sensitivity again") for path in paths]


def planned_units(runs: Iterable[Run]) -> int:
    """How many units the runs ask for; one that several ask for counts once, whatever its settings: the newest are shown."""
    asked = {
        (dataset, method["name"], run["preset"], run["seed"], run["folds"], run["n_folds"])
        for run in runs
        for dataset in run["datasets"]
        for method in run["methods"]
    }
    return sum(n_folds for *_, n_folds in asked)


def study_command(run: Run, *, device: str = "cpu", out: str = "DIR") -> str:
    """The command that does a run.

    Parameters
    ----------
    run : mapping
        A request of ``study.json``.
    device : str, default="cpu"
        Where it computed.
    out : str, default="DIR"
        The study folder.

    Examples
    --------
    >>> run = {"datasets": ["yeast", "my set"], "methods": [{"name": "br", "settings": {}}], "preset": "paper", "seed": 0,
    ...        "n_folds": 10, "folds": "plain"}
    >>> study_command(run)
    "skcamel study --datasets 'yeast,my set' --methods br --preset paper --folds plain --n-folds 10 --seed 0 --out DIR"
    """
    options = {
        "datasets": ",".join(run["datasets"]),
        "methods": ",".join(method["name"] for method in run["methods"]),
        "preset": run["preset"],
        "folds": run["folds"],
        "n-folds": run["n_folds"],
        "seed": run["seed"],
    }
    if device != "cpu":
        options["device"] = device
    words = [f"--{name} {shlex.quote(str(value))}" for name, value in options.items()]
    return " ".join(["skcamel study", *words, *(["--per-metric"] if _is_per_metric(run) else []), f"--out {out}"])


def _is_per_metric(run: Run) -> bool:
    """Whether CAMEL selected a model for each metric, as it always did before settings said so."""
    return any(method["settings"].get("per_metric", True) for method in run["methods"] if method["name"] == "camel")


def methods_from_python(run: Run) -> list[str]:
    """Names of methods that no command knows: estimators that were given in Python."""
    return [method["name"] for method in run["methods"] if method["name"] not in METHOD_TITLES]


def _includes(run: Run, other: Run) -> bool:
    """Whether `run` asks for all that `other` does, and for more."""
    parts = ("datasets", "methods")
    rest = [name for name in {*run, *other} - {*parts} if run.get(name) != other.get(name)]
    return run != other and not rest and all(item in run[part] for part in parts for item in other[part])

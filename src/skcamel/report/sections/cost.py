"""What a fold takes: time and memory of every method on every data set."""

from __future__ import annotations

import math

from skcamel.experiment.paper import title_of
from skcamel.experiment.summary import Cost
from skcamel.report.page import Column, Section
from skcamel.report.study_facts import StudyFacts

MB = 1e6
QUANTITIES = (
    ("Fitting, with selection", "seconds", "fit_seconds", 1.0),
    ("Predicting", "seconds", "predict_seconds", 1.0),
    ("Peak memory", "MB", "peak_memory_bytes", MB),
)
COLUMNS = (
    Column("Data set"),
    Column("Method"),
    Column("Device", note="where the method computed"),
    Column("Training rows", 0),
    Column("Fit, s", 3, "median over the folds, with the selection of hyper-parameters"),
    Column("Predict, s", 3, "median over the folds"),
    Column("Peak memory, MB", 0, "median over the folds, on top of what the process held before: libraries and the data set"),
)


def cost_section(facts: StudyFacts) -> Section | None:
    """A dot for each data set, a line for each method; None where no record tells what it took."""
    known = [cost for cost in facts.costs if not math.isnan(cost.fit_seconds)]
    if not known:
        return None
    methods = [method for method in facts.summary.methods if any(cost.method == method for cost in known)]
    quantities = [each for each in QUANTITIES if any(getattr(cost, each[2]) > 0 for cost in known)]
    data = {
        "quantities": [{"title": title, "unit": unit} for title, unit, _, _ in quantities],
        "methods": [{"title": title_of(method), "device": _device(known, method)} for method in methods],
        "dots": [
            {
                "dataset": cost.dataset,
                "method": methods.index(cost.method),
                "values": [getattr(cost, key) / scale for _, _, key, scale in quantities],
            }
            for cost in known
        ],
    }
    context = {
        "columns": COLUMNS,
        "rows": [
            (c.dataset, title_of(c.method), c.device, c.n_train, c.fit_seconds, c.predict_seconds, c.peak_memory_bytes / MB) for c in known
        ],
        "quantities": [title for title, *_ in quantities],
        "sentence": _devices(known),
    }
    return Section("cost", "Time and memory", context, data, ("cost.js",))


def _device(costs: list[Cost], method: str) -> str:
    return ", ".join(sorted({cost.device for cost in costs if cost.method == method}))


def _devices(costs: list[Cost]) -> str:
    """Say whether times can be compared at all."""
    devices = sorted({cost.device for cost in costs})
    if len(devices) == 1:
        return f"All methods computed on the same kind of device ({devices[0]})."
    parts = [
        f"{', '.join(dict.fromkeys(title_of(cost.method) for cost in costs if cost.device == device))} on {device}" for device in devices
    ]
    return f"Methods computed on different devices: {'; '.join(parts)}. Across devices, times compare only roughly."

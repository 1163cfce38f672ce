"""What a model file may hold: one table per class, from the name of an attribute to the rule for its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from skcamel import kernel, scaling
from skcamel.data import cells
from skcamel.data.parts import CYCLES
from skcamel.metrics.conventions import NAMES as METRICS
from skcamel.persistence.rules import (
    FINITE,
    LARGEST,
    MOST,
    OF_PRODUCTS,
    PLAIN,
    Rule,
    Sizes,
    any_tuple,
    apply,
    array_of,
    classes,
    count,
    each,
    either,
    flag,
    floats,
    indices,
    integer,
    mapping,
    names,
    nothing,
    number,
    one_of,
    pair,
    part,
    record,
    results,
    rows,
    shown,
    text,
    undefined,
    words,
)

OPTIONAL = (
    "feature_names_in_",
    "input_columns_",
    "label_columns_",
    "sampled_",
    "convergence_",
    "Z_",
    "residual_",
    "compression_",
    "known_together_",
    "estimate_",
)  # not every fit sets them
OF_FEW_LABELS = ("A_", "b_")  # lacking where S is sparse
OF_PAIRS = ("label_correlation_", "collaboration_", "cooccurrence_")  # all sparse or none
FEW = ("kernels", "scalings", "representations")  # sequences whose entries are checked against each other

POSITIVE = number(1 / LARGEST, LARGEST)
DIVISORS = {"low": 1 / LARGEST, "high": LARGEST}


def _ranks(value: Any, sizes: Sizes) -> None:
    """Ranks whose knots increase, and whose levels do not fall, within each of the columns."""
    ends = indices("d", below=MOST, ascending=True)
    part("Ranks", knots=floats("t"), levels=floats("t", low=0, high=1), ends=ends)(value, sizes)
    if value.ends[0] < 1 or value.ends[-1] != len(value.knots):
        raise ValueError(f"must share {len(value.knots)} knots among its columns, none without any")
    within = np.ones(len(value.knots) - 1, dtype=bool)
    within[value.ends[:-1] - 1] = False  # from the last knot of a column to the first of the next
    if (np.diff(value.knots)[within] <= 0).any() or (np.diff(value.levels)[within] < 0).any():
        raise ValueError("must have knots and levels that increase within each column")


def _reference(value: Any, sizes: Sizes) -> None:
    """Leave-one-out scores that ascend within each of the runs: those without and those with each of the labels."""
    ends, weights = array_of((np.int64, np.int32), "q", "sides"), either(nothing, floats("h", low=0))
    part("Reference", scores=floats("h", low=-FINITE, high=FINITE), ends=ends, weights=weights)(value, sizes)
    flat = value.ends.ravel()
    if value.ends.shape[1] != 2 or flat[0] < 0 or (np.diff(flat) < 0).any() or flat[-1] != len(value.scores):
        raise ValueError(f"must share {len(value.scores)} scores among two runs for each label")
    within = np.ones(len(value.scores) - 1, dtype=bool)
    within[flat[(flat > 0) & (flat < len(value.scores))] - 1] = False  # from the last of a run to the first of the next
    if (np.diff(value.scores)[within] < 0).any():
        raise ValueError("must have scores that ascend within each run")


SHIFT = either(nothing, floats("d"))
SCALING = either(
    part("Scaling", name=one_of("none", "unit"), shift=SHIFT, scale=nothing, ranks=nothing),
    part("Scaling", name=one_of("rank"), shift=SHIFT, scale=nothing, ranks=_ranks),
    part("Scaling", name=one_of("standard", "minmax"), shift=SHIFT, scale=floats("d", **DIVISORS), ranks=nothing),
)
FROM_A_FILE = {  # what the command line knows of the table that it fitted on
    "features": each(text, "d", any_tuple),
    "categories": mapping(each(text, "x", any_tuple)),
    "dropped": each(text, "x", any_tuple),
}
COMMON: dict[str, Rule] = {
    "n_features_in_": count("d"),
    "feature_names_in_": names("d"),
    "input_columns_": record(FROM_A_FILE),
    "label_columns_": each(text, "x", any_tuple),
    "label_names_": names("q"),
    "classes_": classes,
    "_target": one_of("matrix", "binary", "multiclass"),
    "thresholds_": floats("q", low=-FINITE, high=FINITE),
    "n_iter_": integer(0),
}
COMPRESSED = {  # what a smaller model tells of the larger one
    **dict.fromkeys(("rows_before", "rows_after"), integer(0)),
    **dict.fromkeys(("bytes_before", "bytes_after"), integer(1, 2**62)),
    **dict.fromkeys(("mean_error", "max_error"), number(0)),
}
ANY_CAMEL = COMMON | {
    "label_correlation_": rows("q", "q"),
    "cooccurrence_": rows("q", "q", low=0),
    "_sparse_labels": flag,
    "total_weight_": POSITIVE,
    "known_together_": floats("q", "q", low=0),
    "threshold_rule_": either(one_of("zero", "common", "label"), number()),
    "estimate_": record(dict.fromkeys(METRICS, either(number(), undefined))),
    "compression_": record(COMPRESSED),
    "_slopes": either(nothing, floats("q", low=5e-324, high=1e150)),
    "_reference": either(nothing, _reference),
}
CAMEL = ANY_CAMEL | {
    "dual_coef_": floats("n", "q"),
    "intercept_": floats("q", low=-OF_PRODUCTS, high=OF_PRODUCTS),
    "_offset": floats("q"),
    "A_": floats("n", "q"),
    "b_": floats("q", low=-OF_PRODUCTS, high=OF_PRODUCTS),
    "Z_": floats("n", "q"),
    "solver_": one_of("spectral", "landmark", "primal", "alternating"),
    "collaboration_": rows("q", "q"),
    "residual_": number(0),
    "convergence_": floats("i", low=0),
    "bandwidth_": POSITIVE,
    "X_fit_": either(nothing, rows("n", "d")),
    "_kernel": part("Kernel", name=one_of(*kernel.NAMES), bandwidth=POSITIVE),
    "_scaling": SCALING,
    "_kernel_mean": floats("n", low=-OF_PRODUCTS, high=OF_PRODUCTS),
    "_lambda2": POSITIVE,
    "_kept": either(nothing, indices("n", below=("d",), ascending=True)),
}


def _search(**values: Rule) -> dict[str, Rule]:
    """Attributes of a search over a grid of parameters with these names."""
    return {f"{name}_": rule for name, rule in values.items()} | {
        "cv_results_": results(values),
        "best_index_": integer(0, below=("c",)),
        "best_score_": number(),
        "best_params_": record(values),
        "scoring_": one_of(*METRICS),
    }


AT_LEAST_0 = number(0)
CAMEL_SEARCH = _search(
    scaling=one_of(*scaling.NAMES),
    kernel=one_of(*kernel.NAMES),
    bandwidth=POSITIVE,
    alpha=number(0, 1),
    lambda1=AT_LEAST_0,
    lambda2=AT_LEAST_0,
)


def _member(value: Any, sizes: Sizes) -> None:
    """A model of its own, sound by itself, of as many features and labels."""
    if type(value).__name__ != "CamelClassifier" or (value.n_features_in_, len(value.label_names_)) != (sizes["d"], sizes["q"]):
        raise ValueError(f"must hold fitted CamelClassifiers of {sizes['d']} features and {sizes['q']} labels")


COMBINED = (
    ANY_CAMEL
    | {"members_": each(_member, "m"), "weights_": floats("m", low=0), "scales_": floats("q", low=0)}
    | {key: rule for key, rule in CAMEL_SEARCH.items() if key == "cv_results_" or key.startswith(("best_", "scoring_"))}
)


def _steps(value: Any, sizes: Sizes) -> None:
    """Ranks of one column."""
    part("Steps", knots=floats("t"), levels=floats("t", low=0, high=1))(value, sizes)
    if (np.diff(value.knots) <= 0).any() or (np.diff(value.levels) < 0).any():
        raise ValueError("must have knots and levels that increase")


NUMERALS = {"decimal": one_of(*cells.DIGITS), "unit": text, "median": number(-LARGEST, LARGEST), "odd": integer(0)}
VALUES = {"values": words("k"), "rare": words("x")}
MOMENT = {"order": one_of(*cells.DATES), "middle": integer(-(10**12), 10**12), "cycles": each(one_of(*CYCLES), "x", any_tuple)}
COLUMN_PARTS: dict[str, dict[str, Rule]] = {
    "LeftOut": {"why": one_of("id", "constant", "empty", "dropped"), "reason": text},
    "Number": {**NUMERALS, "steps": either(nothing, _steps)},
    "Flag": {"yes": text, "no": text},
    "Category": VALUES,
    "Tags": {**VALUES, "separator": one_of("", "json", *cells.SEPARATORS)},
    "Moment": {**MOMENT, "steps": either(nothing, _steps)},
    "Text": {"words": words("w"), "idf": floats("w", low=0), "analyzer": one_of("word", "char")},
}


def _column_part(value: Any, sizes: Sizes) -> None:
    """What becomes of a column of a table."""
    kind = type(value).__name__
    if kind not in COLUMN_PARTS:
        raise ValueError(f"must be parts of a table, got {shown(value)}")
    part(kind, name=text, gap=flag, gaps=integer(0), **COLUMN_PARTS[kind])(value, sizes)
    if kind != "LeftOut" and not value.features():
        raise ValueError(f"must give a column, {value.name!r:.60} gives none")


def _column_parts(value: Any, sizes: Sizes) -> None:
    """Parts of columns with different names."""
    each(_column_part, "d", any_tuple)(value, sizes)
    if len({own.name for own in value}) < len(value):
        raise ValueError("must have different names")


TABLES: dict[str, dict[str, Rule]] = {
    "TablePreparer": {"n_features_in_": count("d"), "feature_names_in_": names("d"), "parts_": _column_parts}
    | {"sampled_": pair(integer(1), integer(1))},
    "CamelClassifier": CAMEL,
    "CamelClassifierCV": CAMEL | CAMEL_SEARCH | {"bandwidth_multiplier_": POSITIVE},
}


def check(model: Any, state: Mapping[str, Any]) -> None:
    """Raise ValueError unless the parameters of `model`, not yet fitted, and the attributes in `state` make a sound model or step."""
    name = type(model).__name__
    table = COMBINED if getattr(model, "combine", False) is True else TABLES[name]
    if unknown := [repr(key) for key in state if key not in table]:
        raise ValueError(f"{', '.join(unknown)[:200]} is no attribute of a fitted {name}")
    optional = (*OPTIONAL, *(OF_FEW_LABELS if sparse.issparse(state.get("label_correlation_")) else ()))
    if missing := [key for key in table if key not in state and key not in optional]:
        raise ValueError(f"{', '.join(missing)} missing")
    if len({sparse.issparse(state[key]) for key in OF_PAIRS if key in state}) > 1:
        raise ValueError(f"{', '.join(OF_PAIRS)} must be sparse together or not at all")
    _check_parameters(model)
    sizes: Sizes = {}
    apply(table, state, sizes)
    if "label_names_" in table:
        _check_labels(state, sizes["q"])
    if "_kernel" in table:
        _check_training_rows(state, sizes, pairwise=model._is_pairwise())


def _check_parameters(model: Any) -> None:
    """Plain values, and such as the estimator accepts; a device that this machine lacks is no fault of the model."""
    parameters = model.get_params(deep=False)
    for name, value in parameters.items():
        items = value.tolist() if isinstance(value, np.ndarray) else value if type(value) in (list, tuple) else [value]
        flat = [part for item in items for part in (item if name == "representations" and type(item) in (list, tuple) else [item])]
        if not all(isinstance(item, PLAIN) for item in flat):
            raise ValueError(f"parameter {name} is neither a plain value nor a sequence of such")
        if len(items) > 100 and name in FEW:
            raise ValueError(f"parameter {name} has {len(items)} entries, 100 are the most")
    device = parameters.get("device")
    if device is not None:
        one_of("cpu", "cuda", *(f"cuda:{k}" for k in range(64)))(device, {})
        parameters["device"] = None
    if hasattr(model, "_check_parameters"):  # transformers may have none
        type(model)(**parameters)._check_parameters()


def _check_labels(state: Mapping[str, Any], q: int) -> None:
    """As many labels as the classes call for."""
    target, known = state["_target"], state["classes_"]
    fits = {
        "matrix": known.dtype.kind == "i" and np.array_equal(known, np.arange(q)),
        "binary": q == 1 and len(known) in (1, 2),
        "multiclass": q == len(known) > 2,
    }
    if not fits[target]:
        raise ValueError(f"classes_ and label_names_ do not belong together: {len(known)} and {q} of them for the target {target!r}")


def _check_training_rows(state: Mapping[str, Any], sizes: Sizes, *, pairwise: bool) -> None:
    """Training rows, or landmarks; none for a kernel that was computed before, whose columns are those rows, and for plain features."""
    n, d, primal = sizes["n"], sizes["d"], state.get("solver_") == "primal"
    if pairwise != (state["_kernel"].name == "precomputed") or (pairwise or primal) != (state["X_fit_"] is None):
        raise ValueError("kernel, _kernel and X_fit_ do not belong together")
    if primal and (pairwise or n != d or state["_kernel"].name != "linear"):
        raise ValueError(f"{n} coefficients do not fit {d} features of a linear kernel")
    if pairwise and (state["_scaling"].name != "none" or (n != d if state["_kept"] is None else n > d)):
        raise ValueError(f"a kernel matrix of {d} columns does not fit {n} rows, or it is scaled")
    if not pairwise and state["_kept"] is not None:
        raise ValueError("_kept is for kernel matrices only")
    if state["bandwidth_"] != state["_kernel"].bandwidth:
        raise ValueError(f"bandwidth_ is {state['bandwidth_']:g}, that of _kernel {state['_kernel'].bandwidth:g}")

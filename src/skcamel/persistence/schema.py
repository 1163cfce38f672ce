"""What a model file may hold: one table per class, from the name of an attribute to the rule for its value.

A rule is a function of a value and of the sizes known so far, such as q labels. It raises ValueError, or binds a size that it is
the first to see. Numbers are bounded by `LARGEST` and divisors by its inverse, so that no product formed by a prediction overflows
for rows of ordinary size: a model that passes answers with finite numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skcamel import kernel, scaling
from skcamel.metrics.conventions import NAMES as METRICS
from skcamel.persistence import rules
from skcamel.persistence.rules import (
    FINITE,
    LARGEST,
    OF_PRODUCTS,
    PLAIN,
    Rule,
    Sizes,
    each,
    either,
    floats,
    indices,
    integer,
    names,
    nothing,
    number,
    one_of,
    pair,
    part,
)

OPTIONAL = ("feature_names_in_", "input_columns_", "convergence_")  # not every fit sets them
OPTIONAL += ("cooccurrence_", "total_weight_", "threshold_rule_", "estimate_")  # not every version did
FEW = ("kernels", "scalings", "representations")  # sequences whose entries are checked against each other

POSITIVE = number(1 / LARGEST, LARGEST)
DIVISORS = {"low": 1 / LARGEST, "high": LARGEST}


def _ranks(value: Any, sizes: Sizes) -> None:
    """Ranks whose knots increase, and whose levels do not fall, within each of the columns."""
    ends = indices("d", below=rules.MOST, ascending=True)
    part("Ranks", knots=floats("t"), levels=floats("t", low=0, high=1), ends=ends)(value, sizes)
    if value.ends[0] < 1 or value.ends[-1] != len(value.knots):
        raise ValueError(f"must share {len(value.knots)} knots among its columns, none without any")
    within = np.ones(len(value.knots) - 1, dtype=bool)
    within[value.ends[:-1] - 1] = False  # from the last knot of a column to the first of the next
    if (np.diff(value.knots)[within] <= 0).any() or (np.diff(value.levels)[within] < 0).any():
        raise ValueError("must have knots and levels that increase within each column")


SHIFT = either(nothing, floats("d"))
SCALING = either(
    part("Scaling", name=one_of("none", "unit"), shift=SHIFT, scale=nothing, ranks=nothing),
    part("Scaling", name=one_of("rank"), shift=SHIFT, scale=nothing, ranks=_ranks),
    part("Scaling", name=one_of("standard", "minmax"), shift=SHIFT, scale=floats("d", **DIVISORS), ranks=nothing),
)
ENDING = part(
    "Ending",
    objective=floats("p", low=-OF_PRODUCTS, high=OF_PRODUCTS),
    n_iter=indices("p", below=rules.MOST),
    converged=rules.array_of(np.bool_, "p"),
)


def _columns(*width: str) -> Rule:
    """Standardised columns, among as many as these sizes add up to."""
    return part("Columns", kept=indices("k", below=width, ascending=True), mean=floats("k"), spread=floats("k", **DIVISORS))


def _logistic(*width: str) -> Rule:
    """A binary model for each label; its intercept is infinite where training knew one class only."""
    coefficients = {"coef": floats("k", "q"), "intercept": floats("q", low=-np.inf, high=np.inf)}
    return part("Logistic", columns=_columns(*width), **coefficients, ending=ENDING)


SOFTMAX = part("Softmax", columns=_columns("d"), coef=floats("k", "b"), intercept=floats("b"), n_classes=integer(2), ending=ENDING)
FROM_A_FILE = {  # what the command line knows of the table that it fitted on
    "features": each(rules.text, "d", tuple),
    "categories": rules.mapping(each(rules.text, "x", tuple)),
    "dropped": each(rules.text, "x", tuple),
    "nominal": one_of("index", "onehot"),
    "rows": rules.array_of(np.uint64, "r"),
}
COMMON: dict[str, Rule] = {
    "n_features_in_": rules.count("d"),
    "feature_names_in_": names("d"),
    "input_columns_": rules.record(FROM_A_FILE),
    "label_names_": names("q"),
    "classes_": rules.classes,
    "_target": one_of("matrix", "binary", "multiclass"),
    "thresholds_": floats("q", low=-FINITE, high=FINITE),
    "n_iter_": integer(0),
}
ANY_CAMEL = COMMON | {
    "label_correlation_": floats("q", "q"),
    "cooccurrence_": floats("q", "q", low=0),
    "total_weight_": POSITIVE,
    "threshold_rule_": either(one_of("zero", "common", "label"), number()),
    "estimate_": rules.record(dict.fromkeys(METRICS, either(number(), rules.undefined))),
    "_slopes": either(nothing, floats("q", low=5e-324, high=1e150)),
}
CAMEL = ANY_CAMEL | {
    "dual_coef_": floats("n", "q"),
    "intercept_": floats("q", low=-OF_PRODUCTS, high=OF_PRODUCTS),
    "_offset": floats("q"),
    "A_": floats("n", "q"),
    "b_": floats("q", low=-OF_PRODUCTS, high=OF_PRODUCTS),
    "Z_": floats("n", "q"),
    "collaboration_": floats("q", "q"),
    "convergence_": floats("i", low=0),
    "bandwidth_": POSITIVE,
    "X_fit_": either(nothing, rules.rows("n", "d")),
    "_kernel": part("Kernel", name=one_of(*kernel.NAMES), bandwidth=POSITIVE),
    "_scaling": SCALING,
    "_kernel_mean": floats("n", low=-OF_PRODUCTS, high=OF_PRODUCTS),
    "_lambda2": POSITIVE,
    "_kept": either(nothing, indices("n", below=("d",), ascending=True)),
}
LINEAR = COMMON | {
    "coef_": floats("q", "d"),
    "intercept_": floats("q"),
    "label_distance_": floats("q", "q"),
    "scaling_": SCALING,
}
JFSC = LINEAR | {"fisher_": floats("q", "d", low=-OF_PRODUCTS, high=OF_PRODUCTS)}


def _search(**values: Rule) -> dict[str, Rule]:
    """Attributes of a search over a grid of parameters with these names."""
    return {f"{name}_": rule for name, rule in values.items()} | {
        "cv_results_": rules.results(values),
        "best_index_": integer(0, below=("c",)),
        "best_score_": number(),
        "best_params_": rules.record(values),
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
    | {"members_": each(_member, "m"), "weights_": floats("m", low=0)}
    | {key: rule for key, rule in CAMEL_SEARCH.items() if key == "cv_results_" or key.startswith(("best_", "scoring_"))}
)
TABLES: dict[str, dict[str, Rule]] = {
    "CamelClassifier": CAMEL,
    "CamelClassifierCV": CAMEL | CAMEL_SEARCH | {"bandwidth_multiplier_": POSITIVE},
    "BinaryRelevance": COMMON | {"model_": _logistic("d"), "estimators_": nothing},
    "EnsembleOfClassifierChains": COMMON
    | {"estimators_": each(part("Chain", order=rules.permutation("q"), links=_logistic("d", "q")), "m"), "_votes": rules.flag},
    "RAkEL": COMMON
    | {
        "labelsets_": indices("m", "l", below=("q",), ascending=True),
        "patterns_": each(indices("s", "l", below=2), "m"),
        "_models": each(pair(each(integer(0, below=("m",)), "s"), either(integer(0, 0), SOFTMAX)), "g"),
    },
    "LLSF": LINEAR,
    "JFSC": JFSC,
    "LLSFCV": LINEAR | _search(alpha=AT_LEAST_0, beta=AT_LEAST_0, rho=AT_LEAST_0),
    "JFSCCV": JFSC | _search(alpha=AT_LEAST_0, beta=AT_LEAST_0, gamma=AT_LEAST_0, eta=AT_LEAST_0),
}


def check(model: Any, state: Mapping[str, Any]) -> None:
    """Raise ValueError unless the parameters of `model`, not yet fitted, and the attributes in `state` make a sound model."""
    name = type(model).__name__
    table = COMBINED if getattr(model, "combine", False) is True else TABLES[name]
    if unknown := [repr(key) for key in state if key not in table]:
        raise ValueError(f"{', '.join(unknown)[:200]} is no attribute of a fitted {name}")
    if missing := [key for key in table if key not in state and key not in OPTIONAL]:
        raise ValueError(f"{', '.join(missing)} missing")
    _check_parameters(model)
    sizes: Sizes = {}
    rules.apply(table, state, sizes)
    _check_labels(state, sizes["q"])
    if "_kernel" in table:
        _check_training_rows(state, sizes, pairwise=model._is_pairwise())
    if "_models" in table:
        _check_labelsets(state, sizes["m"])


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
    """Training rows, or none for a kernel that was computed before; then its columns are those rows."""
    n, d = sizes["n"], sizes["d"]
    if pairwise != (state["_kernel"].name == "precomputed") or pairwise != (state["X_fit_"] is None):
        raise ValueError("kernel, _kernel and X_fit_ do not belong together")
    if pairwise and (state["_scaling"].name != "none" or (n != d if state["_kept"] is None else n > d)):
        raise ValueError(f"a kernel matrix of {d} columns does not fit {n} rows, or it is scaled")
    if not pairwise and state["_kept"] is not None:
        raise ValueError("_kept is for kernel matrices only")
    if state["bandwidth_"] != state["_kernel"].bandwidth:
        raise ValueError(f"bandwidth_ is {state['bandwidth_']:g}, that of _kernel {state['_kernel'].bandwidth:g}")


def _check_labelsets(state: Mapping[str, Any], m: int) -> None:
    """Each label set has one model that answers for it, and that model knows its patterns."""
    answered = sorted(one for sets, _ in state["_models"] for one in sets)
    if answered != list(range(m)):
        raise ValueError(f"_models must answer for each of the {m} label sets once")
    for sets, model in state["_models"]:
        n_classes = 1 if isinstance(model, int) else model.n_classes
        if any(len(state["patterns_"][one]) != n_classes for one in sets):
            raise ValueError(f"a model of {n_classes} patterns answers for sets with more or fewer")
        if not isinstance(model, int) and len(model.intercept) != len(sets) * (n_classes - 1):
            raise ValueError(f"a model of {len(model.intercept)} weights per feature answers for {len(sets)} sets of {n_classes} patterns")

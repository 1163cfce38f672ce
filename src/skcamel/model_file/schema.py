"""What a model file may hold: the shape and the range of every value, and what must fit together, checked before anything is used.

A letter in a shape is a size, such as q labels: the first value that has it says how large it is, and all others must agree. Numbers
are bounded by `LARGEST` and divisors by its inverse, so that no product formed by a prediction overflows for rows of ordinary size: a
model that passes answers with finite numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.camel import kernel, scaling
from skcamel.camel.link import LEVELS
from skcamel.data import cells
from skcamel.data.parts import CYCLES
from skcamel.metrics.conventions import NAMES as METRICS

LARGEST = 1e50  # of a stored number; its inverse is the smallest divisor
OF_PRODUCTS = 1e110  # of products of two such numbers, summed
FINITE = float(np.finfo(np.float64).max)
MOST = 2**31 - 1  # of whatever is counted
PLAIN = (type(None), bool, int, float, str)
RESULT = re.compile(r"(mean|std|rank|split\d{1,9})_test_[a-z0-9_]{1,40}")
FEW = ("kernels", "scalings", "representations")  # parameters whose entries are checked against each other

# Attributes of fitted models that must be there, and those that only some fits set.
OF_ALL = "n_features_in_ label_names_ classes_ _target thresholds_ n_iter_ total_weight_ label_correlation_ cooccurrence_"
OF_ONE = "solver_ A_ b_ bandwidth_ dual_coef_ intercept_ collaboration_ X_fit_ _offset _kernel _scaling _kernel_mean _lambda2"
OF_SEARCH = "cv_results_ best_score_ best_params_ scoring_"
OF_CHOSEN = "best_index_ scaling_ kernel_ alpha_ lambda1_ lambda2_ bandwidth_multiplier_"
OF_COMBINED = "members_ weights_ _constant"
REQUIRED = {
    "CamelClassifier": f"{OF_ALL} {OF_ONE}",
    "CamelClassifierCV": f"{OF_ALL} {OF_SEARCH} {OF_ONE} {OF_CHOSEN}",
    "combination": f"{OF_ALL} {OF_SEARCH} {OF_COMBINED}",
    "TablePreparer": "n_features_in_ feature_names_in_ parts_",
}
OPTIONAL = "feature_names_in_ input_columns_ label_columns_ known_together_ Z_ convergence_ sampled_ "
OPTIONAL += "link_slopes_ link_offsets_ set_thresholds_ estimate_ label_estimates_ n_judged_"
TOGETHER = (  # what has the first has the second
    ("link_slopes_", "link_offsets_"),
    ("link_offsets_", "link_slopes_"),
    ("set_thresholds_", "link_slopes_"),
    ("estimate_", "n_judged_"),
    ("label_estimates_", "estimate_"),
)
OF_LABELS = ("rows", "positives", "precision", "recall", "f1")

# Shapes of arrays of float64. What has a dot is a field of a part, of whatever attribute.
FLOATS = {
    "label_correlation_": "qq",
    "collaboration_": "qq",
    "cooccurrence_": "qq",
    "known_together_": "qq",
    "thresholds_": "q",
    "link_slopes_": "q",
    "link_offsets_": "q",
    "SetThresholds.yes": "k",
    "SetThresholds.no": "k",
    "weights_": "m",
    "dual_coef_": "nq",
    "A_": "nq",
    "Z_": "nq",
    "_kernel_mean": "n",
    "X_fit_": "nd",
    "intercept_": "q",
    "b_": "q",
    "_offset": "q",
    "_constant": "q",
    "convergence_": "i",
    "Scaling.shift": "d",
    "Scaling.scale": "d",
    "Ranks.knots": "t",
    "Ranks.levels": "t",
    "Steps.knots": "t",
    "Steps.levels": "t",
    "Text.idf": "w",
}
INTEGERS = {"Ranks.ends": "d"}
TEXTS = {  # sequences of texts, * of any length
    "label_names_": "q",
    "feature_names_in_": "d",
    "label_columns_": "*",
    "input_columns_.features": "d",
    "input_columns_.dropped": "*",
    "Category.values": "*",
    "Category.rare": "*",
    "Tags.values": "*",
    "Tags.rare": "*",
    "Text.words": "w",
    "Moment.cycles": "*",
}
MAY_BE_NONE = ("X_fit_", "Scaling.shift", "Scaling.scale", "Scaling.ranks")
MAY_BE_NONE += ("Number.steps", "Moment.steps")
WHOLE = ("n_features_in_", "n_iter_", "n_judged_", "best_index_", "gaps")
WHOLE += ("Number.odd", "Moment.middle")
NUMBERS = ("best_score_", "total_weight_", "bandwidth_", "_lambda2", "alpha_", "lambda1_", "lambda2_", "bandwidth_multiplier_")
NUMBERS += ("alpha", "lambda1", "lambda2", "bandwidth", "Kernel.bandwidth", "Number.median")
POSITIVE, COUNT = (1 / LARGEST, LARGEST), (0, FINITE)
RANGES: dict[str, tuple[float, float]] = {  # of arrays and numbers; others are from -LARGEST to LARGEST, whole ones from 0 to MOST
    **dict.fromkeys(("total_weight_", "bandwidth_", "_lambda2", "bandwidth_multiplier_", "bandwidth", "Kernel.bandwidth"), POSITIVE),
    **dict.fromkeys(("alpha_", "alpha", "Ranks.levels", "Steps.levels"), (0, 1)),
    **dict.fromkeys(("lambda1_", "lambda2_", "lambda1", "lambda2"), COUNT),
    **dict.fromkeys(("thresholds_", "best_score_"), (-FINITE, FINITE)),
    **dict.fromkeys(("intercept_", "b_", "_kernel_mean", "_constant"), (-OF_PRODUCTS, OF_PRODUCTS)),
    **dict.fromkeys(("cooccurrence_", "known_together_", "convergence_", "weights_"), (0, LARGEST)),
    **{
        "link_slopes_": (5e-324, 1e150),
        "SetThresholds.yes": (0, 2),
        "SetThresholds.no": (0, 2),
        "Scaling.scale": POSITIVE,
        "Text.idf": (0, LARGEST),
        "n_features_in_": (1, MOST),
    },
    "Moment.middle": (-(10**12), 10**12),
}
WORDS: dict[str, tuple[str, ...]] = {
    "_target": ("matrix", "binary", "multiclass"),
    "solver_": ("spectral", "landmark", "primal", "alternating"),
    "scoring_": METRICS,
    **dict.fromkeys(("kernel_", "kernel", "Kernel.name"), kernel.NAMES),
    **dict.fromkeys(("scaling_", "scaling", "Scaling.name"), scaling.NAMES),
    "LeftOut.why": ("id", "constant", "empty", "dropped"),
    "Number.decimal": tuple(cells.DIGITS),
    "Moment.order": tuple(cells.DATES),
    "Tags.separator": ("", "json", *cells.SEPARATORS),
    "Text.analyzer": ("word", "char"),
}
CHOSEN = ("scaling", "kernel", "bandwidth", "alpha", "lambda1", "lambda2")  # of a candidate of a search
RECORDS = {  # mappings with just these names
    "best_params_": CHOSEN,
    "input_columns_": ("features", "categories", "dropped"),
}
PARTS = {"_kernel": "Kernel", "_scaling": "Scaling", "Scaling.ranks": "Ranks", "set_thresholds_": "SetThresholds"}
PARTS |= {"Number.steps": "Steps", "Moment.steps": "Steps"}
OF_TABLES = "LeftOut Number Flag Category Tags Moment Text"
PARTS["parts_"] = OF_TABLES

Sizes = dict[str, int]


def check(model: Any, state: Mapping[str, Any]) -> None:
    """Raise ValueError unless the parameters of `model`, not yet fitted, and the attributes in `state` make a sound model or step."""
    name = type(model).__name__
    required = REQUIRED["combination" if getattr(model, "combine", False) is True else name].split()
    if unknown := [repr(key) for key in state if key not in (*required, *OPTIONAL.split())]:
        raise ValueError(f"{', '.join(unknown)[:200]} is no attribute of a fitted {name}")
    if missing := [key for key in required if key not in state]:
        raise ValueError(f"{', '.join(missing)} missing")
    _check_parameters(model)
    sizes: Sizes = {}
    for key in required + [key for key in state if key not in required]:
        _check_value(key, key, state[key], sizes)
        if key == "n_features_in_":
            sizes["d"] = state[key]
    if "label_names_" in state:
        _check_labels(state, sizes["q"])
    if "_kernel" in state:
        _check_training_rows(state, sizes, pairwise=model._is_pairwise())


def _check_value(name: str, key: str, value: Any, sizes: Sizes) -> None:
    """A value under its name, or its key in the tables above; a message begins with the name."""
    if value is None and key in MAY_BE_NONE:
        return
    try:
        for table, check_kind in KINDS:
            if key in table:
                check_kind(key, value, sizes)
                return
        raise ValueError("is not known")
    except ValueError as error:
        raise ValueError(f"{name} {error}") from error


def _must(holds: bool, what: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"must be {what}, got {shown(value)}")


def shown(value: Any) -> str:
    """A few words on a value, however large it is."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name} and shape {value.shape}"
    if isinstance(value, int) and abs(value) > MOST:
        return "a huge number"
    text = repr(value) if isinstance(value, PLAIN) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:80]}…"


def _check_shape(letters: str, shape: tuple[int, ...], sizes: Sizes) -> None:
    """Compare a shape with the sizes known so far, and learn the others."""
    if letters == "*":
        return
    for letter, size in zip(letters, shape, strict=False):
        sizes.setdefault(letter, size)
    needed = tuple(sizes.get(letter, 0) for letter in letters)
    if shape != needed:
        raise ValueError(f"has shape {shape}, {needed} is needed")
    if 0 in shape:
        raise ValueError(f"has shape {shape}, which is empty")


def _check_array(key: str, value: Any, sizes: Sizes) -> None:
    """An array of float64 or of whole numbers, or a sparse matrix, whose parts were checked when it was built."""
    if sparse.issparse(value) and key == "X_fit_":
        entries = value.data
    else:
        kinds = [np.float64] if key in FLOATS else [np.int64, np.int32]
        _must(isinstance(value, np.ndarray) and value.dtype in kinds, f"an array of {kinds[0].__name__}", value)
        entries = value
    _check_shape((FLOATS | INTEGERS)[key], value.shape, sizes)
    low, high = RANGES.get(key, (-LARGEST, LARGEST))
    if entries.size and not (low <= entries.min() and entries.max() <= high):
        raise ValueError(f"must hold numbers from {low:g} to {high:g} only, got {entries.min():g} to {entries.max():g}")


def _check_whole(key: str, value: Any, _: Sizes) -> None:
    low, high = RANGES.get(key, (0, MOST))
    _must(type(value) is int and low <= value <= high, f"a whole number from {low:g} to {high:g}", value)


def _check_number(key: str, value: Any, _: Sizes) -> None:
    low, high = RANGES.get(key, (-LARGEST, LARGEST))
    _must(type(value) in (int, float) and low <= value <= high, f"a number from {low:g} to {high:g}", value)


def _check_word(key: str, value: Any, _: Sizes) -> None:
    _must(isinstance(value, str) and value in WORDS[key], f"one of {', '.join(WORDS[key])}", value)


def _check_text(_: str, value: Any, __: Sizes) -> None:
    """Text that can be written and shown."""
    _must(isinstance(value, str), "text", value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"holds half characters (surrogates): {shown(value)}") from error


def _check_texts(key: str, value: Any, sizes: Sizes) -> None:
    """An array of texts, or a tuple; what a column has been seen to hold is there once."""
    is_array = isinstance(value, np.ndarray)
    _must(is_array if key in ("label_names_", "feature_names_in_") else isinstance(value, tuple), "a sequence of texts", value)
    _check_shape(TEXTS[key], value.shape if is_array else (len(value),), sizes)
    for one in value.tolist() if is_array else value:
        _check_text(key, one, sizes)
    if "." in key and len(set(value)) < len(value):
        raise ValueError("must hold different texts")


def _check_record(key: str, value: Any, sizes: Sizes) -> None:
    if not isinstance(value, dict) or set(value) != set(RECORDS[key]):
        raise ValueError(f"must name {', '.join(RECORDS[key])}, got {shown(value)}")
    for name, item in value.items():
        _check_value(name, f"{key}.{name}" if key == "input_columns_" else name, item, dict(sizes))


def parts_of(value: Any) -> dict[str, Any]:
    """Fields of a named tuple or of a data class."""
    return value._asdict() if isinstance(value, tuple) else vars(value)


def _check_part(key: str, value: Any, sizes: Sizes) -> None:
    """An object of a class of skcamel, which has all its fields."""
    kind = type(value).__name__
    _must(kind in PARTS[key].split(), f"a {PARTS[key]}", value)
    own = dict(sizes)
    for name, item in parts_of(value).items():
        _check_value(name, name if name in ("gap", "gaps") else f"{kind}.{name}", item, own)
    if kind in RUNS:
        RUNS[kind](value)


def _check_scaling(value: Any) -> None:
    scaled, ranked = value.name in ("standard", "minmax"), value.name == "rank"
    if scaled != (value.scale is not None) or ranked != (value.ranks is not None):
        raise ValueError(f"{value.name!r} does not fit its scale and ranks")


def _check_ranks(value: Any) -> None:
    """Knots that increase, and levels that do not fall, within each of the columns."""
    if value.ends[0] < 1 or value.ends[-1] != len(value.knots) or (np.diff(value.ends) < 1).any():
        raise ValueError(f"must share {len(value.knots)} knots among its columns, none without any")
    within = np.ones(len(value.knots) - 1, dtype=bool)  # whether each knot but the last has its successor in its own column
    within[value.ends[:-1] - 1] = False
    if (np.diff(value.knots)[within] <= 0).any() or (np.diff(value.levels)[within] < 0).any():
        raise ValueError("must have knots and levels that increase within each column")


def _check_steps(value: Any) -> None:
    """Ranks of one column."""
    if (np.diff(value.knots) <= 0).any() or (np.diff(value.levels) < 0).any():
        raise ValueError("must have knots and levels that increase")


def _check_sets(value: Any) -> None:
    """Thresholds that move apart as the confidence rises."""
    if len(value.yes) != LEVELS + 1 or (np.diff(value.yes) < 0).any() or (np.diff(value.no) > 0).any():
        raise ValueError(f"must hold {LEVELS + 1} thresholds that move apart")


def _check_moment(value: Any) -> None:
    if not set(value.cycles) <= set(CYCLES):
        raise ValueError("has cycles that are not known")


RUNS = {"Scaling": _check_scaling, "Ranks": _check_ranks, "Steps": _check_steps, "SetThresholds": _check_sets, "Moment": _check_moment}


def _check_flag(_: str, value: Any, __: Sizes) -> None:
    _must(isinstance(value, bool), "True or False", value)


def _check_classes(_: str, value: Any, __: Sizes) -> None:
    """An array of different plain values."""
    _must(isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biufUO", "an array of plain values", value)
    known = value.tolist()
    if not all(isinstance(one, PLAIN) and one == one for one in known) or len(set(known)) < len(known):
        raise ValueError("must hold different plain values")


def _check_categories(key: str, value: Any, sizes: Sizes) -> None:
    _must(isinstance(value, dict), "a mapping", value)
    for name, values in value.items():
        _check_text(key, name, sizes)
        _check_value(name, "Category.values", values, {})


def _check_estimate(_: str, value: Any, __: Sizes) -> None:
    """A figure for each metric; NaN where no row defines it."""
    _must(isinstance(value, dict) and set(value) == set(METRICS), "a mapping of metrics", value)
    _must(all(type(one) is float and abs(one) != np.inf for one in value.values()), "a mapping to numbers", value)


def _check_of_labels(_: str, value: Any, sizes: Sizes) -> None:
    """A figure of each label under each of a few names; NaN where none is defined."""
    _must(isinstance(value, dict) and tuple(value) == OF_LABELS, f"a mapping of {', '.join(OF_LABELS)}", value)
    for one in value.values():
        _must(isinstance(one, np.ndarray) and one.dtype == np.float64, "a mapping to arrays of numbers", one)
        _check_shape("q", one.shape, sizes)
        _must(not ((one < 0) | (one == np.inf)).any(), "a mapping to numbers from 0 on", one)


def _check_choice(key: str, value: Any, sizes: Sizes) -> None:
    """The parameters of a candidate, or weights and candidates."""
    if not (isinstance(value, dict) and set(value) == {"weights", "members"}):
        _check_record(key, value, sizes)
        return
    _must(all(type(value[name]) is list for name in value), "lists of weights and members", value)
    for weight in value["weights"]:
        _check_number("weight", weight, {})
    for member in value["members"]:
        _check_record(key, member, sizes)


def _check_results(_: str, value: Any, sizes: Sizes) -> None:
    """The table of a search: its candidates, a column for each of their parameters, and columns of numbers."""
    _must(isinstance(value, dict) and isinstance(value.get("params"), list), "a table with params", value)
    candidates = value["params"]
    _check_shape("c", (len(candidates),), sizes)
    for candidate in candidates:
        _check_record("best_params_", candidate, {})
    for name, column in value.items():
        if name == "params":
            continue
        _must(isinstance(column, np.ndarray) and column.shape == (len(candidates),), f"columns of {len(candidates)} entries", column)
        if name.startswith("param_"):
            for item in column.tolist():
                _check_value(name, name.removeprefix("param_"), item, {})
        elif not RESULT.fullmatch(name) or column.dtype not in (np.float64, np.int32):
            raise ValueError(f"has a column {shown(name)}, which no search writes")


def _check_members(_: str, value: Any, sizes: Sizes) -> None:
    """Models of their own, sound by themselves, of as many features and labels."""
    _must(isinstance(value, list), "a list", value)
    _check_shape("m", (len(value),), sizes)
    for own in value:
        if type(own).__name__ != "CamelClassifier" or (own.n_features_in_, len(own.label_names_)) != (sizes["d"], sizes["q"]):
            raise ValueError(f"must hold fitted CamelClassifiers of {sizes['d']} features and {sizes['q']} labels")


def _check_columns(key: str, value: Any, sizes: Sizes) -> None:
    """Parts of columns with different names, each of which gives columns unless it is left out."""
    _must(isinstance(value, tuple), "a tuple", value)
    _check_shape("d", (len(value),), sizes)
    for part in value:
        _check_part(key, part, sizes)
        if type(part).__name__ != "LeftOut" and not part.features():
            raise ValueError(f"must give a column, {part.name!r:.60} gives none")
    if len({part.name for part in value}) < len(value):
        raise ValueError("must have different names")


def _check_sampled(_: str, value: Any, __: Sizes) -> None:
    counts = isinstance(value, tuple) and len(value) == 2 and all(type(one) is int and one > 0 for one in value)
    _must(counts, "two numbers of rows", value)


TEXT = ("LeftOut.reason", "Number.unit", "Flag.yes", "Flag.no", *(f"{kind}.name" for kind in OF_TABLES.split()))
KINDS = (
    (FLOATS, _check_array),
    (INTEGERS, _check_array),
    (WHOLE, _check_whole),
    (NUMBERS, _check_number),
    (WORDS, _check_word),
    (TEXT, _check_text),
    (TEXTS, _check_texts),
    (("best_params_",), _check_choice),
    (RECORDS, _check_record),
    (("gap",), _check_flag),
    (("classes_",), _check_classes),
    (("input_columns_.categories",), _check_categories),
    (("estimate_",), _check_estimate),
    (("label_estimates_",), _check_of_labels),
    (("cv_results_",), _check_results),
    (("members_",), _check_members),
    (("parts_",), _check_columns),
    (("sampled_",), _check_sampled),
    (PARTS, _check_part),
)


def _check_parameters(model: Any) -> None:
    """Plain values, and such as the estimator accepts; a device that this machine lacks is no fault of the model."""
    parameters = model.get_params(deep=False)
    for name, value in parameters.items():
        if not (_is_plain(value) or (name == "miss_cost" and _are_costs(value))):
            raise ValueError(f"parameter {name} is neither a plain value nor a sequence of such")
        if name in FEW and type(value) in (list, tuple) and len(value) > 100:
            raise ValueError(f"parameter {name} has {len(value)} entries, 100 are the most")
    device = parameters.get("device")
    if device is not None:
        _must(isinstance(device, str) and re.fullmatch(r"cpu|cuda(:\d{1,2})?", device) is not None, "cpu or cuda as device", device)
        parameters["device"] = None
    if hasattr(model, "_check_parameters"):  # transformers may have none
        type(model)(**parameters)._check_parameters()


def _is_plain(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return isinstance(value, PLAIN) or (type(value) in (list, tuple) and all(map(_is_plain, value)))


def _are_costs(value: Any) -> bool:
    """A mapping of texts to plain values."""
    return type(value) is dict and all(map(_is_plain, (*value, *value.values())))


def _check_labels(state: Mapping[str, Any], q: int) -> None:
    """As many labels as the classes call for, and all attributes by which they are answered."""
    target, known = state["_target"], state["classes_"]
    fits = {
        "matrix": known.dtype.kind == "i" and np.array_equal(known, np.arange(q)),
        "binary": q == 1 and len(known) in (1, 2),
        "multiclass": q == len(known) > 2,
    }
    if not fits[target]:
        raise ValueError(f"classes_ and label_names_ do not belong together: {len(known)} and {q} of them for the target {target!r}")
    for key, other in TOGETHER:
        if key in state and other not in state:
            raise ValueError(f"{key} needs {other}")
    if "best_index_" in state and state["best_index_"] >= len(state["cv_results_"]["params"]):
        raise ValueError("best_index_ is beyond the last candidate")


def _check_training_rows(state: Mapping[str, Any], sizes: Sizes, *, pairwise: bool) -> None:
    """Training rows, or landmarks; none for a kernel that was computed before, whose columns are those rows, and for plain features."""
    n, d, primal, own = sizes["n"], sizes["d"], state["solver_"] == "primal", state["_kernel"]
    if pairwise != (own.name == "precomputed") or (pairwise or primal) != (state["X_fit_"] is None):
        raise ValueError("kernel, _kernel and X_fit_ do not belong together")
    if primal and (pairwise or n != d or own.name != "linear"):
        raise ValueError(f"{n} coefficients do not fit {d} features of a linear kernel")
    if pairwise and (state["_scaling"].name != "none" or n != d):
        raise ValueError(f"a kernel matrix of {d} columns does not fit {n} rows, or it is scaled")
    if state["bandwidth_"] != own.bandwidth:
        raise ValueError(f"bandwidth_ is {state['bandwidth_']:g}, that of _kernel {own.bandwidth:g}")

"""Constructor parameters ► accepted, or refused with the value that came and what to give instead."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from skcamel import correlation, kernel, scaling
from skcamel.arrays import check_device
from skcamel.selection import thresholds
from skcamel.support import PRECOMPUTED, SCALING, check_together


def check_shared_parameters(estimator: Any) -> None:
    """Parameters that both estimators have."""
    check_positive("sparsity", estimator.sparsity)
    if not isinstance(estimator.correlation, str) or estimator.correlation not in correlation.KINDS:
        raise ValueError(f"correlation={estimator.correlation!r} is not known; choose 'paper' or 'centred'.")
    check_positive("tol", estimator.tol)
    check_count("max_iter", estimator.max_iter)
    check_threshold(estimator.threshold, estimator.threshold_metric)
    check_device(estimator.device)


def check_threshold(threshold: Any, metric: Any, words: tuple[str, ...] = thresholds.MODES) -> None:
    """Refuse unknown rules for the cuts: neither one of `words` nor a finite number, or tuned for an unknown metric."""
    if not (threshold in words if isinstance(threshold, str) else np.isfinite(as_number(threshold))):
        raise ValueError(f"threshold={threshold!r} is not known; choose {', '.join(map(repr, words))} or a number.")
    if metric not in (None, *thresholds.METRICS):
        raise ValueError(f"threshold_metric={metric!r} is not known; choose one of {', '.join(thresholds.METRICS)}.")


def as_number(value: Any) -> float:
    """A real number as a float; NaN for whatever is none, or too large to be one."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    except OverflowError:
        return np.nan


def check_positive(name: str, value: Any, otherwise: str = "") -> None:
    """Refuse what is not a finite number above 0."""
    if not 0 < as_number(value) < np.inf:
        raise ValueError(f"{name} must be a number > 0{' ' + otherwise if otherwise else ''}, got {value!r}.")


def check_not_negative(name: str, value: Any) -> None:
    """Refuse what is not a finite number of at least 0."""
    if not 0 <= as_number(value) < np.inf:
        raise ValueError(f"{name} must be a number >= 0, got {value!r}.")


def check_count(name: str, value: Any, *, least: int = 1, otherwise: str = "") -> None:
    """Refuse what is not an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}{' ' + otherwise if otherwise else ''}, got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")  # noqa: TRY004 (as for every other parameter)


def check_bandwidth(name: str, value: Any, otherwise: str = "") -> None:
    """Refuse what is not a number whose square is one."""
    check_positive(name, value, otherwise)
    if not 1e-100 < float(value) < 1e100:
        raise ValueError(f"{name} must lie between 1e-100 and 1e100, got {value!r}.")


def check_in_unit_interval(name: str, value: Any) -> None:
    """Refuse what is not a number in [0, 1]."""
    if not 0 <= as_number(value) <= 1:
        raise ValueError(f"{name} must be a number in [0, 1], got {value!r}.")


def check_kernel(name: Any) -> None:
    """Refuse unknown kernels."""
    if not callable(name) and name not in kernel.NAMES:
        raise ValueError(f"kernel={name!r} is not known; choose one of {', '.join(map(repr, kernel.NAMES))} or give a function.")


def check_scaling(name: Any, kernel_name: Any) -> None:
    """Refuse unknown scalings, and any scaling of a kernel matrix."""
    if name not in scaling.NAMES:
        raise ValueError(f"scaling={name!r} is not known; choose one of {', '.join(map(repr, scaling.NAMES))}.")
    if kernel_name == "precomputed" and name != "none":
        check_together(PRECOMPUTED, SCALING)


def check_places(name: str, tried: Sequence[tuple[Any, Any, Any]]) -> None:
    """Refuse representations (scaling, kernel, multiple of the mean distance) that do not exist, and a kernel matrix beside features."""
    for scaling_name, kernel_name, multiple in tried:
        check_kernel(kernel_name)
        check_scaling(scaling_name, kernel_name)
        check_bandwidth(name, multiple)
    kernels = tuple(kernel_name for _, kernel_name, _ in tried)
    if "precomputed" in kernels and len(set(kernels)) > 1:
        raise ValueError(f"kernels={kernels!r} mixes 'precomputed' with kernels of features; give it alone.")

"""Values ► what strict JSON can hold, on every run the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from skcamel.experiment.identity import ADDRESS


def jsonable(value: Any, infinite: Callable[[float], Any] = str) -> Any:
    """Numbers, text, lists and mappings as they are, anything else as the text that describes it.

    Integers of more than 17 digits become text too. Numbers that are not finite become what `infinite` makes of them.

    Examples
    --------
    >>> jsonable({"alpha": np.float64(0.5), "kernels": ("rbf",), "limit": np.inf, "by": len})
    {'alpha': 0.5, 'kernels': ['rbf'], 'limit': 'inf', 'by': '<built-in function len>'}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 10**17 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else infinite(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(item, infinite) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item, infinite) for item in value]
    return ADDRESS.sub("", repr(value))

"""Values ► what strict JSON can hold, on every run the same."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # in the repr of functions and objects: another one in each run


def jsonable(value: Any, infinite: Callable[[float], Any] = str) -> Any:
    """Numbers, text, lists and mappings as they are, anything else as the text that describes it.

    Numbers that are not finite become what `infinite` makes of them.

    Examples
    --------
    >>> jsonable({"alpha": np.float64(0.5), "kernels": ("rbf",), "limit": np.inf, "by": len})
    {'alpha': 0.5, 'kernels': ['rbf'], 'limit': 'inf', 'by': '<built-in function len>'}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else infinite(value)
    if isinstance(value, Mapping):
        return {str(key): jsonable(item, infinite) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item, infinite) for item in value]
    return ADDRESS.sub("", repr(value))

"""What decides about a result, as JSON: every parameter with its default, and data by digest; what names a unit of a study."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # in the repr of objects: another one in each run


def described(value: Any) -> Any:
    """All that decides about the results of an estimator, or about a mapping of settings; equal for equal ones in every run.

    For an estimator: its class and all its parameters. Functions and classes are told by their
    names, not by their code.

    >>> from sklearn.preprocessing import Binarizer
    >>> described(Binarizer())
    {'class': 'sklearn.preprocessing._data:Binarizer', 'params': {'copy': True, 'threshold': 0.0}}
    """
    return _described(value, frozenset())


def settings_of(method: Any) -> dict[str, Any]:
    """The settings of a method as its units have them."""
    if not isinstance(method.settings, Mapping):
        raise TypeError(
            f"The settings of the method {method.name!r} must be a mapping, got"
            f" {method.settings!r}."
        )
    return described(dict(method.settings))


def _described(value: Any, outer: frozenset[int]) -> Any:
    """`outer` are the objects that hold this one: circles end there."""
    if isinstance(value, np.generic) and not isinstance(value, np.longdouble | np.clongdouble):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 10**17 else hex(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, type | FunctionType):
        return {"class" if isinstance(value, type) else "function": _name(value)}
    if isinstance(value, ModuleType):
        return {"module": value.__name__}
    if id(value) in outer:
        return "(circle)"
    inner = outer | {id(value)}
    if isinstance(value, (list, tuple)):
        return [_described(item, inner) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_described(item, inner) for item in value), key=canonical)
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {str(key): _described(item, inner) for key, item in value.items()}
        return sorted(
            ([_described(key, inner), _described(item, inner)] for key, item in value.items()),
            key=canonical,
        )
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return {
            "array": f"{value.dtype.str} {value.shape}",
            "sha256": short_digest(np.ascontiguousarray(value).tobytes()),
        }
    if isinstance(value, bytes | bytearray):
        return {"bytes": len(value), "sha256": short_digest(bytes(value))}
    if hasattr(value, "get_params"):
        params = value.get_params(deep=False)
        return {
            "class": _name(type(value)),
            "params": {name: _described(params[name], inner) for name in sorted(params)},
        }
    return {"object": _name(type(value)), "sha256": short_digest(canonical(_state(value, inner)))}


def _state(value: Any, outer: frozenset[int]) -> Any:
    """What pickling would keep of an object; its attributes, or what it looks like, where it cannot be pickled."""
    try:
        made = value.__reduce_ex__(2)
    except Exception:
        return (
            _described(vars(value), outer)
            if hasattr(value, "__dict__")
            else ADDRESS.sub("", repr(value))
        )
    if isinstance(made, str):
        return made
    maker, arguments, state, items, pairs = (*made, None, None, None)[:5]
    return _described([maker, arguments, state, list(items or ()), list(pairs or ())], outer)


def _name(thing: Any) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


def jsonable(value: Any, infinite: Callable[[float], Any] = str) -> Any:
    """What strict JSON can hold: numbers, text, lists and mappings as they are, anything else as the text that describes it.

    Integers of more than 17 digits become text too. Numbers that are not finite become what
    `infinite` makes of them.

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


def canonical(value: Any) -> str:
    """JSON text that is the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def short_digest(content: str | bytes) -> str:
    """Twenty hexadecimal digits, the same on every machine."""
    return hashlib.sha256(
        content.encode(errors="surrogatepass") if isinstance(content, str) else content
    ).hexdigest()[:20]

"""Public names of packages, imported on first use, and hints for names that version 1.0 removed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

# As a user writes it ► what to do instead: "skcamel.NAME", "skcamel COMMAND", "skcamel COMMAND
# --option", "parameter='value'". The table goes with the next release.
INSTEAD: dict[str, str] = json.loads(
    Path(__file__).with_name("gone.json").read_text(encoding="utf-8")
)


def lazily(
    package: str, home: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose modules are imported on first use.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    home : mapping
        Public name ► module of the package that defines it; "": the name is a module itself.

    Examples
    --------
    >>> find, names = lazily("skcamel.metrics", {"one_error": "seven", "seven": ""})
    >>> find("one_error").__name__, find("seven").__name__, names()
    ('one_error', 'skcamel.metrics.seven', ['one_error', 'seven'])
    """

    def find(name: str) -> Any:
        if why := hint(f"{package}.{name}"):
            raise ImportError(why, name=package)
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name] or name}")
        return getattr(module, name) if home[name] else module

    return find, lambda: sorted(home)


def hint(use: str) -> str:
    """One sentence for something that went; empty for anything else.

    Examples
    --------
    >>> hint("landmarks='pivoted'")
    "landmarks='pivoted' is no longer there: landmarks='uniform' are as accurate and cost less."
    >>> hint("landmarks='uniform'")
    ''
    """
    if use in INSTEAD:
        return f"{use} is no longer there: {INSTEAD[use]}."
    return ""


def without(**instead: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of a function: parameters that went raise TypeError with what to do instead.

    Examples
    --------
    >>> @without(speed="it is always fast")
    ... def fit(X): ...
    >>> fit(1, speed=2)
    Traceback (most recent call last):
    TypeError: fit() no longer takes speed: it is always fast.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            for name in instead.keys() & kwargs.keys():
                raise TypeError(f"{function.__name__}() no longer takes {name}: {instead[name]}.")
            return function(*args, **kwargs)

        return called

    return decorated

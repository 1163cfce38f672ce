"""What version 1.0 no longer has, and what to do instead. This module goes with the next release."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

INSTEAD = {  # as a user writes it ► what to do instead: "skcamel.NAME", "skcamel COMMAND", "skcamel COMMAND --option", "parameter='value'"
    "skcamel.baselines.IMCC": "a study takes it as imcc=studies/alternatives/imcc.py:IMCCCV, with one value in each axis",
    "skcamel.baselines.IMCCCV": "a study takes it as imcc=studies/alternatives/imcc.py:IMCCCV",
    "landmarks='pivoted'": "landmarks='uniform' are as accurate and cost less",
}


def hint(use: str) -> str:
    """One sentence for something that went; empty for anything else.

    Examples
    --------
    >>> hint("landmarks='pivoted'")
    "landmarks='pivoted' is no longer there: landmarks='uniform' are as accurate and cost less."
    >>> hint("landmarks='uniform'")
    ''
    """
    return f"{use} is no longer there: {INSTEAD[use]}." if use in INSTEAD else ""


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

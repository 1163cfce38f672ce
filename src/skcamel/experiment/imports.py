"""``package.module:name`` ► what it names; how the text of a command line gets at code of one's own."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def imported(path: str, what: str) -> Any:
    """The object that ``package.module:name`` names.

    Parameters
    ----------
    path : str
    what : str
        What the user wants there and how it is written, for the error: "a method is package.module:Class".

    Examples
    --------
    >>> imported("math:sqrt", "a metric is package.module:function")(9)
    3.0
    """
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:  # a module of one's own may raise anything
        cure = f"{what}, importable from here (PYTHONPATH names further folders)"
        told = str(error) if isinstance(error, (ImportError, AttributeError)) else f"{type(error).__name__} in its module: {error}"
        raise ImportError(f"{path}: {told}; {cure}.") from error

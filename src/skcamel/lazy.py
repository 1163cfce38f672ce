"""Packages whose public names are imported on first use, so that importing a package costs next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from skcamel.gone import hint


def lazily(
    package: str, home: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    home : mapping
        Public name ► module of the package that defines it; "": the name is a module itself.

    Examples
    --------
    >>> find, names = lazily("skcamel.metrics", {"one_error": "ranking", "ranking": ""})
    >>> find("one_error").__name__, find("ranking").__name__, names()
    ('one_error', 'skcamel.metrics.ranking', ['one_error', 'ranking'])
    """

    def find(name: str) -> Any:
        if why := hint(f"{package}.{name}"):
            raise ImportError(why, name=package)
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name] or name}")
        return getattr(module, name) if home[name] else module

    return find, lambda: sorted(home)

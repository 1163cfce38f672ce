"""``name=package.module:Class(arg=1)`` ► what it names; how the text of a command line gets at code of one's own.

Arguments are Python literals. Nothing of the text is executed but the import and the one call.
"""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

SPEC = re.compile(r"(?:(?P<name>[^=:()]+)=)?(?P<place>.+?):(?P<attribute>[^\W\d]\w*)(?P<call>\(.*\))?", re.DOTALL)


class Spec(NamedTuple):
    """The parts of ``name=package.module:Class(arg=1)``; instead of a module, a file ``folder/file.py``."""

    name: str | None
    place: str  # package.module:Class
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def parsed(text: str, form: str) -> Spec:
    """The parts of a text; `form` says how it is to be written, for errors.

    >>> parsed("mine=sklearn.svm:SVC(C=10.0, kernel='linear')", "package.module:Class")
    Spec(name='mine', place='sklearn.svm:SVC', args=(), kwargs={'C': 10.0, 'kernel': 'linear'})
    """
    found = SPEC.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text} is not understood; write {form}.")
    name, call = found["name"], found["call"]
    args, kwargs = _arguments(call or "()", text)
    return Spec(None if name is None else name.strip(), f"{found['place'].strip()}:{found['attribute']}", args, kwargs)


def _arguments(call: str, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        tree = ast.parse(f"f{call}", mode="eval").body
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and all(word.arg for word in tree.keywords):
            return tuple(map(ast.literal_eval, tree.args)), {str(word.arg): ast.literal_eval(word.value) for word in tree.keywords}
        raise ValueError("it is not one pair of parentheses with arguments")
    except (SyntaxError, ValueError) as error:
        cure = "arguments are Python literals: numbers, 'text', True, None, lists; for others write a function without arguments"
        raise ValueError(f"{text}: {call} cannot be read ({error}); {cure}.") from error


def imported(place: str, form: str) -> Any:
    """The object that ``package.module:name`` or ``folder/file.py:name`` names; `form` says how it is to be written, for errors.

    >>> imported("math:sqrt", "package.module:function")(9)
    3.0
    """
    module, _, attribute = place.rpartition(":")
    try:
        return getattr(_from_file(Path(module)) if module.endswith(".py") else import_module(module), attribute)
    except (Exception, SystemExit) as error:  # a module of one's own may raise anything
        cure = f"write {form}, importable from here (PYTHONPATH names further folders), or folder/file.py:name"
        told = str(error) if isinstance(error, (ImportError, AttributeError)) else f"{type(error).__name__} in its module: {error}"
        raise ImportError(f"{place}: {told}; {cure}.") from error


def _from_file(path: Path) -> ModuleType:
    """The module of a file, by its name, so that other processes find it in the same way."""
    path = path.resolve()
    if not path.is_file():
        raise ImportError("there is no such file")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = import_module(path.stem)
    if Path(module.__file__ or "").resolve() != path:
        raise ImportError(f"another module is named {path.stem} ({module.__file__ or 'part of Python'}); rename the file")
    return module


def between_commas(text: str) -> list[str]:
    """Parts of a list; commas inside brackets and quotes part nothing.

    >>> between_commas("br, mine=sklearn.svm:SVC(C=1, kernel='a,b'), camel")
    ['br', "mine=sklearn.svm:SVC(C=1, kernel='a,b')", 'camel']
    """
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif depth and sign in "'\"":  # a quote outside brackets is part of a name
            quote = sign
        else:
            depth = max(0, depth + (sign in "([{") - (sign in ")]}"))
        if sign == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]

"""What decides about a result, as JSON: every parameter with its default, data by digest, and code that is not installed.

Installed packages are identified by their version, which records keep. Code that is not installed (a script, a notebook, a module of
one's own) has no version: the digest of its bytecode, and of all that it refers to, identifies it. Source could have been edited
after it was imported; in bytecode, comments and line numbers do not count, but the minor version of Python does.
"""

from __future__ import annotations

import ast
import dis
import hashlib
import inspect
import json
import math
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # in the repr of objects: another one in each run
LIBRARIES = {"site-packages", "dist-packages"}
# A class that moves inside this package keeps its first name, or all units that it takes part in would be computed again
FIRST_HOMES = dict.fromkeys(("Outcome", "Fitted", "Method"), "skcamel.experiment.outcome")
FIRST_HOMES |= {"EstimatorMethod": "skcamel.experiment.estimators", "CamelMethod": "skcamel.experiment.camel"}
FIRST_HOMES |= dict.fromkeys(("LLSFCV", "JFSCCV"), "skcamel.baselines.grid_search") | {"WithCuts": "skcamel.baselines.with_cuts"}
FIRST_HOMES |= {"BinaryRelevance": "skcamel.baselines.binary_relevance", "RAkEL": "skcamel.baselines.rakel"}
FIRST_HOMES |= dict.fromkeys(("EnsembleOfClassifierChains", "Chain"), "skcamel.baselines.classifier_chains")
# what Python itself writes into a class, and what only describes it
NO_MEMBERS = re.compile(
    "__(dict|weakref|doc|module|qualname|firstlineno|static_attributes|annotat.*|abstractmethods|slotnames|dataclass_.*|parameters)__|_abc_impl"
)


def described(value: Any) -> dict[str, Any]:
    """All that decides about the results of an estimator, or about a mapping of settings; equal for equal ones in every run.

    For an estimator: its class and all its parameters; with `code_sha256` if code that is not installed takes part.

    >>> from sklearn.preprocessing import Binarizer
    >>> described(Binarizer())
    {'class': 'sklearn.preprocessing._data:Binarizer', 'params': {'copy': True, 'threshold': 0.0}}
    """
    walk = Walk()
    return walk(value) | walk.code()


def settings_of(method: Any) -> dict[str, Any]:
    """The settings of a method as its units have them: what it says of itself, and its code where that is not installed."""
    if not isinstance(method.settings, Mapping):
        raise TypeError(f"The settings of the method {method.name!r} must be a mapping, got {method.settings!r}.")
    walk = Walk()
    walk(type(method))
    return walk(dict(method.settings)) | walk.code()


def jsonable(value: Any, infinite: Callable[[float], Any] = str) -> Any:
    """What strict JSON can hold: numbers, text, lists and mappings as they are, anything else as the text that describes it.

    Integers of more than 17 digits become text too. Numbers that are not finite become what `infinite` makes of them.

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


class Walk:
    """Describes values, and collects the functions and classes met on the way whose code is not installed."""

    def __init__(self) -> None:
        self.reached: dict[int, Any] = {}  # kept alive, or another object could get the same id
        self.waiting: list[Any] = []
        self.open: set[int] = set()  # containers and objects that are being described: circles end here

    def __call__(self, value: Any) -> Any:
        """Describe a value: plain ones as they are, others by class and content."""
        if isinstance(value, np.generic) and not isinstance(value, np.longdouble | np.clongdouble):
            value = value.item()
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return int(value) if abs(value) < 10**17 else hex(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(value)
        if isinstance(value, CodeType):
            return self._code_object(value)
        if isinstance(value, type | FunctionType):
            return self._named(value)
        if isinstance(value, ModuleType):
            return {"module": value.__name__}
        if id(value) in self.open:
            return "(circle)"
        self.open.add(id(value))
        try:
            return self._content(value)
        finally:
            self.open.discard(id(value))

    def code(self) -> dict[str, str]:
        """Digest of all code that was reached; nothing where all of it is installed."""
        bodies = []
        while self.waiting:
            thing = self.waiting.pop()
            bodies.append(canonical([_name(thing), self._class(thing) if isinstance(thing, type) else self._function(thing)]))
        return {"code_sha256": short_digest("\n".join(sorted(bodies)))} if bodies else {}

    def _content(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self(item) for item in value]
        if isinstance(value, (set, frozenset)):
            return sorted((self(item) for item in value), key=canonical)
        if isinstance(value, (dict, MappingProxyType)):
            if all(isinstance(key, str) for key in value):
                return {str(key): self(item) for key, item in value.items()}
            return sorted(([self(key), self(item)] for key, item in value.items()), key=canonical)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return {"array": f"{value.dtype.str} {value.shape}", "sha256": short_digest(np.ascontiguousarray(value).tobytes())}
        if isinstance(value, bytes | bytearray):
            return {"bytes": len(value), "sha256": short_digest(bytes(value))}
        if hasattr(value, "get_params"):
            # a parameter added later does not count at the value that it stands for: units computed before keep their identity
            added = getattr(type(value), "ADDED", {}) if _is_own(type(value).__module__) else {}
            # and a new default counts as the old one, which it stands for
            before = getattr(type(value), "DEFAULTS_BEFORE", {}) if added else {}
            given = {
                name: before.get(name, {}).get(item, item) if name in before else item
                for name, item in value.get_params(deep=False).items()
            }
            params = {name: item for name, item in given.items() if name not in added or item != added[name]}
            return {"class": self._named(type(value))["class"], "params": {name: self(params[name]) for name in sorted(params)}}
        return {"object": self._named(type(value))["class"], "sha256": short_digest(canonical(self._state(value)))}

    def _named(self, thing: Any) -> dict[str, Any]:
        """A class or a function by its name; its code is reached if it is not installed, or made inside another function."""
        if (not is_installed(thing) or getattr(thing, "__closure__", None)) and id(thing) not in self.reached:
            self.reached[id(thing)] = thing
            self.waiting.append(thing)
        return {"class" if isinstance(thing, type) else "function": _name(thing)}

    def _state(self, value: Any) -> Any:
        """What pickling would keep of an object; its attributes, or what it looks like, where it cannot be pickled."""
        if isinstance(value, (staticmethod, classmethod)):
            return self(value.__func__)
        if isinstance(value, property):
            return self([value.fget, value.fset, value.fdel])
        if hasattr(value, "__wrapped__"):
            return [self(inspect.unwrap(value)), self({name: part for name, part in vars(value).items() if name != "__wrapped__"})]
        try:
            made = value.__reduce_ex__(2)
        except Exception:
            return self(vars(value)) if hasattr(value, "__dict__") else ADDRESS.sub("", repr(value))
        if isinstance(made, str):
            return made
        maker, arguments, state, items, pairs = (*made, None, None, None)[:5]
        return [self(maker), self(arguments), self(state), self(list(items or ())), self(list(pairs or ()))]

    def _class(self, kind: type) -> Any:
        members = {name: self(member) for name, member in vars(kind).items() if not NO_MEMBERS.fullmatch(name)}
        return [[self(base) for base in kind.__bases__], members]

    def _function(self, function: FunctionType) -> Any:
        inside = [self(cell.cell_contents) for cell in function.__closure__ or () if _is_filled(cell)]
        if is_installed(function):
            return inside
        return [self(function.__code__), self(function.__defaults__), self(function.__kwdefaults__), inside, self._globals(function)]

    def _globals(self, function: FunctionType) -> dict[str, Any]:
        """What the names in a function's code stand for: global values, what they take from modules of one's own, and imports."""
        names = {name for code in _codes(function.__code__) for name in code.co_names}
        found = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
        modules = [value for value in found.values() if isinstance(value, ModuleType) and not is_installed(value)]
        while modules:
            module = modules.pop()
            inside = {f"{module.__name__}.{name}": vars(module)[name] for name in sorted(names) if name in vars(module)}
            new = {name: value for name, value in inside.items() if name not in found}
            modules += [value for value in new.values() if isinstance(value, ModuleType) and not is_installed(value)]
            found |= new
        return {name: self(value) for name, value in found.items()} | {"import": _imports(function)}

    def _code_object(self, code: CodeType) -> Any:
        names = [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
        shape = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
        constants = [self(constant) for constant in code.co_consts]
        return [short_digest(code.co_code + code.co_exceptiontable), *map(list, names), shape, constants]


def is_installed(thing: Any) -> bool:
    """Whether a class, a function or a module is part of Python, of an installed package, or of this one."""
    name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None) or "builtins"
    if name == "__main__":  # a script or a notebook, by whatever program it is run
        return False
    if _is_own(name) or name in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and is_library(file)


def _is_own(module: str) -> bool:
    return str(module).partition(".")[0] == "skcamel"


def is_library(file: str) -> bool:
    """Whether a file lies where Python or an installer put it."""
    path = Path(file).resolve()
    own = (sysconfig.get_path(place) for place in ("stdlib", "platstdlib"))
    return bool(LIBRARIES & set(path.parts)) or any(path.is_relative_to(Path(place).resolve()) for place in own if place)


def _imports(function: FunctionType) -> list[list[str]]:
    """Modules of one's own that a function imports when it runs, and those that they import, with the digests of their code.

    They may not be loaded yet, so their files are read; comments and layout do not count.
    """
    package = str(function.__globals__.get("__package__") or "")
    waiting = [name for code in _codes(function.__code__) for name in _imported_by(code, package)]
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        file = None if name in found or _is_own(name) else _source_of(name)
        if file is not None:
            tree = ast.parse(file.read_bytes())
            found[name] = short_digest(ast.dump(tree))
            waiting += _imported_in(tree, name if file.name == "__init__.py" else name.rpartition(".")[0])
    return [list(item) for item in sorted(found.items())]


def _imported_by(code: CodeType, package: str) -> Iterator[str]:
    """Full names of what a piece of bytecode imports: before each import stand its level and the names taken from the module."""
    steps = list(dis.get_instructions(code))
    for place, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            yield from _full_names(str(step.argval), steps[place - 2].argval or 0, steps[place - 1].argval or (), package)


def _imported_in(tree: ast.AST, package: str) -> Iterator[str]:
    """Full names of what a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _full_names(alias.name, 0, (), package)
        elif isinstance(node, ast.ImportFrom):
            yield from _full_names(node.module or "", node.level, [alias.name for alias in node.names], package)


def _full_names(name: str, level: int, taken: Iterable[str], package: str) -> Iterator[str]:
    try:
        base = resolve_name("." * level + name, package) if level else name
    except ImportError:  # beyond the top of the package: it will fail there, too
        return
    yield base
    yield from (f"{base}.{one}" for one in taken)  # a submodule, perhaps


def _source_of(name: str) -> Path | None:
    """Source of a module that is not installed; None where there is no such module."""
    try:
        spec = find_spec(name)
    except Exception:  # finding a submodule imports its package, which may do anything
        return None
    file = Path(spec.origin) if spec is not None and spec.origin else None
    return file if file is not None and file.suffix == ".py" and file.is_file() and not is_library(str(file)) else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _name(thing: Any) -> str:
    module, name = thing.__module__, thing.__qualname__
    return f"{FIRST_HOMES.get(name, module) if _is_own(module) else module}:{name}"


def canonical(value: Any) -> str:
    """JSON text that is the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def short_digest(content: str | bytes) -> str:
    """Twenty hexadecimal digits, the same on every machine."""
    return hashlib.sha256(content.encode(errors="surrogatepass") if isinstance(content, str) else content).hexdigest()[:20]

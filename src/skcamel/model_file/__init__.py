"""Models ► one file ► models, without pickle.

The file is an npz: a zip of plain numpy arrays, the first of which is a JSON header with the class, its parameters and the tree of
fitted attributes. Loading parses numbers and text, and builds only the classes listed in `MODELS`, `STEPS` and `PARTS`; nothing in
the file can name code. `schema` says what a model may hold: what loads is sound, whoever wrote the file.

A Pipeline is stored as the list of its steps. Steps of other libraries are written and read by skops, which builds the types that
it knows to be harmless, and others only if the caller trusts them by name.
"""

from __future__ import annotations

import io
import json
import os
import platform
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from textwrap import shorten
from typing import Any, BinaryIO

import numpy as np
import scipy
import sklearn
from scipy import sparse
from sklearn.pipeline import Pipeline

import skcamel
from skcamel import memory
from skcamel.model_file import schema
from skcamel.model_file.archive import archive, array, name_of, source, target
from skcamel.pipeline import LabelPipeline, final

__all__ = ["ModelFileError", "load", "save"]

HEADER = "header"  # the first array; those that follow are called a0, a1, ...
FORMAT = 1  # files of skcamel before 1.0 name another
HEADER_BYTES = 2**25  # at most, so that its parsed form stays below HEADER_GROWTH times as much
HEADER_GROWTH = 30
SMALL = 2**26  # bytes; to ask for free memory takes longer than to read as much
# The only classes that a file can name, and where they live.
MODELS = {
    "CamelClassifier": "skcamel.camel.classifier",
    "CamelClassifierCV": "skcamel.camel.classifier_cv",
}
STEPS: dict[str, str] = {"TablePreparer": "skcamel.data.preparer"}  # transformers of ours
PIPELINES = {kind.__name__: kind for kind in (Pipeline, LabelPipeline)}
MOST_NESTED = 10  # Pipelines within Pipelines
SEALED = ("",)  # in place of the types that are trusted: build no step of another library at all
PARTS = {
    "Kernel": "skcamel.camel.kernel",
    "Scaling": "skcamel.camel.scaling",
    "Ranks": "skcamel.camel.scaling",
    "SetThresholds": "skcamel.camel.link",
    **dict.fromkeys(("Steps", "LeftOut", "Number", "Flag", "Category", "Tags", "Moment", "Text"), "skcamel.data.parts"),
}
MEMBER = "CamelClassifier"  # what a combined model is made of
SEARCH_ONLY = ("cv", "callback", "random_state", "landmarks")  # parameters that a fitted model does not need


class ModelFileError(ValueError):
    """The file is not a model that this version can load: damaged, cut short, foreign, not sound, or of another format."""


class _StepError(ValueError):
    """skops cannot read a step of another library."""


def save(model: Any, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write a fitted model, or a fitted Pipeline that ends in one, to one file.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
        Steps of other libraries need ``pip install skcamel[pipelines]``.
    path : str, path or binary file object
        A name is used as given, whatever its suffix, and the file appears whole or not at all. A file object is written to from
        where it stands, and stays open behind the last byte of the model; it need not be seekable.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from skcamel import CamelClassifier
    >>> model = CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.skcamel")
    ...     bool((load(f"{folder}/model.skcamel").predict(np.eye(4)) == model.predict(np.eye(4))).all())
    True
    """
    name, estimator = type(model).__name__, final(model) if type(model) in PIPELINES.values() else model
    if MODELS.get(type(estimator).__name__) != type(estimator).__module__:
        known = f"a fitted {' or '.join(MODELS)}, or a Pipeline that ends in one"
        raise TypeError(f"save takes {known}, got {type(estimator).__name__}; for others use skops.io.dump.")
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"This {name} is not fitted; call fit before save.")
    arrays = _Arrays()
    header = {"format": FORMAT, **_circumstances(), **_node(model, arrays)}
    text = json.dumps(header).encode()
    try:
        if len(text) > HEADER_BYTES:
            raise ValueError(f"its names and search results take {memory.gib(len(text))}, {memory.gib(HEADER_BYTES)} are the most")
        _built(header, arrays.stored, None)
    except ValueError as error:
        of_steps = "Classes and functions that can be imported can"
        cure = of_steps if isinstance(error, _StepError) else "Features and parameters of ordinary size can (scaling='standard')"
        raise ValueError(f"This {name} cannot be saved: {error}. {cure}.") from error
    with target(path) as file:
        np.savez(file, allow_pickle=False, **{HEADER: np.frombuffer(text, dtype=np.uint8)}, **arrays.stored)


def _circumstances() -> dict[str, Any]:
    """Who wrote the file: for people and `inspect`, since loading depends on none of it. No time, so that equal models give equal files."""
    libraries = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    return {"written_by": f"skcamel {skcamel.__version__}", "environment": libraries}


def load(path: str | os.PathLike[str] | BinaryIO, *, trusted: Sequence[str] = ()) -> Any:
    """Read a model or a Pipeline that :func:`save` wrote; predictions on new rows are identical.

    Every number of a model is checked before it is used: what loads answers with finite numbers, and its memory is bounded by the
    size of the file. That says nothing of who trained it; load models from people you trust to predict well. Steps of other
    libraries are read by skops, which builds no type that could do harm unless it is trusted; their numbers are not checked.

    Parameters
    ----------
    path : str, path or binary file object
        A file object is read from where it stands to its end, and stays open; it need not be seekable. After ``save(model, file)`` go back
        first, by ``file.seek(0)``.
    trusted : sequence of str, default=()
        Types that steps of other libraries may hold beyond those that skops knows to be harmless, as "package.module.Name". A file
        that holds others is refused with their names; look at each before you trust it.

    Raises
    ------
    ModelFileError
        Where the file is damaged, truncated, foreign, of another format, holds numbers that no fit gives, or types that are not
        trusted. A file that cannot be opened gives the error of the operating system.
    """
    if isinstance(trusted, str):
        raise TypeError(f"trusted={trusted!r} is one text; give a sequence of names, as in trusted=[{trusted!r}].")
    with opened(path) as file:
        return _built(*read(file), tuple(trusted))


@contextmanager
def opened(path: str | os.PathLike[str] | BinaryIO) -> Iterator[BinaryIO]:
    """A model file to read; whatever the body finds wrong with it is told in one form, which names the file or stream."""
    told = name_of(path)
    with source(path) as file:
        try:
            if hasattr(path, "read") and not file.seek(0, os.SEEK_END):
                raise ModelFileError("holds nothing from where it stands to its end; go back to the model by seek(0)")
            yield file
        except ModelFileError as error:
            raise ModelFileError(f"{told} {error}.") from error
        except ImportError:  # of what a step needs
            raise
        except MemoryError as error:  # the file may be sound
            raise MemoryError(f"{told} cannot be loaded: {error}") from error
        except Exception as error:  # whatever may be wrong with a file, in one form
            detail = f"{'' if type(error) in (ValueError, _StepError) else f'{type(error).__name__}: '}{error}"[:500]
            message = f"{told} is not a whole skcamel model file ({detail}); copy it again or save the model anew."
            raise ModelFileError(message.replace("\n", " ")) from error


def read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the file says of itself, if it is of the format that this code reads, and its arrays."""
    with archive(file) as found:
        sizes = {member.filename.removesuffix(".npy"): member.file_size for member in found.infolist()}
        if sizes[HEADER] > HEADER_BYTES:
            raise ValueError(f"its header has {sizes[HEADER]} bytes, {HEADER_BYTES} are the most")
        needed = HEADER_GROWTH * sizes[HEADER] + sum(sizes.values()) + max(sizes.values())
        if needed > SMALL:
            memory.require(needed, "The model", "Load it where more is free")
        header = json.loads(array(found, HEADER).tobytes())
        came = header.get("format") if isinstance(header, dict) else header
        if came != FORMAT:
            is_newer = type(came) is int and came > FORMAT
            cure = "update skcamel" if is_newer else "fit again with this version"
            raise ModelFileError(f"has the format {shorten(repr(came), 40)}, this skcamel reads {FORMAT}; {cure}")
        names = [f"a{k}" for k in range(len(sizes) - 1)]
        if [member.filename for member in found.infolist()] != [f"{name}.npy" for name in (HEADER, *names)]:
            raise ValueError(f"its members are not {HEADER}, a0, a1, … in this order")
        return header, {name: array(found, name) for name in names}


def described(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The model of a file, if it is sound, to be looked at: a :class:`Sealed` stands for each step of another library."""
    return _built(header, arrays, SEALED)


def _built(header: dict[str, Any], arrays: dict[str, np.ndarray], trusted: tuple[str, ...] | None) -> Any:
    """The model of a header and its arrays, if it is sound; `trusted` None trusts every type, as of what was just written."""
    stored = _Stored(arrays, trusted)
    model = _step(header, stored, is_last=True)
    if unused := arrays.keys() - stored.used:
        raise ValueError(f"{len(unused)} of its arrays belong to nothing")
    return model


class _Stored(dict[str, np.ndarray]):
    """The arrays of a file, the names of those that were asked for, and the types that foreign steps may hold."""

    def __init__(self, arrays: dict[str, np.ndarray], trusted: tuple[str, ...] | None) -> None:
        super().__init__(arrays)
        self.used: set[str] = set()
        self.trusted = trusted

    def __getitem__(self, name: str) -> np.ndarray:
        self.used.add(name)
        return super().__getitem__(name)


def _step(node: Any, stored: _Stored, *, is_last: bool, depth: int = 0) -> Any:
    """A model if it is the last step of all, else a transformer; a Pipeline of such in either place."""
    if node is None or node == "passthrough":
        if is_last:
            raise ValueError("it ends in no model")
        return node
    name = node.get("class")
    if name in PIPELINES:
        return _pipeline(node, stored, is_last=is_last, depth=depth + 1)
    if name in (MODELS if is_last else STEPS):
        return _model(node, stored)
    if node.keys() == {"$skops"} and not is_last:
        return _foreign(stored[node["$skops"]], stored.trusted)
    what = "a part of another library" if "$skops" in node else f"a {str(name)[:80]!r}"
    raise ModelFileError(f"holds {what}, which this skcamel does not know as {'a model' if is_last else 'a step before the last'}")


def _pipeline(node: dict[str, Any], stored: _Stored, *, is_last: bool, depth: int) -> Pipeline:
    """A Pipeline of sound steps, of which the last is a model where `is_last`."""
    if depth > MOST_NESTED:
        raise ValueError(f"its Pipelines are nested more than {MOST_NESTED} deep")
    names, nodes = zip(*node["steps"], strict=True)
    taken = {"steps", *_pipeline_options()}
    if len(set(names)) < len(names) or any(not isinstance(name, str) or "__" in name or name in taken for name in names):
        raise ValueError("the names of its steps are not different texts that a Pipeline takes")
    steps = [_step(own, stored, is_last=False, depth=depth) for own in nodes[:-1]]
    steps.append(_step(nodes[-1], stored, is_last=is_last, depth=depth))
    before: Any = steps[-2] if len(steps) > 1 else None
    if type(before).__name__ in STEPS and type(steps[-1]).__name__ in MODELS:
        given, wanted = len(before.source_columns_), steps[-1].n_features_in_
        if given != wanted:
            raise ValueError(f"its model wants {wanted} columns, the step before gives {given}")
    return PIPELINES[node["class"]](list(zip(names, steps, strict=True)))


@dataclass(frozen=True)
class Sealed:
    """A step of another library that was not built: its type, and all types that it names."""

    type: str
    types: list[str]

    @classmethod
    def of(cls, schema: bytes) -> Sealed:
        """Read the text that skops wrote."""
        found: list[str] = []

        def told(node: dict[str, Any]) -> dict[str, Any]:
            if "__class__" in node:
                found.append(shorten(f"{node.get('__module__')}.{node['__class__']}", 200))
            return node

        json.loads(schema, object_hook=told)
        return cls(found[-1], sorted(set(found)))  # the outermost comes last


def _foreign(data: np.ndarray, trusted: tuple[str, ...] | None) -> Any:
    """A transformer that skops wrote."""
    content = data.tobytes()
    with archive(io.BytesIO(content)) as found:  # skops reads whatever it unpacks to
        if trusted is SEALED:
            return Sealed.of(found.read("schema.json"))
    skops = _skops("load")
    try:
        types = skops.get_untrusted_types(data=content)
        unknown = [] if trusted is None else sorted(set(types) - set(trusted))
        step = None if unknown else skops.loads(content, trusted=types)
    except MemoryError:
        raise
    except Exception as error:
        raise _StepError(f"skops cannot read one of its steps: {type(error).__name__}: {error}") from error
    if unknown:
        names = str(unknown)[:2000]
        raise ModelFileError(f"holds types that are not trusted; if you know them to be harmless, load(path, trusted={names})")
    if isinstance(step, type) or not hasattr(step, "transform"):
        raise ValueError(f"a {type(step).__name__} is no transformer")
    return step


def _skops(what: str) -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(f"To {what} Pipelines with steps of other libraries: pip install 'skcamel[pipelines]'") from error
    return skops.io


def _pipeline_options() -> dict[str, Any]:
    """Parameters of a Pipeline beside its steps, and their defaults."""
    return {name: one.default for name, one in signature(Pipeline).parameters.items() if name != "steps"}


def _model(node: dict[str, Any], stored: _Stored) -> Any:
    """A model, a member of one, or a transformer of ours, from its class, parameters and state."""
    parameters, state = ({key: _decode(value, stored) for key, value in node[tree].items()} for tree in ("parameters", "state"))
    model = getattr(import_module((MODELS | STEPS)[node["class"]]), node["class"])(**parameters)
    if model.get_params(deep=False).keys() - parameters.keys():
        raise ValueError("some of its parameters are missing")
    schema.check(model, state)
    vars(model).update(state)
    output = node.get("output")
    if output is not None:
        if output not in ("default", "pandas", "polars"):
            raise ValueError(f"its output {schema.shown(output)} is not known")
        model.set_output(transform=output)
    return model


OUTPUT = "_sklearn_output_config"  # what set_output chose; of transformers it is stored, since it is what the next step sees
STREAM = "_stream"  # sums to which rows could be added, with a sample of the rows; too much for a file


def _node(model: Any, arrays: _Arrays) -> dict[str, Any]:
    """Class, parameters and state of a model, or steps of a Pipeline; the inverse of :func:`_step`."""
    if type(model) in PIPELINES.values():
        return _pipeline_node(model, arrays)
    parameters = {key: _storable(model, key, value) for key, value in model.get_params(deep=False).items()}
    state = {key: value for key, value in sorted(vars(model).items()) if key not in parameters and key not in (OUTPUT, STREAM)}
    output = vars(model).get(OUTPUT, {}).get("transform")
    return {
        "class": type(model).__name__,
        "parameters": {key: _encode(value, arrays, key) for key, value in parameters.items()},
        "state": {key: _encode(value, arrays, key) for key, value in state.items()},
        **({} if output is None else {"output": output}),
    }


def _pipeline_node(pipeline: Pipeline, arrays: _Arrays) -> dict[str, Any]:
    """Steps of a Pipeline; its options must be the defaults, since none of them is stored."""
    for name, default in _pipeline_options().items():
        if getattr(pipeline, name) != default:
            given = f"{name}={getattr(pipeline, name)!r}"
            raise ValueError(f"{given} of a Pipeline is not stored; save it after pipeline.set_params({name}={default!r}).")
    return {"class": type(pipeline).__name__, "steps": [[name, _step_node(name, step, arrays)] for name, step in pipeline.steps]}


def _step_node(name: str, step: Any, arrays: _Arrays) -> Any:
    """A step as it is stored: by its own attributes where we know its class, else by skops."""
    if step is None or isinstance(step, str):
        return step
    if type(step) in PIPELINES.values() or (MODELS | STEPS).get(type(step).__name__) == type(step).__module__:
        return _node(step, arrays)
    try:
        return {"$skops": arrays.add(np.frombuffer(_skops("save").dumps(step), dtype=np.uint8))}
    except ImportError:
        raise
    except Exception as error:
        raise TypeError(f"save cannot store the step {name!r}: skops cannot write it ({error}).") from error


def _storable(model: Any, key: str, value: Any) -> Any:
    """A parameter as it is stored; what only steers the search and is no plain value is left out, with a warning."""
    if key not in SEARCH_ONLY or value is None or isinstance(value, str | int | float):
        return value
    if key != "callback":
        shown = shorten(repr(value), 60)
        warnings.warn(f"{key}={shown} is not stored with the model; its predictions do not depend on it, a refit would.", stacklevel=3)
    return signature(type(model)).parameters[key].default


class _Arrays:
    """The arrays of a model in the order of the file; one that is met twice is stored once."""

    def __init__(self) -> None:
        self.stored: dict[str, np.ndarray] = {}
        self._seen: dict[int, tuple[str, np.ndarray]] = {}  # the array itself too: a dead one's id may serve another

    def add(self, array: np.ndarray) -> str:
        """Name of an array in the file."""
        if id(array) not in self._seen:
            self._seen[id(array)] = f"a{len(self.stored)}", array
            self.stored[f"a{len(self.stored)}"] = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        return self._seen[id(array)][0]


def _encode(value: Any, arrays: _Arrays, where: str) -> Any:
    """A JSON tree for `value`; numeric arrays are put into `arrays` and referred to."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str | int | float):
        return value
    name, place = type(value).__name__, type(value).__module__
    if isinstance(value, np.ndarray) and value.ndim:
        kinds = {"U": "$text", "O": "$objects"}
        if value.dtype.kind not in kinds:
            return {"$array": arrays.add(value)}
        return {kinds[value.dtype.kind]: [_encode(item, arrays, where) for item in value.tolist()]}
    if sparse.issparse(value):
        value.sum_duplicates()  # into canonical form, if it is not in it
        return {"$csr": [*(arrays.add(part) for part in (value.data, value.indices, value.indptr)), *map(int, value.shape)]}
    if type(value) in (list, tuple):
        return {f"${name}": [_encode(item, arrays, where) for item in value]}
    if type(value) is dict:
        return {"$dict": {str(key): _encode(item, arrays, where) for key, item in value.items()}}
    if name == MEMBER and MODELS[MEMBER] == place:
        return {"$member": _node(value, arrays)}
    if PARTS.get(name) == place:
        return {f"${name}": {key: _encode(part, arrays, where) for key, part in schema.parts_of(value).items()}}
    if callable(value) and where in ("kernel", "kernels"):
        raise TypeError("A kernel that is a function cannot be written without pickle; use skops.io.dump.")
    raise TypeError(
        f"save cannot store {where}={value!r}: only numbers, text and arrays can be written without pickle. "
        "For models with functions or foreign estimators use skops.io.dump."
    )


def _decode(node: Any, stored: _Stored) -> Any:
    """The value of a JSON tree; the inverse of :func:`_encode`."""
    if node is None or isinstance(node, bool | int | float | str):
        return node
    ((kind, content),) = node.items()
    if kind == "$array":
        return stored[content]
    if kind == "$csr":
        *parts, n, d = content
        return _csr(*(stored[name] for name in parts), shape=(n, d))
    if kind == "$member":
        if content["class"] != MEMBER:
            raise ValueError(f"a member is a {MEMBER}")
        return _model(content, stored)
    if isinstance(content, list):
        items = [_decode(item, stored) for item in content]
        if kind in ("$list", "$tuple"):
            return items if kind == "$list" else tuple(items)
        column = np.empty(len(items), dtype=object)
        column[:] = items
        return column.astype(str) if kind == "$text" else column
    values = {key: _decode(item, stored) for key, item in content.items()}
    if kind == "$dict":
        return values
    name = kind.removeprefix("$")
    return getattr(import_module(PARTS[name]), name)(**values)


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix in canonical form: scipy's compiled code trusts these arrays, so every entry is checked."""
    if data.dtype != np.float64 or any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise ValueError("the parts of a sparse matrix are not of its kinds of numbers")
    found = sparse.csr_array((data, indices, indptr), shape=shape)
    found.check_format(full_check=True)
    if found.nnz != len(data) or not found.has_canonical_format:
        raise ValueError("the columns of a sparse matrix are out of order")
    return found

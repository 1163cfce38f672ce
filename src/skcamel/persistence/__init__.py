"""Models ► one file ► models, without pickle.

The file is an npz: a zip of plain numpy arrays, stored uncompressed, the first of which is a JSON header with the class, its
parameters and the tree of fitted attributes. Loading parses numbers and text, and builds only the classes listed in
`MODELS` and `PARTS`; nothing in the file can name code. `archive` reads the zip and `schema` says what a model may hold: what
loads is sound, whoever wrote the file.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, BinaryIO, Never

import numpy as np
from scipy import sparse

import skcamel
from skcamel import memory
from skcamel.files import whole_file
from skcamel.persistence import archive, schema
from skcamel.persistence.archive import HEADER
from skcamel.persistence.older import bring_up_to_date
from skcamel.support import FILE, FUNCTION, reason_against

__all__ = ["ModelFileError", "load", "save"]

FORMAT, VERSION = "skcamel-model", 2
HEADER_BYTES = 2**25  # at most, so that its parsed form stays below HEADER_GROWTH times as much
HEADER_GROWTH = 30
SMALL = 2**26  # bytes; to ask for free memory takes longer than to read as much
# The only classes that a file can name, and where they live.
MODELS = {
    "CamelClassifier": "skcamel.classifier",
    "CamelClassifierCV": "skcamel.classifier_cv",
    "BinaryRelevance": "skcamel.baselines.binary_relevance",
    "EnsembleOfClassifierChains": "skcamel.baselines.classifier_chains",
    "RAkEL": "skcamel.baselines.rakel",
    "LLSF": "skcamel.baselines.llsf",
    "JFSC": "skcamel.baselines.jfsc",
    "LLSFCV": "skcamel.baselines.grid_search",
    "JFSCCV": "skcamel.baselines.grid_search",
}
PARTS = {
    "Kernel": "skcamel.kernel",
    "Scaling": "skcamel.scaling",
    "Ranks": "skcamel.scaling",
    "Chain": "skcamel.baselines.classifier_chains",
    "Columns": "skcamel.baselines.logistic",
    "Logistic": "skcamel.baselines.logistic",
    "Softmax": "skcamel.baselines.logistic",
    "Ending": "skcamel.baselines.lbfgs",
}
MEMBER = "CamelClassifier"  # what a combined model is made of
SEARCH_ONLY = ("cv", "callback", "random_state")  # parameters that a fitted model does not need


class ModelFileError(ValueError):
    """The file is not a model that this version can load: damaged, cut short, foreign, not sound, or of another version."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file; the file appears whole or not at all.

    Parameters
    ----------
    model : fitted estimator of skcamel
    path : str or path
        Used as given, whatever its suffix.

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
    name = type(model).__name__
    if MODELS.get(name) != type(model).__module__:
        raise TypeError(f"save takes a fitted estimator of skcamel ({', '.join(MODELS)}), got {name}; for others use skops.io.dump.")
    if not hasattr(model, "classes_"):
        raise ValueError(f"This {name} is not fitted; call fit before save.")
    arrays = _Arrays()
    header = {"format": FORMAT, "version": VERSION, "written_by": f"skcamel {skcamel.__version__}", **_node(model, arrays)}
    text = json.dumps(header).encode()
    try:
        if len(text) > HEADER_BYTES:
            raise ValueError(f"its names and search results take {memory.gib(len(text))}, {memory.gib(HEADER_BYTES)} are the most")
        _built(header, arrays.stored)
    except ValueError as error:
        raise ValueError(
            f"This {name} cannot be saved: {error}. Features and parameters of ordinary size can (scaling='standard')."
        ) from error
    with whole_file(path) as file:
        np.savez(file, allow_pickle=False, **{HEADER: np.frombuffer(text, dtype=np.uint8)}, **arrays.stored)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote; predictions on new rows are identical.

    Every number is checked before it is used: what loads answers with finite numbers, and its memory is bounded by the size of
    the file. That says nothing of who trained it; load models from people you trust to predict well.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    ModelFileError
        Where the file is damaged, truncated, foreign, of another version, or holds numbers that no fit gives. A file that cannot
        be opened gives the error of the operating system.
    """
    with Path(path).open("rb") as file:
        try:
            return _read(file)
        except ModelFileError as error:
            raise ModelFileError(f"{path} {error}.") from error
        except MemoryError as error:  # the file may be sound
            raise MemoryError(f"{path} cannot be loaded: {error}") from error
        except Exception as error:  # whatever may be wrong with a file, in one form
            detail = f"{'' if type(error) is ValueError else f'{type(error).__name__}: '}{error}"[:500]
            message = f"{path} is not a whole skcamel model file ({detail}); copy it again or save the model anew."
            raise ModelFileError(message.replace("\n", " ")) from error


def _read(file: BinaryIO) -> Any:
    first, *others = archive.members(file)
    if first.size > HEADER_BYTES:
        raise ValueError(f"its header has {first.size} bytes, {HEADER_BYTES} are the most")
    needed = HEADER_GROWTH * first.size + sum(member.size for member in others)
    if needed > SMALL:
        memory.require(needed, "The model", "Load it where more is free")
    header = json.loads(archive.read_array(file, first).tobytes(), parse_constant=_refuse)
    if header["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}")
    if header["version"] != VERSION:
        cure = "upgrade skcamel" if header["version"] > VERSION else "fit and save the model with this version"
        raise ModelFileError(f"has format version {header['version']}, this skcamel reads {VERSION}; {cure}")
    return _built(header, {member.name: archive.read_array(file, member) for member in others})


def _refuse(constant: str) -> Never:
    raise ValueError(f"its header holds {constant}, which is no JSON")


def _built(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The model of a header and its arrays, if it is sound."""
    if header["class"] not in MODELS:
        raise ModelFileError(f"holds a {str(header['class'])[:80]!r}, which this skcamel does not know")
    used: set[str] = set()
    model = _model(header, arrays, used)
    if used != arrays.keys():
        raise ValueError(f"{len(arrays.keys() - used)} of its arrays belong to nothing")
    return model


def _model(node: dict[str, Any], arrays: dict[str, np.ndarray], used: set[str]) -> Any:
    """A model, or a member of one, from its class, parameters and state."""
    parameters, state = ({key: _decode(value, arrays, used) for key, value in node[tree].items()} for tree in ("parameters", "state"))
    bring_up_to_date(node["class"], parameters, state)
    model = getattr(import_module(MODELS[node["class"]]), node["class"])(**parameters)
    if model.get_params(deep=False).keys() - parameters.keys() - getattr(model, "ADDED", {}).keys():
        raise ValueError("some of its parameters are missing")
    schema.check(model, state)
    vars(model).update(state)
    return model


def _node(model: Any, arrays: _Arrays) -> dict[str, Any]:
    """Class, parameters and state of a model; the inverse of :func:`_model`."""
    parameters = {key: _storable(model, key, value) for key, value in model.get_params(deep=False).items()}
    state = {key: value for key, value in vars(model).items() if key not in parameters}
    return {
        "class": type(model).__name__,
        "parameters": {key: _encode(value, arrays, key) for key, value in parameters.items()},
        "state": {key: _encode(value, arrays, key) for key, value in state.items()},
    }


def _storable(model: Any, key: str, value: Any) -> Any:
    """A parameter as it is stored; what only steers the search and is no plain value is left out, with a warning."""
    if key not in SEARCH_ONLY or value is None or isinstance(value, str | int | float):
        return value
    if key != "callback":
        warnings.warn(f"{key}={value!r} is not stored with the model; its predictions do not depend on it, a refit would.", stacklevel=3)
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
    if value is None or isinstance(value, bool | str | int) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if isinstance(value, float):
        return {"$float": repr(value)}
    if isinstance(value, np.ndarray) and value.ndim:
        if value.dtype.kind in "UO":
            kind = "$text" if value.dtype.kind == "U" else "$objects"
            return {kind: [_encode(item, arrays, where) for item in value.tolist()]}
        return {"$array": arrays.add(value)}
    if sparse.issparse(value):
        if not value.has_canonical_format:
            value = value.copy()
            value.sum_duplicates()
        return {"$csr": [*(arrays.add(part) for part in (value.data, value.indices, value.indptr)), *map(int, value.shape)]}
    for kind in (list, tuple):
        if isinstance(value, kind):
            return {f"${kind.__name__}": [_encode(item, arrays, where) for item in value]}
    if isinstance(value, dict):
        return {"$dict": {str(key): _encode(item, arrays, where) for key, item in value.items()}}
    if type(value).__name__ == MEMBER and MODELS[MEMBER] == type(value).__module__:
        return {"$member": _node(value, arrays)}
    if PARTS.get(type(value).__name__) == type(value).__module__:
        return {f"${type(value).__name__}": {field.name: _encode(getattr(value, field.name), arrays, where) for field in fields(value)}}
    if callable(value) and where in ("kernel", "kernels"):
        raise TypeError(reason_against(FUNCTION, FILE))
    raise TypeError(
        f"save cannot store {where}={value!r}: only numbers, text and arrays can be written without pickle. "
        "For models with functions or foreign estimators use skops.io.dump."
    )


def _decode(node: Any, arrays: dict[str, np.ndarray], used: set[str]) -> Any:
    """The value of a JSON tree; the inverse of :func:`_encode`. Names of arrays that it holds are added to `used`."""

    def array(name: str) -> np.ndarray:
        used.add(name)
        return arrays[name]

    if node is None or isinstance(node, bool | int | float | str):
        return node
    ((kind, content),) = node.items()
    if kind == "$float":
        return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[content]
    if kind == "$array":
        return array(content)
    if kind == "$csr":
        *parts, n, d = content
        return archive.csr(*map(array, parts), shape=(n, d))
    if kind == "$member":
        if content["class"] != MEMBER:
            raise ValueError(f"a member is a {MEMBER}")
        return _model(content, arrays, used)
    if kind == "$dict":
        return {key: _decode(item, arrays, used) for key, item in content.items()}
    if kind in ("$list", "$tuple", "$text", "$objects"):
        items = [_decode(item, arrays, used) for item in content]
        if kind in ("$list", "$tuple"):
            return items if kind == "$list" else tuple(items)
        column = np.empty(len(items), dtype=object)
        column[:] = items
        return column if kind == "$objects" else column.astype(str)
    name = kind.removeprefix("$")
    part = getattr(import_module(PARTS[name]), name)
    return part(**{key: _decode(item, arrays, used) for key, item in content.items()})

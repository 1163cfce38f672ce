"""Models ► one file ► models, without pickle.

The file is an npz: a zip of plain numpy arrays, stored uncompressed, one of which is a JSON header with the class, its
parameters and the tree of fitted attributes. Loading parses numbers and text, and builds only the classes listed in
`MODELS` and `PARTS`; nothing in the file can name code.
"""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import skcamel
from skcamel.files import whole_file

FORMAT, VERSION = "skcamel-model", 1
HEADER = "header"
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
    "Chain": "skcamel.baselines.classifier_chains",
    "Columns": "skcamel.baselines.design",
    "Logistic": "skcamel.baselines.logistic",
    "Softmax": "skcamel.baselines.logistic",
    "Ending": "skcamel.baselines.lbfgs",
}
SEARCH_ONLY = ("cv", "callback", "random_state")  # parameters that a fitted model does not need


class ModelFileError(ValueError):
    """The file is not a model that this version can load: damaged, cut short, foreign, or of another version."""


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
    arrays: dict[str, np.ndarray] = {}
    parameters = {key: _storable(model, key, value) for key, value in model.get_params(deep=False).items()}
    state = {key: value for key, value in vars(model).items() if key not in parameters}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"skcamel {skcamel.__version__}",
        "class": name,
        "parameters": {key: _encode(value, arrays, key) for key, value in parameters.items()},
        "state": {key: _encode(value, arrays, key) for key, value in state.items()},
    }
    header["arrays"] = {key: [array.dtype.str, list(array.shape)] for key, array in arrays.items()}
    arrays[HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with whole_file(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote; predictions on new rows are identical.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    ModelFileError
        Where the file is damaged, truncated, foreign or of an unknown version. A missing file gives FileNotFoundError.
    """
    try:
        header, arrays = _read(Path(path))
        module = import_module(MODELS[header["class"]])
        parameters = {key: _decode(node, arrays) for key, node in header["parameters"].items()}
        state = {key: _decode(node, arrays) for key, node in header["state"].items()}
        model = getattr(module, header["class"])(**parameters)
        vars(model).update(state)
        model._check_loaded()
    except ModelFileError:
        raise
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise ModelFileError(f"{path} could not be read: {error}.") from error
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        EOFError,
        MemoryError,
        RecursionError,
        zipfile.BadZipFile,
    ) as error:
        detail = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ModelFileError(f"{path} is not a whole skcamel model file ({detail}); copy it again or save the model anew.") from error
    return model


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays, each array as the header declares it."""
    with zipfile.ZipFile(path) as archive:
        if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
            raise ModelFileError(f"{path} is compressed, which skcamel never does; it is not a skcamel model file.")
        if f"{HEADER}.npy" not in archive.namelist():
            raise ModelFileError(f"{path} has no header; it is not a skcamel model file.")
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(file[HEADER].tobytes())
        if header["format"] != FORMAT:
            raise ModelFileError(f"{path} has the format {header['format']!r}, not {FORMAT!r}.")
        if header["version"] != VERSION:
            raise ModelFileError(f"{path} has format version {header['version']}, this skcamel reads {VERSION}; upgrade skcamel.")
        if header["class"] not in MODELS:
            raise ModelFileError(f"{path} holds a {header['class']!r}, which this skcamel does not know.")
        arrays = {key: file[key] for key in header["arrays"]}
    for key, (dtype, shape) in header["arrays"].items():
        if arrays[key].dtype.str != dtype or list(arrays[key].shape) != shape:
            raise ModelFileError(f"{path}: array {key} is {arrays[key].dtype.str} {arrays[key].shape}, its header says {dtype} {shape}.")
    return header, arrays


def _storable(model: Any, key: str, value: Any) -> Any:
    """A parameter as it is stored; what only steers the search and is no plain value is left out, with a warning."""
    if key not in SEARCH_ONLY or value is None or isinstance(value, str | int | float):
        return value
    if key != "callback":
        warnings.warn(f"{key}={value!r} is not stored with the model; its predictions do not depend on it, a refit would.", stacklevel=3)
    return signature(type(model)).parameters[key].default


def _encode(value: Any, arrays: dict[str, np.ndarray], where: str) -> Any:
    """A JSON tree for `value`; numeric arrays are put into `arrays` and referred to."""
    if value is None or isinstance(value, bool | str | int) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if isinstance(value, float):
        return {"$float": repr(value)}
    if isinstance(value, np.generic):
        return _encode(value.item(), arrays, where)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return {"$objects": [_encode(item, arrays, where) for item in value.tolist()]}
        arrays[key := f"a{len(arrays)}"] = np.ascontiguousarray(value)
        return {"$array": key}
    if sparse.issparse(value):
        parts = (value.data, value.indices, value.indptr)
        return {"$csr": [*(_encode(part, arrays, where) for part in parts), list(value.shape)]}
    for kind in (list, tuple):
        if isinstance(value, kind):
            return {f"${kind.__name__}": [_encode(item, arrays, where) for item in value]}
    if isinstance(value, dict):
        return {"$dict": [[key, _encode(item, arrays, where)] for key, item in value.items()]}
    if PARTS.get(type(value).__name__) == type(value).__module__:
        return {f"${type(value).__name__}": {field.name: _encode(getattr(value, field.name), arrays, where) for field in fields(value)}}
    raise TypeError(
        f"save cannot store {where}={value!r}: only numbers, text and arrays can be written without pickle. "
        "For models with functions or foreign estimators use skops.io.dump."
    )


def _decode(node: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The value of a JSON tree; the inverse of :func:`_encode`."""
    if not isinstance(node, dict):
        return node
    ((kind, content),) = node.items()
    if kind == "$float":
        return float(content)
    if kind == "$array":
        return arrays[content]
    if kind == "$objects":
        column = np.empty(len(content), dtype=object)
        column[:] = [_decode(item, arrays) for item in content]
        return column
    if kind == "$csr":
        *parts, shape = content
        return sparse.csr_array(tuple(_decode(part, arrays) for part in parts), shape=tuple(shape))
    if kind in ("$list", "$tuple"):
        items = [_decode(item, arrays) for item in content]
        return tuple(items) if kind == "$tuple" else items
    if kind == "$dict":
        return {key: _decode(item, arrays) for key, item in content}
    name = kind.removeprefix("$")
    part = getattr(import_module(PARTS[name]), name)
    return part(**{key: _decode(item, arrays) for key, item in content.items()})

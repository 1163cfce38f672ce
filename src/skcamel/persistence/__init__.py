"""Models ► one file ► models, without pickle.

The file is an npz: a zip of plain numpy arrays, the first of which is a JSON header with the class, its parameters and the tree of
fitted attributes. Loading parses numbers and text, and builds only the classes listed in `MODELS`, `STEPS` and `PARTS`; nothing in
the file can name code. `schema` says what a model may hold: what loads is sound, whoever wrote the file.

A Pipeline is stored as the list of its steps. Steps of other libraries are written and read by skops, which builds the types that
it knows to be harmless, and others only if the caller trusts them by name.

No byte is believed before it is checked. ``np.savez`` stores members uncompressed, one after the other from the first byte on, then
the directory of the zip, and they are read in that order. So members cannot overlap, each byte is read once, and what is allocated
is bounded by the size of the file. The directory is read by other tools only; that it begins where the members end, and ends the
file, is checked.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import struct
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from inspect import signature
from math import prod
from pathlib import Path
from textwrap import shorten
from typing import Any, BinaryIO, NamedTuple, Never

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

import skcamel
from skcamel import memory
from skcamel.files import whole_file
from skcamel.persistence import schema
from skcamel.pipeline import LabelPipeline, final
from skcamel.support import FILE, FUNCTION, reason_against

__all__ = ["ModelFileError", "load", "save"]

FORMAT, VERSION = "skcamel-model", 2
HEADER = "header"  # the first member; those that follow are called a0, a1, ...
HEADER_BYTES = 2**25  # at most, so that its parsed form stays below HEADER_GROWTH times as much
HEADER_GROWTH = 30
SMALL = 2**26  # bytes; to ask for free memory takes longer than to read as much
# The only classes that a file can name, and where they live.
MODELS = {
    "CamelClassifier": "skcamel.classifier",
    "CamelClassifierCV": "skcamel.classifier_cv",
    "BinaryRelevance": "skcamel.baselines.transformation",
    "EnsembleOfClassifierChains": "skcamel.baselines.transformation",
    "RAkEL": "skcamel.baselines.transformation",
    "LLSF": "skcamel.baselines.llsf",
    "JFSC": "skcamel.baselines.jfsc",
    "LLSFCV": "skcamel.baselines.llsf",
    "JFSCCV": "skcamel.baselines.jfsc",
}
STEPS: dict[str, str] = {"TablePreparer": "skcamel.data.preparer"}  # transformers of ours
PIPELINE, PIPELINES = "Pipeline", (Pipeline, LabelPipeline)
MOST_NESTED = 10  # Pipelines within Pipelines
PARTS = {
    "Kernel": "skcamel.kernel",
    "Scaling": "skcamel.scaling",
    "Ranks": "skcamel.scaling",
    "Reference": "skcamel.selection.coverage",
    "Chain": "skcamel.baselines.transformation",
    "Columns": "skcamel.baselines.logistic",
    "Logistic": "skcamel.baselines.logistic",
    "Softmax": "skcamel.baselines.logistic",
    "Ending": "skcamel.baselines.lbfgs",
    **dict.fromkeys(("Steps", "LeftOut", "Number", "Flag", "Category", "Tags", "Moment", "Text"), "skcamel.data.parts"),
}
MEMBER = "CamelClassifier"  # what a combined model is made of
SEARCH_ONLY = ("cv", "callback", "random_state", "landmarks")  # parameters that a fitted model does not need


class ModelFileError(ValueError):
    """The file is not a model that this version can load: damaged, cut short, foreign, not sound, or of another version."""


class _StepError(ValueError):
    """skops cannot read a step of another library."""


def save(model: Any, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write a fitted model, or a fitted Pipeline that ends in one, to one file.

    Parameters
    ----------
    model : fitted estimator of skcamel, or fitted Pipeline that ends in one
        Steps of other libraries need ``pip install skcamel[pipelines]``.
    path : str, path or binary file object
        A name is used as given, whatever its suffix, and the file appears whole or not at all. A file object is written to from
        where it stands, and stays open.

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
    name, estimator = type(model).__name__, final(model) if type(model) in PIPELINES else model
    if MODELS.get(type(estimator).__name__) != type(estimator).__module__:
        known = f"a fitted estimator of skcamel ({', '.join(MODELS)}) or a Pipeline that ends in one"
        raise TypeError(f"save takes {known}, got {type(estimator).__name__}; for others use skops.io.dump.")
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"This {name} is not fitted; call fit before save.")
    arrays = _Arrays()
    header = {"format": FORMAT, "version": VERSION, "written_by": f"skcamel {skcamel.__version__}", **_node(model, arrays)}
    text = json.dumps(header).encode()
    try:
        if len(text) > HEADER_BYTES:
            raise ValueError(f"its names and search results take {memory.gib(len(text))}, {memory.gib(HEADER_BYTES)} are the most")
        _built(header, arrays.stored, None)
    except _StepError as error:
        raise ValueError(f"This {name} cannot be saved: {error}. Classes and functions that can be imported can.") from error
    except ValueError as error:
        raise ValueError(
            f"This {name} cannot be saved: {error}. Features and parameters of ordinary size can (scaling='standard')."
        ) from error
    with _target(path) as file:
        np.savez(file, allow_pickle=False, **{HEADER: np.frombuffer(text, dtype=np.uint8)}, **arrays.stored)


def load(path: str | os.PathLike[str] | BinaryIO, *, trusted: Sequence[str] = ()) -> Any:
    """Read a model or a Pipeline that :func:`save` wrote; predictions on new rows are identical.

    A Pipeline comes as a :class:`skcamel.pipeline.LabelPipeline`, which also explains and names its labels as a model does.

    Every number of a model is checked before it is used: what loads answers with finite numbers, and its memory is bounded by the
    size of the file. That says nothing of who trained it; load models from people you trust to predict well. Steps of other
    libraries are read by skops, which builds no type that could do harm unless it is trusted; their numbers are not checked.

    Parameters
    ----------
    path : str, path or binary file object
        A file object is read from where it stands to its end.
    trusted : sequence of str, default=()
        Types that steps of other libraries may hold beyond those that skops knows to be harmless, as "package.module.Name". A file
        that holds others is refused with their names; look at each before you trust it.

    Raises
    ------
    ModelFileError
        Where the file is damaged, truncated, foreign, of another version, holds numbers that no fit gives, or types that are not
        trusted. A file that cannot be opened gives the error of the operating system.
    """
    if isinstance(trusted, str):
        raise TypeError(f"trusted={trusted!r} is one text; give a sequence of names, as in trusted=[{trusted!r}].")
    name: Any = getattr(path, "name", None)
    told = path if not hasattr(path, "read") else name if isinstance(name, str) else "The stream"
    with _source(path) as file:
        try:
            return _read(file, tuple(trusted))
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


@contextmanager
def _target(path: Any) -> Iterator[BinaryIO]:
    """A file for the body to write; what it holds goes to a file object afterwards, which need not be seekable."""
    if not hasattr(path, "write"):
        with whole_file(path) as file:
            yield file
        return
    _check_binary(path, "wb")
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        shutil.copyfileobj(file, path)


@contextmanager
def _source(path: Any) -> Iterator[BinaryIO]:
    """The file, or a copy of the rest of a file object, which need be neither seekable nor on a disk."""
    if not hasattr(path, "read"):
        with Path(path).open("rb") as file:
            yield file
        return
    _check_binary(path, "rb")
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(path, file)
        yield file


def _check_binary(file: Any, mode: str) -> None:
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"The file object is open for text, a model is bytes; open it with mode {mode!r}.")


def _read(file: BinaryIO, trusted: tuple[str, ...]) -> Any:
    first, *others = _members(file)
    if first.size > HEADER_BYTES:
        raise ValueError(f"its header has {first.size} bytes, {HEADER_BYTES} are the most")
    needed = HEADER_GROWTH * first.size + sum(member.size for member in others)
    if needed > SMALL:
        memory.require(needed, "The model", "Load it where more is free")
    header = json.loads(_array(file, first).tobytes(), parse_constant=_refuse)
    if header["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}")
    if header["version"] != VERSION:
        cure = "upgrade skcamel" if header["version"] > VERSION else "fit and save the model with this version"
        raise ModelFileError(f"has format version {header['version']}, this skcamel reads {VERSION}; {cure}")
    return _built(header, {member.name: _array(file, member) for member in others}, trusted)


def _refuse(constant: str) -> Never:
    raise ValueError(f"its header holds {constant}, which is no JSON")


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
    if name == PIPELINE:
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
    reserved = {"steps", *_pipeline_options()}
    fit = all(isinstance(name, str) and "__" not in name and name not in reserved for name in names)
    if not fit or len(set(names)) < len(names):
        raise ValueError("the names of its steps are not different texts that a Pipeline takes")
    ends = [is_last and place == len(nodes) - 1 for place in range(len(nodes))]
    steps = [_step(own, stored, is_last=end, depth=depth) for own, end in zip(nodes, ends, strict=True)]
    widths = [len(step.source_columns_) for step in steps[-2:-1] if type(step).__name__ in STEPS]
    if is_last and widths and type(steps[-1]).__name__ in MODELS and steps[-1].n_features_in_ != widths[0]:
        raise ValueError(f"its model wants {steps[-1].n_features_in_} columns, the step before gives {widths[0]}")
    return (LabelPipeline if is_last and depth == 1 else Pipeline)(list(zip(names, steps, strict=True)))


def _foreign(data: np.ndarray, trusted: tuple[str, ...] | None) -> Any:
    """A transformer that skops wrote."""
    skops = _skops("load")
    content = data.tobytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:  # skops reads whatever it unpacks to
        members = archive.infolist()
        if any(member.compress_type for member in members) or sum(member.file_size for member in members) > len(content):
            raise ValueError("a step of another library is compressed, which skcamel never does")
    try:
        found = skops.get_untrusted_types(data=content)
        unknown = [] if trusted is None else sorted(set(found) - set(trusted))
        step = None if unknown else skops.loads(content, trusted=found)
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
    _bring_up_to_date(node["class"], parameters, state)
    model = getattr(import_module((MODELS | STEPS)[node["class"]]), node["class"])(**parameters)
    if model.get_params(deep=False).keys() - parameters.keys() - getattr(model, "ADDED", {}).keys():
        raise ValueError("some of its parameters are missing")
    schema.check(model, state)
    vars(model).update(state)
    if node["class"] in STEPS and node.get("output") is not None:
        schema.one_of("default", "pandas", "polars")(node["output"], {})
        model.set_output(transform=node["output"])
    return model


def _bring_up_to_date(name: str, parameters: dict[str, Any], state: dict[str, Any]) -> None:
    """Add what files lack that were written before all estimators had one rule for their cuts.

    LLSF and JFSC had one cut τ of F, the other comparison methods predicted where F >= 1/2; now all have cuts of F - 1/2.
    """
    if name in STEPS or name.startswith("Camel") or "threshold_metric" in parameters:
        return
    tau, threshold = state.pop("threshold_", 0.5), parameters.get("threshold", 0.5)
    parameters["threshold"] = threshold if isinstance(threshold, str) else "zero" if threshold == 0.5 else threshold - 0.5
    parameters["threshold_metric"] = None
    state["thresholds_"] = np.full(len(state["label_names_"]), 0.0 if tau == 0.5 else np.nextafter(tau - 0.5, -np.inf))


OUTPUT = "_sklearn_output_config"  # what set_output chose; of transformers it is stored, since it is what the next step sees
STREAM = "_stream"  # sums to which rows could be added, with a sample of the rows; too much for a file


def _node(model: Any, arrays: _Arrays) -> dict[str, Any]:
    """Class, parameters and state of a model, or steps of a Pipeline; the inverse of :func:`_step`."""
    if type(model) in PIPELINES:
        return _pipeline_node(model, arrays)
    parameters = {key: _storable(model, key, value) for key, value in model.get_params(deep=False).items()}
    state = {key: value for key, value in vars(model).items() if key not in parameters and key not in (OUTPUT, STREAM)}
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
    return {"class": PIPELINE, "steps": [[name, _step_node(name, step, arrays)] for name, step in pipeline.steps]}


def _step_node(name: str, step: Any, arrays: _Arrays) -> Any:
    """A step as it is stored: by its own attributes where we know its class, else by skops."""
    if step is None or isinstance(step, str):
        return step
    if type(step) in PIPELINES or (MODELS | STEPS).get(type(step).__name__) == type(step).__module__:
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


def _decode(node: Any, stored: _Stored) -> Any:
    """The value of a JSON tree; the inverse of :func:`_encode`."""
    if node is None or isinstance(node, bool | int | float | str):
        return node
    ((kind, content),) = node.items()
    if kind == "$float":
        return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[content]
    if kind == "$array":
        return stored[content]
    if kind == "$csr":
        *parts, n, d = content
        return _csr(*(stored[name] for name in parts), shape=(n, d))
    if kind == "$member":
        if content["class"] != MEMBER:
            raise ValueError(f"a member is a {MEMBER}")
        return _model(content, stored)
    if kind in ("$list", "$tuple", "$text", "$objects"):
        items = [_decode(item, stored) for item in content]
        if kind in ("$list", "$tuple"):
            return items if kind == "$list" else tuple(items)
        column = np.empty(len(items), dtype=object)
        column[:] = items
        return column if kind == "$objects" else column.astype(str)
    values = {key: _decode(item, stored) for key, item in content.items()}
    if kind == "$dict":
        return values
    name = kind.removeprefix("$")
    return getattr(import_module(PARTS[name]), name)(**values)


# The archive: its records, and arrays of plain numbers in them.
LOCAL = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, CRC, two sizes, lengths of name and extra field
ZIP64 = struct.Struct("<2H2Q")  # kind 1, length 16, two sizes
END = struct.Struct("<4s4H2IH")  # signature, two disk numbers, two counts of members, size and place of the directory, comment length
LONG_END = 76  # bytes of the two further records at the end of an archive above 4 GiB or 65 535 members
FULL = 0xFFFFFFFF  # stands for a size that the extra field tells
SMALLEST = 64  # bytes of an empty array with its header
NPY = re.compile(
    rb"\{'descr': '(\|b1|\|[iu]1|<[iu][248]|<f[248])', 'fortran_order': False, 'shape': \((\d{1,18}(?:, \d{1,18}){0,2}),?\), \} *\n"
)


class _Member(NamedTuple):
    """Where the content of a member lies."""

    name: str
    start: int
    size: int
    checksum: int


def _members(file: BinaryIO) -> list[_Member]:
    """All members, in the order of the file; no array is read."""
    size = file.seek(0, os.SEEK_END)
    found: list[_Member] = []
    position = 0
    while _bytes(file, position, 4, size) == b"PK\3\4":
        found.append(_member(file, position, size, HEADER if not found else f"a{len(found) - 1}"))
        position = found[-1].start + found[-1].size
    signature, *disks, count, count_too, length, directory, comment = END.unpack(_bytes(file, size - END.size, END.size, size))
    if not found or signature != b"PK\5\6" or comment or any(disks) or size - END.size - length - position not in (0, LONG_END):
        raise ValueError("it is no zip archive from its first byte to its last")
    if count != min(len(found), 0xFFFF) or count_too != count or directory != min(position, FULL):
        raise ValueError("the directory of its zip does not tell what is there")
    return found


def _array(file: BinaryIO, member: _Member) -> np.ndarray:
    """The array of a member; its header must account for every byte."""
    file.seek(member.start)
    head = file.read(min(10, member.size))
    if head[:8] != b"\x93NUMPY\1\0" or len(head) < 10:
        raise ValueError(f"member {member.name} is no numpy array")
    told = file.read(min(int.from_bytes(head[8:], "little"), member.size - 10))
    match = NPY.fullmatch(told)
    if match is None:
        raise ValueError(f"member {member.name} is no array of plain numbers")
    dtype, shape = np.dtype(match[1].decode()), tuple(map(int, match[2].split(b",")))
    if 10 + len(told) + prod(shape) * dtype.itemsize != member.size:
        raise ValueError(f"member {member.name} declares {dtype.str} {shape} and holds {member.size} bytes")
    flat = np.fromfile(file, dtype, prod(shape))
    if zlib.crc32(flat.data if flat.size else b"", zlib.crc32(head + told)) != member.checksum:
        raise ValueError(f"member {member.name} has a wrong checksum")
    if dtype == np.bool_ and (flat.view(np.uint8) > 1).any():
        raise ValueError(f"member {member.name} holds truth values that are neither")
    return flat.reshape(shape)


def _member(file: BinaryIO, position: int, size: int, name: str) -> _Member:
    """The member whose local header lies at `position`; it must have the name that is next in turn."""
    header = LOCAL.unpack(_bytes(file, position, LOCAL.size, size))
    _, _, flags, method, _, _, checksum, stored, content, name_length, extra_length = header
    if flags or method:
        raise ValueError("it is compressed, encrypted or streamed, which skcamel never does")
    start = position + LOCAL.size
    if _bytes(file, start, name_length, size) != f"{name}.npy".encode():
        raise ValueError(f"its members are not {HEADER}, a0, a1, … in this order: format version 1 of skcamel, or another program")
    extra = _bytes(file, start + name_length, extra_length, size)
    if stored == content == FULL and extra_length == ZIP64.size:
        *kind, content, stored = ZIP64.unpack(extra)
        if kind != [1, 16]:
            raise ValueError(f"member {name} does not tell its size")
    start += name_length + extra_length
    if stored != content or not SMALLEST <= stored <= size - start:
        raise ValueError(f"member {name} declares {content} bytes, which the file does not hold")
    return _Member(name, start, content, checksum)


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix in canonical form: scipy's compiled code trusts these arrays, so every entry is checked."""
    n, d = shape
    whole = all(array.ndim == 1 and array.dtype in (np.int32, np.int64) for array in (indices, indptr)) and data.dtype == np.float64
    if not whole or data.shape != indices.shape or len(indptr) != n + 1 or not 0 < d < 2**31:
        raise ValueError(f"the parts of a sparse matrix of shape {shape} do not fit together")
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("the rows of a sparse matrix do not follow each other")
    ascending = np.ones(len(indices) + 1, dtype=bool)
    ascending[1:-1] = indices[1:] > indices[:-1]
    ascending[indptr] = True  # a new row begins
    if not ascending.all() or (len(indices) and not 0 <= indices.min() <= indices.max() < d):
        raise ValueError(f"the columns of a sparse matrix are out of range or out of order; there are {d}")
    return sparse.csr_array((data, indices, indptr), shape=shape)


def _bytes(file: BinaryIO, position: int, length: int, size: int) -> bytes:
    """Exactly that many bytes."""
    if position < 0 or position + length > size:
        raise ValueError("it is cut short")
    file.seek(position)
    return file.read(length)

"""A model ► a tree for JSON with arrays beside it ► the same model, if it is sound.

A class that goes into model files stands in `CLASSES`, and says with the class attribute `stored`
what its instances hold::

    class Scaling(NamedTuple):
        name: str
        shift: np.ndarray | None = None
        stored = {"name": str, "shift": ("d", None)}

        def check_stored(self) -> None: ...  # raises ValueError; may be left out

`stored` names every attribute once, of an estimator those that a fit sets; the estimator's
`optional` names those that only some fits set.

- ``("n", "q")`` is an array of float64. A letter is a size, the same wherever the model has it, and
  never 0. The last entry may say more: ``float`` numbers of any finite size, else they are at most
  `LARGEST`; ``int`` whole numbers; ``str`` texts; ``csr_array`` sparse or not; ``None`` an array or
  None.
- ``int``, ``float``, ``str``, ``bool``, a class that has `stored`, or ``Ranks | None``.
- ``[str]``, ``[LearnedColumn]``: a list or tuple; texts are all different.
- ``dict``, ``np.ndarray``: plain values, which `check_stored` looks into.

Nothing else is ever read: an attribute that is not declared is refused before any of them is used.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from skcamel.checks import LARGEST
from skcamel.data.matching import check_remembered
from skcamel.data.pipeline import LabelPipeline
from skcamel.model_file.archive import ModelFileError, archive

# The only classes that a file can name, and where they live.
MODELS = {
    "CamelClassifier": "skcamel.camel.classifier",
    "CamelClassifierCV": "skcamel.camel.classifier_cv",
}
CLASSES = MODELS | {
    "Kernel": "skcamel.camel.kernel",
    "Scaling": "skcamel.camel.scaling",
    "Ranks": "skcamel.camel.scaling",
    "SetThresholds": "skcamel.camel.link",
    "TablePreparer": "skcamel.data.preparer",
    **dict.fromkeys(
        (
            "RankScale",
            "LeftOut",
            "Number",
            "Flag",
            "Category",
            "Tags",
            "Date",
            "Text",
            "EncodedText",
        ),
        "skcamel.data.columns",
    ),
}
PIPELINES = {kind.__name__: kind for kind in (Pipeline, LabelPipeline)}
PIPELINE_OPTIONS = set(Pipeline([]).get_params(deep=False))  # no names of steps
MOST_NESTED = 10  # Pipelines within Pipelines
SEALED = ("",)  # in place of the types that are trusted: build no step of another library at all
SEARCH_ONLY = (
    "cv",
    "callback",
    "random_state",
    "landmarks",
    "text_encoder",
)  # parameters that a fitted model does not need
# Sums to which rows could be added, with a sample of the rows: too much for a file; and text
# encoders, which `load` is handed back.
NOT_STORED = ("_stream", "encoder")
MOST = 2**53  # of a whole number
PLAIN = (type(None), bool, int, float, str)
CHARACTERS = {float: "d", int: "liq", str: "OU"}  # of dtypes
FINITE = np.finfo(np.float64).max

Sizes = dict[str, int]


@dataclass(frozen=True)
class Sealed:
    """A step of another library that was not built: its type, and all types that it names."""

    type: str
    types: list[str]

    @classmethod
    def of(cls, schema: bytes) -> Sealed:
        """Read the text that skops wrote."""
        found: list[str] = []

        def note(node: dict[str, Any]) -> None:
            if "__class__" in node:
                found.append(f"{node.get('__module__')}.{node['__class__']}"[:200])

        json.loads(schema, object_hook=note)
        return cls(found[-1], sorted(set(found)))  # the outermost comes last


def skops_for(what: str) -> Any:
    """Import skops, or say how to get it."""
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            f"To {what} Pipelines with steps of other libraries: pip install skops"
        ) from error
    return skops.io


def is_ours(kind: type, known: Mapping[str, str] = CLASSES) -> bool:
    """Whether a class is one of those that a file can name."""
    return known.get(kind.__name__) == kind.__module__


def parameters_of(kind: type) -> dict[str, Any]:
    """Parameters of an estimator with their defaults; other classes have none."""
    return kind().get_params(deep=False) if issubclass(kind, BaseEstimator) else {}


def attributes_of(thing: Any) -> dict[str, Any]:
    """All attributes of an instance that go into a file."""
    values = thing._asdict() if issubclass(type(thing), tuple) else vars(thing)
    return {name: value for name, value in values.items() if name not in NOT_STORED}


class Writer:
    """A model ► a tree for JSON; `arrays` holds its arrays in the order of the file."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.parts: list[str] = []  # attributes that the arrays belong to
        self._names: dict[int, str] = {}  # by the id of an array; `arrays` keeps them all alive

    def model(self, model: Any) -> Any:
        """A model, a step of a Pipeline, or a Pipeline."""
        if type(model) not in PIPELINES.values():
            return self._object(model)
        steps = [[name, self._step(name, step)] for name, step in model.steps]
        return {f"${type(model).__name__}": steps}

    def _step(self, name: str, step: Any) -> Any:
        if step is None or isinstance(step, str):
            return step
        if type(step) in PIPELINES.values() or is_ours(type(step)):
            return self.model(step)
        skops = skops_for("save")
        try:
            content = skops.dumps(step)
        except Exception as error:
            raise TypeError(
                f"save cannot store the step {name!r}: skops cannot write it ({error})."
            ) from error
        array = np.frombuffer(content, dtype=np.uint8)
        return {"$skops": self._array(array, "steps of other libraries")}

    def _object(self, thing: Any, where: str = "") -> Any:
        values = attributes_of(thing)
        for name, default in parameters_of(type(thing)).items():
            if name in SEARCH_ONLY and not isinstance(values[name], PLAIN):
                if name not in ("callback", "text_encoder"):
                    what = f"{name}={values[name]!r:.60} is not stored with the model"
                    warnings.warn(
                        f"{what}; its predictions do not depend on it, a refit would.", stacklevel=5
                    )
                values[name] = default
        return {f"${type(thing).__name__}": self._mapping(values, where)}

    def _mapping(self, values: Mapping[Any, Any], where: str = "") -> dict[str, Any]:
        texts = {str(key): value for key, value in values.items()}
        return {key: self._value(texts[key], where or key) for key in sorted(texts)}

    def _value(self, value: Any, where: str) -> Any:
        """A value; `where` names the attribute in messages."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, PLAIN):
            return value
        kind = type(value)
        if kind is dict:
            return {"$dict": self._mapping(value, where)}
        if isinstance(value, np.ndarray) and value.ndim:
            if value.dtype.kind not in "OU":
                return {"$array": self._array(value, where)}
            tag = "$text" if value.dtype.kind == "U" else "$objects"
            return {tag: [self._value(item, where) for item in value.tolist()]}
        if sparse.issparse(value):
            value.sum_duplicates()  # into canonical form, if it is not in it
            parts = [self._array(part, where) for part in (value.data, value.indices, value.indptr)]
            return {"$csr": [*parts, *map(int, value.shape)]}
        if is_ours(kind):
            return self._object(value, "" if isinstance(value, BaseEstimator) else where)
        if kind in (list, tuple):
            items = [self._value(item, where) for item in value]
            return items if kind is list else {"$tuple": items}
        raise TypeError(
            f"save cannot store {where}={value!r:.200}: only numbers, text and arrays can be"
            " written without pickle. For models with functions or foreign estimators use"
            " skops.io.dump."
        )

    def _array(self, array: np.ndarray, where: str) -> str:
        """Name of an array in the file."""
        name = self._names.setdefault(id(array), f"a{len(self.arrays)}")
        if name not in self.arrays:
            self.parts.append(where)
            self.arrays[name] = array
        return name


class Reader:
    """A tree and its arrays ► a model.

    `trusted` are the types that foreign steps may hold; None: all, as of what was just written.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], trusted: tuple[str, ...] | None) -> None:
        self.arrays = arrays
        self.trusted = trusted
        self.unused = set(arrays)

    def model(self, tree: Any) -> Any:
        """The model, if it is sound."""
        model = self._value(tree)
        if self.unused:
            raise ValueError(f"{len(self.unused)} of its arrays belong to nothing")
        check_step(model, is_last=True)
        return model

    def _value(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._value(item) for item in node]
        if isinstance(node, str):
            return _whole(node)
        if not isinstance(node, dict):
            return node
        ((tag, content),) = node.items()
        name = tag.removeprefix("$")
        if tag == "$array":
            return self._array(content)
        if tag == "$csr":
            *parts, n, d = content
            return _csr(*map(self._array, parts), shape=(n, d))
        if tag == "$skops":
            return self._foreign(self._array(content).tobytes())
        if name in PIPELINES:
            return PIPELINES[name]([(step_name, self._value(step)) for step_name, step in content])
        if tag == "$tuple":
            return tuple(self._value(content))
        if tag in ("$text", "$objects"):
            return np.array(self._value(content), dtype=str if tag == "$text" else object)
        values = {_whole(key): self._value(item) for key, item in content.items()}
        if tag == "$dict":
            return values
        if name not in CLASSES:
            raise ValueError(f"it names {name!r:.80}, which is no class of a model")
        return _built(getattr(import_module(CLASSES[name]), name), values)

    def _array(self, name: str) -> np.ndarray:
        self.unused.discard(name)
        return self.arrays[name]

    def _foreign(self, content: bytes) -> Any:
        """A transformer that skops wrote."""
        with archive(io.BytesIO(content)) as found:  # skops reads whatever it unpacks to
            if self.trusted is SEALED:
                return Sealed.of(found.read("schema.json"))
        skops = skops_for("load")
        try:
            types = skops.get_untrusted_types(data=content)
            if self.trusted is not None:
                _refuse_unknown(set(types) - set(self.trusted))
            step = skops.loads(content, trusted=types)
        except (MemoryError, ModelFileError):
            raise
        except Exception as error:
            raise ValueError(
                f"skops cannot read one of its steps: {type(error).__name__}: {error}"
            ) from error
        if isinstance(step, type):
            raise ValueError(f"the class {step.__name__} is no step")  # noqa: TRY004
        return step


def _refuse_unknown(types: set[str]) -> None:
    if types:
        names = str(sorted(types))[:2000]
        raise ModelFileError(
            "holds types that are not trusted; if you know them to be harmless, load(path,"
            f" trusted={names})"
        )


def _whole(text: str) -> str:
    """Text that can be written and shown."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{shown(text)} holds half characters (surrogates)") from error
    return text


def _csr(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """A sparse matrix in canonical form.

    Compiled code of scipy trusts these arrays, so every entry is checked.
    """
    kinds = [part.dtype.kind for part in (data, indices, indptr)]
    if kinds != ["f", "i", "i"] or data.dtype.char not in CHARACTERS[float]:
        raise ValueError("the parts of a sparse matrix are not of its kinds of numbers")
    found = sparse.csr_array((data, indices, indptr), shape=shape)
    found.check_format(full_check=True)
    if found.nnz != len(data) or not found.has_canonical_format:
        raise ValueError("the columns of a sparse matrix are out of order")
    return found


def _built(kind: type, values: dict[str, Any]) -> Any:
    """An instance that nobody has looked at yet."""
    if not issubclass(kind, BaseEstimator):
        return kind(**values)
    thing: Any = object.__new__(kind)
    vars(thing).update(values)
    return thing


def check_step(step: Any, *, is_last: bool, depth: int = 0) -> None:
    """Refuse a last step that is no sound model, and another step that is no transformer.

    A Pipeline of such may be in either place.
    """
    if type(step) in PIPELINES.values():
        _check_pipeline(step, is_last=is_last, depth=depth)
        return
    if is_last and not is_ours(type(step), MODELS):
        raise ValueError("it ends in no model")
    passes = step in (None, "passthrough") or isinstance(step, Sealed)
    if not is_last and not passes and not hasattr(step, "transform"):
        raise ValueError(f"{shown(step)} is no step before the last")
    if is_ours(type(step)):
        check(step, {})
    if is_last:
        check_remembered(step)


def _check_pipeline(pipeline: Pipeline, *, is_last: bool, depth: int) -> None:
    if depth == MOST_NESTED:
        raise ValueError(f"its Pipelines are nested more than {MOST_NESTED} deep")
    names, steps = zip(*pipeline.steps, strict=True)
    free = {*names} - PIPELINE_OPTIONS
    are_texts = all(isinstance(name, str) and "__" not in name for name in names)
    if len(free) < len(names) or not are_texts:
        raise ValueError("the names of its steps are not different texts that a Pipeline takes")
    for step in steps:
        check_step(step, is_last=is_last and step is steps[-1], depth=depth + 1)
    for before, after in pairwise(steps):
        if not is_ours(type(before)):
            continue
        width = len(before.source_columns_)
        if width != getattr(after, "n_features_in_", None):
            what = f"does not want the {width} columns that the step before gives"
            raise ValueError(f"{shown(after)} {what}")


def check(thing: Any, sizes: Sizes) -> None:
    """Raise ValueError unless an instance of one of `CLASSES` holds what its class declares.

    Sizes of arrays are compared and learned.
    """
    kind = type(thing)
    values = attributes_of(thing)
    declared = dict.fromkeys(parameters_of(kind), object) | kind.stored
    unknown = sorted(values.keys() - declared.keys())
    if unknown:
        raise ValueError(f"{', '.join(unknown)!r:.200} is no attribute of a fitted {kind.__name__}")
    missing = sorted(declared.keys() - values.keys() - {*getattr(kind, "optional", ())})
    if missing:
        raise ValueError(f"{', '.join(missing)} missing")
    for name in sorted(values, key=lambda name: name != "n_features_in_"):  # which is the size d
        value = values[name]
        try:
            _check_value(declared[name], value, sizes)
            if name == "n_features_in_":
                _require(sizes.setdefault("d", value) == value, str(sizes["d"]), value)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from error
    if hasattr(kind, "check_stored"):
        thing.check_stored()


def _check_value(declared: Any, value: Any, sizes: Sizes) -> None:
    """Compare a value with what its class declares, in the words of the head of this module.

    `object` is any plain value.
    """
    if isinstance(declared, tuple):
        _check_array(declared, value, sizes)
    elif isinstance(declared, list):
        _require(type(value) in (list, tuple), "a sequence", value)
        for item in value:
            _check_value(declared[0], item, sizes)
        _require(declared != [str] or len(set(value)) == len(value), "different texts", value)
    elif declared is int:
        is_number = type(value) is int and abs(value) <= MOST
        _require(is_number, "a whole number of ordinary size", value)
    elif declared is float:
        is_number = type(value) in (int, float) and abs(value) <= LARGEST
        _require(is_number, "a number of ordinary size", value)
    else:
        _require(isinstance(value, declared), f"of the kind {shown(declared)}", value)
        if is_ours(type(value)) and declared is not object:
            check(value, dict(sizes))
        else:
            _check_plain(value)


def _check_array(declared: tuple[Any, ...], value: Any, sizes: Sizes) -> None:
    letters = [letter for letter in declared if isinstance(letter, str)]
    more = declared[len(letters) :]
    if value is None and None in more:
        return
    kind = next((kind for kind in (int, str) if kind in more), float)
    entries = value
    if sparse.csr_array in more and isinstance(value, sparse.csr_array):
        entries = value.data
    is_array = isinstance(entries, np.ndarray) and entries.dtype.char in CHARACTERS[kind]
    _require(is_array, f"an array of {kind.__name__}", value)
    shape = value.shape
    expected = tuple(map(sizes.setdefault, letters, shape))
    if shape != expected or len(expected) != len(letters) or 0 in expected:
        raise ValueError(f"has shape {shape}, {expected or letters} is needed")
    if kind is str:
        _require(all(isinstance(item, str) for item in value), "an array of texts", value)
    elif kind is float and entries.size:
        bound = FINITE if float in more else LARGEST
        largest = abs(entries).max()
        if not largest <= bound:
            raise ValueError(f"must hold numbers of at most {bound:g}, got {largest:g}")


def _check_plain(value: Any) -> None:
    """Refuse what is no plain value, and no sequence, mapping or array of such.

    NaN is one of them, infinity is none.
    """
    items = [*value, *value.values()] if type(value) is dict else value
    if isinstance(value, np.ndarray):
        items = value.tolist() if value.dtype.kind in "OU" else []
    if isinstance(items, list) or type(items) is tuple:
        for item in items:
            _check_plain(item)
        return
    _require(
        isinstance(value, PLAIN) and value not in (np.inf, -np.inf),
        "a plain value, or a sequence of such",
        value,
    )


def _require(holds: bool, what: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"must be {what}, got {shown(value)}")


def shown(value: Any) -> str:
    """A few words on a value, however large it is."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name} and shape {value.shape}"
    if isinstance(value, type):
        return value.__name__
    return f"{value!r:.80}" if isinstance(value, PLAIN) else f"a {type(value).__name__}"

"""Models ► one file ► models, without pickle.

The file is an npz: a zip of plain numpy arrays, the first of which is a JSON header with the tree
of the model (`state`). Loading parses numbers and text, and builds only the classes that
`state.CLASSES` lists; nothing in the file can name code. Each class says what its instances may
hold, which is checked before anything is used: what loads is sound, whoever wrote the file.

Steps of other libraries are written and read by skops, which builds the types that it knows to be
harmless, and others only if the caller trusts them by name.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, BinaryIO

import numpy as np

import skcamel
from skcamel.data.pipeline import final, transformers
from skcamel.data.preparer import TablePreparer
from skcamel.model_file.archive import FORMAT, HEADER, ModelFileError, opened, read, target, text_of
from skcamel.model_file.state import MODELS, PIPELINES, Reader, Writer, is_ours

__all__ = ["ModelFileError", "load", "save"]

LIBRARIES = ("numpy", "scipy", "scikit-learn")
CAN_BE_SAVED = (
    "Features and parameters of ordinary size (scaling='standard') and steps that can be imported"
    " can be"
)


def save(model: Any, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write a fitted model, or a fitted Pipeline that ends in one, to one file.

    Parameters
    ----------
    model : fitted CamelClassifier or CamelClassifierCV, or fitted Pipeline that ends in one
        Steps of other libraries need ``pip install skops``. Options of a Pipeline that matter only
        to a fit (memory, verbose, transform_input) are not stored.
    path : str, path or binary file object
        A name is used as given, whatever its suffix, and the file appears whole or not at all. A
        file object is written to from where it stands, and stays open behind the last byte of the
        model; it need not be seekable.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from skcamel import CamelClassifier
    >>> model = CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.skcamel")
    ...     again = load(f"{folder}/model.skcamel")
    >>> bool((again.predict(np.eye(4)) == model.predict(np.eye(4))).all())
    True
    """
    name = type(model).__name__
    estimator = final(model) if type(model) in PIPELINES.values() else model
    if not is_ours(type(estimator), MODELS):
        known = " or ".join(MODELS)
        kind = type(estimator).__name__
        raise TypeError(
            f"save takes a fitted {known}, or a Pipeline that ends in one, got {kind}; for others"
            " use skops.io.dump."
        )
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"This {name} is not fitted; call fit before save.")
    writer = Writer()
    header = {"format": FORMAT, "model": writer.model(model), "parts": writer.parts}
    # what follows is for people; loading depends on none of it
    header["written_by"] = f"skcamel {skcamel.__version__}"
    header["environment"] = {library: version(library) for library in LIBRARIES}
    header["environment"]["python"] = platform.python_version()
    try:
        text = text_of(header)
        Reader(writer.arrays, None).model(header["model"])
    except ValueError as error:
        raise ValueError(f"This {name} cannot be saved: {error}. {CAN_BE_SAVED}.") from error
    members = {HEADER: text}
    for part, array in writer.arrays.items():
        members[part] = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    with target(path) as file:
        np.savez(file, allow_pickle=False, **members)


def load(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    trusted: Sequence[str] = (),
    text_encoder: Any = None,
) -> Any:
    """Read a model or a Pipeline that :func:`save` wrote; predictions on new rows are identical.

    Every number of a model is checked before it is used: what loads answers with finite numbers,
    and its memory is bounded by the size of the file. That says nothing of who trained it; load
    models from people you trust to predict well. Steps of other libraries are read by skops, which
    builds no type that could do harm unless it is trusted; their numbers are not checked.

    Parameters
    ----------
    path : str, path or binary file object
        A file object is read from where it stands to its end, and stays open; it need not be
        seekable. After ``save(model, file)`` go back first, by ``file.seek(0)``.
    trusted : sequence of str, default=()
        Types that steps of other libraries may hold beyond those that skops knows to be harmless,
        as "package.module.Name". A file that holds others is refused with their names; look at each
        before you trust it.
    text_encoder : transformer, object with ``encode``, or dict, default=None
        The text encoder of a :class:`TablePreparer`, as at the fit: no file holds it, and none is
        imported. It must say the same to three fixed texts.

    Raises
    ------
    ModelFileError
        Where the file is damaged, truncated, foreign, of another format, holds numbers that no fit
        gives, or types that are not trusted. A file that cannot be opened gives the error of the
        operating system.
    """
    with opened(path) as file:
        header, arrays = read(file)
        model = Reader(arrays, tuple(trusted)).model(header["model"])
        _hand_back(model, text_encoder)
        return model


def _hand_back(model: Any, text_encoder: Any) -> None:
    """Give the steps of a model the text encoder that they need."""
    steps = [step for step in transformers(model) if isinstance(step, TablePreparer)]
    try:
        taken = [step.take_encoder(text_encoder) for step in steps]
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    if text_encoder is not None and not any(taken):
        raise ModelFileError("has no column for a text encoder; load it without text_encoder")

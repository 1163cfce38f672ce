"""Text encoders that the user brings: a scikit-learn transformer of texts, or an object with ``encode``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize

# What an encoder says to these texts tells whether it is the one of the fit.
PROBES = ("the parcel came late, and broken", "Größe 42 in blau, bitte", "thank you!")
TOLERANCE = 1e-4  # of entries of rows of length 1; other devices round otherwise


def import_encoder(name: str) -> Any:
    """Make a text encoder as the user names it, ``module:factory``; the working directory is looked into too.

    Parameters
    ----------
    name : str
        Module and a function or class without arguments, such as ``my_texts:encoder``.

    Examples
    --------
    >>> import_encoder("sklearn.feature_extraction.text:HashingVectorizer")
    HashingVectorizer()
    """
    module, _, factory = name.partition(":")
    if not module or not factory:
        raise ValueError(
            f"{name!r:.80} names no text encoder; write module:factory, as in my_texts:encoder."
        )
    sys.path.append(os.getcwd())
    try:
        make = getattr(import_module(module), factory)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"the text encoder {name!r:.80} cannot be imported ({error}); is its module installed,"
            " or in this folder?"
        ) from error
    finally:
        sys.path.remove(os.getcwd())
    return make()


def import_name(encoder: Any) -> str:
    """Where the class of an encoder lives, for messages."""
    return f"{type(encoder).__module__}.{type(encoder).__qualname__}"


def fitted_encoder(encoder: Any, texts: Sequence[str]) -> Any:
    """A transformer fitted on texts; other encoders as they are."""
    if hasattr(encoder, "transform") and hasattr(encoder, "fit"):
        return clone(encoder).fit(texts)
    if not hasattr(encoder, "encode"):
        raise TypeError(
            "text_encoder must be a transformer of texts, an object with .encode(texts), or a dict"
            f" of column names and such, got {encoder!r:.80}."
        )
    return encoder


def encoded(encoder: Any, texts: Sequence[str]) -> Any:
    """What an encoder says to texts: rows of length 1, (n, d) float64, sparse if its own are."""
    read = encoder.transform if hasattr(encoder, "transform") else encoder.encode
    rows = read(list(texts))
    name = import_name(encoder)
    if np.ndim(rows) != 2 or rows.shape[0] != len(texts) or not rows.shape[1]:
        raise ValueError(
            f"the text encoder {name} gives shape {np.shape(rows)} for {len(texts)} texts; it must"
            " give a row of numbers for each."
        )
    rows = normalize(rows if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64))
    return sparse.csr_array(rows, dtype=np.float64)

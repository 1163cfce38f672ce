"""A table as people keep it ► numbers that any estimator takes: :class:`TablePreparer`.

Each column becomes one of the kinds of :mod:`skcamel.data.columns`, chosen by what all its cells
say. All come out commensurate: numbers as ranks from 0 to 1, categories and tags as 0 and 1, text
as rows of length 1. An estimator behind it needs no scaling of its own.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import f_regression
from sklearn.impute import SimpleImputer
from sklearn.utils.validation import check_array, check_is_fitted

from skcamel.arrays import column_names, default_names, dense
from skcamel.data import columns as kinds
from skcamel.data.cells import Cells
from skcamel.data.columns import Category, EncodedText, Evidence, LearnedColumn, LeftOut, Text
from skcamel.data.sources import check_different_labels, shortened
from skcamel.text import count

NUMERIC = (LeftOut, kinds.Number, kinds.Flag)  # kinds whose columns a scaling does not spoil
# output columns of categories and tags from which the output is sparse, as it always is with text
MANY = 200
FEW_UNSEEN = 2  # unseen values that are worth a warning, if they are most
FEW_MISSING = 5  # below, missing values carry no information
CHANCE = 0.05  # that missing values without information are taken to have some

NOTES = {  # what differs: most values of "strange" columns are unseen, and all of "new" ones
    "unseen": ("row", "{n} with a value of {name} that the {fit} did not see"),
    "strange": ("row", "most values of {name} were not seen by the {fit}"),
    "new": ("row", "no value of {name} was seen by the {fit}"),
    "gone": ("row", "all cells of {name} are missing"),
    "missing": ("missing value", "{n} in {name}, which had none"),
    "unreadable": ("cell", "{n} of {name} not readable, taken as missing"),
    "absent": ("row", "no column {name}, taken as missing values"),
    "order": ("column", "{n} taken in their order, as model and file have no names in common"),
}


# How the rows of a table differ from those that a preparer learned from: (what, column) ► rows;
# "extra" are columns that it does not know.
Differences = Counter[tuple[str, str]]


def notes_on(
    differences: Differences, fit: str = "fit", kinds: Collection[str] = tuple(NOTES)
) -> list[str]:
    """A sentence for each difference of some kinds; `fit` is what to call the training rows."""
    notes = []
    for (what, name), n in differences.items():
        if what in kinds:
            unit, sentence = NOTES[what]
            notes.append(sentence.format(n=count(n, unit), name=f"{name!r:.60}", fit=fit))
    return notes


class TablePreparer(TransformerMixin, BaseEstimator):
    """Turn a table with numbers, words, dates, text and missing values into numbers.

    Parameters
    ----------
    drop, id, text, category, number, date : sequences of column names, default=()
        Overrule what the cells say: columns to leave out, columns that name the rows, and what
        others hold.
    scaling : {"rank", "none", "auto"}, default="rank"
        Numbers as ranks from 0 to 1, which makes them commensurate with categories and text; or as
        they are; or "auto": as they are in a table of numbers alone, for a search over scalings.
    allow_missing : bool, default=False
        Whether tables to transform may lack columns, which then hold missing values; otherwise they
        are refused by name.
    text_encoder : transformer, object with ``encode``, or dict, default=None
        What turns texts into numbers in place of TF-IDF: a transformer of texts of scikit-learn,
        which is cloned and fitted, or an object with ``encode(list of str)`` that returns (n, d).
        A dict from column to such names the columns of texts. Rows are scaled to length 1.
    sparse_output : bool or "auto", default="auto"
        Whether `transform` returns a sparse matrix; "auto" with text, and with more than 200
        columns of categories and tags.

    Attributes
    ----------
    kinds_ : dict
        Column ► "number", "flag" (yes or no), "category", "date", "text", "tags" (several values in
        a cell), or why it is left out: "id", "constant", "empty", "dropped".
    columns_ : tuple
        What was learned of each column.
    source_columns_ : array of shape (d,)
        For each output column the name of the column that it comes from.
    scaling_ : {"rank", "none"}
    id_columns_ : tuple of str
        Columns that name the rows.
    unreadable_cells_ : dict
        Column ► number of cells of the training rows that are not what the column holds.
    feature_names_in_ : array of shape (number of columns,)

    Notes
    -----
    Missing values get a column of their own where there are at least five, and where they go with
    one of the labels y, if these are given.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"price": ["$1,200", "$80", None], "smoker": ["yes", "no", "no"]})
    >>> table["plan"] = ["a", "b", "a"]
    >>> preparer = TablePreparer().fit(table)
    >>> preparer.kinds_
    {'price': 'number', 'smoker': 'flag', 'plan': 'category'}
    >>> preparer.transform(table)
    array([[0.75, 1.  , 1.  , 0.  ],
           [0.25, 0.  , 0.  , 1.  ],
           [0.5 , 0.  , 1.  , 0.  ]])
    >>> preparer.source_columns_.tolist()
    ['price', 'smoker', 'plan', 'plan']
    """

    stored: ClassVar[dict[str, Any]] = {
        "n_features_in_": int,
        "feature_names_in_": ("d", str),
        "columns_": [LearnedColumn],
        "scaling_": str,
        "_sklearn_output_config": dict,
    }
    optional = ("feature_names_in_", "_sklearn_output_config")

    def __init__(
        self,
        *,
        drop: Sequence[str] = (),
        id: Sequence[str] = (),
        text: Sequence[str] = (),
        category: Sequence[str] = (),
        number: Sequence[str] = (),
        date: Sequence[str] = (),
        scaling: str = "rank",
        allow_missing: bool = False,
        text_encoder: Any = None,
        sparse_output: bool | str = "auto",
    ) -> None:
        self.drop = drop
        self.id = id
        self.text = text
        self.category = category
        self.number = number
        self.date = date
        self.scaling = scaling
        self.allow_missing = allow_missing
        self.text_encoder = text_encoder
        self.sparse_output = sparse_output

    def __sklearn_tags__(self) -> Any:
        """Tables of any kind, with missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        if self.scaling not in ("rank", "none", "auto"):
            raise ValueError(f"scaling must be 'rank', 'none' or 'auto', got {self.scaling!r}.")
        if self.sparse_output not in (True, False, "auto"):
            raise ValueError(
                f"sparse_output must be True, False or 'auto', got {self.sparse_output!r:.80}."
            )

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        self._check_parameters()
        names = {column.name for column in self.columns_}
        if not 0 < self.n_features_in_ == len(self.columns_) == len(names):
            raise ValueError(
                f"columns_ must be {self.n_features_in_} columns with different names, got"
                f" {len(self.columns_)}"
            )
        if self.scaling_ not in ("rank", "none"):
            raise ValueError("scaling_ must be rank or none")

    def fit(self, X: Any, y: Any = None) -> TablePreparer:
        """Learn what each column holds.

        Parameters
        ----------
        X : pandas, polars or pyarrow frame, dict of columns, or array of shape (n, columns)
        y : array of shape (n, q), default=None
            Labels; missing values of a column that go with none of them get no column of their own.
        """
        self._check_parameters()
        cells = cells_of(X)
        evidence = self._evidence(cells)
        n = len(evidence[0].cells.codes)
        found = [kinds.kind_of(own) for own in evidence]
        self.scaling_ = self.scaling
        if self.scaling == "auto":
            self.scaling_ = "none" if set(found) <= {*NUMERIC} else "rank"
        labels = _labels(y, n)
        columns: list[LearnedColumn] = []
        for own, kind in zip(evidence, found, strict=True):
            own.ranks = self.scaling_ == "rank"
            column = kind.learn(own)
            columns.append(_with_missing(column, own.cells, labels))
        self.columns_ = tuple(columns)
        self.n_features_in_ = len(cells)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if isinstance(X, dict) or column_names(X) is not None:
            self.feature_names_in_ = np.array(list(cells), dtype=object)
        if not len(self.source_columns_):
            reasons = [f"{column.name!r:.60} {column.describe()}" for column in columns[:4]]
            raise ValueError(
                f"No column of {count(n, 'sample')} is left to learn from:"
                f" {'; '.join(reasons)}. Bring more rows, or say what they hold."
            )
        return self

    def _evidence(self, cells: Mapping[str, Cells]) -> list[Evidence]:
        """What each column says, and what the parameters say of it."""
        forced = self._forced(cells)
        evidence = [
            Evidence(name, own, forced.get(name, ""), self._encoder_of(self.text_encoder, name))
            for name, own in cells.items()
        ]
        readings = [own.number for own in evidence if len(own.cells.values) > 1]
        sure = [found.how[0] for found in readings if found.share >= kinds.MOSTLY]
        if "comma" in sure:
            evidence = [replace(own, comma=True) for own in evidence]
        return evidence

    def _forced(self, cells: Mapping[str, Cells]) -> dict[str, str]:
        """Column ► the parameter that names it."""
        forced: dict[str, str] = {}
        for kind in kinds.FORCED:
            names = getattr(self, kind)
            if isinstance(names, str):
                raise TypeError(
                    f"{kind} must be a sequence of column names, such as ['age'], got"
                    f" {names!r:.80}."
                )
            if kind == "text" and isinstance(self.text_encoder, dict):
                names = {*names, *self.text_encoder}
            for name in names:
                if name not in cells:
                    raise ValueError(
                        f"{kind} names {name!r:.80}, which is no column; the columns are"
                        f" {shortened(cells, 12)}."
                    )
                if name in forced:
                    raise ValueError(
                        f"{name!r:.80} is named by {forced[name]} and by {kind}; name it once."
                    )
                forced[name] = kind
        return forced

    @staticmethod
    def _encoder_of(text_encoder: Any, name: str) -> Any:
        """The text encoder of a column."""
        return text_encoder.get(name) if isinstance(text_encoder, dict) else text_encoder

    @property
    def kinds_(self) -> dict[str, str]:
        """Column ► what it holds, or why it is left out."""
        check_is_fitted(self)
        return {column.name: column.kind for column in self.columns_}

    @property
    def id_columns_(self) -> tuple[str, ...]:
        """Columns that name the rows."""
        return tuple(name for name, kind in self.kinds_.items() if kind == "id")

    @property
    def unreadable_cells_(self) -> dict[str, int]:
        """Column ► cells of the training rows that are not what the column holds."""
        check_is_fitted(self)
        return {column.name: column.unreadable for column in self.columns_ if column.unreadable}

    @property
    def source_columns_(self) -> np.ndarray:
        """For each output column the name of the column that it comes from, (d,)."""
        check_is_fitted(self)
        return self._in_outputs([column.name for column in self.columns_])

    @property
    def is_word_(self) -> np.ndarray:
        """Which output columns stand for a word of a text, (d,) bool."""
        return self._in_outputs([isinstance(column, Text) for column in self.columns_])

    def _in_outputs(self, of_columns: Sequence[Any]) -> np.ndarray:
        widths = [len(column.output_names()) for column in self.columns_]
        return np.repeat(np.array(of_columns, dtype=object), widths)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns, (d,), such as ``age (missing)`` or ``city=Rome``."""
        check_is_fitted(self)
        if input_features is not None and list(map(str, input_features)) != list(self.kinds_):
            raise ValueError("input_features is not equal to feature_names_in_")
        names = [name for column in self.columns_ for name in column.output_names()]
        return np.array(names, dtype=object)

    def describe(self) -> list[tuple[str, str, str]]:
        """For each column its name, its kind, and a few words on what becomes of it."""
        kinds = self.kinds_
        return [(column.name, kinds[column.name], column.describe()) for column in self.columns_]

    def transform(self, X: Any) -> Any:
        """Numbers of a table, matched by the names of its columns.

        Parameters
        ----------
        X : frame, dict of columns or array
            Columns in any order; others than those of the fit are ignored. Those of an array have
            no names: they are taken in the order of the fit. Unseen categories are 0 in all columns
            of theirs.

        Returns
        -------
        array or CSR array of shape (n, d)

        Warns
        -----
        UserWarning
            Where cells are not what their column holds, where all are missing, and where the fit
            saw few values of a column.
        """
        rows, differences = self.transform_with_differences(X)
        notes = notes_on(differences, kinds=("unreadable", "strange", "new", "gone"))
        if notes:
            warnings.warn(f"{'; '.join(notes)}. Is the table written as at the fit?", stacklevel=3)
        return rows

    def transform_with_differences(
        self, X: Any, *, allow_missing: bool = False
    ) -> tuple[Any, Differences]:
        """Return the numbers of a table, and how it differs from that of the fit.

        `allow_missing` counts beside the parameter.
        """
        check_is_fitted(self)
        cells = cells_of(X, tuple(self.kinds_))
        first, *_ = cells.values()
        n = len(first.codes)
        used = [column for column in self.columns_ if not isinstance(column, LeftOut)]
        absent = [column.name for column in used if column.name not in cells]
        if absent and not (allow_missing or self.allow_missing):
            plural = "s" if len(absent) > 1 else ""
            raise ValueError(
                f"the table lacks the column{plural} {shortened(absent, 8)} of the fit; add what is"
                " missing, or let it count as missing values (allow_missing=True, --allow-missing)."
            )
        nothing = Cells.of([None] * n)
        blocks: list[Any] = []
        counts = Differences(("extra", name) for name in cells if name not in self.kinds_)
        for column in used:
            own = cells.get(column.name, nothing)
            entries, odd = column.encode(own)
            blocks.append(entries)
            if column.indicator:
                filled = own.missing | (odd & column.fills)
                blocks.append(filled.astype(np.float64)[:, None])
            if column.name in absent:
                counts["absent", column.name] = n
                continue
            n_missing = int(own.missing.sum())
            if n_missing == n >= (FEW_MISSING if column.missing else FEW_UNSEEN):
                counts["gone", column.name] = n
            elif not column.missing:
                counts["missing", column.name] = n_missing
            n_odd = int(odd.sum())
            what = "unreadable" if column.fills else "unseen"
            counts[what, column.name] = n_odd
            n_there = n - n_missing
            if what == "unseen" and n_odd >= max(FEW_UNSEEN, n_there / 2):
                counts["new" if n_odd == n_there else "strange", column.name] = n_odd
        return self._stacked(blocks), +counts

    def _stacked(self, blocks: Sequence[Any]) -> Any:
        is_sparse = self.sparse_output
        if is_sparse == "auto":
            values = [column for column in self.columns_ if isinstance(column, Category)]
            n_values = sum(len(column.output_names()) for column in values)
            is_sparse = any(self.is_word_) or n_values > MANY
        if is_sparse:
            return sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr")
        return np.hstack([dense(block) for block in blocks])

    def take_encoder(self, text_encoder: Any) -> bool:
        """Take back the text encoder of the fit, which a model file does not hold.

        Returns whether a column needs it. It must say the same as at the fit to the fixed texts
        that the file holds.
        """
        columns = list(self.columns_)
        for k, column in enumerate(columns):
            if isinstance(column, EncodedText):
                columns[k] = column.with_encoder(self._encoder_of(text_encoder, column.name))
        self.columns_ = tuple(columns)
        self.text_encoder = text_encoder
        return any(isinstance(column, EncodedText) for column in columns)


def _with_missing(column: LearnedColumn, cells: Cells, labels: np.ndarray | None) -> LearnedColumn:
    """The column with how many of its cells are missing or not readable.

    They get an indicator if that carries information on the labels (n, q).
    """
    if isinstance(column, LeftOut):
        return column
    _, odd = column.encode(cells)
    unreadable = odd & column.fills
    filled = cells.missing | unreadable
    n_filled = filled.sum()
    indicator = min(n_filled, len(filled) - n_filled) >= FEW_MISSING
    if indicator and labels is not None:
        _, chances = f_regression(labels, filled)
        indicator = chances.min() < CHANCE / labels.shape[1]  # of all labels together
    n_missing, n_unreadable = int(cells.missing.sum()), int(unreadable.sum())
    return replace(column, indicator=bool(indicator), missing=n_missing, unreadable=n_unreadable)


def cells_of(X: Any, known: Sequence[str] = ()) -> dict[str, Cells]:
    """Cells of the columns of a frame, a dict of columns or an array, by name.

    Columns of an array have the `known` names, if there are such, in their order.
    """
    if isinstance(X, dict) and not sparse.issparse(X):  # scipy has a matrix that is one
        columns = X
    elif (names := column_names(X)) is None:
        table = check_array(X, dtype=None, ensure_all_finite=False)
        names = known or default_names("x", table.shape[1])
        if len(names) != table.shape[1]:
            raise ValueError(
                f"X has {table.shape[1]} features, but TablePreparer is expecting {len(known)}"
                " features as input."
            )
        columns = dict(zip(names, table.T))
    else:
        check_different_labels(names, "the table", "columns")
        of_arrow = type(X).__module__.startswith("pyarrow")
        own = X.columns if of_arrow else [X[name] for name in X.columns]
        columns = dict(zip(names, own))
    cells = {name: Cells.of(column) for name, column in columns.items()}
    if not cells or not all(len(own.codes) for own in cells.values()):
        raise ValueError("The table is empty; it needs a column and a row at least.")
    return cells


def _labels(y: Any, n: int) -> np.ndarray | None:
    """Labels (n, q), unknown ones being the mean; None where y is no such matrix."""
    labels = np.asarray(dense(y))
    if labels.dtype.kind not in "biuf" or labels.shape[:1] != (n,):
        return None
    labels = labels.reshape(n, -1).astype(np.float64)
    return SimpleImputer(keep_empty_features=True).fit_transform(labels)


def import_encoder(name: str) -> Any:
    """Make a text encoder as the user names it, ``module:factory``.

    The working directory is looked into too.

    Parameters
    ----------
    name : str
        Module and a function or class without arguments, such as ``my_texts:encoder``.

    Examples
    --------
    >>> import_encoder("sklearn.feature_extraction.text:HashingVectorizer")
    HashingVectorizer()
    """
    sys.path.append(os.getcwd())
    try:
        return resolve_name(name)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ValueError(
            f"{name!r:.80} makes no text encoder ({error}); write module:factory, as in"
            " my_texts:encoder, of a module that is installed or in this folder."
        ) from error

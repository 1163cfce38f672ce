"""A table as people keep it ► numbers that any estimator takes: :class:`TablePreparer`.

Each column becomes one part, chosen by what all its cells say: a number, yes or no, a category, a
date, text or tags; or it is left
out, with the reason. All parts come out commensurate: numbers as ranks from 0 to 1, categories and
tags as 0 and 1, text as TF-IDF
rows of length 1. An estimator behind it needs no scaling of its own.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from skcamel.arrays import column_names, default_names
from skcamel.data.cells import Column
from skcamel.data.kinds import has_decimal_commas, part_of, without_value
from skcamel.data.parts import Category, LeftOut, Part, Read, Text
from skcamel.data.text import counted, first_repeated, shortened
from skcamel.memory import require

FORCED = (
    "drop",
    "id",
    "text",
    "category",
    "number",
    "date",
)  # parameters that overrule what the cells say
WORDS = {"category", "date", "text", "tags"}  # kinds whose columns a scaling would spoil
WRITTEN = ("id", "text", "category", "tags")  # kinds whose cells count as they are written
# output columns of categories and tags from which the output is sparse, as it always is with text
MANY = 200

Kinds = dict[str, str]


@dataclass(frozen=True)
class Differences:
    """How the rows of a table differ from those that a preparer learned from.

    Parameters
    ----------
    unseen, gaps, unreadable : mapping from column to number of rows
        Values that the training rows did not have; gaps in columns that had none; cells that are
        not what the column holds.
    missing, extra : tuple of str
        Columns that are not there, and columns that the preparer does not know.
    """

    unseen: Mapping[str, int]
    gaps: Mapping[str, int]
    unreadable: Mapping[str, int]
    missing: tuple[str, ...]
    extra: tuple[str, ...]

    def plus(self, other: Differences) -> Differences:
        """Of the rows of both."""

        def together(which: str) -> dict[str, int]:
            return dict(Counter(getattr(self, which)) + Counter(getattr(other, which)))

        missing, extra = (
            tuple(dict.fromkeys(first + second))
            for first, second in ((self.missing, other.missing), (self.extra, other.extra))
        )
        return Differences(
            together("unseen"), together("gaps"), together("unreadable"), missing, extra
        )

    def notes(self, learned_from: str = "fit") -> list[str]:
        """A sentence for each difference."""
        said = [
            f"{counted(n, 'row')} with a value of {name!r:.60} that the {learned_from} did not see"
            for name, n in self.unseen.items()
        ]
        said += [
            f"{counted(n, 'gap')} in {name!r:.60}, which had none" for name, n in self.gaps.items()
        ]
        said += [
            f"{counted(n, 'cell')} of {name!r:.60} not readable, taken as"
            f" {'a gap' if n == 1 else 'gaps'}"
            for name, n in self.unreadable.items()
        ]
        said += [f"no column {name!r:.60}, taken as gaps" for name in self.missing]
        return said


class TablePreparer(TransformerMixin, BaseEstimator):
    """Turn a table with numbers, words, dates, text and gaps into numbers.

    Parameters
    ----------
    drop, id, text, category, number, date : sequences of column names, default=()
        Overrule what the cells say: columns to leave out, columns that name the rows, and what
        others hold.
    scaling : {"rank", "none"}, default="rank"
        Numbers as ranks from 0 to 1, which makes them commensurate with categories and text; or as
        they are.
    allow_missing : bool, default=False
        Whether tables to transform may lack columns, which then hold gaps; otherwise they are
        refused by name.

    Attributes
    ----------
    kinds_ : dict
        Column ► "number", "flag" (yes or no), "category", "date", "text", "tags" (several values in
        a cell), or why it is left out:
        "id", "constant", "empty", "dropped".
    source_columns_ : array of shape (d,)
        For each output column the name of the column that it comes from.
    id_columns_ : tuple of str
        Columns that name the rows.
    feature_names_in_ : array of shape (number of columns,)
    sampled_ : tuple of two ints
        Where the fit saw a sample alone, as of files larger than memory: how many rows it saw, and
        of how many.

    Notes
    -----
    Gaps get a column of their own where there are at least five, and where they go with one of the
    labels y, if these are given.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"price": ["$1,200", "$80", None], "smoker": ["yes", "no", "no"], "plan": ["a", "b", "a"]})
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
        "parts_": [Part],
        "sampled_": [int],
        "_sklearn_output_config": dict,
    }
    optional = ("feature_names_in_", "sampled_", "_sklearn_output_config")

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
    ) -> None:
        self.drop = drop
        self.id = id
        self.text = text
        self.category = category
        self.number = number
        self.date = date
        self.scaling = scaling
        self.allow_missing = allow_missing

    def __sklearn_tags__(self) -> Any:
        """Tables of any kind, with gaps."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        if self.scaling not in ("rank", "none"):
            raise ValueError(f"scaling must be 'rank' or 'none', got {self.scaling!r}.")
        for kind in FORCED:
            names = getattr(self, kind)
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise ValueError(
                    f"{kind} must be a sequence of column names, such as ['age'], got"
                    f" {names!r:.80}."
                )

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        self._check_parameters()
        if (
            not 0
            < self.n_features_in_
            == len(self.parts_)
            == len({part.name for part in self.parts_})
        ):
            raise ValueError(
                f"parts_ must be {self.n_features_in_} columns with different names, got"
                f" {len(self.parts_)}"
            )
        if empty := [
            part.name for part in self.parts_ if not (isinstance(part, LeftOut) or part.features())
        ]:
            raise ValueError(f"parts_ must give columns, {empty[0]!r:.60} gives none")
        if len(getattr(self, "sampled_", (1, 1))) != 2 or _get_output_config("transform", self)[
            "dense"
        ] not in ("default", "pandas", "polars"):
            raise ValueError(
                "sampled_ must be two numbers of rows, and the output one that is known"
            )

    def fit(self, X: Any, y: Any = None) -> TablePreparer:
        """Learn what each column holds.

        Parameters
        ----------
        X : pandas, polars or pyarrow frame, dict of columns, array of shape (n, columns), or the
        path of a table file
        y : array of shape (n, q), default=None
            Labels; gaps of a column that go with none of them get no column of their own.
        """
        self._check_parameters()
        columns = columns_of(X, [*self.id, *self.text, *self.category])
        forced = self._forced(columns)
        labels = _labels(y, len(next(iter(columns.values()))))
        comma = any(has_decimal_commas(column) for column in columns.values())
        self.parts_ = tuple(
            part_of(
                name, column, forced.get(name), labels, comma=comma, ranks=self.scaling == "rank"
            )
            for name, column in columns.items()
        )
        self.n_features_in_ = len(columns)
        self.__dict__.pop("sampled_", None)  # of an earlier fit
        if _has_names(X):
            self.feature_names_in_ = np.array(list(columns), dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if not len(self.source_columns_):
            told = "; ".join(f"{part.name!r:.60} {part.detail()}" for part in self.parts_[:4])
            rows = counted(len(columns[self.parts_[0].name]), "sample")
            raise ValueError(
                f"No column of {rows} is left to learn from: {told}. Say what they hold, as by"
                " number=[…] or category=[…]."
            )
        return self

    def fit_for_search(self, X: Any, y: Any = None) -> bool:
        """Fit for an estimator that tries several scalings: numbers alone stay as they are. Returns whether there is more than numbers."""
        has_words = bool(set(self.fit(X, y).kinds_.values()) & WORDS)
        if not has_words:
            self.set_params(scaling="none").fit(X, y)
        return has_words

    def _forced(self, columns: Mapping[str, Column]) -> Kinds:
        forced: Kinds = {}
        for kind in FORCED:
            for name in getattr(self, kind):
                if name not in columns:
                    raise ValueError(
                        f"{kind} names {name!r:.80}, which is no column; the columns are"
                        f" {shortened(columns, 12)}."
                    )
                if name in forced:
                    raise ValueError(
                        f"{name!r:.80} is named by {forced[name]} and by {kind}; name it once."
                    )
                forced[name] = kind
        return forced

    def as_written(self) -> list[str]:
        """Columns of a file whose cells count as they are written, such as ``007``: those of words, as far as they are known."""
        if not hasattr(self, "parts_"):
            return [*self.id, *self.text, *self.category]
        return [name for name, kind in self.kinds_.items() if kind in WRITTEN]

    @property
    def kinds_(self) -> Kinds:
        """Column ► what it holds, or why it is left out."""
        check_is_fitted(self)
        return {
            part.name: part.why if isinstance(part, LeftOut) else part.kind for part in self.parts_
        }

    @property
    def id_columns_(self) -> tuple[str, ...]:
        """Columns that name the rows."""
        return tuple(name for name, kind in self.kinds_.items() if kind == "id")

    @property
    def source_columns_(self) -> np.ndarray:
        """For each output column the name of the column that it comes from, (d,)."""
        check_is_fitted(self)
        return np.array(
            [part.name for part in self.parts_ for _ in range(len(part.features()) + part.gap)],
            dtype=object,
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns, such as ``age``, ``age (gap)``, ``city=Rome``, ``notes: fever``, ``born (month sin)``, (d,)."""
        check_is_fitted(self)
        if input_features is not None and list(map(str, input_features)) != [
            part.name for part in self.parts_
        ]:
            raise ValueError("input_features is not equal to feature_names_in_")
        names = [
            name
            for part in self.parts_
            for name in [*part.features(), *[f"{part.name} (gap)"] * part.gap]
        ]
        return np.array(names, dtype=object)

    def describe(self) -> list[tuple[str, str, str]]:
        """For each column its name, its kind, and a few words on what becomes of it."""
        return [(part.name, self.kinds_[part.name], part.detail()) for part in self.parts_]

    def transform(self, X: Any) -> Any:
        """Numbers of a table, matched by the names of its columns.

        Parameters
        ----------
        X : frame, array or path of a table file
            Columns in any order; others than those of the fit are ignored. Those of an array have
            no names: they are taken in the order
            of the fit. Unseen categories are 0 in all columns of theirs.

        Returns
        -------
        array or CSR array of shape (n, d)
            Sparse with text, and with more than 200 columns of categories and tags.
        """
        return self.transform_with_differences(X)[0]

    def transform_with_differences(
        self, X: Any, *, allow_missing: bool = False
    ) -> tuple[Any, Differences]:
        """Return the numbers of a table, and how it differs from that of the fit; `allow_missing` counts beside the parameter."""
        check_is_fitted(self)
        kinds = self.kinds_
        columns = columns_of(X, self.as_written())
        if not _has_names(X):
            if len(columns) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(columns)} features, but TablePreparer is expecting"
                    f" {self.n_features_in_} features as input."
                )
            columns = dict(zip(kinds, columns.values(), strict=True))  # by position
        used = [part for part in self.parts_ if not isinstance(part, LeftOut)]
        missing = tuple(part.name for part in used if part.name not in columns)
        if missing and not (allow_missing or self.allow_missing):
            named = f"the column{'s' * (len(missing) > 1)} {shortened(missing, 8)}"
            raise ValueError(
                f"the table lacks {named} of the fit; add what is missing, or let it count as gaps"
                " (--allow-missing)."
            )
        given = dict.fromkeys(columns)
        nothing = Column(codes=np.full(len(next(iter(columns.values()))), -1))
        read = [
            part.read(columns.pop(part.name, nothing)) for part in used
        ]  # a column that is read need not be kept

        def told(which: str, wanted: Callable[[Part], bool]) -> dict[str, int]:
            counts = {
                part.name: int(getattr(own, which).sum())
                for part, own in zip(used, read, strict=True)
                if wanted(part)
            }
            return {name: count for name, count in counts.items() if count}

        differences = Differences(
            unseen=told("odd", lambda part: isinstance(part, Category)),
            gaps=told("gaps", lambda part: not part.gaps and part.name in given),
            unreadable=told("odd", lambda part: not isinstance(part, Category)),
            missing=missing,
            extra=tuple(name for name in given if name not in kinds),
        )
        return self._stacked(used, read), differences

    def _stacked(self, used: Sequence[Part], read: Sequence[Read]) -> Any:
        blocks: list[Any] = [
            block
            for part, own in zip(used, read, strict=True)
            for block in [own.entries, *[without_value(own).astype(np.float64)[:, None]] * part.gap]
        ]
        is_text = any(isinstance(part, Text) for part in used)
        n_values = sum(len(part.features()) for part in used if isinstance(part, Category))
        framed = _get_output_config("transform", self)["dense"] != "default"
        if (is_text or n_values > MANY) and not framed:
            return side_by_side(blocks)
        require(
            8.0 * blocks[0].shape[0] * len(self.source_columns_),
            "A dense table of the features",
            "Leave the output sparse.",
        )
        return np.hstack([block.toarray() if sparse.issparse(block) else block for block in blocks])


def side_by_side(blocks: Sequence[Any]) -> sparse.csr_array:
    """Blocks of as many rows, dense or CSR, as one CSR matrix; each entry is written once, where scipy holds it four times.

    Examples
    --------
    >>> side_by_side([np.array([[5.0], [0.0]]), sparse.csr_array([[0.0, 1.0], [2.0, 0.0]])]).toarray()
    array([[5., 0., 1.],
           [0., 2., 0.]])
    """
    n = blocks[0].shape[0]
    lengths = [
        np.diff(block.indptr) if sparse.issparse(block) else block.shape[1] for block in blocks
    ]  # of each row, or of all
    indptr = np.append(0, np.cumsum(np.broadcast_to(sum(lengths), n), dtype=np.int64))
    indptr = indptr.astype(
        np.int32 if indptr[-1] < 2**31 else np.int64
    )  # both index arrays take the wider type
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.int32)
    ends, first = indptr[:-1].copy(), 0  # where the next block of each row begins
    for block, length in zip(blocks, lengths, strict=True):
        if sparse.issparse(block):
            places = np.repeat(ends - block.indptr[:-1], length)
            places += np.arange(len(places), dtype=indptr.dtype)
            data[places] = block.data
            indices[places] = first + block.indices
        else:
            for column in range(block.shape[1]):
                data[ends + column] = block[:, column]
                indices[ends + column] = first + column
        ends += length
        first += block.shape[1]
    joined = sparse.csr_array((data, indices, indptr), shape=(n, first))
    joined.eliminate_zeros()
    return joined


def columns_of(X: Any, as_text: Collection[str] = ()) -> dict[str, Column]:
    """Columns of a frame, an array or a table file, by name; those named in `as_text` are read from a file as they are written."""
    if _is_path(X):
        from skcamel.data.readers import read_columns
        from skcamel.data.separated import pyarrow_module

        columns = columns_of(read_columns(X, as_text=as_text))
        # pyarrow would keep that of the table
        pyarrow_module().default_memory_pool().release_unused()
        return columns
    names = column_names(X)
    if isinstance(X, dict) and not sparse.issparse(X):  # scipy has a matrix that is one
        names, cells = list(X), list(X.values())
    elif names is None:
        names, cells = _of_array(X)
    else:
        cells = [X[name] for name in (X.column_names if hasattr(X, "column_names") else X.columns)]
    if (twice := first_repeated(names)) is not None:
        raise ValueError(f"two columns are called {twice!r:.80}; rename one.")
    if not names or not len(cells[0]):
        n, lacking = (len(cells[0]), "sample") if cells else (len(X), "feature")
        raise ValueError(
            f"The table is empty: 0 {lacking}(s) (shape=({n}, {len(names)})) while a minimum of 1"
            " is required."
        )
    return {name: Column.of(own) for name, own in zip(names, cells, strict=True)}


def _has_names(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike, dict)) or column_names(X) is not None


def _is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


def _of_array(X: Any) -> tuple[list[str], list[np.ndarray]]:
    if sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed where a table is needed; a sparse matrix of numbers needs no"
            " preparation."
        )
    table = np.asarray(X)
    if table.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: a table holds real numbers, words, dates and text."
        )
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D array instead. Reshape your data: a table has"
            " rows and columns."
        )
    return list(default_names("x", table.shape[1])), list(table.T)


def _labels(y: Any, n: int) -> np.ndarray | None:
    """Labels in 0 and 1, (n, q), unknown ones as the mean of their label; None where y is no such matrix."""
    if y is None:
        return None
    labels = np.asarray(y.toarray() if sparse.issparse(y) else y)
    labels = labels[:, None] if labels.ndim == 1 else labels
    if (
        labels.dtype.kind not in "biuf"
        or labels.shape[0] != n
        or not (np.isin(labels, (-1, 0, 1)) | (labels != labels)).all()
    ):
        return None
    known = labels == labels
    mean = (labels == 1).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, labels == 1, mean)

"""What becomes of a column: one part for each kind, with what it learned; plain numbers and words, which a model file can hold.

Text is scikit-learn's TfidfVectorizer. The other parts are a few lines of numpy each: they read
every different value once instead
of every row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from skcamel.data import cells
from skcamel.data.cells import Column
from skcamel.data.text import counted

MOST_KNOTS = 1000  # of the ranks of a number
LATEST = 10**12  # seconds from 1970
CYCLES = {"month": 12, "weekday": 7, "hour": 24}
WORD_OR_EMOJI = r"(?u)\b\w\w+\b|[^\w\s\x00-\x7f]"
Stored = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Steps:
    """Numbers ► [0, 1]: the share of training rows below, with half of those that are equal; linear between the knots.

    Examples
    --------
    >>> Steps.of(np.array([1.0, 1.0, 5.0, 9.0]))(np.array([1.0, 3.0, 100.0]))
    array([0.25  , 0.4375, 0.875 ])
    """

    knots: np.ndarray  # (k,) increasing
    levels: np.ndarray  # (k,)
    stored: ClassVar[Stored] = {"knots": ("k",), "levels": ("k",)}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if (np.diff(self.knots) <= 0).any() or (
            np.diff(self.levels, prepend=0.0, append=1.0) < 0
        ).any():
            raise ValueError(
                "must have knots that increase, and levels from 0 to 1 that do not fall"
            )

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Levels of numbers; beyond the knots those of the outermost."""
        return np.interp(numbers, self.knots, self.levels)

    @classmethod
    def of(cls, numbers: np.ndarray) -> Steps:
        """Steps of numbers without NaN, with a thousand knots at the most."""
        knots, counts = np.unique(numbers, return_counts=True)
        levels = (np.cumsum(counts) - counts / 2) / counts.sum()
        if len(knots) > MOST_KNOTS:
            kept = np.unique(
                np.searchsorted(levels, np.linspace(levels[0], levels[-1], MOST_KNOTS))
            )
            knots, levels = knots[kept], levels[kept]
        return cls(knots, levels)


class Read(NamedTuple):
    """What a part made of the cells of a column."""

    entries: Any  # (n, width), dense or CSR
    gaps: np.ndarray  # (n,) bool; empty cells
    odd: (
        np.ndarray
    )  # (n,) bool; cells with an unseen category, or that are not what the column holds


@dataclass(frozen=True, eq=False)
class Part:
    """A column of the table; `gaps` counts those of the training rows, `gap` says whether they have an output column of their own."""

    kind: ClassVar[str] = ""
    name: str
    gap: bool = field(default=False, kw_only=True)
    gaps: int = field(default=0, kw_only=True)
    stored: ClassVar[Stored] = {
        "name": str,
        "gap": bool,
        "gaps": int,
    }  # what a model file holds of it, see skcamel.model_file.state

    def features(self) -> list[str]:
        """Names of the output columns, but for that of the gaps."""
        return [self.name]

    def detail(self) -> str:
        """A few words on what becomes of the column."""
        said = [words for words in self._said() if words]
        if self.gaps:
            said.append(
                f"{counted(self.gaps, 'gap')} filled by {self._filling()}"
                + ", with a column of their own" * self.gap
            )
        return ", ".join(said)

    def _said(self) -> list[str]:
        return []

    def _filling(self) -> str:
        return "0 in all columns"

    def read(self, column: Column) -> Read:
        """Entries of the output columns for each cell."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class LeftOut(Part):
    """A column that is no feature: "id", "constant", "empty" or "dropped"."""

    why: str = "dropped"
    reason: str = ""
    stored: ClassVar[Stored] = Part.stored | {"why": str, "reason": str}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if self.why not in ("id", "constant", "empty", "dropped"):
            raise ValueError(f"why is not known: {self.why!r:.80}")

    def features(self) -> list[str]:
        """None."""
        return []

    def _said(self) -> list[str]:
        return [f"left out: {self.reason}"]


@dataclass(frozen=True, eq=False)
class Number(Part):
    """A number as its rank, or as it is; a gap is the median."""

    kind: ClassVar[str] = "number"
    decimal: str = "point"
    unit: str = ""
    median: float = 0.0
    steps: Steps | None = None
    odd: int = 0  # cells of the training rows that are no numbers
    stored: ClassVar[Stored] = Part.stored | {
        "decimal": str,
        "unit": str,
        "median": float,
        "steps": Steps | None,
        "odd": int,
    }

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if self.decimal not in cells.DIGITS:
            raise ValueError(f"decimal is not known: {self.decimal!r:.80}")

    def _said(self) -> list[str]:
        return [
            f"in {self.unit}" * bool(self.unit),
            "with a decimal comma" * (self.decimal == "comma"),
            f"{counted(self.odd, 'cell')} not readable as a number" * bool(self.odd),
        ]

    def _filling(self) -> str:
        return f"the median {self.median:g}"

    def read(self, column: Column) -> Read:
        """One column of numbers."""
        numbers = numbers_of(column, cells.Numerals(self.decimal, self.unit))
        missing, gaps = np.isnan(numbers), gaps_of(column, cells.MISSING_OR_NONE)
        filled = np.where(missing, self.median, numbers)
        return Read(
            (filled if self.steps is None else self.steps(filled))[:, None], gaps, missing & ~gaps
        )


@dataclass(frozen=True, eq=False)
class Flag(Part):
    """Yes and no as 1 and 0, in whatever words; a gap is ½."""

    kind: ClassVar[str] = "flag"
    yes: str = "1"
    no: str = "0"
    stored: ClassVar[Stored] = Part.stored | {"yes": str, "no": str}

    def _said(self) -> list[str]:
        return [f"{self.yes} is 1, {self.no} is 0"]

    def _filling(self) -> str:
        return "½"

    def read(self, column: Column) -> Read:
        """One column of 0, 1 and ½."""
        if column.numbers is not None:
            said = np.where(np.isin(column.numbers, (0, 1)), column.numbers, np.nan)
        else:
            said = column.as_text().each(
                lambda values: np.array(
                    [cells.YES_NO.get(word.lower(), np.nan) for word in values]
                ),
                np.nan,
            )
        missing, gaps = np.isnan(said), gaps_of(column, cells.MISSING_OR_NONE)
        return Read(np.where(missing, 0.5, said)[:, None], gaps, missing & ~gaps)


@dataclass(frozen=True, eq=False)
class Category(Part):
    """A 0/1 column for each frequent value and one for all rare ones; unseen values and gaps are 0 in all."""

    kind: ClassVar[str] = "category"
    sign: ClassVar[str] = "="
    values: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    stored: ClassVar[Stored] = Part.stored | {"values": [str], "rare": [str]}

    def features(self) -> list[str]:
        """``name=value`` for each."""
        return [
            f"{self.name}{self.sign}{value}"
            for value in (*self.values, *["(rare)"] * bool(self.rare))
        ]

    def _said(self) -> list[str]:
        return [
            counted(len(self.values), "value"),
            f"{counted(len(self.rare), 'rare one')} together" * bool(self.rare),
        ]

    def _items(self, value: Any) -> tuple[str, ...]:
        return (value,)

    def read(self, column: Column) -> Read:
        """A row of 0 and 1 for each different value, given to the cells that hold it."""
        column = column if column.has_lists and isinstance(self, Tags) else column.as_text()
        places = {value: k for k, value in enumerate(self.values)} | dict.fromkeys(
            self.rare, len(self.values)
        )
        held = [self._items(value) for value in column.values]
        pairs = sorted(
            {
                (row, places[item])
                for row, items in enumerate(held)
                for item in items
                if item in places
            }
        )
        rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        shape = len(held) + 1, len(self.features())  # the last row is that of a gap
        unseen = np.array([any(item not in places for item in items) for items in held] + [False])
        return Read(
            sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)[column.places],
            column.places < 0,
            unseen[column.places],
        )


@dataclass(frozen=True, eq=False)
class Tags(Category):
    """A 0/1 column for each frequent item of cells that hold several."""

    kind: ClassVar[str] = "tags"
    sign: ClassVar[str] = ": "
    separator: str = ""
    stored: ClassVar[Stored] = Category.stored | {"separator": str}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if self.separator not in ("", "json", *cells.SEPARATORS):
            raise ValueError(f"separator is not known: {self.separator!r:.80}")

    def _items(self, value: Any) -> tuple[str, ...]:
        return cells.items_of(value, self.separator)


@dataclass(frozen=True, eq=False)
class Moment(Part):
    """A date or time: when, as a rank, and where in the year, the week and the day, each as sine and cosine."""

    kind: ClassVar[str] = "date"
    order: str = "year first"
    middle: int = 0  # the median, in seconds from 1970
    steps: Steps | None = None
    cycles: tuple[str, ...] = ()
    stored: ClassVar[Stored] = Part.stored | {
        "order": str,
        "middle": int,
        "steps": Steps | None,
        "cycles": [str],
    }

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if (
            self.order not in cells.DATES
            or not CYCLES.keys() >= set(self.cycles)
            or abs(self.middle) > LATEST
        ):
            raise ValueError("has an order, a cycle or a median that no date has")

    def features(self) -> list[str]:
        """The trend, and two for each cycle."""
        trend = [self.name] * (self.steps is not None)
        return trend + [
            f"{self.name} ({cycle} {wave})" for cycle in self.cycles for wave in ("sin", "cos")
        ]

    def _said(self) -> list[str]:
        return [f"{self.order}: {', '.join([*['trend'] * (self.steps is not None), *self.cycles])}"]

    def _filling(self) -> str:
        return "the median"

    def read(self, column: Column) -> Read:
        """Trend and cycles; half of sine and cosine, so that opposite places are 1 apart."""
        moments = moments_of(column, self.order)
        missing, gaps = np.isnat(moments), gaps_of(column, cells.MISSING_OR_NONE)
        seconds = (
            np.where(missing, np.datetime64(self.middle, "s"), moments)
            .astype("datetime64[s]")
            .astype(np.int64)
        )
        trend = [] if self.steps is None else [self.steps(seconds.astype(np.float64))]
        angles = [2 * np.pi * place_in(cycle, seconds) / CYCLES[cycle] for cycle in self.cycles]
        waves = [wave(angle) / 2 * ~missing for angle in angles for wave in (np.sin, np.cos)]
        return Read(np.column_stack(trend + waves), gaps, missing & ~gaps)


@dataclass(frozen=True, eq=False)
class Text(Part):
    """Free text by TF-IDF of its words, or of groups of characters where it has no blanks."""

    kind: ClassVar[str] = "text"
    words: tuple[str, ...] = ()
    idf: np.ndarray = field(default_factory=lambda: np.empty(0))
    analyzer: str = "word"
    stored: ClassVar[Stored] = Part.stored | {"words": [str], "idf": ("w",), "analyzer": str}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if (
            len(self.words) != len(self.idf)
            or self.idf.min() < 0
            or self.analyzer not in ("word", "char")
        ):
            raise ValueError(
                "needs a number of at least 0 for each word, and an analyzer that is known"
            )

    def features(self) -> list[str]:
        """``name: word`` for each."""
        return [f"{self.name}: {word}" for word in self.words]

    def _said(self) -> list[str]:
        return [
            f"TF-IDF of {counted(len(self.words), 'word' if self.analyzer == 'word' else 'group')}"
        ]

    def read(self, column: Column) -> Read:
        """TF-IDF of the different texts, given to the cells that hold them."""
        column = column.as_text()
        tfidf = vectorizer(self.analyzer, vocabulary=self.words)
        tfidf.idf_ = self.idf
        of_texts = sparse.csr_array(tfidf.transform([*column.values, ""]))
        return Read(of_texts[column.places], column.places < 0, np.zeros(len(column), dtype=bool))


def vectorizer(analyzer: str, **options: Any) -> TfidfVectorizer:
    """TF-IDF of words, emoji among them, or of one and two characters."""
    if analyzer == "char":
        return TfidfVectorizer(analyzer="char", ngram_range=(1, 2), **options)
    return TfidfVectorizer(token_pattern=WORD_OR_EMOJI, **options)


def gaps_of(column: Column, words: Collection[str]) -> np.ndarray:
    """Cells that are empty, or hold one of these words for nothing, (n,) bool."""
    if column.numbers is not None:
        return np.isnan(column.numbers)
    if column.dates is not None:
        return np.isnat(column.dates)
    unsaid = [isinstance(value, str) and value.lower() in words for value in column.values]
    return np.array([*unsaid, True])[column.places]


def numbers_of(column: Column, how: cells.Numerals) -> np.ndarray:
    """The numbers in the cells, (n,); NaN for all else."""
    if column.numbers is not None:
        return column.numbers
    return (
        np.full(len(column), np.nan) if column.dates is not None else column.each(how.read, np.nan)
    )


def moments_of(column: Column, order: str) -> np.ndarray:
    """The dates in the cells, datetime64[s] (n,); NaT for all else."""
    if column.dates is not None:
        return column.dates
    read: Callable[[Any], np.ndarray] = lambda values: cells.moments_of(values, order)  # noqa: E731 - given on
    return (
        np.full(len(column), cells.NOT_A_TIME)
        if column.numbers is not None
        else column.each(read, cells.NOT_A_TIME)
    )


def place_in(cycle: str, seconds: np.ndarray) -> np.ndarray:
    """Month from 0, weekday from Monday, or hour with its fraction."""
    days = seconds // 86_400
    if cycle == "hour":
        return (seconds % 86_400) / 3600
    if cycle == "weekday":
        return (days + 3) % 7  # 1970 began on a Thursday
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12

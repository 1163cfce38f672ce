"""What becomes of a column of a table: one class for each kind, which recognises, learns, encodes and describes it.

What a column learned is plain numbers and words, which a model file can hold. Cells are read one by
one by the rule that the column learned, whatever table they come from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer

from skcamel.data.cells import (
    DATES,
    NOT_A_TIME,
    PLAIN_NUMBER,
    WITH_DAY,
    YES_NO,
    Cells,
    NumberFormat,
    are_codes,
    as_text,
    date_formats,
    items_of,
    list_separator,
    number_format,
    plain,
    read_dates,
    yes_no,
)
from skcamel.data.encoders import PROBES, TOLERANCE, encoded, fitted_encoder, import_name
from skcamel.data.sources import counted

MOST_KNOTS = 1000  # of the ranks of a number
MOST_VALUES = 100  # of a category that have a column of their own
MOST_WORDS = 10_000  # of a text column
MANY_TEXTS = 30  # from which a word in one of them alone does not count: it is like no other row
MOSTLY = 0.95  # of the cells of a column that make it one of numbers or dates
NEARLY, MANY_ROWS = 0.9, 50  # different values among so many rows are names of the rows
FEW_ROWS = 8  # below, nothing tells an identifier from a value
FEW_MISSING = 5  # below, missing values tell nothing
LATEST = 10**12  # seconds from 1970
CYCLES = {"month": 12, "weekday": 7, "hour": 24}
WORD_OR_EMOJI = r"(?u)\b\w\w+\b|[^\w\s\x00-\x7f]"
ID_NAME = re.compile(
    r"(?i:(?:^|[\W_])(?:id|ids|uuid|guid|key|nr|no|number|index|row|pk)$|^(?:id|index|key|nr)(?:[\W_]|$))|[a-z](?:Id|ID|Nr|No)$"
)
Stored = dict[str, Any]


@dataclass(frozen=True, eq=False)
class RankScale:
    """Numbers ► [0, 1]: the share of training rows below, with half of those that are equal; linear between the knots.

    Examples
    --------
    >>> RankScale.of(np.array([1.0, 1.0, 5.0, 9.0]))(np.array([1.0, 3.0, 100.0]))
    array([0.25  , 0.4375, 0.875 ])
    """

    knots: np.ndarray  # (k,) increasing
    levels: np.ndarray  # (k,)
    stored: ClassVar[Stored] = {"knots": ("k",), "levels": ("k",)}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        steps = np.diff(self.levels, prepend=0.0, append=1.0)
        if (np.diff(self.knots) <= 0).any() or (steps < 0).any():
            raise ValueError(
                "must have knots that increase, and levels from 0 to 1 that do not fall"
            )

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Levels of numbers; beyond the knots those of the outermost."""
        return np.interp(numbers, self.knots, self.levels)

    @classmethod
    def of(cls, numbers: np.ndarray) -> RankScale:
        """The scale of numbers without NaN, with a thousand knots at the most."""
        knots, counts = np.unique(numbers, return_counts=True)
        levels = (np.cumsum(counts) - counts / 2) / counts.sum()
        if len(knots) > MOST_KNOTS:
            wanted = np.linspace(levels[0], levels[-1], MOST_KNOTS)
            chosen = np.unique(np.searchsorted(levels, wanted))
            knots, levels = knots[chosen], levels[chosen]
        return cls(knots, levels)


@dataclass
class Evidence:
    """What the cells of a column say about its kind."""

    name: str
    cells: Cells
    forced: str | None = None  # the parameter of TablePreparer that names the column
    encoder: Any = None  # of a text, in place of TF-IDF
    comma: bool = False  # whether other columns have decimal commas
    ranks: bool = True  # whether numbers become ranks

    @cached_property
    def texts(self) -> Cells:
        """The cells as text."""
        return self.cells.texts()

    @cached_property
    def number(self) -> tuple[NumberFormat, float]:
        """How numbers are written, and the share of the rows that hold them."""
        return number_format(self.cells.values, self.cells.counts, comma=self.comma)

    @cached_property
    def is_number(self) -> bool:
        """Whether the cells are numbers, not names made of digits."""
        is_word = self.cells.declared or are_codes(self.cells.values)
        return not is_word and self.number[1] >= MOSTLY and len(self.numbers) > 0

    @cached_property
    def numbers(self) -> np.ndarray:
        """The different finite numbers, sorted."""
        numbers = self.number[0].read(self.cells.values)
        return np.unique(numbers[np.isfinite(numbers)])

    @cached_property
    def date(self) -> tuple[tuple[str, ...], float]:
        """The formats of dates, and the share of the rows that hold them."""
        return date_formats(self.cells.values, self.cells.counts, day_first=self.comma)

    @cached_property
    def is_date(self) -> bool:
        """Whether the cells are dates, not all the same."""
        if self.is_number or self.cells.declared or self.date[1] < MOSTLY:
            return False
        return bool(self.moments[0] < self.moments[-1])

    @cached_property
    def moments(self) -> np.ndarray:
        """The moments of the rows that hold dates, in sorted seconds from 1970."""
        read = read_dates(self.cells.values, self.date[0])
        moments = self.cells.spread(read, NOT_A_TIME)
        return np.sort(moments[~np.isnat(moments)].astype(np.int64))

    @property
    def rows(self) -> np.ndarray:
        """The texts of the rows that hold one."""
        return self.texts.values[self.texts.codes[~self.texts.missing]]

    @cached_property
    def separator(self) -> str | None:
        """What separates items in cells that hold several; None where they do not."""
        if self.is_number:
            return None
        if any(isinstance(value, tuple) for value in self.cells.values):
            return ""
        separator = list_separator(self.texts.values)
        return separator if separator is not None and _are_tags(self.texts, separator) else None


def _are_tags(texts: Cells, separator: str) -> bool:
    """Whether cells are lists of few different short items, not sentences with commas."""
    lists = [items_of(text, separator) for text in texts.values]
    sizes = np.array([len(items) for items in lists])
    different = set().union(*lists)
    are_short = sum(len(item.split()) <= 3 for item in different) >= 0.95 * len(different)
    are_lists = texts.counts @ (sizes > 1) >= 0.2 * texts.counts.sum()
    return bool(are_short and are_lists and len(different) <= max(texts.counts @ sizes / 3, 3))


# How model files hold an attribute that is annotated so.
IN_FILES: Stored = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": float,
    "tuple[str, ...]": [str],
    "RankScale | None": RankScale | None,
    "np.ndarray": ("w",),
    "sparse.csr_array": ("t", "e", sparse.csr_array),
}


class Encoded(NamedTuple):
    """What a column made of its cells."""

    entries: Any  # (n, width), dense or CSR
    odd: np.ndarray  # (n,) bool; cells that are not what the column holds, or that it has not seen


@dataclass(frozen=True, eq=False)
class LearnedColumn:
    """A column of the table; `missing` and `unreadable` count cells of the training rows, `indicator` says whether they have an output column of their own."""

    kind: ClassVar[str] = ""
    fills: ClassVar[bool] = True  # cells that are not what the column holds, as missing ones
    name: str
    indicator: bool = field(default=False, kw_only=True)
    missing: int = field(default=0, kw_only=True)
    unreadable: int = field(default=0, kw_only=True)
    stored: ClassVar[Stored] = {"indicator": bool, "missing": int, "unreadable": int}

    def __init_subclass__(cls) -> None:
        """Declare the attributes for model files, as :mod:`skcamel.model_file.state` wants them."""
        own = {
            name: IN_FILES[kind] for name, kind in cls.__annotations__.items() if kind in IN_FILES
        }
        cls.stored = cls.stored | {"name": str} | own

    @classmethod
    def learn(cls, evidence: Evidence) -> LearnedColumn:
        """Learn from the training rows."""
        raise NotImplementedError

    def encode(self, cells: Cells) -> Encoded:
        """Entries of the output columns for each cell."""
        raise NotImplementedError

    def with_encoder(self, encoder: Any) -> Self:
        """The column with its text encoder, if it has one."""
        return self

    def feature_names(self) -> list[str]:
        """Names of the output columns, but for that of missing values."""
        return [self.name]

    def output_names(self) -> list[str]:
        """Names of all output columns."""
        return self.feature_names() + [f"{self.name} (missing)"] * self.indicator

    def describe(self) -> str:
        """A few words on what becomes of the column."""
        words = [self.details] if self.details else []
        if self.unreadable:
            words.append(f"{counted(self.unreadable, 'cell')} not readable as a {self.kind}")
        if self.missing:
            words.append(counted(self.missing, "missing value"))
        if self.indicator:
            words.append("a column of their own for missing values")
        return ", ".join(words)

    @property
    def details(self) -> str:
        """What was learned, in a few words."""
        return ""


@dataclass(frozen=True, eq=False)
class LeftOut(LearnedColumn):
    """A column that is no feature: "dropped", "empty", "constant" or "id"."""

    why: str
    reason: str

    @classmethod
    def learn(cls, evidence: Evidence) -> LeftOut:
        """Why it is left out."""
        why = _why_left_out(evidence)
        return cls(evidence.name, why, REASONS[why].format(name=evidence.name))

    def feature_names(self) -> list[str]:
        """None."""
        return []

    @property
    def details(self) -> str:
        """Why."""
        return f"left out: {self.reason}"


REASONS = {
    "dropped": "as asked for",
    "empty": "every cell is empty",
    "constant": "one value in every row",
    "id": (
        "counts or names the rows; --column {name}=number keeps it as numbers, =text or"
        " =category as words"
    ),
}


def _why_left_out(evidence: Evidence) -> str:
    """The kind of a column that is no feature; "" for one that may be."""
    if evidence.forced is not None:
        return {"drop": "dropped", "id": "id"}.get(evidence.forced, "")
    cells = evidence.cells
    if not len(cells.values):
        return "empty"
    if len(set(cells.values.tolist())) == 1:
        return "" if cells.missing.any() else "constant"
    few = cells.counts.sum() < FEW_ROWS
    return "id" if not few and not cells.declared and _names_the_rows(evidence) else ""


def _names_the_rows(evidence: Evidence) -> bool:
    """Whether numbers count the rows from 0 or 1, or are whole, nearly all different, and named like an identifier; whether words are nearly all different."""
    n = int(evidence.cells.counts.sum())
    if evidence.is_number:
        numbers = evidence.numbers
        if evidence.cells.missing.any():
            return False
        if numbers[0] in (0, 1) and np.array_equal(numbers, np.arange(n) + numbers[0]):
            return True
        named = ID_NAME.search(evidence.name) is not None and _differ(len(numbers), n)
        return named and bool((numbers == np.round(numbers)).all())
    texts = evidence.texts.values
    if evidence.is_date or evidence.separator is not None or not _differ(len(texts), n):
        return False
    patterns = {re.sub(r"\d+", "", text) for text in texts}  # Patient 1, Patient 2, …
    one_word = _n_words(evidence.texts) < 1.1 and not _has_no_blanks(texts)
    return one_word or len(patterns) <= 0.05 * len(texts)


def _n_words(texts: Cells) -> float:
    """Mean number of words in a row."""
    return float(np.average([len(text.split()) for text in texts.values], weights=texts.counts))


def _differ(n_different: int, n: int) -> bool:
    """Whether values are new in nearly every row; few rows must all differ."""
    return n_different >= (NEARLY * n if n >= MANY_ROWS else n)


@dataclass(frozen=True, eq=False)
class Number(LearnedColumn):
    """A number as its rank, or as it is; a missing one is the median."""

    kind: ClassVar[str] = "number"
    decimal: str = ""
    unit: str = ""
    median: float = 0.0
    ranks: RankScale | None = None

    @classmethod
    def learn(cls, evidence: Evidence) -> Number:
        """The median and the ranks."""
        how, cells = evidence.number[0], evidence.cells
        numbers = cells.spread(how.read(cells.values), np.nan)
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            raise ValueError(
                f"number names {evidence.name!r:.80}, of which no cell is a number; take it as text"
                " or category, or drop it."
            )
        scale = RankScale.of(numbers) if evidence.ranks else None
        return cls(evidence.name, how.decimal, how.unit, float(np.median(numbers)), scale)

    def encode(self, cells: Cells) -> Encoded:
        """One column of numbers."""
        numbers = cells.spread(NumberFormat(self.decimal, self.unit).read(cells.values), np.nan)
        readable = np.isfinite(numbers)
        filled = np.where(readable, numbers, self.median)
        scaled = filled if self.ranks is None else self.ranks(filled)
        return Encoded(scaled[:, None], ~readable)

    @property
    def details(self) -> str:
        """The unit."""
        return f"in {self.unit}" if self.unit else ""


@dataclass(frozen=True, eq=False)
class Flag(LearnedColumn):
    """Yes and no as 1 and 0, in whatever words; a missing one is ½."""

    kind: ClassVar[str] = "flag"
    yes: str = "1"
    no: str = "0"

    @classmethod
    def learn(cls, evidence: Evidence) -> Flag:
        """The words."""
        return cls(evidence.name, *(yes_no(evidence.texts.values) or ("1", "0")))

    def encode(self, cells: Cells) -> Encoded:
        """One column of 0, 1 and ½."""
        texts = cells.texts()
        meanings = [YES_NO.get(text.lower(), np.nan) for text in texts.values]
        flags = texts.spread(np.array(meanings, dtype=np.float64), np.nan)
        return Encoded(np.nan_to_num(flags, nan=0.5)[:, None], np.isnan(flags))

    @property
    def details(self) -> str:
        """The words."""
        return f"{self.yes} is 1, {self.no} is 0"


@dataclass(frozen=True, eq=False)
class Category(LearnedColumn):
    """A 0/1 column for each frequent value and one for all rare ones; unseen and missing values are 0 in all."""

    kind: ClassVar[str] = "category"
    fills: ClassVar[bool] = False
    sign: ClassVar[str] = "="
    values: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    numeric: bool = False  # whether 1 and 1.0 are one value

    @classmethod
    def learn(cls, evidence: Evidence) -> Category:
        """The values."""
        texts = evidence.texts
        numeric = all(PLAIN_NUMBER.fullmatch(text) for text in texts.values)
        return cls(evidence.name, numeric=numeric)._with_values(texts)

    def _with_values(self, cells: Cells) -> Self:
        counts = Counter[str]()
        for value, count in zip(cells.values, cells.counts.tolist(), strict=True):
            for item in self._items(value):
                counts[item] += count
        values, rare = _frequent(counts, len(cells))
        return replace(self, values=values, rare=rare)

    def _items(self, value: Any) -> tuple[str, ...]:
        text = as_text(value)
        is_number = self.numeric and PLAIN_NUMBER.fullmatch(text)
        return (plain(float(text)) if is_number else text,)

    def encode(self, cells: Cells) -> Encoded:
        """A row of 0 and 1 for each different value, given to the cells that hold it."""
        places = {value: k for k, value in enumerate(self.values)}
        places |= dict.fromkeys(self.rare, len(self.values))
        n_rows = len(cells.values) + 1  # the last is that of a missing value
        entries = sparse.lil_array((n_rows, len(self.feature_names())))
        unseen = np.zeros(n_rows, dtype=bool)
        for row, value in enumerate(cells.values):
            for item in self._items(value):
                if item in places:
                    entries[row, places[item]] = 1.0
                else:
                    unseen[row] = True
        return Encoded(entries.tocsr()[cells.codes], unseen[cells.codes])

    def feature_names(self) -> list[str]:
        """``name=value`` for each."""
        values = [*self.values, "(rare)"] if self.rare else self.values
        return [f"{self.name}{self.sign}{value}" for value in values]

    @property
    def details(self) -> str:
        """How many values."""
        return counted(len(self.values) + len(self.rare), "value")


def _frequent(counts: Mapping[str, int], n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Values with a column of their own and rare ones, sorted: rare are those in fewer than three rows or half a percent of them."""
    by_count = sorted(counts, key=lambda value: (-counts[value], value))
    least = max(3, n / 200) if n >= 30 else 1
    n_frequent = min(sum(counts[value] >= least for value in by_count), MOST_VALUES)
    if n_frequent == 0 or len(by_count) - n_frequent == 1:
        n_frequent = MOST_VALUES  # else all would be alike, or one value a group
    return tuple(sorted(by_count[:n_frequent])), tuple(sorted(by_count[n_frequent:]))


@dataclass(frozen=True, eq=False)
class Tags(Category):
    """A 0/1 column for each frequent item of cells that hold several."""

    kind: ClassVar[str] = "tags"
    sign: ClassVar[str] = ": "
    separator: str = ""

    @classmethod
    def learn(cls, evidence: Evidence) -> Tags:
        """The items."""
        column = cls(evidence.name, separator=evidence.separator or "")
        return column._with_values(evidence.cells)

    def _items(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return items_of(as_text(value), self.separator)


@dataclass(frozen=True, eq=False)
class Date(LearnedColumn):
    """A date or time: when, as a rank, and where in the year, the week and the day, each as sine and cosine."""

    kind: ClassVar[str] = "date"
    formats: tuple[str, ...] = ("year first",)  # each cell is read by the first that it allows
    median: int = 0  # in seconds from 1970
    ranks: RankScale | None = None
    cycles: tuple[str, ...] = ()

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        known = DATES.keys() >= set(self.formats) and CYCLES.keys() >= set(self.cycles)
        if not known or abs(self.median) > LATEST:
            raise ValueError("has a format, a cycle or a median that no date has")

    @classmethod
    def learn(cls, evidence: Evidence) -> Date:
        """The median, the ranks, and the cycles in which the moments differ."""
        formats, seconds = evidence.date[0], evidence.moments
        if len(np.unique(seconds)) < 2:
            raise ValueError(
                f"date names {evidence.name!r:.80}, whose cells hold no two different dates; take"
                " it as text or category, or drop it."
            )
        cycles = tuple(cycle for cycle in CYCLES if len(np.unique(_phase(cycle, seconds))) > 1)
        has_days = formats != ("time of day",)
        scale = RankScale.of(seconds.astype(np.float64)) if has_days else None
        return cls(evidence.name, formats, int(seconds[len(seconds) // 2]), scale, cycles)

    def encode(self, cells: Cells) -> Encoded:
        """Rank and cycles; half of sine and cosine, so that opposite phases are 1 apart."""
        moments = read_dates(cells.values, (*self.formats, *WITH_DAY))
        moments = cells.spread(moments, NOT_A_TIME)
        unknown = np.isnat(moments)
        seconds = np.where(unknown, np.datetime64(self.median, "s"), moments).astype(np.int64)
        blocks: list[np.ndarray] = []
        if self.ranks is not None:
            blocks.append(self.ranks(seconds.astype(np.float64)))
        for cycle in self.cycles:
            angle = 2 * np.pi * _phase(cycle, seconds) / CYCLES[cycle]
            blocks += [np.sin(angle) / 2 * ~unknown, np.cos(angle) / 2 * ~unknown]
        return Encoded(np.column_stack(blocks), unknown)

    def feature_names(self) -> list[str]:
        """The rank, and two for each cycle."""
        names = [self.name] if self.ranks is not None else []
        for cycle in self.cycles:
            names += [f"{self.name} ({cycle} sin)", f"{self.name} ({cycle} cos)"]
        return names

    @property
    def details(self) -> str:
        """How dates are written."""
        return " or ".join(self.formats)


def _phase(cycle: str, seconds: np.ndarray) -> np.ndarray:
    """Month from 0, weekday from Monday, or hour with its fraction."""
    days = seconds // 86_400
    if cycle == "hour":
        return (seconds % 86_400) / 3600
    if cycle == "weekday":
        return (days + 3) % 7  # 1970 began on a Thursday
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12


@dataclass(frozen=True, eq=False)
class Text(LearnedColumn):
    """Free text by TF-IDF of its words, or of groups of characters where it has no blanks."""

    kind: ClassVar[str] = "text"
    fills: ClassVar[bool] = False
    words: tuple[str, ...] = ()
    idf: np.ndarray = field(default_factory=lambda: np.empty(0))
    analyzer: str = "word"

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        sizes_fit = len(self.words) == len(self.idf) and self.idf.min() >= 0
        if not sizes_fit or self.analyzer not in ("word", "char"):
            raise ValueError(
                "needs a number of at least 0 for each word, and an analyzer that is known"
            )

    @classmethod
    def learn(cls, evidence: Evidence) -> LearnedColumn:
        """What TfidfVectorizer learns from all rows."""
        rows = evidence.rows
        analyzer = "char" if _has_no_blanks(rows) else "word"
        fewest = 2 if len(rows) >= MANY_TEXTS else 1
        tfidf = vectorizer(analyzer, min_df=fewest, max_features=MOST_WORDS)
        try:
            tfidf.fit(rows)
        except ValueError:
            return LeftOut(evidence.name, "empty", "its texts hold no word")
        words = tuple(map(str, tfidf.get_feature_names_out()))
        return cls(evidence.name, words, tfidf.idf_, analyzer)

    def encode(self, cells: Cells) -> Encoded:
        """TF-IDF of the different texts, given to the cells that hold them."""
        texts = cells.texts()
        tfidf = vectorizer(self.analyzer, vocabulary=self.words)
        tfidf.idf_ = self.idf
        return _of_texts(sparse.csr_array(tfidf.transform([*texts.values, ""])), texts)

    def feature_names(self) -> list[str]:
        """``name: word`` for each."""
        return [f"{self.name}: {word}" for word in self.words]

    @property
    def details(self) -> str:
        """How many words."""
        return f"TF-IDF of {counted(len(self.words), 'word')}"


def _of_texts(rows: Any, texts: Cells) -> Encoded:
    """Rows of the different texts given to the cells, 0 for missing ones; if all rows are 0, the texts are unseen."""
    present = sparse.diags_array((~texts.missing).astype(np.float64))
    entries = present @ rows[texts.codes]
    return Encoded(entries, ~texts.missing & (abs(entries).max() == 0))


@dataclass(frozen=True, eq=False)
class EncodedText(LearnedColumn):
    """Free text by an encoder of the user; the encoder itself is never stored."""

    kind: ClassVar[str] = "text"
    fills: ClassVar[bool] = False
    encoder_name: str
    probes: sparse.csr_array  # what the encoder says to the fixed texts, (3, d)
    encoder: Any = None

    @classmethod
    def learn(cls, evidence: Evidence) -> EncodedText:
        """The encoder, fitted if it needs it, and what it says to the fixed texts."""
        encoder = fitted_encoder(evidence.encoder, evidence.rows.tolist())
        return cls(evidence.name, import_name(encoder), encoded(encoder, PROBES), encoder)

    def with_encoder(self, encoder: Any) -> Self:
        """The column with the encoder of the fit, which must say the same to the fixed texts."""
        if encoder is None:
            raise ValueError(
                f"needs the text encoder {self.encoder_name} of the column {self.name!r:.60}, which"
                " no file holds; hand it back by load(path, text_encoder=…) or --text-encoder"
                " module:factory"
            )
        try:
            said = encoded(encoder, PROBES)
        except NotFittedError:  # if it learns nothing from texts, these will do
            encoder = fitted_encoder(encoder, PROBES)
            said = encoded(encoder, PROBES)
        if said.shape != self.probes.shape or abs(said - self.probes).max() > TOLERANCE:
            raise ValueError(
                f"was fitted with the text encoder {self.encoder_name}, and"
                f" {import_name(encoder)} says something else than that; hand back the same one,"
                " fitted on the same texts"
            )
        return replace(self, encoder=encoder)

    def encode(self, cells: Cells) -> Encoded:
        """Rows of unit length; those of missing texts are 0."""
        texts = cells.texts()
        return _of_texts(encoded(self.encoder, [*texts.values, ""]), texts)

    def feature_names(self) -> list[str]:
        """The name with numbers from 1."""
        return [f"{self.name} ({k})" for k in range(1, self.probes.shape[1] + 1)]

    @property
    def details(self) -> str:
        """The encoder."""
        return f"{counted(self.probes.shape[1], 'number')} of {self.encoder_name}"


def vectorizer(analyzer: str, **options: Any) -> TfidfVectorizer:
    """TF-IDF of words, emoji among them, or of one and two characters."""
    if analyzer == "char":
        return TfidfVectorizer(analyzer="char", ngram_range=(1, 2), **options)
    return TfidfVectorizer(token_pattern=WORD_OR_EMOJI, **options)


def _has_no_blanks(values: np.ndarray) -> bool:
    """Whether this is writing without blanks between words, such as Chinese, Japanese or Thai."""
    sample = "".join(values[:200])
    without = sum(character > "\u0e00" and character.isalpha() for character in sample)
    return without > 0.5 * len(sample)


# Parameters of TablePreparer that overrule what the cells say.
FORCED: dict[str, type[LearnedColumn]] = {
    "drop": LeftOut,
    "id": LeftOut,
    "text": Text,
    "category": Category,
    "number": Number,
    "date": Date,
}


def learned(evidence: Evidence, labels: np.ndarray | None) -> LearnedColumn:
    """What becomes of a column; `labels` (n, q) say whether its missing values carry information."""
    column = kind_of(evidence).learn(evidence)
    if isinstance(column, LeftOut):
        return column
    missing, odd = evidence.cells.missing, column.encode(evidence.cells).odd
    unreadable = odd & ~missing & column.fills
    indicator = _carry_information(missing | unreadable, labels)
    counts = {"missing": int(missing.sum()), "unreadable": int(unreadable.sum())}
    return replace(column, indicator=indicator, **counts)


def kind_of(evidence: Evidence) -> type[LearnedColumn]:
    """The kind that the user names, or what all cells say together."""
    kind = FORCED[evidence.forced] if evidence.forced is not None else _recognised(evidence)
    return EncodedText if kind is Text and evidence.encoder is not None else kind


def _recognised(evidence: Evidence) -> type[LearnedColumn]:
    """The kind of a column that the user does not name."""
    declared = evidence.cells.declared
    if _why_left_out(evidence):
        return LeftOut
    if evidence.is_number:
        return Flag if evidence.numbers.tolist() == [0, 1] else Number
    if yes_no(evidence.texts.values) is not None:
        return Flag
    if evidence.is_date:
        return Date
    if evidence.separator is not None and not declared:
        return Tags
    return Text if not declared and _are_sentences(evidence.texts) else Category


def _are_sentences(texts: Cells) -> bool:
    """Whether most rows have a text of their own, of several words or in writing without blanks."""
    n, n_different, n_words = texts.counts.sum(), len(texts.values), _n_words(texts)
    if n < FEW_ROWS:
        return False
    if _has_no_blanks(texts.values):
        return bool(n_different > 0.6 * n)
    repeated = texts.counts[texts.counts >= 3].sum() / n
    return bool(
        (n_words >= 1.2 and n_different > 20 and repeated < 0.5)
        or (n_words >= 1.5 and n_different > 0.6 * n)
        or (n_words >= 3 and n_different > 0.3 * n)
        or (n_words >= 6 and n_different > 20)
    )


def _carry_information(missing: np.ndarray, labels: np.ndarray | None) -> bool:
    """Whether at least five cells are missing, and five are not, and one of the labels goes with them beyond chance (5 % for all labels)."""
    n, n_missing = len(missing), missing.sum()
    if min(n_missing, n - n_missing) < FEW_MISSING:
        return False
    if labels is None:
        return True
    apart = missing - missing.mean()
    spread = np.sqrt((apart @ apart) * (labels**2).sum(axis=0) / n)
    by_chance = -ndtri(0.025 / labels.shape[1]) * spread
    return bool((abs(apart @ labels) > by_chance)[spread > 0].any())

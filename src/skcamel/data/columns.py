"""What becomes of a column of a table: one class for each kind.

Each recognises, learns, encodes and describes the columns of its kind.

What a column learned is plain numbers and words, which a model file can hold. Cells are read one by
one by the rule that the column learned, whatever table they come from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer, normalize

from skcamel.camel.scaling import Ranks, ranked
from skcamel.data import cells as reading
from skcamel.data.cells import Cells, as_text, items_of
from skcamel.text import count

MOST_KNOTS = 1000  # of the ranks of a number
MOST_VALUES = 100  # of a category that have a column of their own
MOST_WORDS = 10_000  # of a text column
MANY_TEXTS = 30  # from which a word in one of them alone does not count: it is like no other row
MOSTLY = 0.95  # of the cells of a column that make it one of numbers or dates
NEARLY = 0.9  # of so many rows with a value of their own, the values name the rows
MANY_ROWS = 50
MOST_WORDINGS = 9  # of yes and no and a missing value: Yes, YES, yes, …
FEW_ROWS = 8  # below, any value may look like an identifier
CYCLES = {"month": 12, "weekday": 7, "hour": 24}
# A letter of writing without blanks (Chinese, Japanese, Thai) counts as a word.
NO_BLANKS = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
WORD = re.compile(rf"[{NO_BLANKS}]|[^\s{NO_BLANKS}]+")
WORD_OR_EMOJI = rf"[{NO_BLANKS}]|\b\w\w+\b|[^\w\s\x00-\x7f]"
DIGITS = re.compile(r"\d+")
CODE = re.compile(r"0\d+")  # 00123 is a name made of digits
WHOLE = re.compile(r"^(-?\d+)\.0$")
ID_NAME = re.compile(
    r"(?i:(?:^|[\W_])(?:id|ids|uuid|guid|key|nr|no|number|index|row|pk)$"
    r"|^(?:id|index|key|nr)(?:[\W_]|$))|[a-z](?:Id|ID|Nr|No)$"
)
# What an encoder says to these texts tells whether it is the one of the fit.
PROBES = ("the parcel came late, and broken", "Größe 42 in blau, bitte", "thank you!")
TOLERANCE = 1e-4  # of entries of rows of length 1; other devices round otherwise


class RankScale(Ranks):
    """Ranks of the numbers of one column, with a thousand knots at the most.

    Examples
    --------
    >>> RankScale.of(np.array([1.0, 1.0, 5.0, 9.0]))(np.array([[1.0], [3.0], [100.0]])).ravel()
    array([0.25  , 0.4375, 0.875 ])
    """

    stored = Ranks.stored | {"ends": ("one", int)}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        super().check_stored()
        if len(self.ends) > 1:
            raise ValueError("must be of one column")

    @classmethod
    def of(cls, numbers: np.ndarray) -> RankScale:
        """The ranks of numbers without NaN."""
        knots, levels, _ = ranked(numbers[:, None])
        if len(knots) > MOST_KNOTS:
            wanted = np.linspace(levels[0], levels[-1], MOST_KNOTS)
            chosen = np.unique(np.searchsorted(levels, wanted))
            knots, levels = knots[chosen], levels[chosen]
        return cls(knots, levels, np.array([len(knots)]))


class Reading(NamedTuple):
    """Numbers or dates of a column."""

    how: tuple[str, ...]  # the decimal mark and the unit, or formats of dates
    share: float  # of the rows that hold them
    numbers: np.ndarray  # of the rows, sorted and finite; dates in seconds from 1970


@dataclass
class Evidence:
    """What the cells of a column say about its kind."""

    name: str
    cells: Cells
    forced: str = ""  # the parameter of TablePreparer that names the column
    encoder: Any = None  # of a text, in place of TF-IDF
    comma: bool = False  # whether other columns have decimal commas
    ranks: bool = True  # whether numbers become ranks

    @cached_property
    def number(self) -> Reading:
        """The cells as numbers."""
        how = reading.number_format(self.cells, comma=self.comma)
        return self._reading(how, reading.read_numbers(self.cells.values, *how))

    @cached_property
    def date(self) -> Reading:
        """The cells as dates."""
        how = reading.date_formats(self.cells, day_first=self.comma)
        return self._reading(how, reading.read_dates(self.cells.values, how))

    def refusal(self, kind: str, why: str) -> ValueError:
        """An error where the user names a kind that the column is not."""
        return ValueError(
            f"{kind} names {self.name!r:.80}, {why}; take it as text or category, or drop it."
        )

    def _reading(self, how: tuple[str, ...], of_values: np.ndarray) -> Reading:
        numbers = of_values[self.cells.codes]
        n_read = (numbers == numbers).sum()
        n_there = (~self.cells.missing).sum()
        share = float(n_read / max(n_there, 1))
        return Reading(how, share, np.sort(numbers[np.isfinite(numbers)]))

    @cached_property
    def words(self) -> Cells:
        """The cells as texts."""
        return self.cells.texts()

    @property
    def texts(self) -> list[str]:
        """The different texts."""
        return self.words.values[1:].tolist()

    @cached_property
    def rows(self) -> list[str]:
        """The texts of the rows that hold one."""
        return self.words.values[self.words.codes[~self.words.missing]].tolist()

    @cached_property
    def separator(self) -> str:
        """What separates the items of cells that hold lists."""
        texts = [value for value in self.cells.values if isinstance(value, str)]
        return reading.list_separator(texts) or ""

    @cached_property
    def n_words(self) -> float:
        """Mean number of words in a row."""
        return float(np.mean([len(WORD.findall(text)) for text in self.rows]))

    def differ(self, n_different: int) -> bool:
        """Whether that many values make nearly every row new; few rows must all differ."""
        n = len(self.rows)
        share = NEARLY if n >= MANY_ROWS else 1
        return n >= FEW_ROWS and n_different >= share * n


# How model files hold an attribute that is annotated so.
IN_FILES = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": float,
    "tuple[str, ...]": [str],
    "RankScale | None": RankScale | None,
    "np.ndarray": ("w",),
    "sparse.csr_array": ("t", "e", sparse.csr_array),
}


# What a column makes of cells: entries (n, width), dense or CSR; and which cells, (n,) bool, are
# not what the column holds, or not seen.
Encoded = tuple[Any, np.ndarray]


@dataclass(frozen=True, eq=False)
class LearnedColumn:
    """A column of the table.

    `missing` and `unreadable` count cells of the training rows, and `indicator` says whether they
    have an output column of their own.
    """

    kind = ""
    about = ""  # what was learned, in a few words
    fills = True  # cells that are not what the column holds, as missing ones
    name: str
    indicator: bool = field(default=False, kw_only=True)
    missing: int = field(default=0, kw_only=True)
    unreadable: int = field(default=0, kw_only=True)
    stored: ClassVar[dict[str, Any]] = {
        "name": str,
        "indicator": bool,
        "missing": int,
        "unreadable": int,
    }

    def __init_subclass__(cls) -> None:
        """Declare the attributes for model files, as :mod:`skcamel.model_file.state` wants them."""
        own = {name: IN_FILES.get(kind) for name, kind in cls.__annotations__.items()}
        own.pop("encoder", None)  # which no file holds
        cls.stored = cls.stored | own

    @classmethod
    def recognise(cls, evidence: Evidence) -> bool:
        """Whether a column that is none of the kinds before holds this one."""
        return True

    @classmethod
    def learn(cls, evidence: Evidence) -> LearnedColumn:
        """Learn from the training rows."""
        raise NotImplementedError

    def encode(self, cells: Cells) -> Encoded:
        """Entries of the output columns for each cell."""
        entries, odd = self.of_values(cells.values)
        return entries[cells.codes], odd[cells.codes] & ~cells.missing

    def of_values(self, values: np.ndarray) -> Encoded:
        """Entries for different values, the first of which stands for a missing cell."""
        raise NotImplementedError

    def feature_names(self) -> list[str]:
        """Names of the output columns, but for that of missing values."""
        return [self.name]

    def output_names(self) -> list[str]:
        """Names of all output columns."""
        return self.feature_names() + [f"{self.name} (missing)"] * self.indicator

    def describe(self) -> str:
        """A few words on what becomes of the column."""
        words = [self.about.format(self)]
        if self.unreadable:
            words.append(f"{count(self.unreadable, 'cell')} not readable as a {self.kind}")
        if self.missing:
            words.append(count(self.missing, "missing value"))
        if self.indicator:
            words.append("a column of their own for missing values")
        return ", ".join(filter(None, words))


@dataclass(frozen=True, eq=False)
class LeftOut(LearnedColumn):
    """A column that is no feature, for one of the `REASONS`."""

    kind: str  # pyrefly: ignore (of each column, not of the class)

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if self.kind not in REASONS:
            raise ValueError(f"must be left out for one of {', '.join(REASONS)}")

    @classmethod
    def recognise(cls, evidence: Evidence) -> bool:
        """Whether words name the rows: nearly all are different, of one word or one pattern."""
        if not evidence.differ(len(evidence.texts)):
            return False
        patterns = {DIGITS.sub("", text) for text in evidence.texts}  # Patient 1, Patient 2, …
        return evidence.n_words < 1.1 or len(patterns) <= 0.05 * len(evidence.texts)

    @classmethod
    def learn(cls, evidence: Evidence) -> LeftOut:
        """Why it is left out."""
        if evidence.forced == "drop":
            return cls(evidence.name, "dropped")
        if evidence.forced == "id" or len(evidence.cells.values) > 2:
            return cls(evidence.name, "id")
        return cls(evidence.name, "empty" if evidence.cells.missing.all() else "constant")

    def feature_names(self) -> list[str]:
        """None."""
        return []

    def describe(self) -> str:
        """Why it is left out."""
        return f"left out: {REASONS[self.kind].format(self.name)}"


REASONS = {
    "dropped": "by choice",
    "empty": "it holds no value or word",
    "constant": "one value in every row",
    "id": (
        "counts or names the rows; --column {0}=number keeps it as numbers, =text or"
        " =category as words"
    ),
}


@dataclass(frozen=True, eq=False)
class Measured(LearnedColumn):
    """A number in each cell, as its rank or as it is; a missing one is the median."""

    median: float
    ranks: RankScale | None = None

    def read(self, values: np.ndarray) -> np.ndarray:
        """The numbers of values, NaN for what is none."""
        raise NotImplementedError

    def of_values(self, values: np.ndarray) -> Encoded:
        """The outputs for the numbers that are there, and for the median."""
        numbers = self.read(values)
        odd = ~np.isfinite(numbers)
        return self.outputs(np.where(odd, self.median, numbers), odd), odd

    def outputs(self, numbers: np.ndarray, odd: np.ndarray) -> np.ndarray:
        """Output columns for numbers, some of which stand for what is none."""
        numbers = numbers[:, None]
        return numbers if self.ranks is None else self.ranks(numbers)


@dataclass(frozen=True, eq=False)
class Number(Measured):
    """A number."""

    kind = "number"
    about = "{0.unit}"
    decimal: str = ""
    unit: str = ""

    @classmethod
    def recognise(cls, evidence: Evidence) -> bool:
        """Whether nearly all cells are numbers, and none is a name made of digits."""
        if evidence.number.share < MOSTLY or not len(evidence.number.numbers):
            return False
        texts = (value for value in evidence.cells.values if isinstance(value, str))
        return not any(map(CODE.fullmatch, texts))

    @classmethod
    def learn(cls, evidence: Evidence) -> LearnedColumn:
        """The median and the ranks, unless the numbers name the rows."""
        how, _, numbers = evidence.number
        if not len(numbers):
            raise evidence.refusal("number", "of which no cell is a number")
        if not evidence.forced and _are_names(evidence):
            return LeftOut(evidence.name, "id")
        ranks = RankScale.of(numbers) if evidence.ranks else None
        return cls(evidence.name, float(np.median(numbers)), ranks, *how)

    def read(self, values: np.ndarray) -> np.ndarray:
        """By the unit and the decimal mark."""
        return reading.read_numbers(values, self.decimal, self.unit)


def _are_names(evidence: Evidence) -> bool:
    """Whether numbers count the rows from 0 or 1, or are whole, new, named so and of no unit."""
    how, _, numbers = evidence.number
    if len(numbers) < max(len(evidence.cells.codes), FEW_ROWS):
        return False
    steps = np.arange(len(numbers))
    if numbers[0] in (0, 1) and np.array_equal(numbers, numbers[0] + steps):
        return True
    is_whole = not how[1] and bool((numbers == np.round(numbers)).all())
    is_named = ID_NAME.search(evidence.name) is not None
    return is_whole and is_named and evidence.differ(len(np.unique(numbers)))


@dataclass(frozen=True, eq=False)
class Flag(Measured):
    """Yes and no as 1 and 0, in whatever words; a missing one is ½."""

    kind = "flag"
    about = "{0.yes} is 1, {0.no} is 0"
    yes: str = "1"
    no: str = "0"

    @classmethod
    def recognise(cls, evidence: Evidence) -> bool:
        """Whether the cells are 1 and 0, or words for yes and no."""
        is_short = len(evidence.cells.values) <= MOST_WORDINGS
        return is_short and reading.yes_no(evidence.texts) is not None

    @classmethod
    def learn(cls, evidence: Evidence) -> Flag:
        """The words."""
        return cls(evidence.name, 0.5, None, *(reading.yes_no(evidence.texts) or ()))

    def read(self, values: np.ndarray) -> np.ndarray:
        """1 and 0."""
        words = [as_text(value).lower() for value in values]
        return np.array([reading.YES_NO.get(word, np.nan) for word in words])


@dataclass(frozen=True, eq=False)
class Category(LearnedColumn):
    """A 0/1 column for each frequent value and one for all rare ones.

    Rare are values in fewer than three rows, or in half a percent of them. Unseen and missing
    values are 0 in all columns.
    """

    kind = "category"
    fills = False
    sign = "="
    values: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    separator: str = ""  # of cells that hold several values

    @classmethod
    def learn(cls, evidence: Evidence) -> Category:
        """The values."""
        separator = (evidence.separator or "json") if cls is Tags else ""
        cells = evidence.cells
        counts = Counter[str]()
        for value, n_rows in zip(cells.values[1:], cells.counts[1:].tolist(), strict=True):
            counts.update(dict.fromkeys(_items(value, separator), n_rows))
        n = len(cells.codes)
        least = max(3, n / 200) if n >= 30 else 1
        frequent = [value for value, n_rows in counts.items() if n_rows >= least]
        if len(frequent) in (0, len(counts) - 1):
            frequent = list(counts)  # else all would be alike, or one value a group
        frequent.sort(key=lambda value: (-counts[value], value))
        frequent = sorted(frequent[:MOST_VALUES])
        rare = sorted(counts.keys() - frequent)
        return cls(evidence.name, tuple(frequent), tuple(rare), separator)

    def of_values(self, values: np.ndarray) -> Encoded:
        """A row of 0 and 1 for each."""
        width = len(self.feature_names())
        places = dict.fromkeys(self.rare, width - 1)
        places |= {value: k for k, value in enumerate(self.values)}
        lists = [_items(value, self.separator) for value in values]
        found = [{places.get(item, width) for item in items} for items in lists]
        unseen = np.array([width in own for own in found])
        binarizer = MultiLabelBinarizer(classes=range(width + 1), sparse_output=True)
        rows = binarizer.fit_transform(found).astype(np.float64)
        return sparse.csr_array(rows[:, :width]), unseen

    def feature_names(self) -> list[str]:
        """``name=value`` for each."""
        values = [*self.values, "(rare)"] if self.rare else self.values
        return [f"{self.name}{self.sign}{value}" for value in values]


def _items(value: Any, separator: str) -> tuple[str, ...]:
    """The values that a cell holds; 1.0 is 1. Where there is a separator, lists are lists too."""
    items = value
    if not isinstance(value, tuple):
        text = as_text(value)
        spelled = reading.list_separator([text])
        if separator and "json" in (separator, spelled):
            separator = spelled or ""
        items = items_of(text, separator)
    return tuple(WHOLE.sub(r"\1", item) for item in items)


@dataclass(frozen=True, eq=False)
class Tags(Category):
    """A 0/1 column for each frequent item of cells that hold several."""

    kind = "tags"
    sign = ": "

    @classmethod
    def recognise(cls, evidence: Evidence) -> bool:
        """Whether cells are lists of few different short items, not sentences with commas."""
        if any(isinstance(value, tuple) for value in evidence.cells.values):
            return True
        lists = [items_of(text, evidence.separator) for text in evidence.rows]
        sizes = np.array([len(items) for items in lists])
        different = set().union(*lists)
        n_short = sum(len(item.split()) <= 3 for item in different)
        if n_short < 0.95 * len(different) or (sizes > 1).mean() < 0.2:
            return False
        return bool(len(different) <= max(sizes.sum() / 3, 3))


@dataclass(frozen=True, eq=False)
class Date(Measured):
    """A date: its rank, and sine and cosine of its place in the year, the week and the day."""

    kind = "date"
    about = "{0.written}"
    formats: tuple[str, ...] = ("year first",)  # each cell is read by the first that it allows
    cycles: tuple[str, ...] = ()

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if not reading.DATES.keys() | CYCLES.keys() >= {*self.formats, *self.cycles}:
            raise ValueError("has a format or a cycle that no date has")

    @classmethod
    def recognise(cls, evidence: Evidence) -> bool:
        """Whether nearly all cells are dates, not all the same."""
        return evidence.date.share >= MOSTLY and np.ptp(evidence.date.numbers) > 0

    @classmethod
    def learn(cls, evidence: Evidence) -> Date:
        """The median, the ranks, and the cycles in which the moments differ."""
        how, _, seconds = evidence.date
        if len(np.unique(seconds)) < 2:
            raise evidence.refusal("date", "whose cells hold no two different dates")
        median = float(seconds[len(seconds) // 2])
        cycles = [cycle for cycle, phase in _phases(seconds).items() if np.ptp(phase) > 0]
        return cls(evidence.name, median, RankScale.of(seconds), how, tuple(cycles))

    def read(self, values: np.ndarray) -> np.ndarray:
        """Seconds from 1970, by the formats of the fit before others."""
        return reading.read_dates(values, (*self.formats, *reading.DATES))

    def outputs(self, numbers: np.ndarray, odd: np.ndarray) -> np.ndarray:
        """Rank and cycles; half of sine and cosine, so that opposite phases are 1 apart."""
        blocks = [super().outputs(numbers, odd)]
        phases = _phases(numbers)
        for cycle in self.cycles:
            angle = 2 * np.pi * phases[cycle] / CYCLES[cycle]
            blocks += [np.sin(angle) / 2 * ~odd, np.cos(angle) / 2 * ~odd]
        return np.column_stack(blocks)

    def feature_names(self) -> list[str]:
        """The rank, and two for each cycle."""
        names = [self.name]
        for cycle in self.cycles:
            names += [f"{self.name} ({cycle} sin)", f"{self.name} ({cycle} cos)"]
        return names

    @property
    def written(self) -> str:
        """How dates are written."""
        return " or ".join(self.formats)


def _phases(seconds: np.ndarray) -> dict[str, np.ndarray]:
    """Month from 0, weekday from Monday, and hour with its fraction."""
    days = (seconds // 86_400).astype(np.int64)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    weekdays = (days + 3) % 7  # 1970 began on a Thursday
    return {"month": months % 12, "weekday": weekdays, "hour": seconds % 86_400 / 3600}


@dataclass(frozen=True, eq=False)
class Text(LearnedColumn):
    """Free text by TF-IDF of its words."""

    kind = "text"
    fills = False
    words: tuple[str, ...] = ()
    idf: np.ndarray = field(default_factory=lambda: np.empty(0))

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if len(self.words) != len(self.idf) or self.idf.min() < 0:
            raise ValueError("needs a number of at least 0 for each word")

    @classmethod
    def recognise(cls, evidence: Evidence) -> bool:
        """Whether most rows have a text of their own, of several words."""
        n, n_different, n_words = len(evidence.rows), len(evidence.texts), evidence.n_words
        if n < FEW_ROWS or n_words < 1.2:
            return False
        is_long = n_words >= 6 and n_different > 20
        return is_long or n_words * n_different > 0.8 * n

    @classmethod
    def learn(cls, evidence: Evidence) -> LearnedColumn:
        """What TfidfVectorizer learns from all rows."""
        fewest = 2 if len(evidence.rows) >= MANY_TEXTS else 1
        tfidf = TfidfVectorizer(token_pattern=WORD_OR_EMOJI, min_df=fewest, max_features=MOST_WORDS)
        try:
            tfidf.fit(evidence.rows)
        except ValueError:
            return LeftOut(evidence.name, "empty")
        words = tuple(map(str, tfidf.get_feature_names_out()))
        return cls(evidence.name, words, tfidf.idf_)

    def of_values(self, values: np.ndarray) -> Encoded:
        """TF-IDF of the texts."""
        tfidf = TfidfVectorizer(token_pattern=WORD_OR_EMOJI, vocabulary=self.words)
        tfidf.idf_ = self.idf
        return _of_texts(tfidf.transform, values)

    def feature_names(self) -> list[str]:
        """``name: word`` for each."""
        return [f"{self.name}: {word}" for word in self.words]


def _of_texts(encode: Any, values: np.ndarray) -> Encoded:
    """What an encoder makes of values, 0 of the missing one; if all is 0, they are unseen."""
    is_there = np.arange(len(values)) > 0
    rows = encode([as_text(value) for value in values])
    entries = sparse.diags_array(is_there.astype(np.float64)) @ sparse.csr_array(rows)
    return entries, is_there & (entries.count_nonzero() == 0)


@dataclass(frozen=True, eq=False)
class EncodedText(LearnedColumn):
    """Free text by an encoder of the user; the encoder itself is never stored."""

    kind = "text"
    about = "by {0.encoder_name}"
    fills = False
    encoder_name: str
    probes: sparse.csr_array  # what the encoder says to the fixed texts, (3, d)
    encoder: Any = None

    @classmethod
    def learn(cls, evidence: Evidence) -> EncodedText:
        """The encoder, fitted if it needs it, and what it says to the fixed texts."""
        encoder = _fitted(evidence.encoder, evidence.rows)
        return cls(evidence.name, _name(encoder), _encoded(encoder, PROBES), encoder)

    def with_encoder(self, encoder: Any) -> Self:
        """The column with the encoder of the fit, which must say the same to the fixed texts."""
        if encoder is None:
            raise ValueError(
                f"needs the text encoder {self.encoder_name} of the column {self.name!r:.60}, which"
                " no file holds; hand it back by load(path, text_encoder=…) or --text-encoder"
                " module:factory"
            )
        try:
            said = _encoded(encoder, PROBES)
        except NotFittedError:  # if it learns nothing from texts, these will do
            encoder = _fitted(encoder, PROBES)
            said = _encoded(encoder, PROBES)
        if said.shape != self.probes.shape or abs(said - self.probes).max() > TOLERANCE:
            raise ValueError(
                f"was fitted with the text encoder {self.encoder_name}, and {_name(encoder)} says"
                " something else than that; hand back the same one, fitted on the same texts"
            )
        return replace(self, encoder=encoder)

    def of_values(self, values: np.ndarray) -> Encoded:
        """Rows of unit length."""
        return _of_texts(partial(_encoded, self.encoder), values)

    def feature_names(self) -> list[str]:
        """The name with numbers from 1."""
        return [f"{self.name} ({k})" for k in range(1, self.probes.shape[1] + 1)]


def _name(encoder: Any) -> str:
    """Where the class of an encoder lives, for messages."""
    return f"{type(encoder).__module__}.{type(encoder).__qualname__}"


def _fitted(encoder: Any, texts: Sequence[str]) -> Any:
    """A transformer fitted on texts; other encoders as they are."""
    if hasattr(encoder, "transform"):
        return clone(encoder).fit(texts)
    if not hasattr(encoder, "encode"):
        raise TypeError(
            "text_encoder must be a transformer of texts, an object with .encode(texts), or a dict"
            f" of column names and such, got {encoder!r:.80}."
        )
    return encoder


def _encoded(encoder: Any, texts: Sequence[str]) -> sparse.csr_array:
    """What an encoder says to texts: rows of length 1, (n, d)."""
    encode = encoder.transform if hasattr(encoder, "transform") else encoder.encode
    rows = encode(list(texts))
    if np.ndim(rows) != 2 or rows.shape[0] != len(texts) or not rows.shape[1]:
        raise ValueError(
            f"the text encoder {_name(encoder)} gives shape {np.shape(rows)} for {len(texts)}"
            " texts; it must give a row of numbers for each."
        )
    return sparse.csr_array(normalize(rows), dtype=np.float64)


# Kinds in the order in which they are looked for, and by the parameters of TablePreparer that
# overrule what the cells say.
KINDS = (Flag, Number, Date, Tags, LeftOut, Text, Category)
DECLARED = (Flag, Category)  # kinds of a column that the table says to be a category
FORCED: dict[str, type[LearnedColumn]] = {
    "drop": LeftOut,
    "id": LeftOut,
    "text": Text,
    "category": Category,
    "number": Number,
    "date": Date,
}


def kind_of(evidence: Evidence) -> type[LearnedColumn]:
    """The kind that the user names, or what all cells say together."""
    cells = evidence.cells
    if evidence.forced:
        kind = FORCED[evidence.forced]
    elif len(cells.values) == 1 or (len(cells.values) == 2 and not cells.missing.any()):
        kind = LeftOut
    else:
        kinds = DECLARED if cells.declared else KINDS
        kind = next(kind for kind in kinds if kind.recognise(evidence))
    return EncodedText if kind is Text and evidence.encoder is not None else kind

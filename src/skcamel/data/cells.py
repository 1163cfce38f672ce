"""How a cell is read: missing values, yes and no, numbers, durations, dates and lists.

A column is taken as its different values and the place of each row among them, so every value is
read once however often it occurs. A cell means the same whatever library or file it comes from.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Words and formats, each in one table.
TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MISSING = frozenset(TABLE["missing"])
NONE = "none"  # as a feature it says as much as a missing value; as a label it may be an answer
# What the words for yes and no mean, in lower case: 1 or 0.
YES_NO = {yes: 1.0 for yes, _ in TABLE["yes_no"]} | {no: 0.0 for _, no in TABLE["yes_no"]}
PAIRS = {frozenset(pair): tuple(pair) for pair in TABLE["yes_no"]}
BOOLEANS = ("true", "false")

NUMBER = re.compile(TABLE["number"]["whole"])
DECIMALS = ("point", "comma")
DIGITS = {decimal: re.compile(TABLE["number"][decimal]) for decimal in DECIMALS}
GROUP = "'’ \u00a0\u202f"  # between groups of three digits, beside comma or point
WITHOUT_GROUPS = {
    "point": str.maketrans("", "", "," + GROUP),
    "comma": str.maketrans(",", ".", "." + GROUP),
}
PLAIN = {kind: re.compile(pattern) for kind, pattern in TABLE["plain"].items()}
LOSS = re.compile(r"^\((.*)\)$")  # a number in parentheses is below 0
SIGNS = {"": 1, "+": 1, "-": -1, "−": -1}
# Units of numbers that are no text, and of 2:30:00, which may also be a time of day.
TYPED, CLOCK_TIME = "typed", "clock"
PERCENT, DURATION = "%", "duration"
# What a column takes beside numbers of its unit; one of any other unit takes those without a unit.
TAKEN = {"": (DURATION,), PERCENT: (), DURATION: (CLOCK_TIME,)}
MOST_UNITS = 5  # that are looked at
SPANS = [re.compile(pattern) for pattern in TABLE["duration"].values()]
SECONDS = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}

TIME_OF_DAY = "time of day"
CLOCK = TABLE["time"][TIME_OF_DAY]
DATES = {order: re.compile(f"{day}(?:[T ,]+{CLOCK})?") for order, day in TABLE["day"].items()}
WITH_DAY = tuple(DATES)
DATES[TIME_OF_DAY] = re.compile(CLOCK)
PARTS: dict[str, str] = TABLE["default"]
MONTHS = {
    name: str(number)
    for names in TABLE["months"]["of"]
    for number, name in enumerate(names.split(), 1)
}
EPOCH = np.datetime64(0, "s")
SECOND = np.timedelta64(1, "s")

SEPARATORS = ("|", ";", ",")
ITEM = re.compile(r"""'([^']*)'|"([^"]*)"|([^,'"]+)""")  # of a list that is no JSON

Cell = str | float | np.datetime64 | tuple[str, ...]
NUMBERS = (int, float, np.number, Decimal)
ALIKE = {float: np.float64, np.float64: np.float64, np.datetime64: "datetime64[s]"}


def is_missing(text: str) -> bool:
    """Whether a cell holds nothing, or a word for a missing value in any spelling.

    Examples
    --------
    >>> is_missing(" N/A"), is_missing("-"), is_missing("none")
    (True, True, False)
    """
    return text.strip().lower() in MISSING


def missing_spellings() -> list[str]:
    """The words for a missing feature in all small and capital letters, sorted.

    For readers that compare texts.
    """
    cases = [zip(word.lower(), word.upper(), strict=True) for word in (*MISSING, NONE)]
    return sorted({"".join(letters) for both in cases for letters in product(*both)})


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: different values, and the place of each row among them.

    Parameters
    ----------
    values : array of shape (1 + k,)
        The first stands for a missing cell. float64; datetime64[s], in UTC; or objects: texts,
        numbers, dates and tuples of texts.
    codes : int array of shape (n,)
        Place of each row among the values; 0 for a missing cell.
    declared : bool
        Whether the table says that the column is a category, whatever its cells look like.

    Examples
    --------
    >>> cells = Cells.of(["red", None, "blue", "red"])
    >>> cells.values.tolist(), cells.codes.tolist()
    ([None, 'red', 'blue'], [1, 0, 2, 1])
    """

    values: np.ndarray
    codes: np.ndarray
    declared: bool = False

    @property
    def counts(self) -> np.ndarray:
        """Rows that hold each of the values, (1 + k,); 0 for the first."""
        return np.bincount(self.codes[~self.missing], minlength=len(self.values))

    @property
    def missing(self) -> np.ndarray:
        """Rows without a value, (n,) bool."""
        return self.codes == 0

    def texts(self) -> Cells:
        """The same cells as :func:`as_text` writes them, "" for missing ones."""
        texts = _different([None, *(as_text(value) or None for value in self.values[1:])])
        texts.values[0] = ""
        return Cells(texts.values, texts.codes[self.codes], self.declared)

    @classmethod
    def of(cls, cells: Any) -> Cells:
        """Cells of a pandas, polars or pyarrow column, an array, or any sequence."""
        kind = str(getattr(cells, "dtype", getattr(cells, "type", ""))).lower()
        declared = kind.startswith(("categor", "enum", "dictionary"))
        if "string" in kind:  # equal texts stored once are no category
            declared = False
        if isinstance(cells, (list, tuple)):
            cells = np.fromiter(cells, dtype=object, count=len(cells))
        array = np.asarray(cells)
        if array.dtype.kind in "iufMm":
            found = [None if value != value else value for value in _plain(array)]
        else:
            found = [_cell(cell) for cell in array]
        return replace(_different(found), declared=declared)


def _plain(array: np.ndarray) -> np.ndarray:
    """Numbers as float64, a 32-bit 0.1 as 0.1; durations in seconds; dates as datetime64[s]."""
    if array.dtype.kind == "M":
        return array.astype("datetime64[s]")
    if array.dtype.kind == "m":
        array = array.astype("timedelta64[us]") / SECOND
    elif array.dtype in (np.float16, np.float32):
        array = array.astype(str)
    return array.astype(np.float64)


def _different(cells: Iterable[Cell | None]) -> Cells:
    """Different values, in the order in which they come."""
    places: dict[Cell | None, int] = {None: 0}
    codes = [places.setdefault(cell, len(places)) for cell in cells]
    values = np.fromiter(places, dtype=object, count=len(places))
    kinds = {type(value) for value in values[1:]}
    if len(kinds) == 1:
        values = values.astype(ALIKE.get(kinds.pop(), object))
    return Cells(values, np.array(codes, dtype=np.int64))


def _cell(cell: Any) -> Cell | None:
    """A cell as text, number, date in UTC or tuple of texts; None for a missing value."""
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    elif isinstance(cell, np.ndarray):
        cell = cell.tolist()
    elif isinstance(cell, (timedelta, np.timedelta64)):
        cell = float(np.timedelta64(cell, "us") / SECOND)
    if isinstance(cell, NUMBERS) and not isinstance(cell, bool):
        try:
            number = float(str(cell))  # a 32-bit 0.1 is 0.1
        except ValueError:  # a signalling NaN, or thousands of digits
            return None
        return number if number == number else None
    if hasattr(cell, "__len__") and not isinstance(cell, str):
        return items_of(cell, None)
    text = str(cell).strip()
    lower = text.lower()
    if lower in MISSING or lower == NONE:
        return None
    if isinstance(cell, datetime):
        offset = np.timedelta64(cell.utcoffset() or 0, "s")
        return np.datetime64(cell.replace(tzinfo=None), "s") - offset
    if isinstance(cell, (date, np.datetime64)):
        return np.datetime64(text, "s")
    return lower if lower in BOOLEANS else text


def as_text(value: Cell | None) -> str:
    """A value as text: whole numbers without decimals, dates as in ISO 8601, None as "".

    Examples
    --------
    >>> as_text(3.0), as_text(0.25), as_text(np.datetime64("2024-05-01", "s"))
    ('3', '0.25', '2024-05-01')
    """
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, np.datetime64):
        return str(value).removesuffix("T00:00:00")
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(float(value))
    return value or ""


def yes_no(values: Iterable[str]) -> tuple[str, ...] | None:
    """The two words for yes and no that the values are, in lower case; None for other values.

    Examples
    --------
    >>> yes_no(["Ja", "nein"]), yes_no(["yes", "maybe"])
    (('ja', 'nein'), None)
    """
    return PAIRS.get(frozenset(value.lower() for value in values))


def numeral(value: Cell | None) -> tuple[str, float, float]:
    """Unit of a number or a duration, and its value where a point or a comma is decimal.

    The values are NaN where that cannot be.

    Examples
    --------
    >>> numeral("(1,234)"), numeral("12,5 kg"), numeral("1 days 00:00:30"), numeral("(15")
    (('', -1234.0, -1.234), ('kg', nan, 12.5), ('duration', 86430.0, 86430.0), ('typed', nan, nan))
    """
    if isinstance(value, float):
        return TYPED, value, value
    if not isinstance(value, str):
        return TYPED, np.nan, np.nan
    match = NUMBER.fullmatch(LOSS.sub(r"-\1", value))
    if match is None:
        return _duration(value)
    unit = match["before"] + match["after"].strip()
    unit = TABLE["currencies"].get(unit.lower(), unit)
    sign = SIGNS.get(match["sign"] + match["inner"], np.nan)
    scale = 100 if unit == PERCENT else 1
    point, comma = [sign * _number(match, decimal) / scale for decimal in DECIMALS]
    return unit, point, comma


def _number(match: re.Match[str], decimal: str) -> float:
    """The number without its sign; NaN where the digits are not parted in this way."""
    if not DIGITS[decimal].fullmatch(match["digits"]):
        return np.nan
    return float(match["digits"].translate(WITHOUT_GROUPS[decimal]) + match["exponent"])


def _duration(text: str) -> tuple[str, float, float]:
    """A duration in seconds."""
    match = SPANS[0].fullmatch(text) or SPANS[1].fullmatch(text)
    if match is None:
        return TYPED, np.nan, np.nan
    parts = [scale * float(match[name] or 0) for name, scale in SECONDS.items()]
    value = round(sum(parts), 6)
    if text.startswith("-P"):
        value = -value
    if ":" in text and match["days"] is None:
        return CLOCK_TIME, value, value
    return DURATION, value, value


def plain(values: np.ndarray, kind: str) -> np.ndarray | None:
    """Texts as numbers, or as dates in seconds, if all are written as programs do.

    Parameters
    ----------
    values : array of shape (1 + k,)
    kind : {"float64", "datetime64[s]"}
    """
    try:
        if not all(map(PLAIN[kind].fullmatch, values[1:])):
            return None
        numbers = values[1:].astype(str).astype(kind)
    except (TypeError, ValueError):
        return None
    return np.append(np.nan, numbers.astype(np.float64))


class NumberFormat(NamedTuple):
    """How the numbers of a column are written: their unit, and the decimal mark.

    The mark decides where both could be meant; it is "" if no text says.

    Examples
    --------
    >>> cells = Cells.of(["$1,234.50", "(12)", None])
    >>> number_format(cells)
    NumberFormat(decimal='point', unit='$')
    >>> number_format(cells).read(cells.values)
    array([   nan, 1234.5,  -12. ])
    """

    decimal: str = ""
    unit: str = ""

    def read(self, values: np.ndarray) -> np.ndarray:
        """The numbers of values, (1 + k,), NaN for what is none or has another unit."""
        if values.dtype.kind == "f":
            return values
        numbers = None
        if self.decimal != "comma" and self.unit not in (PERCENT, DURATION):
            numbers = plain(values, "float64")
        if numbers is None:
            numbers = self.numbers(*numerals(values))
        return numbers

    def numbers(self, units: np.ndarray, point: np.ndarray, comma: np.ndarray) -> np.ndarray:
        """The same of numerals."""
        own, other = point, comma
        if self.decimal == "comma":
            own, other = comma, point
        found = np.where(np.isnan(own), other, own)  # where nothing else can be meant
        taken = TAKEN.get(self.unit, ("",))
        is_taken = np.isin(units, (TYPED, self.unit, *taken))
        if self.decimal == "":
            is_taken &= ~(abs(comma) < abs(point))  # 1,234
        return np.where(is_taken, found, np.nan)


def numerals(values: np.ndarray) -> list[np.ndarray]:
    """Units and both readings of values, (1 + k,) each."""
    found = [numeral(value) for value in values]
    return [np.array(part) for part in zip(*found, strict=True)]


def number_format(cells: Cells, *, comma: bool = False) -> NumberFormat:
    """How numbers are written in these cells.

    Parameters
    ----------
    cells : Cells
    comma : bool, default=False
        What to take ``1,234`` for where every value allows both: 1.234 if True.

    Examples
    --------
    >>> number_format(Cells.of(["12,5 kg", "1.234 kg"]))
    NumberFormat(decimal='comma', unit='kg')
    """
    if cells.values.dtype != object:
        return NumberFormat()
    if not comma and plain(cells.values, "float64") is not None:
        return NumberFormat("point")
    found = numerals(cells.values)
    units, *readings = found
    points, commas = [cells.counts @ ~np.isnan(numbers) for numbers in readings]
    decimal = "comma" if commas > points - comma else "point"
    best = NumberFormat(decimal)
    most = 0
    for unit, _ in Counter(units.tolist()).most_common(MOST_UNITS):
        how = NumberFormat(decimal, unit)
        n_rows = cells.counts @ ~np.isnan(how.numbers(*found))
        if n_rows > most and unit not in (TYPED, CLOCK_TIME):
            best, most = how, n_rows
    return best


class DateFormat(NamedTuple):
    """The formats in which the dates of a column are written.

    Each cell is read by the first that it allows.

    Examples
    --------
    >>> cells = Cells.of(["31.12.1969", "30.12.1969", "1970-01-01 12:30+01:00"])
    >>> date_format(cells)
    DateFormat(orders=('day first', 'year first'))
    >>> date_format(cells).read(cells.values)
    array([     nan,  -86400., -172800.,   41400.])
    """

    orders: tuple[str, ...]

    def read(self, values: np.ndarray) -> np.ndarray:
        """The dates of values in UTC, in seconds from 1970, (1 + k,); NaN for what is none."""
        if values.dtype.kind == "M":
            return (values - EPOCH) / SECOND
        seconds = plain(values, "datetime64[s]") if "year first" in self.orders else None
        if seconds is None:
            seconds = np.array([self.seconds(value) for value in values], dtype=np.float64)
        return seconds

    def seconds(self, value: Cell | None) -> float:
        """The same of one value."""
        if isinstance(value, np.datetime64):
            return float((value - EPOCH) / SECOND)
        if not isinstance(value, str):
            return np.nan
        for order in self.orders:
            match = DATES[order].fullmatch(value)
            try:
                if match is not None:
                    return _seconds(match.groupdict())
            except ValueError:  # the 31st of February
                continue
        return np.nan


def _seconds(found: dict[str, str | None]) -> float:
    """A date, or a time of day, of its parts as they are written."""
    part = PARTS | {name: text for name, text in found.items() if text}
    part["month"] = MONTHS.get(part["month"].lower(), part["month"])
    numbers = {name: int(part[name]) for name in PARTS}
    if len(part["year"]) == 2:  # 1970 to 2069
        numbers["year"] += 2000 if numbers["year"] < 70 else 1900
    if "half" in part:
        numbers["hour"] %= 12
        numbers["hour"] += 12 * (part["half"] in "pP")
    ahead = numbers.pop("ahead")
    more = numbers.pop("more")
    if ahead < 0:
        more = -more
    zone = timezone(timedelta(hours=ahead, minutes=more))
    return datetime(**numbers, tzinfo=zone).timestamp()


def date_format(cells: Cells, *, day_first: bool = False) -> DateFormat:
    """The formats in which dates are written, the most frequent first.

    Where day and month could change places, what other cells need decides; else the day comes
    first if `day_first`.
    """
    orders = {order: DateFormat((order,)) for order in DATES}
    is_read = {order: ~np.isnan(how.read(cells.values)) for order, how in orders.items()}
    rows = {order: float(cells.counts @ is_read[order]) for order in DATES}
    if day_first:
        rows["day first"] += 0.5
    if max(rows, key=rows.__getitem__) != TIME_OF_DAY:
        del rows[TIME_OF_DAY]  # a time belongs to no day
    formats: list[str] = []
    unread = np.ones(len(cells.values), dtype=bool)
    for order in sorted(rows, key=rows.__getitem__, reverse=True):
        if (unread & is_read[order]).any():
            formats.append(order)
        unread &= ~is_read[order]
    return DateFormat(tuple(formats))


def list_separator(values: Sequence[str] | np.ndarray) -> str | None:
    """What separates the items in cells that hold lists: "json", ``|``, ``;``, ``,`` or None.

    Examples
    --------
    >>> list_separator(["red|large", "blue"]), list_separator(['["a", "b"]', "[]"])
    ('|', 'json')
    """
    if len(values) and all(value.startswith("[") and value.endswith("]") for value in values):
        return "json"
    for separator in SEPARATORS:
        if any(separator in value for value in values):
            return separator
    return None


def items_of(value: Any, separator: str | None) -> tuple[str, ...]:
    """The items of a cell, stripped, each once, without empty ones.

    Examples
    --------
    >>> items_of("red| large |", "|"), items_of("['a', 'b']", "json"), items_of(("x",), None)
    (('red', 'large'), ('a', 'b'), ('x',))
    """
    items: Iterable[object] = value
    if isinstance(value, (set, frozenset)):
        items = sorted(map(str, value))
    elif isinstance(value, str):
        items = [value]
        if separator == "json":
            items = _json_items(value)
        elif separator:
            items = value.split(separator)
    texts = [str(item).strip() for item in items if item is not None]
    return tuple(dict.fromkeys(text for text in texts if text))


def _json_items(text: str) -> list[object]:
    """Items of ``["a", "b"]``, ``['a', 'b']``, ``['a' 'b']`` or ``[a, b]``."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return ["".join(found) for found in ITEM.findall(text.strip("[]"))]
    return items if isinstance(items, list) else [items]

"""How a cell is read: missing values, yes and no, numbers, durations, dates and lists, as people write them.

A column is taken as its different values and the place of each row among them, so every value is
read once however often it occurs. A cell means the same whatever library or file it comes from.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

# Words for a missing value, in lower case: the one table, for features, labels and keys of any file.
MISSING = frozenset(
    ["", "?", "-", "--", "–", "—", ".", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "nat", "k.a."]
)  # fmt: skip
NONE = "none"  # as a feature it says as much as a missing value; as a label it may be an answer
YES_NO_PAIRS = (
    ("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("ja", "nein"), ("j", "n"), ("oui", "non"), ("o", "n"), ("si", "no"),
    ("sí", "no"), ("sì", "no"), ("on", "off"), ("1", "0"), ("1.0", "0.0"),
)  # fmt: skip
# What the words for yes and no mean, in lower case: 1 or 0.
YES_NO = {yes: 1.0 for yes, _ in YES_NO_PAIRS} | {no: 0.0 for _, no in YES_NO_PAIRS}

CURRENCIES = {
    "$": "$", "us$": "$", "usd": "$", "€": "€", "eur": "€", "£": "£", "gbp": "£", "¥": "¥", "jpy": "¥",
    "₹": "₹", "inr": "₹", "chf": "CHF", "fr.": "CHF", "kr": "kr",
}  # fmt: skip
CURRENCY = r"US\$|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR|Fr\.|kr"
GROUP = "'’ \u00a0\u202f"  # between groups of three digits, beside comma or point
NUMBER = re.compile(
    rf"(?P<sign>[+\-−])?\s?(?P<before>{CURRENCY})?\s?(?P<inner>[+\-−])?\s?"
    rf"(?P<digits>\d(?:[\d.,{GROUP}]*[\d.,])?|[.,]\d+)(?P<exponent>[eE][+-]?\d{{1,3}})?"
    rf"\s?(?P<after>{CURRENCY}|[^\d\s()][^\d()]{{0,11}})?"
)
SIMPLE = re.compile(r"-?\d+(?:\.\d{1,2}|\.\d{4,})?(?:[eE][+-]?\d{1,3})?")  # as programs write it
DIGITS = {
    "point": re.compile(rf"(?:\d+|[1-9]\d{{0,2}}(?:[,{GROUP}]\d{{3}})+)(?:\.\d*)?|\.\d+"),
    "comma": re.compile(rf"(?:\d+|[1-9]\d{{0,2}}(?:[.{GROUP}]\d{{3}})+)(?:,\d*)?|,\d+"),
}
PERCENT, DURATION = "%", "duration"
TYPED, CLOCK_TIME = "typed", "clock"  # of numbers that are no text, and of what may be a duration
# What a column of these units takes; others take numbers without a unit, too.
TAKEN = {
    PERCENT: (TYPED, PERCENT),
    DURATION: (TYPED, DURATION, CLOCK_TIME),
}
SPANS = (
    re.compile(
        r"(?:(?P<days>-?\d+) days?,? \+?)?(?P<hours>\d+):(?P<minutes>[0-5]\d)"
        r"(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?"
    ),
    re.compile(
        r"-?P(?=.)(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?"
        r"(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
    ),
)
SECONDS = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
CODE = re.compile(r"0\d+")  # 00123 is a name made of digits
PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")

CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s?(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"(?:\s?(?:Z|UTC|GMT|(?P<ahead>[+-]\d{2})(?::?(?P<more>\d{2}))?))?"
)
DATES = {
    order: re.compile(rf"{day}(?:[T ,]+{CLOCK})?")
    for order, day in {
        "year first": (
            r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?"
        ),
        "month first": (
            r"(?P<month>\d{1,2})(?P<mark>[-/.])(?P<day>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})"
        ),
        "day first": (
            r"(?P<day>\d{1,2})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})"
        ),
        "day, name of the month": (
            r"(?P<day>\d{1,2})\.?[ -](?P<month>[^\W\d]{3,9})\.?,?[ -](?P<year>\d{4}|\d{2})"
        ),
        "name of the month, day": r"(?P<month>[^\W\d]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
    }.items()
}
WITH_DAY = tuple(DATES)
DATES["time of day"] = re.compile(CLOCK)
MONTHS = {
    name: number
    for names in (
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "jän feb mär apr mai jun jul aug sep okt nov dez",
        "janv févr mars avr mai juin juil août sept oct nov déc",
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    )
    for number, name in enumerate(names.split(), 1)
}
NOT_A_TIME = np.datetime64("NaT", "s")
SECOND = np.timedelta64(1, "s")

SEPARATORS = ("|", ";", ",")
QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")

Cell = str | float | np.datetime64 | tuple[str, ...]


def is_missing(text: str) -> bool:
    """Whether a cell holds nothing, or a word for a missing value in any spelling.

    Examples
    --------
    >>> is_missing(" N/A"), is_missing("-"), is_missing("none")
    (True, True, False)
    """
    return text.strip().lower() in MISSING


@cache
def missing_spellings() -> tuple[str, ...]:
    """The words for a missing value in all small and capital letters, sorted, for readers that compare texts."""
    spellings: set[str] = set()
    for word in MISSING:
        both = zip(word.lower(), word.upper(), strict=True)
        spellings.update("".join(letters) for letters in product(*both))
    return tuple(sorted(spellings))


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: different values, and the place of each row among them.

    Parameters
    ----------
    values : array of shape (k,)
        float64; datetime64[s], in UTC; or objects: texts, numbers, dates and tuples of texts.
    codes : int array of shape (n,)
        Place of each row among the values; -1 for a missing value.
    declared : bool
        Whether the table says that the column is a category, whatever its cells look like.

    Examples
    --------
    >>> cells = Cells.of(["red", None, "blue", "red"])
    >>> cells.values.tolist(), cells.codes.tolist()
    (['red', 'blue'], [0, -1, 1, 0])
    """

    values: np.ndarray
    codes: np.ndarray
    declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def counts(self) -> np.ndarray:
        """Rows that hold each of the values, (k,)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    @property
    def missing(self) -> np.ndarray:
        """Rows without a value, (n,) bool."""
        return self.codes < 0

    def spread(self, of_values: np.ndarray, missing: Any) -> np.ndarray:
        """What belongs to each value, in each row; `missing` where there is none."""
        return np.append(of_values, np.array([missing], dtype=of_values.dtype))[self.codes]

    def texts(self) -> Cells:
        """The same cells as text: whole numbers without decimals, dates as ISO writes them."""
        places, texts = _different([as_text(value) for value in self.values])
        return Cells(texts, np.append(places, -1)[self.codes], self.declared)

    @classmethod
    def of(cls, cells: Any) -> Cells:
        """Cells of a pandas, polars or pyarrow column, an array, or any sequence."""
        kind = str(getattr(cells, "dtype", getattr(cells, "type", ""))).lower()
        declared = kind.startswith(("category", "categorical", "enum", "dictionary"))
        declared = declared and "string" not in kind  # equal texts stored once are no category
        if isinstance(cells, (list, tuple)):
            cells = np.fromiter(cells, dtype=object, count=len(cells))
        array = np.asarray(cells)
        if array.dtype.kind in "iufMm" and not declared:
            return cls(*_of_numbers(array))
        codes, values = _different([_cell(cell) for cell in array])
        return cls(values if not declared else values.astype(object), codes, declared)


def _different(cells: Sequence[Cell | None]) -> tuple[np.ndarray, np.ndarray]:
    """Codes and different values, in the order in which they come."""
    known: dict[tuple[type, Cell], int] = {}
    codes = np.full(len(cells), -1)
    for row, cell in enumerate(cells):
        if cell is not None:
            codes[row] = known.setdefault((type(cell), cell), len(known))
    values = np.fromiter((value for _, value in known), dtype=object, count=len(known))
    kinds = {kind for kind, _ in known}
    if kinds == {float}:
        return codes, values.astype(np.float64)
    return codes, values.astype("datetime64[s]") if kinds == {np.datetime64} else values


def _of_numbers(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values and codes of numbers, durations (in seconds) or dates."""
    if array.dtype.kind == "M":
        values = array.astype("datetime64[s]")
    elif array.dtype.kind == "m":
        values = array.astype("timedelta64[us]") / SECOND
    elif array.dtype in (np.float16, np.float32):  # 0.1 is 0.1, as it is printed
        values = array.astype(str).astype(np.float64)
    else:
        values = array.astype(np.float64)
    present = values == values
    return values[present], np.where(present, np.cumsum(present) - 1, -1)


def _cell(cell: Any) -> Cell | None:
    """A cell as text, number, date in UTC or tuple of texts; None for a missing value."""
    if isinstance(cell, str):
        text, lower = cell.strip(), cell.strip().lower()
        if lower in MISSING or lower == NONE:
            return None
        return lower if lower in ("true", "false") else text
    if isinstance(cell, bytes):
        return _cell(cell.decode(errors="replace"))
    if isinstance(cell, np.ndarray):
        return _cell(cell.tolist())
    if isinstance(cell, bool | np.bool_):
        return str(cell).lower()
    if hasattr(cell, "__len__"):
        return items_of(cell, None)
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, datetime):
        offset = cell.utcoffset() or timedelta()
        return np.datetime64(cell.replace(tzinfo=None), "s") - np.timedelta64(offset, "s")
    if isinstance(cell, (date, np.datetime64)):
        return None if cell != cell else np.datetime64(str(cell), "s")
    if isinstance(cell, timedelta | np.timedelta64):
        cell = float(np.timedelta64(cell, "us") / SECOND)
    return _float(cell) if isinstance(cell, int | float | np.number | Decimal) else str(cell)


def _float(number: Any) -> float | None:
    """A number as float, infinite if it is too large; None for NaN of any kind."""
    try:
        found = float(str(number))  # so that a 32-bit 0.1 is 0.1
    except ValueError:  # a signalling NaN, or an integer of thousands of digits
        found = np.inf if isinstance(number, int) else np.nan
    return None if np.isnan(found) else found


def as_text(value: Cell) -> str:
    """A value as text: whole numbers without decimals, dates as ISO writes them, lists with blanks."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, np.datetime64):
        return str(value).replace("T00:00:00", "")
    return plain(float(value))


def plain(number: float) -> str:
    """The shortest text of a number; whole ones have no decimals.

    Examples
    --------
    >>> plain(3.0), plain(0.25)
    ('3', '0.25')
    """
    return repr(number).removesuffix(".0")


def yes_no(values: Iterable[str]) -> tuple[str, str] | None:
    """The words for yes and no in which all values answer, in lower case; None where they do not, or only one of them occurs.

    Examples
    --------
    >>> yes_no(["Ja", "nein"]), yes_no(["yes", "maybe"])
    (('ja', 'nein'), None)
    """
    words = {value.lower() for value in values}
    return next((pair for pair in YES_NO_PAIRS if words == {*pair}), None)


class Numeral(NamedTuple):
    """A number as it is written: its unit, and its value where a point or a comma is decimal; NaN where that cannot be."""

    unit: str
    point: float
    comma: float


NOTHING = Numeral("", np.nan, np.nan)


def numeral(value: Cell) -> Numeral:
    """Read the text of a number or a duration; NaN for anything else.

    Examples
    --------
    >>> numeral("(1,234)"), numeral("12,5 kg")
    (Numeral(unit='', point=-1234.0, comma=-1.234), Numeral(unit='kg', point=nan, comma=12.5))
    >>> numeral("1 days 00:00:30"), numeral("(15")
    (Numeral(unit='duration', point=86430.0, comma=86430.0), Numeral(unit='', point=nan, comma=nan))
    """
    if not isinstance(value, str) or value in ("true", "false"):
        number = value if isinstance(value, float) else YES_NO.get(str(value), np.nan)
        return Numeral(TYPED, number, number)
    if SIMPLE.fullmatch(value):
        return Numeral("", float(value), np.nan if "." in value else float(value))
    in_parentheses = value.startswith("(") and value.endswith(")")
    match = NUMBER.fullmatch(value[1:-1] if in_parentheses else value)
    if match is None:
        return _duration(value)
    sign = (match["sign"] or "") + (match["inner"] or "") + "-" * in_parentheses
    if len(sign) > 1:
        return NOTHING
    units = [match["before"], (match["after"] or "").strip()]
    unit = "".join(CURRENCIES.get(own.lower(), own) for own in units if own)
    scale = 1 if sign in ("", "+") else -1
    return Numeral(unit, scale * _value(match, "point", unit), scale * _value(match, "comma", unit))


def _value(match: re.Match[str], decimal: str, unit: str) -> float:
    """The number without its sign; NaN where the digits are not parted in this way."""
    if not DIGITS[decimal].fullmatch(match["digits"]):
        return np.nan
    group = "," if decimal == "point" else "."
    digits = re.sub(rf"[{GROUP}{group}]", "", match["digits"]).replace(",", ".")
    value = float(digits + (match["exponent"] or ""))
    return value / 100 if unit == PERCENT else value


def _duration(text: str) -> Numeral:
    """A duration in seconds; hours and minutes of less than a day may be a time of day."""
    match = SPANS[0].fullmatch(text) or SPANS[1].fullmatch(text)
    if match is None:
        return NOTHING
    value = sum(scale * float(match[name] or 0) for name, scale in SECONDS.items())
    value = round(-value if text.startswith("-P") else value, 6)
    may_be_time = ":" in text and match["days"] is None and value < SECONDS["days"]
    return Numeral(CLOCK_TIME if may_be_time else DURATION, value, value)


def plain_numbers(values: np.ndarray) -> np.ndarray | None:
    """The numbers of texts, if all are written as programs do."""
    try:
        is_plain = set("".join(values)) <= set("0123456789.-+eE")
        return values.astype(np.float64) if is_plain else None
    except (TypeError, ValueError):
        return None


class NumberFormat(NamedTuple):
    """How the numbers of a column are written: what mark is decimal where both could be, "" if no text says, and their unit."""

    decimal: str = ""
    unit: str = ""

    def read(self, values: np.ndarray) -> np.ndarray:
        """The numbers of values, NaN for what is none or has another unit; numbers themselves stay as they are."""
        if values.dtype != object:
            return values if values.dtype.kind == "f" else np.full(len(values), np.nan)
        numbers = None if self.decimal == "comma" or self.unit in TAKEN else plain_numbers(values)
        if numbers is not None:
            return numbers
        return np.array([self.number(numeral(value)) for value in values], dtype=np.float64)

    def number(self, found: Numeral) -> float:
        """The number, where it is one of this column; else NaN."""
        if found.unit not in TAKEN.get(self.unit, (TYPED, "", self.unit or DURATION)):
            return np.nan
        readings = [number for number in found[1:] if number == number]
        if self.decimal == "" and len(readings) > 1 and abs(found.comma) < abs(found.point):
            return np.nan  # 1,234
        return readings[-1 if self.decimal == "comma" else 0] if readings else np.nan


def number_format(
    values: np.ndarray, weights: np.ndarray, *, comma: bool = False
) -> tuple[NumberFormat, float]:
    """How numbers are written in these values, and the share of the rows that hold numbers then.

    Parameters
    ----------
    values : array of shape (k,)
    weights : array of shape (k,)
        Rows that hold each.
    comma : bool, default=False
        What to take ``1,234`` for where every value allows both: 1.234 if True.

    Examples
    --------
    >>> number_format(np.array(["$1,234.50", "(12)"], dtype=object), np.ones(2))
    (NumberFormat(decimal='point', unit='$'), 1.0)
    >>> number_format(np.array(["12,5 kg", "1.234 kg"], dtype=object), np.ones(2))
    (NumberFormat(decimal='comma', unit='kg'), 1.0)
    """
    if values.dtype != object:
        return NumberFormat(), float(values.dtype.kind == "f")
    if not comma and plain_numbers(values) is not None:
        return NumberFormat("point"), 1.0
    found = [numeral(value) for value in values]
    points, commas = weights @ ~np.isnan([own[1:] for own in found])
    is_comma = commas > points or (comma and commas == points)
    how = NumberFormat("comma" if is_comma else "point", _unit(found, weights))
    readable = ~np.isnan([how.number(own) for own in found])
    return how, float(weights @ readable / max(weights.sum(), 1))


def _unit(found: Sequence[Numeral], weights: np.ndarray) -> str:
    """The unit of most rows; "" too where fewer have "%" or are durations than have none."""
    rows = Counter[str]()
    for own, weight in zip(found, weights.tolist(), strict=True):
        if not np.isnan(own[1:]).all():
            rows[own.unit] += weight
    units = [unit for unit in rows if unit not in ("", TYPED, CLOCK_TIME)]
    unit = max(units, key=rows.__getitem__, default="")
    return "" if unit in TAKEN and rows[unit] <= rows[""] else unit


def are_codes(values: Iterable[Cell]) -> bool:
    """Whether digits are used as names: one of them has leading zeros."""
    return any(isinstance(value, str) and CODE.fullmatch(value) for value in values)


def date_formats(
    values: np.ndarray, weights: np.ndarray, *, day_first: bool = False
) -> tuple[tuple[str, ...], float]:
    """The formats in which dates are written, the most frequent first, and the share of the rows that hold dates.

    Every cell is read by the first format that it allows. Where day and month could change places,
    what other cells need decides; else the day comes first if it is followed by a point or if
    `day_first`.

    Examples
    --------
    >>> date_formats(np.array(["31.12.2024", "2023-02-01"], dtype=object), np.array([5, 2]))
    (('day first', 'year first'), 1.0)
    """
    if values.dtype != object:
        return ("year first",), float(values.dtype.kind == "M")
    if _plain_dates(values) is not None:
        return ("year first",), 1.0
    day_first = day_first or any(isinstance(value, str) and "." in value[:3] for value in values)
    orders = sorted(DATES, key=lambda order: order == "month first") if day_first else list(DATES)
    held = {order: ~np.isnat(read_dates(values, (order,))) for order in DATES}
    formats: list[str] = []
    unread = np.array(weights, dtype=np.float64)
    for _ in DATES:
        most = max(orders, key=lambda order: unread @ held[order])
        if not unread @ held[most]:
            break
        formats.append(most)
        unread[held[most]] = 0
        orders = [order for order in orders if order in WITH_DAY]  # a time belongs to no day
    return tuple(formats), float(1 - unread.sum() / max(weights.sum(), 1))


def _plain_dates(values: np.ndarray) -> np.ndarray | None:
    """The moments of texts, if all are written as programs do, without a zone."""
    try:
        joined = "".join(values)
        is_plain = set(joined) <= set("0123456789-: T") and min(map(len, values)) >= 10
        if not is_plain or joined.count("-") != 2 * len(values):
            return None
        return values.astype(str).astype("datetime64[s]")
    except (TypeError, ValueError):
        return None


def read_dates(values: np.ndarray, formats: Sequence[str]) -> np.ndarray:
    """The moments of values by the first format that each allows, datetime64[s] (k,) in UTC; NaT for what is none."""
    if values.dtype != object:
        return values if values.dtype.kind == "M" else np.full(len(values), NOT_A_TIME)
    if tuple(formats[:1]) == ("year first",) and (moments := _plain_dates(values)) is not None:
        return moments
    moments = np.full(len(values), NOT_A_TIME)
    for k, value in enumerate(values):
        if isinstance(value, np.datetime64):
            moments[k] = value
        elif isinstance(value, str):
            found = (
                _moment(match) for order in formats if (match := DATES[order].fullmatch(value))
            )
            moments[k] = next((moment for moment in found if not np.isnat(moment)), NOT_A_TIME)
    return moments


def _moment(match: re.Match[str]) -> np.datetime64:
    part = match.groupdict()
    hour = int(part["hour"] or 0)
    if part["half"]:
        hour = hour % 12 + 12 * (part["half"][0] in "pP")
    month, year = part.get("month", "1"), part.get("year", "1970")
    if len(year) == 2:  # 1970 to 2069
        year = ("20" if year < "70" else "19") + year
    try:
        local = datetime(
            int(year),
            int(month) if month.isdecimal() else MONTHS[month.lower()],
            int(part.get("day") or 1),
            hour,
            int(part["minute"] or 0),
            int(part["second"] or 0),
        )
    except (ValueError, KeyError):
        return NOT_A_TIME
    ahead = 60 * int(part["ahead"] or 0) + int((part["ahead"] or "+")[0] + (part["more"] or "0"))
    return np.datetime64(local, "s") - np.timedelta64(ahead, "m")


def list_separator(values: Iterable[str]) -> str | None:
    """What separates the items in cells that hold lists: "json", ``|``, ``;`` or ``,``; None where no cell has any of them.

    Examples
    --------
    >>> list_separator(["red|large", "blue"]), list_separator(['["a", "b"]', "[]"]), list_separator(["red"])
    ('|', 'json', None)
    """
    values = list(values)
    if values and all(value.startswith("[") and value.endswith("]") for value in values):
        return "json"
    return next(
        (separator for separator in SEPARATORS if any(separator in value for value in values)), None
    )


def items_of(value: Any, separator: str | None) -> tuple[str, ...]:
    """The items of a cell, stripped, each once, without empty ones.

    Examples
    --------
    >>> items_of("red| large |", "|"), items_of("['a', 'b']", "json"), items_of(("x",), None)
    (('red', 'large'), ('a', 'b'), ('x',))
    """
    if isinstance(value, (set, frozenset)):
        items: Iterable[object] = sorted(map(str, value))
    elif not isinstance(value, str):
        items = [item for item in value if item is not None]
    elif separator == "json":
        items = _json_items(value)
    else:
        items = value.split(separator) if separator else [value]
    stripped = [str(item).strip() for item in items]
    return tuple(dict.fromkeys(text for text in stripped if text))


def _json_items(text: str) -> list[object]:
    """Items of ``["a", "b"]``, ``['a', 'b']``, ``['a' 'b']`` or ``[a, b]``."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        quoted = [single or double for single, double in QUOTED.findall(text)]
        return [*quoted] if quoted else [*text[1:-1].split(",")]
    return items if isinstance(items, list) else [items]

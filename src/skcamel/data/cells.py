"""How a cell is read: missing values, yes and no, numbers, durations, dates and lists.

A column is taken as its different values and the place of each row among them, so every value is
read once however often it occurs. A cell means the same whatever library or file it comes from.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

# Words and formats, each in one table.
TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MISSING = frozenset(TABLE["missing"])
# "none" as a feature says as much as a missing value; as a label it may be an answer.
MISSING_FEATURE = MISSING | {"none"}
# What the words for yes and no mean, in lower case: 1 or 0.
YES_NO = {yes: 1.0 for yes, _ in TABLE["yes_no"]} | {no: 0.0 for _, no in TABLE["yes_no"]}
PAIRS = {frozenset(pair): tuple(pair) for pair in TABLE["yes_no"]}
BOOLEANS = ("true", "false")

DECIMALS = ("point", "comma")
NUMERALS = {
    decimal: re.compile(TABLE["number"]["whole"].replace("DIGITS", TABLE["number"][decimal]))
    for decimal in DECIMALS
}
GROUP = "'’ \u00a0\u202f"  # between groups of three digits, beside comma or point
WITHOUT_GROUPS = {
    "point": str.maketrans("", "", "," + GROUP),
    "comma": str.maketrans(",", ".", "." + GROUP),
}
PLAIN = re.compile(TABLE["number"]["plain"])
LOSS = re.compile(r"^\((.*)\)$")  # a number in parentheses is below 0
SIGNS = {"": 1, "+": 1, "-": -1, "−": -1}
TYPED = "typed"  # the unit of numbers that are no text
PERCENT, DURATION = "%", "duration"
# What a column takes beside numbers of its unit; one of any other unit takes those without a unit.
TAKEN = {"": (DURATION,), PERCENT: (), DURATION: ()}
MOST_UNITS = 5  # that are looked at
SPAN = re.compile(TABLE["time"]["duration"])
SECONDS = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}

CLOCK = TABLE["time"]["of day"]
DATES = {order: re.compile(f"{day}(?:[T ,]+{CLOCK})?") for order, day in TABLE["day"].items()}
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
    cases = [zip(word.lower(), word.upper(), strict=True) for word in MISSING_FEATURE]
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
        texts = _different(as_text(value) or None for value in self.values)
        texts.values[0] = ""
        return Cells(texts.values, texts.codes[self.codes], self.declared)

    @classmethod
    def of(cls, cells: Any, missing: Collection[str] = MISSING_FEATURE) -> Cells:
        """Cells of a pandas, polars or pyarrow column, an array, or any sequence.

        `missing` are the texts, in lower case, that stand for a missing cell.
        """
        kind = str(getattr(cells, "dtype", getattr(cells, "type", ""))).lower()
        # equal texts stored once are no category
        declared = kind.startswith(("categor", "enum", "dictionary")) and "string" not in kind
        if isinstance(cells, (list, tuple)):
            cells = np.fromiter(cells, dtype=object, count=len(cells))
        array = np.asarray(cells)
        if array.dtype.kind in "iufMm":
            found = [None if value != value else value for value in _plain(array)]
        else:
            found = [_cell(cell, missing) for cell in array]
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


def _cell(cell: Any, missing: Collection[str]) -> Cell | None:
    """A cell as text, number, date in UTC or tuple of texts; None for a missing value."""
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, str):
        text = cell.strip()
        lower = text.lower()
        if lower in missing:
            return None
        return lower if lower in BOOLEANS else text
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    elif isinstance(cell, (timedelta, np.timedelta64)):
        cell = float(np.timedelta64(cell, "us") / SECOND)
    if isinstance(cell, NUMBERS) and not isinstance(cell, bool):
        try:
            number = float(str(cell))  # a 32-bit 0.1 is 0.1
        except ValueError:  # a signalling NaN, or thousands of digits
            return None
        return number if number == number else None
    if hasattr(cell, "__len__"):
        return items_of(cell, None)
    if isinstance(cell, datetime) and cell == cell:
        offset = np.timedelta64(cell.utcoffset() or 0, "s")
        return np.datetime64(cell.replace(tzinfo=None), "s") - offset
    if isinstance(cell, (date, np.datetime64)) and cell == cell:
        return np.datetime64(str(cell), "s")
    return _cell(str(cell), MISSING_FEATURE)


def as_text(value: Any) -> str:
    """A value as text: whole numbers without decimals, dates as in ISO 8601, a missing one as "".

    Examples
    --------
    >>> as_text(3.0), as_text(0.25), as_text(np.datetime64("2024-05-01", "s"))
    ('3', '0.25', '2024-05-01')
    """
    if value is None or value != value:
        return ""
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, np.datetime64):
        return str(value).removesuffix("T00:00:00")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def yes_no(values: Iterable[str]) -> tuple[str, ...] | None:
    """The two words for yes and no that the values are, in lower case; None for other values.

    Examples
    --------
    >>> yes_no(["Ja", "nein"]), yes_no(["yes", "maybe"])
    (('ja', 'nein'), None)
    """
    return PAIRS.get(frozenset(value.lower() for value in values))


def numeral(value: Cell | None, decimal: str) -> tuple[str, float]:
    """Unit of a number or a duration, and its value, NaN where it is none; `decimal` is the mark.

    Examples
    --------
    >>> numeral("(1,234)", "point"), numeral("12,5 kg", "comma"), numeral("(15", "point")
    (('', -1234.0), ('kg', 12.5), ('typed', nan))
    """
    if isinstance(value, float):
        return TYPED, value
    if not isinstance(value, str):
        return TYPED, np.nan
    if span := SPAN.fullmatch(value):
        parts = [scale * float(span[name] or 0) for name, scale in SECONDS.items()]
        return DURATION, round(sum(parts), 6)
    match = NUMERALS[decimal].fullmatch(LOSS.sub(r"-\1", value))
    if match is None:
        return TYPED, np.nan
    unit = match["before"] + match["after"].strip()
    unit = TABLE["currencies"].get(unit.lower(), unit)
    sign = SIGNS.get(match["sign"] + match["inner"], np.nan)
    digits = match["digits"].translate(WITHOUT_GROUPS[decimal])
    scale = 100 if unit == PERCENT else 1
    return unit, sign * float(digits + match["exponent"]) / scale


def plain(values: np.ndarray) -> np.ndarray | None:
    """Values (1 + k,) as numbers, if all are numbers or texts that programs write for them."""
    if values.dtype.kind == "f":
        return values
    try:
        if not all(map(PLAIN.fullmatch, values[1:])):
            return None
    except TypeError:  # not all are texts
        return None
    return np.append(np.nan, values[1:].astype(np.float64))


def read_numbers(values: np.ndarray, decimal: str = "", unit: str = "") -> np.ndarray:
    """The numbers of values, (1 + k,), NaN for what is none or has another unit.

    Parameters
    ----------
    values : array of shape (1 + k,)
    decimal : {"point", "comma", ""}
        The decimal mark, which decides where both could be meant; "" if nothing says.
    unit : str

    Examples
    --------
    >>> cells = Cells.of(["$1,234.50", "(12)", None])
    >>> how = number_format(cells)
    >>> how, read_numbers(cells.values, *how)
    (('point', '$'), array([   nan, 1234.5,  -12. ]))
    """
    numbers = None
    is_other = decimal == "comma" or unit in (PERCENT, DURATION)
    if values.dtype.kind == "f" or not is_other:
        numbers = plain(values)
    if numbers is None:
        numbers = np.array([_number(value, decimal, unit) for value in values])
    return numbers


def _number(value: Cell | None, decimal: str, unit: str) -> float:
    units = (TYPED, unit, *TAKEN.get(unit, ("",)))
    marks = DECIMALS[::-1] if decimal == "comma" else DECIMALS
    readings = [numeral(value, mark) for mark in marks]  # the second if nothing else is meant
    numbers = [number for own, number in readings if own in units and number == number]
    if not numbers or (not decimal and abs(numbers[-1]) < abs(numbers[0])):  # 1,234
        return np.nan
    return numbers[0]


def number_format(cells: Cells, *, comma: bool = False) -> tuple[str, str]:
    """The decimal mark and the unit of the numbers in these cells.

    Parameters
    ----------
    cells : Cells
    comma : bool, default=False
        What to take ``1,234`` for where every value allows both: 1.234 if True.

    Examples
    --------
    >>> number_format(Cells.of(["12,5 kg", "1.234 kg"]))
    ('comma', 'kg')
    """
    if cells.values.dtype != object:
        return "", ""
    if not comma and plain(cells.values) is not None:
        return "point", ""
    readings = {mark: [numeral(value, mark) for value in cells.values] for mark in DECIMALS}
    rows = {
        mark: cells.counts @ [number == number for _, number in found]
        for mark, found in readings.items()
    }
    decimal = "comma" if rows["comma"] > rows["point"] - comma else "point"
    units = Counter(unit for unit, _ in readings[decimal] if unit != TYPED)
    formats = [(decimal, unit) for unit, _ in units.most_common(MOST_UNITS)]
    n_read = [cells.counts @ ~np.isnan(read_numbers(cells.values, *how)) for how in formats]
    return formats[np.argmax(n_read)] if formats else (decimal, "")


def read_dates(values: np.ndarray, formats: Iterable[str]) -> np.ndarray:
    """The dates of values in UTC, in seconds from 1970, (1 + k,); NaN for what is none.

    Each cell is read by the first of the formats that it allows.

    Examples
    --------
    >>> cells = Cells.of(["31.12.1969", "30.12.1969", "1970-01-01 12:30+01:00"])
    >>> date_formats(cells)
    ('day first', 'year first')
    >>> read_dates(cells.values, ["day first", "year first"])
    array([     nan,  -86400., -172800.,   41400.])
    """
    if values.dtype.kind == "M":
        return (values - EPOCH) / SECOND
    return np.array([_date(value, formats) for value in values], dtype=np.float64)


def _date(value: Cell | None, formats: Iterable[str]) -> float:
    if isinstance(value, np.datetime64):
        return float((value - EPOCH) / SECOND)
    if not isinstance(value, str):
        return np.nan
    for name in formats:
        match = DATES[name].fullmatch(value)
        try:
            if match is not None:
                return _seconds(match.groupdict())
        except ValueError:  # the 31st of February
            continue
    return np.nan


def _seconds(found: dict[str, str | None]) -> float:
    """A date of its parts as they are written."""
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


def date_formats(cells: Cells, *, day_first: bool = False) -> tuple[str, ...]:
    """The formats in which dates are written, the most frequent first.

    Where day and month could change places, what other cells need decides; else the day comes
    first if `day_first`.
    """
    is_read = {name: ~np.isnan(read_dates(cells.values, [name])) for name in DATES}
    rows = {name: float(cells.counts @ read) for name, read in is_read.items()}
    if day_first:
        rows["day first"] += 0.5
    formats: list[str] = []
    unread = np.ones(len(cells.values), dtype=bool)
    for name in sorted(rows, key=rows.__getitem__, reverse=True):
        if (unread & is_read[name]).any():
            formats.append(name)
        unread &= ~is_read[name]
    return tuple(formats)


def list_separator(values: Sequence[str] | np.ndarray) -> str | None:
    """What separates the items in cells that hold lists: "json", ``|``, ``;``, ``,`` or None.

    A comma does where half of the items recur in other combinations, unlike those of
    ``Berlin, DE``.

    Examples
    --------
    >>> list_separator(["red|large", "blue"]), list_separator(['["a", "b"]', "[]"])
    ('|', 'json')
    """
    if len(values) and all(value.startswith("[") and value.endswith("]") for value in values):
        return "json"
    found = [mark for mark in SEPARATORS if any(mark in value for value in values)]
    if found == [","]:
        times = Counter(item for value in values for item in items_of(value, ","))
        recurring = [item for item, number in times.items() if number > 1]
        if 2 * len(recurring) < len(times):
            return None
    return found[0] if found else None


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

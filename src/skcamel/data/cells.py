"""What the cells of a column mean: gaps, yes and no, numbers, dates and lists, as people write them.

A column is taken as its different values and the place of each row among them, so every value is
read once however often it
occurs. All values together decide what a column holds, and in which way: whether a comma is
decimal, whether the day or the month
comes first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

# Words for a missing value, in lower case: the one table, for features, labels and keys of any file.
MISSING = frozenset(
    [
        "",
        "?",
        "-",
        "--",
        "–",
        "—",
        ".",
        "na",
        "n/a",
        "n.a.",
        "#n/a",
        "<na>",
        "nan",
        "null",
        "nat",
        "k.a.",
    ]
)
# Among numbers, dates, yes and no this is a missing value too; among words it may be an answer.
MISSING_OR_NONE = MISSING | {"none"}
YES_NO_PAIRS = (
    ("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("ja", "nein"), ("j", "n"), ("oui", "non"), ("o", "n"), ("si", "no"),
    ("sí", "no"), ("sì", "no"), ("on", "off"), ("1", "0"), ("1.0", "0.0"),
)  # fmt: skip
# What the words for yes and no mean, in lower case: 1 or 0.
YES_NO = {yes: 1.0 for yes, _ in YES_NO_PAIRS} | {no: 0.0 for _, no in YES_NO_PAIRS}
CURRENCY = r"US\$|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR|Fr\.|kr"
GROUP = "'’ \u00a0\u202f"  # between groups of three digits, beside comma or point
NUMBER = re.compile(
    rf"(?P<negative>\()?(?:{CURRENCY})?\s?(?P<sign>[+\-−])?\s?(?:{CURRENCY})?\s?(?P<digits>\d(?:[\d.,{GROUP}]*[\d.,])?|[.,]\d+)"
    rf"(?P<exponent>[eE][+-]?\d{{1,3}})?\s?(?P<unit>{CURRENCY}|[^\d\s()][^\d()]{{0,11}})?\)?"
)
DIGITS = {
    "point": re.compile(rf"(?:\d+|\d{{1,3}}(?:[,{GROUP}]\d{{3}})+)(?:\.\d*)?|\.\d+"),
    "comma": re.compile(rf"(?:\d+|\d{{1,3}}(?:[.{GROUP}]\d{{3}})+)(?:,\d*)?|,\d+"),
}
IS_CURRENCY = re.compile(CURRENCY)
CODE = re.compile(r"0\d+")  # 00123 is a name made of digits
CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s?(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"(?:\s?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
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
} | {"time of day": re.compile(CLOCK)}
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
SEPARATORS = ("|", ";", ",")
QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
NOT_A_TIME = np.datetime64("NaT", "s")


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of one column: numbers, or dates, or different values with the place of each row among them.

    Parameters
    ----------
    numbers : float array of shape (n,), optional
        NaN for a gap.
    dates : datetime64[s] array of shape (n,), optional
        NaT for a gap.
    values : tuple of str, or of tuples of str
        Different values of the others, in the order in which they come.
    codes : int array of shape (n,), optional
        Place of each row among them; -1 for a gap.

    Examples
    --------
    >>> Column.of(["red", None, "blue", "red"])
    Column(values=('red', 'blue'), codes=[0, -1, 1, 0])
    """

    numbers: np.ndarray | None = None
    dates: np.ndarray | None = None
    values: tuple[Any, ...] = ()
    codes: np.ndarray | None = None

    def __repr__(self) -> str:
        stored = self.numbers if self.numbers is not None else self.dates
        return (
            f"Column({stored.tolist()})"
            if stored is not None
            else f"Column(values={self.values}, codes={self.places.tolist()})"
        )

    def __len__(self) -> int:
        return len(
            next(part for part in (self.numbers, self.dates, self.codes) if part is not None)
        )

    @property
    def places(self) -> np.ndarray:
        """The codes of a column that holds neither numbers nor dates."""
        if self.codes is None:
            raise ValueError("numbers and dates have no codes; take the column as text first.")
        return self.codes

    @property
    def counts(self) -> np.ndarray:
        """Rows that hold each of the values, (k,)."""
        return np.bincount(self.places[self.places >= 0], minlength=len(self.values))

    @property
    def has_lists(self) -> bool:
        """Whether cells are lists."""
        return any(isinstance(value, tuple) for value in self.values)

    def each(self, read: Callable[[Sequence[Any]], np.ndarray], gap: Any) -> np.ndarray:
        """What `read` makes of the different values, in each row; `gap` where there is none."""
        return np.append(read(self.values), np.array([gap]))[self.places]

    def as_text(self) -> Column:
        """The same cells as text, whole numbers without decimals, dates as ISO writes them."""
        if self.dates is not None:
            return Column.of(
                [
                    None if np.isnat(cell) else str(cell).replace("T00:00:00", "")
                    for cell in self.dates
                ]
            )
        if self.numbers is not None:
            return Column.of(
                [None if np.isnan(cell) else _plain(cell) for cell in self.numbers.tolist()]
            )
        return (
            Column.of([" ".join(v) for v in self.values], self.places) if self.has_lists else self
        )

    @classmethod
    def of(cls, cells: Any, codes: np.ndarray | None = None) -> Column:
        """A column of a pandas, polars or pyarrow frame, or any sequence of cells; `codes` where the cells are values already."""
        if codes is None:
            for read in (_of_arrow, _of_pandas, _of_polars, _of_array):
                column = read(cells)
                if column is not None:
                    return column
        # Equal values may come in different spellings, such as blanks around them: they become one.
        texts = [_cell(cell) for cell in cells]
        known: dict[Hashable, int] = {}
        places = np.array(
            [-1 if text is None else known.setdefault(text, len(known)) for text in texts] + [-1],
            dtype=np.int64,
        )
        return cls(values=tuple(known), codes=places[:-1] if codes is None else places[codes])


def _cell(cell: Any) -> str | tuple[str, ...] | None:
    """Text of a cell, a tuple of texts for a list, None for a gap."""
    if isinstance(cell, str):
        text = cell.strip()
        return None if text.lower() in MISSING else text
    if (
        cell is None
        or (isinstance(cell, float | np.floating) and not np.isfinite(cell))
        or str(cell) in ("NaT", "<NA>")
    ):
        return None
    if isinstance(cell, (list, tuple, set, frozenset, np.ndarray)):
        return tuple(str(item).strip() for item in cell if item is not None)
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, bytes):
        return _cell(cell.decode(errors="replace"))
    return _plain(float(cell)) if isinstance(cell, float | np.floating) else str(cell).strip()


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 2**53 else repr(number)


def _of_arrow(cells: Any) -> Column | None:
    if not type(cells).__module__.startswith("pyarrow"):
        return None
    import pyarrow as pa

    cells = pa.chunked_array([cells]) if isinstance(cells, pa.Array) else cells
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    kind = cells.type
    if pa.types.is_boolean(kind):
        cells, kind = cells.cast(pa.int8()), pa.int8()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Column(numbers=_floats(cells.cast(pa.float64(), safe=False).to_numpy()))
    if pa.types.is_duration(kind):
        return Column(numbers=_seconds(cells.to_numpy()))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        naive = (
            cells.cast(pa.timestamp("s"), safe=False)
            if getattr(kind, "tz", None) is None
            else _wall_clock(cells)
        )
        return Column(dates=naive.to_numpy().astype("datetime64[s]"))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        coded = cells.dictionary_encode().combine_chunks()
        return Column.of(
            coded.dictionary.to_pylist(), coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        )
    return Column.of(cells.to_pylist())


def _wall_clock(cells: Any) -> Any:
    """Times as the clocks of their zone show them: the hour of the day is what people act by."""
    import pyarrow as pa
    import pyarrow.compute as compute

    return compute.local_timestamp(cells).cast(pa.timestamp("s"), safe=False)


def _of_pandas(cells: Any) -> Column | None:
    if not type(cells).__module__.startswith("pandas"):
        return None
    kind = getattr(cells.dtype, "kind", "O")
    if kind in "biuf":
        return Column(numbers=_floats(cells.to_numpy(dtype=np.float64, na_value=np.nan)))
    if kind == "M":
        clock = (
            cells.dt.tz_localize(None) if getattr(cells.dtype, "tz", None) is not None else cells
        )
        return Column(dates=clock.to_numpy().astype("datetime64[s]"))
    if kind == "m":
        return Column(numbers=_seconds(cells.to_numpy()))
    if str(cells.dtype) not in ("str", "string", "category"):
        return _of_array(cells.to_numpy(dtype=object))
    codes, values = cells.factorize()
    return Column.of(values.to_list(), codes)


def _of_polars(cells: Any) -> Column | None:
    if not type(cells).__module__.startswith("polars"):
        return None
    if cells.dtype.is_numeric() or str(cells.dtype) == "Boolean":
        return Column(numbers=_floats(cells.cast(float).to_numpy()))
    if str(cells.dtype).startswith(("Date", "Datetime")):
        return Column(dates=cells.to_numpy().astype("datetime64[s]"))
    return Column.of(cells.to_list())


def _of_array(cells: Any) -> Column | None:
    """An array of one kind, or objects that are all numbers, all truth values or all dates."""
    if not isinstance(cells, np.ndarray):
        return None
    if cells.dtype.kind in "biuf":
        return Column(numbers=_floats(cells.astype(np.float64)))
    if cells.dtype.kind == "M":
        return Column(dates=cells.astype("datetime64[s]"))
    given = [cell for cell in cells.tolist() if cell is not None and cell == cell]
    if given and all(isinstance(cell, int | float) for cell in given):
        return Column(
            numbers=_floats(
                np.array(
                    [np.nan if cell is None else cell for cell in cells.tolist()], dtype=np.float64
                )
            )
        )
    return Column.of(cells.tolist())


def _floats(numbers: np.ndarray) -> np.ndarray:
    """Infinite numbers are gaps: no average, rank or distance can take them."""
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _seconds(spans: np.ndarray) -> np.ndarray:
    return np.where(
        np.isnat(spans), np.nan, spans.astype("timedelta64[ms]").astype(np.float64) / 1000
    )


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


def yes_no(values: Sequence[str]) -> dict[str, float] | None:
    """1 and 0 for values, in lower case, that all say yes or no in one language; None for others.

    Examples
    --------
    >>> yes_no(["Ja", "nein", "-"])
    {'ja': 1.0, 'nein': 0.0}
    """
    words = {value.lower() for value in values} - MISSING_OR_NONE
    for yes, no in YES_NO_PAIRS:
        if words and words <= {yes, no}:
            return {yes: 1.0, no: 0.0}
    return None


class Numerals(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str  # "point" or "comma"
    unit: str  # what stands behind each number; "" for nothing, money and percent

    def read(self, values: Sequence[Any]) -> np.ndarray:
        """The numbers of texts, NaN for what is none."""
        return np.array(
            [_number(value, self.decimal, self.unit) for value in values], dtype=np.float64
        )


def numerals(
    values: Sequence[str], weights: np.ndarray, *, comma: bool = False
) -> tuple[Numerals, float]:
    """How numbers are written in these values, and the share of the rows that hold numbers then; words for a gap do not count.

    Parameters
    ----------
    values : sequence of str
    weights : array of shape (k,)
        Rows that hold each.
    comma : bool, default=False
        What to take ``1,234`` for where every value allows both: 1.234 if True.

    Examples
    --------
    >>> numerals(["$1,234.50", "(12)", "-"], np.ones(3))
    (Numerals(decimal='point', unit=''), 1.0)
    >>> numerals(["12,5 kg", "1.234 kg"], np.ones(2))
    (Numerals(decimal='comma', unit='kg'), 1.0)
    """
    matches = {
        k: NUMBER.fullmatch(value)
        for k, value in enumerate(values)
        if value.lower() not in MISSING_OR_NONE
    }
    found = {k: match for k, match in matches.items() if match is not None}
    units = [_unit(match) for match in found.values()]
    unit = max(sorted(set(units)), key=units.count) if units else ""
    rows = {
        decimal: sum(
            weights[k]
            for k, match in found.items()
            if _unit(match) == unit and digits.fullmatch(match["digits"])
        )
        for decimal, digits in DIGITS.items()
    }
    decimal = (
        "comma"
        if rows["comma"] > rows["point"] or (comma and rows["comma"] == rows["point"])
        else "point"
    )
    said = sum(weights[k] for k in matches)
    return Numerals(decimal, unit), float(rows[decimal] / said) if said else 0.0


def _unit(match: re.Match[str]) -> str:
    unit = (match["unit"] or "").strip()
    return "" if unit == "%" or IS_CURRENCY.fullmatch(unit) else unit


def _number(text: Any, decimal: str, unit: str) -> float:
    match = NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None or _unit(match) != unit or not DIGITS[decimal].fullmatch(match["digits"]):
        return np.nan
    digits = re.sub(rf"[{GROUP}{',' if decimal == 'point' else '.'}]", "", match["digits"]).replace(
        ",", "."
    )
    value = float(digits + (match["exponent"] or ""))
    value = value / 100 if match["unit"] and match["unit"].strip() == "%" else value
    return -value if match["negative"] or (match["sign"] or "+") in "-−" else value


def are_codes(values: Sequence[str]) -> bool:
    """Whether digits are used as names: one of them has leading zeros."""
    return any(CODE.fullmatch(value) for value in values)


def date_order(values: Sequence[str], *, day_first: bool = False) -> str | None:
    """The order of day, month and year that fits all values; None where no order fits.

    Where all values allow both, the day comes first if it is followed by a point or if `day_first`,
    else the month.

    Examples
    --------
    >>> date_order(["31.12.2024", "01.02.2023"]), date_order(["2024-05-01T10:30:00Z"]), date_order(["soon"])
    ('day first', 'year first', None)
    """
    said = [value for value in values if value.lower() not in MISSING_OR_NONE]
    if not said:
        return None
    orders = ["day first", *DATES] if day_first or "." in said[0][:3] else list(DATES)
    return next(
        (order for order in orders if not any(np.isnat(_moment(value, order)) for value in said)),
        None,
    )


def moments_of(values: Sequence[Any], order: str) -> np.ndarray:
    """The moments of texts, datetime64[s] (k,); NaT for what is none in this order."""
    return np.array(
        [_moment(value, order) for value in values] + [NOT_A_TIME], dtype="datetime64[s]"
    )[:-1]


def _moment(text: Any, order: str) -> np.datetime64:
    match = DATES[order].fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return NOT_A_TIME
    part = match.groupdict()
    hour = int(part["hour"] or 0)
    if part["half"]:
        hour = hour % 12 + 12 * (part["half"][0] in "pP")
    month = part.get("month", "1")
    try:
        return np.datetime64(
            datetime(
                _year(part.get("year", "1970")),
                int(month) if month.isdecimal() else MONTHS[month.lower()],
                int(part.get("day") or 1),
                hour,
                int(part["minute"] or 0),
                int(part["second"] or 0),
            ),
            "s",
        )
    except (ValueError, KeyError):
        return NOT_A_TIME


def _year(text: str) -> int:
    """Two digits mean 1970 to 2069."""
    return int(text) if len(text) > 2 else 1900 + int(text) + 100 * (int(text) < 70)


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
    """The items of a cell, stripped, without empty ones.

    Examples
    --------
    >>> items_of("red| large |", "|"), items_of("['a', 'b']", "json"), items_of(("x",), None)
    (('red', 'large'), ('a', 'b'), ('x',))
    """
    if isinstance(value, tuple):
        items: Iterable[object] = value
    elif separator == "json":
        items = _json_items(value)
    else:
        items = value.split(separator) if separator else [value]
    return tuple(dict.fromkeys(text for item in items if (text := str(item).strip())))


def _json_items(text: str) -> list[object]:
    """Items of ``["a", "b"]``, ``['a', 'b']``, ``['a' 'b']`` or ``[a, b]``."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        quoted = [single or double for single, double in QUOTED.findall(text)]
        return [*quoted] if quoted else [*text[1:-1].split(",")]
    return items if isinstance(items, list) else [items]

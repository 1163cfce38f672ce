"""What the text of a column means: numbers, many at once; nominal values and their numbers; columns that only name the rows.

Text is cut at every byte that is not a digit. Each run of up to 16 digits becomes an integer by
three multiplications
on 64-bit words that hold eight digits each. A decimal ``a.b`` is then ``(a * 10**len(b) + b) /
10**len(b)``: one division of two
integers that doubles hold exactly, hence correctly rounded, and bit for bit what ``float`` gives.
Whatever does not fit
this scheme (exponents, more than 2**53 in the digits, nan, inf) goes through ``float`` one by one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy import sparse

from skcamel.data import DataError, Path_
from skcamel.data.text import check_claimed_size, check_memory

PAD = 16  # bytes in front of the text, so that the two words before any digit run exist
MOST_DIGITS = 18  # of one number; 10**18 still fits int64
POWERS = 10 ** np.arange(MOST_DIGITS + 1, dtype=np.int64)
POWERS_AS_FLOAT = POWERS.astype(np.float64)  # exact up to 10**22
LARGEST = 2**53  # integers up to here are doubles
DOT, PLUS, MINUS = b".+-"
NEW_LINE = ord("\n")
CHUNK_BYTES = 2**18  # text converted at once; temporaries take about 80 times as much
NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WORDS = ({"NO": 0.0, "YES": 1.0}, {"FALSE": 0.0, "TRUE": 1.0})
NOMINAL_CHOICES = ("index", "onehot")
# distinct values per row from which a nominal is an identifier; union files repeat a row or two
IDENTIFYING_SHARE = 0.99


class Numbers(NamedTuple):
    """The numbers of a text, in order."""

    values: np.ndarray  # float64; NaN for missing and empty ones
    ends: np.ndarray  # uint8; the separator behind each
    plain: np.ndarray  # bool; only digits, at least one
    empty: np.ndarray  # bool; nothing between two separators


def numbers(text: bytes, separators: bytes, missing: str = "?") -> Numbers | None:
    r"""All numbers of `text`, or None where one of its tokens is not a number.

    Parameters
    ----------
    text : bytes
        Ends in a separator.
    separators : bytes
        Each of these bytes ends a number; the line feed is one of them.
    missing : str, default="?"
        Token that stands for NaN.

    Examples
    --------
    >>> numbers(b"1,-0.25,?\n", b",\n").values
    array([ 1.  , -0.25,   nan])
    >>> numbers(b"1,two\n", b",\n") is None
    True
    """
    if len(text) <= CHUNK_BYTES:
        return _numbers(text, separators, missing)
    parts: list[Numbers] = []
    separator, start = re.compile(b"[" + re.escape(separators) + b"]"), 0
    while (
        start < len(text)
        and (end := separator.search(text, min(start + CHUNK_BYTES, len(text)) - 1)) is not None
    ):
        part = _numbers(text[start : end.end()], separators, missing)
        if part is None:
            return None
        parts.append(part)
        start = end.end()
    return Numbers(*(np.concatenate(columns) for columns in zip(*parts)))


def table_of_numbers(text: bytes, separator: bytes, n_rows: int, width: int) -> np.ndarray | None:
    """The numbers of lines as a table; None where a line has another width, or a cell is empty or no number."""
    parsed = numbers(text, separator + b"\n")
    if parsed is None or parsed.values.size != n_rows * width or parsed.empty.any():
        return None
    row_ends = np.flatnonzero(parsed.ends == NEW_LINE)
    return (
        parsed.values.reshape(-1, width) if (np.diff(row_ends, prepend=-1) == width).all() else None
    )


def _numbers(text: bytes, separators: bytes, missing: str) -> Numbers | None:
    padded = b"\n" * PAD + text
    codes = np.frombuffer(padded, dtype=np.uint8)
    marks = np.flatnonzero(codes[PAD - 1 :] - np.uint8(48) > 9) + (
        PAD - 1
    )  # every byte that is no digit; the first is padding
    kinds = codes[marks]
    is_separator = np.zeros(256, dtype=bool)
    is_separator[list(separators)] = True
    ends = np.flatnonzero(is_separator[kinds])
    lengths = np.diff(marks, prepend=marks[0]) - 1
    runs = _digit_runs(padded, marks, lengths)
    if len(ends) == len(marks):  # digits only, as in sparse rows of 0 and 1
        values, empty = runs[1:].astype(np.float64), lengths[1:] == 0
        easy, plain = (lengths[1:] <= PAD) & (values < LARGEST), ~empty
    else:
        values, easy = _decimals(kinds, lengths, runs, ends)
        alone = np.diff(ends) == 1  # no mark inside the token
        empty = alone & (lengths[ends[1:]] == 0)
        plain = alone & ~empty
    values[empty] = np.nan
    hard = np.flatnonzero(~(easy | empty))
    if hard.size and not _convert(text, values, hard, marks[ends] - PAD, missing):
        return None
    return Numbers(values, kinds[ends[1:]], plain, empty)


def _digit_runs(padded: bytes, marks: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Integer of the digits before each mark; without meaning where there are more than 16."""
    runs = _eight_digits(padded, marks - 8, np.minimum(lengths, 8))
    long = np.flatnonzero(lengths > 8)
    if long.size:
        runs[long] += 10**8 * _eight_digits(
            padded, marks[long] - 16, np.minimum(lengths[long] - 8, 8)
        )
    return runs


def _eight_digits(padded: bytes, offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Integers of the last `lengths` of the eight bytes at each offset, two digits, four digits and eight digits at a time."""
    windows = np.ndarray(shape=(len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    words = windows[offsets]
    unused = (8 * (8 - lengths)).astype(np.uint64)
    words = (
        words >> unused
    ) << unused  # a little-endian word has its first byte lowest; a shift by 64 leaves 0
    words &= np.uint64(0x0F0F0F0F0F0F0F0F)
    words = (words * np.uint64(2561)) >> np.uint64(8)
    words &= np.uint64(0x00FF00FF00FF00FF)
    words = (words * np.uint64(6553601)) >> np.uint64(16)
    words &= np.uint64(0x0000FFFF0000FFFF)
    return ((words * np.uint64(42949672960001)) >> np.uint64(32)).astype(np.int64)


def _decimals(
    kinds: np.ndarray, lengths: np.ndarray, runs: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Values of tokens of the form ``[sign] digits [. digits]``, and which tokens have it."""
    first, last, inner = ends[:-1] + 1, ends[1:], np.diff(ends) - 1
    dotted = (inner > 0) & (kinds[last - 1] == DOT)
    negative = (inner > 0) & (kinds[first] == MINUS) & (lengths[first] == 0)
    signed = negative | ((inner > 0) & (kinds[first] == PLUS) & (lengths[first] == 0))
    scale = np.where(dotted, lengths[last], 0)
    before = np.where(dotted, lengths[last - 1], 0)  # digits before the dot
    digits = before + lengths[last]
    easy = (
        (inner == dotted.astype(np.int64) + signed)
        & (digits > 0)
        & (digits <= MOST_DIGITS)
        & (lengths[last] <= PAD)
        & (before <= PAD)
    )
    scale[~easy] = 0
    mantissa = np.where(dotted, runs[last - 1], 0)
    mantissa[~easy] = 0
    mantissa = mantissa * POWERS[scale] + runs[last]
    easy &= mantissa <= LARGEST
    values = mantissa / POWERS_AS_FLOAT[scale]
    np.negative(values, where=negative, out=values)
    return values, easy


def _convert(
    text: bytes, values: np.ndarray, hard: np.ndarray, ends: np.ndarray, missing: str
) -> bool:
    """Fill in the tokens `hard` by ``float``; False where one is no number."""
    tokens = [
        text[start:stop].decode("latin-1")
        for start, stop in zip((ends[hard] + 1).tolist(), ends[hard + 1].tolist())
    ]
    try:
        values[hard] = [np.nan if token == missing else number(token) for token in tokens]
    except ValueError:
        return False
    return True


def number(token: str) -> float:
    """``float``, without the underscores that Python allows inside numbers."""
    value = float(token)
    if "_" in token:
        raise ValueError(f"{token!r} is not a number")
    return value


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: `kind` is "numeric", "nominal" or "text"; `values` are those of a nominal."""

    name: str
    kind: str
    values: tuple[str, ...] = ()


def names_of(attributes: Sequence[Attribute]) -> list[str]:
    """Names in order."""
    return [attribute.name for attribute in attributes]


class Codes(dict[str, float]):
    """Number of each nominal value; numerals are also found in another spelling, such as 1.0 for 1."""

    def __init__(self, numbers: dict[str, float], *, numerals: bool) -> None:
        super().__init__(numbers)
        self.setdefault("?", float("nan"))
        self.by_number = (
            {number(value): code for value, code in numbers.items()} if numerals else {}
        )

    def __missing__(self, value: str) -> float:
        return self.by_number[number(value)]


@lru_cache(maxsize=64)
def feature_codes(values: tuple[str, ...]) -> Codes:
    """Numerals as numbers, YES/NO and TRUE/FALSE as 1/0, else the position in the header."""
    if (
        values
        and all(NUMERAL.fullmatch(value) for value in values)
        and len({float(value) for value in values}) == len(values)
    ):
        return Codes({value: float(value) for value in values}, numerals=True)
    words = [value.upper() for value in values]
    for meaning in WORDS:
        if values and set(words) <= set(meaning) and len(set(words)) == len(words):
            return Codes(
                {value: meaning[word] for value, word in zip(values, words)}, numerals=False
            )
    return Codes({value: float(position) for position, value in enumerate(values)}, numerals=False)


@lru_cache(maxsize=64)
def label_codes(values: tuple[str, ...]) -> Codes | None:
    """0 and 1 for the values of a label, or None where they do not say which is which."""
    codes = feature_codes(values)
    numbers = [codes[value] for value in values]
    if sorted(numbers) == [-1, 1] and codes.by_number:
        return Codes({value: max(codes[value], 0.0) for value in values}, numerals=True)
    meant = codes.by_number or {value.upper() for value in values} <= {"YES", "NO", "TRUE", "FALSE"}
    return codes if meant and set(numbers) <= {0.0, 1.0} else None


def refuse_label(value: float, name: str, cure: str, path: Path_, line: int) -> NoReturn:
    """Say what a label is and what to do."""
    raise DataError(f"label {name[:60]!r} is {value:g}; {cure}", path=path, line=line)


def check_nominal(nominal: str) -> None:
    """Refuse what is no way to read nominal columns."""
    if nominal not in NOMINAL_CHOICES:
        raise ValueError(f"nominal must be one of {', '.join(NOMINAL_CHOICES)}, got {nominal!r}.")


def without_identifiers(
    X: Any, attributes: list[Attribute], path: Path_, keep: Collection[str] = ()
) -> tuple[Any, list[Attribute]]:
    """X and its attributes without nominals that have one value per row, but for those named in `keep`."""
    n, spared = X.shape[0], set(keep)
    wide = [
        column
        for column, attribute in enumerate(attributes)
        if attribute.name not in spared
        and len(attribute.values) > 2
        and len(attribute.values) >= IDENTIFYING_SHARE * n
    ]
    distinct = {
        column: len(np.unique(values[~np.isnan(values)])) for column, values in _columns(X, wide)
    }
    kept = [
        column
        for column in range(len(attributes))
        if n < 2 or distinct.get(column, 0) < IDENTIFYING_SHARE * n
    ]
    if len(kept) == len(attributes):
        return X, attributes
    held = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
    check_memory(held, "A copy of its features without those that name the rows", path)
    return X[:, kept], [attributes[column] for column in kept]


def without_nominals(X: Any, attributes: Sequence[Attribute], path: Path_) -> tuple[Any, list[str]]:
    """X with one column ``attribute=value`` for each value of a nominal that has three or more; a missing value is NaN in all."""
    wide = [column for column, attribute in enumerate(attributes) if len(attribute.values) > 2]
    if not wide:
        return X, names_of(attributes)
    width = len(attributes) + sum(len(attributes[column].values) - 1 for column in wide)
    check_claimed_size(
        16 * X.shape[0] * width, f"{X.shape[0]} rows x {width} columns", path
    )  # the parts and the whole
    X = sparse.csc_array(X) if sparse.issparse(X) else X
    parts: list[Any] = []
    names: list[str] = []
    start = 0
    for column, values in _columns(X, wide):
        attribute = attributes[column]
        parts += [X[:, start:column], _indicators(values, attribute, as_sparse=sparse.issparse(X))]
        names += [
            *names_of(attributes[start:column]),
            *(f"{attribute.name}={value}" for value in attribute.values),
        ]
        start = column + 1
    parts.append(X[:, start:])
    names += names_of(attributes[start:])
    return (
        sparse.csr_array(sparse.hstack(parts, format="csc"))
        if sparse.issparse(X)
        else np.hstack(parts)
    ), names


def finished(
    X: Any, attributes: list[Attribute], nominal: str, path: Path_, keep: Collection[str], cure: str
) -> tuple[Any, list[str], list[Attribute]]:
    """X without what only names the rows, the names of its columns, and the attributes that they come from."""
    X, kept = without_identifiers(X, attributes, path, keep)
    X, names = without_nominals(X, kept, path) if nominal == "onehot" else (X, names_of(kept))
    if not names:
        raise DataError(f"no feature is left beside labels and row identifiers; {cure}", path=path)
    return X, names, kept


def _indicators(column: np.ndarray, attribute: Attribute, *, as_sparse: bool) -> Any:
    codes = feature_codes(attribute.values)
    table = (column[:, None] == np.array([codes[value] for value in attribute.values])).astype(
        np.float64
    )
    table[np.isnan(column)] = np.nan
    return sparse.csc_array(table) if as_sparse else table


def _columns(X: Any, wanted: list[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Each of these columns as an array, with its position; those of a sparse matrix are looked up in CSC form, in linear time."""
    if not sparse.issparse(X):
        yield from ((column, X[:, column]) for column in wanted)
    elif wanted:
        chosen = sparse.csc_array(X[:, wanted])
        yield from ((column, chosen[:, [k]].toarray()[:, 0]) for k, column in enumerate(wanted))

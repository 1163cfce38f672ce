"""Bytes ► numbers: all numbers of a block of text at once, by arithmetic on 8-byte words.

Text is cut at every byte that is not a digit. Each run of up to 16 digits becomes an integer by three multiplications
on 64-bit words that hold eight digits each. A decimal ``a.b`` is then ``(a * 10**len(b) + b) / 10**len(b)``: one division of two
integers that doubles hold exactly, hence correctly rounded, and bit for bit what ``float`` gives. Whatever does not fit
this scheme (exponents, more than 2**53 in the digits, nan, inf) goes through ``float`` one by one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

PAD = 16  # bytes in front of the text, so that the two words before any digit run exist
MOST_DIGITS = 18  # of one number; 10**18 still fits int64
POWERS = 10 ** np.arange(MOST_DIGITS + 1, dtype=np.int64)
POWERS_AS_FLOAT = POWERS.astype(np.float64)  # exact up to 10**22
LARGEST = 2**53  # integers up to here are doubles
DOT, PLUS, MINUS = b".+-"
CHUNK_BYTES = 2**18  # text converted at once; temporaries take about 80 times as much


class Numbers(NamedTuple):
    """The numbers of a text, in order.

    Attributes
    ----------
    values : ndarray of float64; NaN for missing and empty ones
    ends : ndarray of uint8; the separator behind each
    plain : ndarray of bool; only digits, at least one
    empty : ndarray of bool; nothing between two separators
    """

    values: np.ndarray
    ends: np.ndarray
    plain: np.ndarray
    empty: np.ndarray


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
    while start < len(text) and (end := separator.search(text, min(start + CHUNK_BYTES, len(text)) - 1)) is not None:
        part = _numbers(text[start : end.end()], separators, missing)
        if part is None:
            return None
        parts.append(part)
        start = end.end()
    return Numbers(*(np.concatenate(columns) for columns in zip(*parts)))


def _numbers(text: bytes, separators: bytes, missing: str) -> Numbers | None:
    padded = b"\n" * PAD + text
    codes = np.frombuffer(padded, dtype=np.uint8)
    marks = np.flatnonzero(codes[PAD - 1 :] - np.uint8(48) > 9) + (PAD - 1)  # every byte that is no digit; the first is padding
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
        runs[long] += 10**8 * _eight_digits(padded, marks[long] - 16, np.minimum(lengths[long] - 8, 8))
    return runs


def _eight_digits(padded: bytes, offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Integers of the last `lengths` of the eight bytes at each offset, two digits, four digits and eight digits at a time."""
    windows = np.ndarray(shape=(len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    words = windows[offsets]
    unused = (8 * (8 - lengths)).astype(np.uint64)
    words = (words >> unused) << unused  # a little-endian word has its first byte lowest; a shift by 64 leaves 0
    words &= np.uint64(0x0F0F0F0F0F0F0F0F)
    words = (words * np.uint64(2561)) >> np.uint64(8)
    words &= np.uint64(0x00FF00FF00FF00FF)
    words = (words * np.uint64(6553601)) >> np.uint64(16)
    words &= np.uint64(0x0000FFFF0000FFFF)
    return ((words * np.uint64(42949672960001)) >> np.uint64(32)).astype(np.int64)


def _decimals(kinds: np.ndarray, lengths: np.ndarray, runs: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of tokens of the form ``[sign] digits [. digits]``, and which tokens have it."""
    first, last, inner = ends[:-1] + 1, ends[1:], np.diff(ends) - 1
    dotted = (inner > 0) & (kinds[last - 1] == DOT)
    negative = (inner > 0) & (kinds[first] == MINUS) & (lengths[first] == 0)
    signed = negative | ((inner > 0) & (kinds[first] == PLUS) & (lengths[first] == 0))
    scale = np.where(dotted, lengths[last], 0)
    before = np.where(dotted, lengths[last - 1], 0)  # digits before the dot
    digits = before + lengths[last]
    easy = (inner == dotted.astype(np.int64) + signed) & (digits > 0) & (digits <= MOST_DIGITS) & (lengths[last] <= PAD) & (before <= PAD)
    scale[~easy] = 0
    mantissa = np.where(dotted, runs[last - 1], 0)
    mantissa[~easy] = 0
    mantissa = mantissa * POWERS[scale] + runs[last]
    easy &= mantissa <= LARGEST
    values = mantissa / POWERS_AS_FLOAT[scale]
    np.negative(values, where=negative, out=values)
    return values, easy


def _convert(text: bytes, values: np.ndarray, hard: np.ndarray, ends: np.ndarray, missing: str) -> bool:
    """Fill in the tokens `hard` by ``float``; False where one is no number."""
    tokens = [text[start:stop].decode("latin-1") for start, stop in zip((ends[hard] + 1).tolist(), ends[hard + 1].tolist())]
    try:
        values[hard] = [np.nan if token == missing else number(token) for token in tokens]
    except ValueError:
        return False
    return True


def number(token: str) -> float:
    """``float``, without the underscores that Python allows inside numbers.

    Examples
    --------
    >>> number("1e3")
    1000.0
    """
    value = float(token)
    if "_" in token:
        raise ValueError(f"{token!r} is not a number")
    return value

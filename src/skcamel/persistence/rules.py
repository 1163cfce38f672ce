"""Rules for the values of a model file: a function of a value and of the sizes known so far, such as q labels.

A size is a letter in a shape. A rule raises ValueError, or binds a size that it is the first to see, with which all others must agree.
Numbers are bounded by `LARGEST` and divisors by its inverse, so that no product formed by a prediction overflows for rows of ordinary
size: a model that passes answers with finite numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

LARGEST = 1e50  # of a stored number; its inverse is the smallest divisor
OF_PRODUCTS = 1e110  # of products of two such numbers, summed
FINITE = float(np.finfo(np.float64).max)
MOST = 2**31 - 1  # of whatever is counted
MAY_BE_EMPTY = ("k", "x")  # values of a column, columns of a table left out
PLAIN = (type(None), bool, int, float, str)
RESULT = re.compile(r"(mean|std|rank|split\d{1,9})_test_[a-z0-9_]{1,40}")

Sizes = dict[str, int]
Rule = Callable[[Any, Sizes], None]


def rule(check: Callable[..., None]) -> Callable[..., Rule]:
    """Turn a check of a value, with options after value and sizes, into a function from the options to a rule."""

    def with_options(*options: Any, **named: Any) -> Rule:
        return lambda value, sizes: check(value, sizes, *options, **named)

    return with_options


def must_be(what: str, holds: Callable[[Any], bool]) -> Rule:
    """A value of which something holds."""

    def check(value: Any, _: Sizes) -> None:
        if not holds(value):
            raise ValueError(f"must be {what}, got {shown(value)}")

    return check


nothing = must_be("None", lambda value: value is None)
flag = must_be("True or False", lambda value: isinstance(value, bool))
undefined = must_be("NaN", lambda value: isinstance(value, float) and value != value)  # as a metric is that no row defines
any_text = must_be("text", lambda value: isinstance(value, str))
any_list = must_be("a list", lambda value: isinstance(value, list))
any_tuple = must_be("a tuple", lambda value: isinstance(value, tuple))
any_pair = must_be("a pair", lambda value: isinstance(value, tuple) and len(value) == 2)
any_mapping = must_be("a mapping", lambda value: isinstance(value, dict))
any_array = must_be("an array of plain values", lambda value: isinstance(value, np.ndarray) and value.dtype.kind in "biufUO")


def one_of(*known: str) -> Rule:
    """One of these words."""
    return must_be(f"one of {', '.join(known)}", lambda value: isinstance(value, str) and value in known)


def number(low: float = -FINITE, high: float = FINITE) -> Rule:
    """A real number in a range, both ends included."""
    return must_be(f"a number from {low:g} to {high:g}", lambda value: type(value) in (int, float) and low <= value <= high)


@rule
def integer(value: Any, sizes: Sizes, low: int, high: int = MOST, *, below: tuple[str, ...] = ()) -> None:
    """A whole number in a range, both ends included, or below the sum of some sizes."""
    top = sum(sizes[letter] for letter in below) - 1 if below else high
    must_be(f"a whole number from {low} to {top}", lambda value: type(value) is int and low <= value <= top)(value, sizes)


@rule
def count(value: Any, sizes: Sizes, letter: str) -> None:
    """A whole number that is a size."""
    integer(1)(value, sizes)
    _bind((letter,), (value,), sizes)


@rule
def array_of(value: Any, sizes: Sizes, kinds: tuple[type, ...], *shape: str) -> None:
    """An array of one of these kinds of numbers."""
    if not isinstance(value, np.ndarray) or value.dtype not in [np.dtype(kind) for kind in kinds]:
        raise ValueError(f"must be an array of {kinds[0].__name__}, got {shown(value)}")
    _bind(shape, value.shape, sizes)


@rule
def floats(value: Any, sizes: Sizes, *shape: str, low: float = -LARGEST, high: float = LARGEST) -> None:
    """An array of float64 in a range, both ends included; NaN is in none."""
    array_of((np.float64,), *shape)(value, sizes)
    _check_range(value, low, high)


@rule
def indices(value: Any, sizes: Sizes, *shape: str, below: int | tuple[str, ...], ascending: bool = False) -> None:
    """An array of whole numbers from 0 to below a number, or the sum of some sizes; where ascending, without repeats."""
    array_of((np.int64, np.int32), *shape)(value, sizes)
    _check_range(value, 0, (below if isinstance(below, int) else sum(sizes[letter] for letter in below)) - 1)
    if ascending and (value[..., 1:] <= value[..., :-1]).any():
        raise ValueError("must ascend")


@rule
def rows(value: Any, sizes: Sizes, *shape: str, low: float = -LARGEST) -> None:
    """A matrix of float64, dense or sparse; a sparse one was checked when it was built."""
    if sparse.issparse(value):
        _bind(shape, value.shape, sizes)
        value = value.data
    else:
        array_of((np.float64,), *shape)(value, sizes)
    _check_range(value, low, LARGEST)


def text(value: Any, sizes: Sizes) -> None:
    """Text that can be written and shown."""
    any_text(value, sizes)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"holds half characters (surrogates): {shown(value)}") from error


@rule
def names(value: Any, sizes: Sizes, letter: str) -> None:
    """An array of text."""
    any_array(value, sizes)
    each(text, letter)(value.tolist(), sizes)


def classes(value: Any, sizes: Sizes) -> None:
    """An array of different plain values."""
    any_array(value, sizes)
    known = value.tolist()
    if value.ndim != 1 or not all(isinstance(one, PLAIN) and one == one for one in known) or len(set(known)) < len(known):
        raise ValueError("must hold different plain values")


@rule
def either(value: Any, sizes: Sizes, *rules: Rule) -> None:
    """What one of these rules allows; the message is that of the last."""
    for one in rules[:-1]:
        bound = dict(sizes)
        try:
            one(value, bound)
        except ValueError:
            continue
        sizes.update(bound)
        return
    rules[-1](value, sizes)


@rule
def each(value: Any, sizes: Sizes, of_items: Rule, letter: str, kind: Rule = any_list) -> None:
    """A list, or another kind of sequence, whose items follow one rule; sizes that they bind are their own."""
    kind(value, sizes)
    _bind((letter,), (len(value),), sizes)
    for item in value:
        of_items(item, dict(sizes))


@rule
def mapping(value: Any, sizes: Sizes, of_items: Rule) -> None:
    """A mapping from any text to values that follow one rule."""
    any_mapping(value, sizes)
    for key, item in value.items():
        text(key, sizes)
        of_items(item, dict(sizes))


@rule
def pair(value: Any, sizes: Sizes, first: Rule, second: Rule) -> None:
    """A tuple of two."""
    any_pair(value, sizes)
    first(value[0], sizes)
    second(value[1], sizes)


@rule
def part(value: Any, sizes: Sizes, kind: str, **fields: Rule) -> None:
    """An object of a class of skcamel."""
    if type(value).__name__ != kind or vars(value).keys() != fields.keys():
        raise ValueError(f"must be a {kind} of {', '.join(fields)}, got {shown(value)}")
    apply(fields, vars(value), sizes)


@rule
def record(value: Any, sizes: Sizes, fields: Mapping[str, Rule]) -> None:
    """A mapping with just these names, to values that follow their rules."""
    if not isinstance(value, dict) or value.keys() != fields.keys():
        raise ValueError(f"must name {', '.join(fields)}, got {shown(value)}")
    apply(fields, value, sizes)


@rule
def results(value: Any, sizes: Sizes, parameters: Mapping[str, Rule]) -> None:
    """The table of a search: its candidates, a column for each of their parameters, and columns of numbers."""
    if not isinstance(value, dict) or "params" not in value:
        raise ValueError(f"must be a table with params, got {shown(value)}")
    each(record(parameters), "c")(value["params"], sizes)
    columns = {name: column for name, column in value.items() if name != "params"}
    if any(not isinstance(column, np.ndarray) or column.shape != (sizes["c"],) for column in columns.values()):
        raise ValueError(f"must have columns of {sizes['c']} entries")
    of_candidates = {f"param_{name}": each(of_value, "c") for name, of_value in parameters.items()}
    apply(of_candidates, {name: columns.pop(name).tolist() for name in of_candidates if name in columns}, sizes)
    if wrong := [name for name, column in columns.items() if not RESULT.fullmatch(name) or column.dtype not in (np.float64, np.int32)]:
        raise ValueError(f"has a column {shown(wrong[0])}, which no search writes")


@rule
def words(value: Any, sizes: Sizes, letter: str) -> None:
    """A tuple of different texts."""
    each(text, letter, any_tuple)(value, sizes)
    if len(set(value)) < len(value):
        raise ValueError("must hold different texts")


def _bind(letters: tuple[str, ...], shape: tuple[int, ...], sizes: Sizes) -> None:
    """Compare a shape with the sizes known so far, and learn the others."""
    if len(letters) != len(shape) or any(sizes.setdefault(letter, size) != size for letter, size in zip(letters, shape, strict=True)):
        needed = ", ".join(str(sizes.get(letter, letter)) for letter in letters)
        raise ValueError(f"has shape {shape}, ({needed}) is needed")
    if any(size < (letter not in MAY_BE_EMPTY) for letter, size in zip(letters, shape, strict=True)):
        raise ValueError(f"has shape {shape}, which is empty")


def _check_range(value: np.ndarray, low: float, high: float) -> None:
    if value.size and not (low <= value.min() and value.max() <= high):
        raise ValueError(f"must hold numbers from {low:g} to {high:g} only, got {value.min():g} to {value.max():g}")


def shown(value: Any) -> str:
    """A few words on a value, however large it is."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name} and shape {value.shape}"
    if isinstance(value, int) and abs(value) > MOST:
        return "a huge number"
    text = repr(value) if isinstance(value, PLAIN) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:80]}…"


def apply(rules: Mapping[str, Rule], values: Mapping[str, Any], sizes: Sizes) -> None:
    """Check values by name, in the order of the rules; a message begins with the name."""
    for name, check_value in rules.items():
        if name in values:
            try:
                check_value(values[name], sizes)
            except ValueError as error:
                raise ValueError(f"{name} {error}") from error

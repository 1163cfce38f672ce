"""Rules for the values in a model file: functions of a value and of the sizes known so far that raise ValueError.

A size is a letter in a shape. The first array that has it binds it, all others must agree.
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
MAY_BE_EMPTY = ("k", "p", "x")  # columns that vary, problems that were solved, columns of a table that were left out
PLAIN = (type(None), bool, int, float, str)
RESULT = re.compile(r"(mean|std|rank|split\d{1,9})_test_[a-z0-9_]{1,40}")

Sizes = dict[str, int]
Rule = Callable[[Any, Sizes], None]


def apply(rules: Mapping[str, Rule], values: Mapping[str, Any], sizes: Sizes) -> None:
    """Check values by name, in the order of the rules; a message begins with the name."""
    for name, rule in rules.items():
        if name in values:
            try:
                rule(values[name], sizes)
            except ValueError as error:
                raise ValueError(f"{name} {error}") from error


def nothing(value: Any, _: Sizes) -> None:
    """None."""
    if value is not None:
        raise ValueError(f"must be None, got {_shown(value)}")


def flag(value: Any, _: Sizes) -> None:
    """True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"must be True or False, got {_shown(value)}")  # noqa: TRY004 (as for every other value)


def one_of(*known: str) -> Rule:
    """One of these words."""

    def check(value: Any, _: Sizes) -> None:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"must be one of {', '.join(known)}, got {_shown(value)}")

    return check


def number(low: float = -FINITE, high: float = FINITE) -> Rule:
    """A real number in a range, both ends included."""

    def check(value: Any, _: Sizes) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}, got {_shown(value)}")

    return check


def undefined(value: Any, _: Sizes) -> None:
    """NaN, as a metric is that no row defines."""
    if not isinstance(value, float) or value == value:
        raise ValueError(f"must be NaN, got {_shown(value)}")


def integer(low: int, high: int = MOST, *, below: tuple[str, ...] = ()) -> Rule:
    """A whole number in a range, both ends included, or below the sum of some sizes."""

    def check(value: Any, sizes: Sizes) -> None:
        top = sum(sizes[letter] for letter in below) - 1 if below else high
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= top:
            raise ValueError(f"must be a whole number from {low} to {top}, got {_shown(value)}")

    return check


def count(letter: str) -> Rule:
    """A whole number that is a size."""

    def check(value: Any, sizes: Sizes) -> None:
        integer(1)(value, sizes)
        _bind((letter,), (value,), sizes)

    return check


def floats(*shape: str, low: float = -LARGEST, high: float = LARGEST) -> Rule:
    """An array of float64 in a range, both ends included; NaN is in none."""

    def check(value: Any, sizes: Sizes) -> None:
        _check_array(value, (np.float64,), shape, sizes)
        _check_range(value, low, high)

    return check


def indices(*shape: str, below: int | tuple[str, ...], ascending: bool = False) -> Rule:
    """An array of whole numbers from 0 to below a number, or the sum of some sizes; where ascending, without repeats."""

    def check(value: Any, sizes: Sizes) -> None:
        _check_array(value, (np.int64, np.int32), shape, sizes)
        _check_range(value, 0, (below if isinstance(below, int) else sum(sizes[letter] for letter in below)) - 1)
        if ascending and (value[..., 1:] <= value[..., :-1]).any():
            raise ValueError("must ascend")

    return check


def permutation(letter: str) -> Rule:
    """Each of the numbers from 0 to below a size, once."""

    def check(value: Any, sizes: Sizes) -> None:
        indices(letter, below=(letter,))(value, sizes)
        if (np.bincount(value, minlength=len(value)) != 1).any():
            raise ValueError("must hold each number once")

    return check


def array_of(kind: type, letter: str) -> Rule:
    """An array of any values of a kind."""

    def check(value: Any, sizes: Sizes) -> None:
        _check_array(value, (kind,), (letter,), sizes)

    return check


def rows(*shape: str) -> Rule:
    """A matrix of float64, dense or sparse; a sparse one was checked when it was built."""

    def check(value: Any, sizes: Sizes) -> None:
        if sparse.issparse(value):
            _bind(shape, value.shape, sizes)
            _check_range(value.data, -LARGEST, LARGEST)
        else:
            floats(*shape)(value, sizes)

    return check


def text(value: Any, _: Sizes) -> None:
    """Text that can be written and shown."""
    if not isinstance(value, str):
        raise ValueError(f"must be text, got {_shown(value)}")  # noqa: TRY004 (as for every other value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"holds half characters (surrogates): {_shown(value)}") from error


def names(letter: str) -> Rule:
    """An array of text."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 1:
            raise ValueError(f"must be an array of text, got {_shown(value)}")
        each(text, letter)(value.tolist(), sizes)

    return check


def classes(value: Any, _: Sizes) -> None:
    """An array of different plain values."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "biufUO":
        raise ValueError(f"must be an array of classes, got {_shown(value)}")
    known = value.tolist()
    if not all(isinstance(one, PLAIN) and one == one for one in known) or len(set(known)) < len(known):
        raise ValueError("must hold different plain values")


def either(*rules: Rule) -> Rule:
    """What one of these rules allows; the message is that of the last."""

    def check(value: Any, sizes: Sizes) -> None:
        for rule in rules[:-1]:
            try:
                bound = dict(sizes)
                rule(value, bound)
            except ValueError:
                continue
            sizes.update(bound)
            return
        rules[-1](value, sizes)

    return check


def each(rule: Rule, letter: str, kind: type = list) -> Rule:
    """A list, or another kind of sequence, whose items follow one rule; sizes that they bind are their own."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, kind):
            raise ValueError(f"must be a {kind.__name__}, got {_shown(value)}")  # noqa: TRY004 (as for every other value)
        items = list(value)
        _bind((letter,), (len(items),), sizes)
        for item in items:
            rule(item, dict(sizes))

    return check


def mapping(rule: Rule) -> Rule:
    """A mapping from any text to values that follow one rule."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"must be a mapping, got {_shown(value)}")  # noqa: TRY004 (as for every other value)
        for key, item in value.items():
            text(key, sizes)
            rule(item, dict(sizes))

    return check


def pair(first: Rule, second: Rule) -> Rule:
    """A tuple of two."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, tuple) or len(value) != 2:
            raise ValueError(f"must be a pair, got {_shown(value)}")
        first(value[0], sizes)
        second(value[1], sizes)

    return check


def part(kind: str, **fields: Rule) -> Rule:
    """An object of a class of skcamel."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value).__name__ != kind or vars(value).keys() != fields.keys():
            raise ValueError(f"must be a {kind} of {', '.join(fields)}, got {_shown(value)}")
        apply(fields, vars(value), sizes)

    return check


def record(values: Mapping[str, Rule]) -> Rule:
    """A mapping with just these names, to values that follow their rules."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict) or value.keys() != values.keys():
            raise ValueError(f"must name {', '.join(values)}, got {_shown(value)}")
        apply(values, value, sizes)

    return check


def results(values: Mapping[str, Rule]) -> Rule:
    """The table of a search: its candidates, a column for each of their parameters, and columns of numbers."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict) or "params" not in value:
            raise ValueError(f"must be a table with params, got {_shown(value)}")
        each(record(values), "c")(value["params"], sizes)
        columns = {name: column for name, column in value.items() if name != "params"}
        if any(not isinstance(column, np.ndarray) or column.shape != (sizes["c"],) for column in columns.values()):
            raise ValueError(f"must have columns of {sizes['c']} entries")
        of_candidates = {f"param_{name}": each(rule, "c") for name, rule in values.items()}
        apply(of_candidates, {name: columns.pop(name).tolist() for name in of_candidates if name in columns}, sizes)
        if wrong := [name for name, column in columns.items() if not RESULT.fullmatch(name) or column.dtype not in (np.float64, np.int32)]:
            raise ValueError(f"has a column {_shown(wrong[0])}, which no search writes")

    return check


def _bind(letters: tuple[str, ...], shape: tuple[int, ...], sizes: Sizes) -> None:
    """Compare a shape with the sizes known so far, and learn the others."""
    if len(letters) != len(shape) or any(sizes.setdefault(letter, size) != size for letter, size in zip(letters, shape, strict=True)):
        needed = ", ".join(str(sizes.get(letter, letter)) for letter in letters)
        raise ValueError(f"has shape {shape}, ({needed}) is needed")
    if any(size < (letter not in MAY_BE_EMPTY) for letter, size in zip(letters, shape, strict=True)):
        raise ValueError(f"has shape {shape}, which is empty")


def _check_array(value: Any, kinds: tuple[type, ...], shape: tuple[str, ...], sizes: Sizes) -> None:
    if not isinstance(value, np.ndarray) or value.dtype not in [np.dtype(kind) for kind in kinds]:
        raise ValueError(f"must be an array of {kinds[0].__name__}, got {_shown(value)}")
    _bind(shape, value.shape, sizes)


def _check_range(value: np.ndarray, low: float, high: float) -> None:
    if value.size and not (low <= value.min() and value.max() <= high):
        raise ValueError(f"must hold numbers from {low:g} to {high:g} only, got {value.min():g} to {value.max():g}")


def _shown(value: Any) -> str:
    """A few words on a value, however large it is."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name} and shape {value.shape}"
    if isinstance(value, int) and abs(value) > MOST:
        return "a huge number"
    text = repr(value) if isinstance(value, PLAIN) else f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:80]}…"

"""The body of a request ► rows as a model takes them: JSON objects or lists, or a CSV table. Nothing in it is ever taken as a path."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skcamel.data.formats import Expected, Rows, match_table
from skcamel.data.readers import array_of, read_text
from skcamel.data.separated import pyarrow_module
from skcamel.data.text import shortened
from skcamel.matching import check_complete, match_columns
from skcamel.pipeline import prepared
from skcamel.serve.limits import RequestError
from skcamel.text import count

if TYPE_CHECKING:
    from skcamel.data.preparer import TablePreparer

SOURCE = "the request"
NUMERIC = {int, float, bool, type(None)}
EXACT = 2**53  # integers below are floats without loss
FORM = '{"rows": [{"COLUMN": VALUE, ...}, ...]}'


class NewRows(NamedTuple):
    """Rows as the final estimator takes them."""

    X: Any  # (n, d)
    ids: Mapping[str, Sequence[str]]  # columns that name the rows
    notes: list[str]  # what was left aside, and how the rows differ from those of the fit


class Reader(NamedTuple):
    """What reading for a model needs to know."""

    model: Any
    preparer: TablePreparer | None
    expected: Expected
    names: tuple[str, ...]  # of the columns, in the order in which lists give their values
    most: int  # rows of a request
    allow_missing: bool = False  # whether tables may lack columns

    def csv(self, content: bytes) -> NewRows:
        """Rows of a CSV table, read as ``skcamel predict`` reads the file."""
        as_text = self.expected.categories if self.preparer is None else self.preparer.as_written()
        table = read_text(content, SOURCE, as_text=as_text, plain=self.preparer is None)
        self._check_count(table.num_rows)
        return self._of_table(table)

    def json(self, rows: Any) -> NewRows:
        """Rows of JSON: objects by the names of columns, or lists in their order."""
        if not isinstance(rows, list) or not rows:
            raise RequestError(422, f"'rows' must be a list of at least one row; send {FORM}.")
        self._check_count(len(rows))
        given = [self._by_name(row, r) for r, row in enumerate(rows, 1)]
        if self.preparer is None and not self.expected.categories:
            try:
                return self._of_numbers(given)
            except TypeError:  # some are text
                pass
        return self._of_table(self._table(given))

    def _check_count(self, n: int) -> None:
        if n > self.most:
            raise RequestError(
                422,
                f"{n:,} rows came, at most {self.most:,} are taken; send them in several requests.",
            )

    def _by_name(self, row: Any, number: int) -> dict[str, Any]:
        if isinstance(row, dict):
            return row
        if not isinstance(row, list):
            raise RequestError(
                422,
                f'row {number} is {str(row)[:40]!r}; a row is an object such as {{"COLUMN":'
                " VALUE}, or a list of values.",
            )
        if len(row) != len(self.names):
            came = (
                f"row {number} has {count(len(row), 'value')}, the model has"
                f" {count(len(self.names), 'column')}"
            )
            raise RequestError(422, f"{came}; give one for each, in the order of GET /model.")
        return dict(zip(self.names, row, strict=True))

    def _of_numbers(self, given: list[dict[str, Any]]) -> NewRows:
        """Rows for a model of numbers alone; TypeError where a cell is something else."""
        kinds = set[type]()
        for r, row in enumerate(given, 1):
            if lacking := [name for name in self.names if name not in row]:
                raise RequestError(
                    422, f"row {r} lacks the {_columns(lacking)}; give every column of GET /model."
                )
            kinds.update(map(type, (row[name] for name in self.names)))
        if not kinds <= NUMERIC:
            raise TypeError("text among the numbers")
        X = np.array(
            [[_cell(row[name], name, r) for name in self.names] for r, row in enumerate(given, 1)],
            dtype=np.float64,
        )
        check_complete(X, self.names, SOURCE)
        return NewRows(
            prepared(self.model, X),
            {},
            self._notes(dict.fromkeys(key for row in given for key in row)),
        )

    def _table(self, given: list[dict[str, Any]]) -> Any:
        """The columns of the model, and those that name rows or hold labels; others are no more than named."""
        known = (
            *(self.names if self.preparer is None else self.preparer.kinds_),
            *self.expected.labels,
        )
        keys = dict.fromkeys(key for row in given for key in row)
        as_text = self.expected.categories if self.preparer is None else self.preparer.as_written()
        arrow = pyarrow_module()
        columns = {
            name: [_cell(row.get(name), name, r) for r, row in enumerate(given, 1)]
            for name in known
            if name in keys
        }
        columns |= {
            name: [None] * len(given) for name in keys if name not in columns
        }  # to be told of
        try:
            return arrow.table(
                {name: array_of(cells, as_text=name in as_text) for name, cells in columns.items()}
            )
        except (arrow.ArrowException, UnicodeEncodeError, OverflowError, ValueError) as error:
            raise RequestError(
                422, f"a value cannot be read ({str(error)[:120]}); correct it."
            ) from None

    def _of_table(self, table: Any) -> NewRows:
        if self.preparer is not None:
            found = match_columns(
                self.model, self.preparer, table, SOURCE, allow_missing=self.allow_missing
            )
            return NewRows(
                found.X, found.ids, found.differences.notes() + self._notes(found.differences.extra)
            )
        rows: Rows = match_table(table, self.expected, SOURCE, truth=False, size=table.nbytes)
        check_complete(rows.X, self.expected.features or self.names, SOURCE)
        return NewRows(prepared(self.model, rows.X), {}, self._notes(rows.ignored))

    def _notes(self, given: Any) -> list[str]:
        """Name columns that the model does not know; labels are no surprise."""
        known = {*self.names, *self.expected.labels}
        extra = [name for name in given if name not in known]
        return (
            [f"left aside: the {_columns(extra)}, which the model does not know"] if extra else []
        )


def _columns(names: Sequence[str]) -> str:
    return f"column{'s' * (len(names) > 1)} {shortened(names, 8)}"


def _cell(value: Any, name: str, row: int) -> Any:
    """A value that a column can hold; whole numbers beyond the exact ones as floats."""
    if isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value)
    ):
        raise RequestError(
            422,
            f"{name[:60]!r} of row {row} is an object or a list of lists; give a number, a text, or"
            " null for a gap.",
        )
    if type(value) is not int or abs(value) < EXACT:
        return value
    try:
        return float(value)
    except OverflowError:
        raise RequestError(
            422, f"{name[:60]!r} of row {row} is a number of more than 308 digits; correct it."
        ) from None


def parsed(content: bytes) -> dict[str, Any]:
    """The object in a JSON body; a bare list counts as its rows."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RequestError(
            422, f"the body is no JSON ({str(error)[:120]}); send {FORM}, or a table as text/csv."
        ) from None
    if isinstance(found, list):
        return {"rows": found}
    if not isinstance(found, dict):
        raise RequestError(422, f"the body is {str(found)[:40]!r}; send {FORM}.")
    return found

"""Table files and a preparer ► a source of sums over their rows, which are read batch by batch, here or where a cluster has them.

One pass comes first: it counts the rows, draws a sample from which a :class:`skcamel.data.TablePreparer` learns, and collects what stands
in the label columns, so that labels mean the same in every batch. Each later pass prepares the batches as at prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from skcamel import memory
from skcamel.data import DataError
from skcamel.data.batches import BATCH_ROWS, Files, TableRows
from skcamel.data.labels import (
    GAPS,
    LabelColumns,
    arrow_cells,
    check_two_values,
    key_text,
    label_columns,
    meanings,
    no_label,
    two_codings,
    without,
    written_lists,
    wrong_word,
)
from skcamel.data.preparer import Differences, TablePreparer
from skcamel.data.separated import is_text, pyarrow_module
from skcamel.partitions import where_they_are
from skcamel.rows import canonical
from skcamel.selection.source import Batch, Named, added
from skcamel.selection.stream import Streaming
from skcamel.solve.sampling import MIXERS

if TYPE_CHECKING:
    import pyarrow

SAMPLE_ROWS = 50_000  # from which a preparer learns
LEAST_ROWS = 256  # of a batch
MOST_BYTES = 2**31  # of which an eighth goes to a batch
CELL_BYTES = 400  # of a text in a label column, and where it stands
FILE_BITS = 40  # rows that a file may have, as a power of 2
STRIDE = 0x9E3779B97F4A7C15  # of splitmix64
Place = tuple[int, int]  # number of a file, and row in it, from 0
Cells = dict[Any, Place]  # what stands in a label column, numbers or texts or items of lists, None for a gap; and where first


class Asked(NamedTuple):
    """What the first pass is to find."""

    columns: tuple[str, ...]  # of the labels
    seed: int
    size: int  # of the sample


class Seen(NamedTuple):
    """What a pass over some rows found; that of two sets of rows adds up to that of both."""

    n_rows: int
    sample: pyarrow.Table  # (s rows)
    places: np.ndarray  # (s,) int64, of these rows
    cells: tuple[Cells, ...]  # of each label column
    asked: Asked

    def plus(self, other: Seen) -> Seen:
        """Of the rows of both, of which these come first."""
        table = pyarrow_module().concat_tables([self.sample, other.sample])
        places = np.concatenate([self.places, other.places])
        cells = tuple(theirs | own for own, theirs in zip(self.cells, other.cells, strict=True))
        different = max(map(len, cells))
        memory.require(CELL_BYTES * different, f"{different:,} different label cells", "Are the right columns named as labels?")
        return Seen(self.n_rows + other.n_rows, *_least(table, places, self.asked), cells, self.asked)

    def in_order(self) -> pyarrow.Table:
        """The sample in the order of the files."""
        return self.sample.take(np.argsort(self.places))


def seen(rows: TableRows, asked: Asked) -> Seen:
    """What a batch tells."""
    places = (rows.file << FILE_BITS) + rows.first + np.arange(len(rows.table))
    cells = tuple(_cells(rows, name) for name in asked.columns)
    return Seen(len(rows.table), *_least(rows.table, places, asked), cells, asked)


def _least(table: pyarrow.Table, places: np.ndarray, asked: Asked) -> tuple[pyarrow.Table, np.ndarray]:
    """The rows of the least numbers, which are drawn by place, so that it does not matter in which batches rows come."""
    if len(places) <= asked.size:
        return table, places
    numbers = places.astype(np.uint64) + np.uint64((asked.seed * STRIDE) % 2**64)
    for shift, mixer in zip((30, 27), MIXERS, strict=True):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(mixer)
    kept = np.sort(np.argpartition(numbers ^ (numbers >> np.uint64(31)), asked.size)[: asked.size])
    return table.take(kept), places[kept]


def _cells(rows: TableRows, name: str) -> Cells:
    """What stands in a label column of a batch."""
    column = rows.table.column(name)
    if _is_list(column.type):
        texts, codes, parents = _items(column)
        found = _first_of(codes, parents, texts) | ({None: int(np.argmax(_nulls(column)))} if column.null_count else {})
    elif _is_number(column.type):
        numbers = arrow_cells(column)
        check_two_values(numbers, name, rows.path, rows.first)
        masks = {1.0: numbers == 1, 0.0: numbers == 0, -1.0: numbers == -1, None: np.isnan(numbers)}
        found = {value: int(mask.argmax()) for value, mask in masks.items() if mask.any()}
    else:
        texts, codes = _texts(column)
        found = _first_of(codes, np.arange(len(codes)), texts)
    return {cell: (rows.file, rows.first + row) for cell, row in found.items()}


def _first_of(codes: np.ndarray, rows: np.ndarray, texts: Sequence[str | None]) -> dict[Any, int]:
    """The first row that holds each text."""
    used, first = np.unique(codes, return_index=True)
    found: dict[Any, int] = {}
    for code, at in zip(used.tolist(), first.tolist()):
        found[texts[code]] = min(found.get(texts[code], len(rows) + int(rows[at])), int(rows[at]))  # two texts may be equal when stripped
    return found


def _is_list(kind: Any) -> bool:
    types = pyarrow_module("pyarrow.types")
    return types.is_list(kind) or types.is_large_list(kind)


def _is_number(kind: Any) -> bool:
    types = pyarrow_module("pyarrow.types")
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind)


def _nulls(column: Any) -> np.ndarray:
    return np.asarray(column.is_null())


def _texts(column: Any) -> tuple[list[str | None], np.ndarray]:
    """Different texts of a column, None last, and the place of each cell among them, (n,)."""
    arrow = pyarrow_module()
    coded = (column if is_text(column.type) else column.cast(arrow.string())).combine_chunks().dictionary_encode()
    texts = [key_text(text) for text in coded.dictionary.to_pylist()]
    codes = coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return [*texts, None], codes


def _items(column: Any) -> tuple[list[str | None], np.ndarray, np.ndarray]:
    """Different items of lists, the place of each item among them, and the row that holds it."""
    compute = pyarrow_module("pyarrow.compute")
    lists = column.combine_chunks()
    items = compute.list_flatten(lists)
    filled = np.flatnonzero(~_nulls(items))
    texts, codes = _texts(pyarrow_module().chunked_array([items.take(filled)]))
    return texts, codes, compute.list_parent_indices(lists).to_numpy(zero_copy_only=False)[filled]


@dataclass(frozen=True)
class LabelCells:
    """What the cells of label columns mean, in all files."""

    columns: tuple[str, ...]
    names: tuple[str, ...]  # of the labels
    meaning: tuple[Mapping[str | None, tuple[int, ...]], ...]  # of each column: text, or item of a list ► labels; none of numbers

    def signs(self, table: pyarrow.Table) -> np.ndarray:
        """Labels of a batch, (n, q) int8 in {-1, +1}."""
        Y = np.full((len(table), len(self.names)), -1, dtype=np.int8)
        for j, (name, meaning) in enumerate(zip(self.columns, self.meaning, strict=True)):
            column = table.column(name)
            if _is_number(column.type):
                Y[arrow_cells(column) == 1, j] = 1
            elif _is_list(column.type):
                texts, codes, parents = _items(column)
                Y[parents, np.array([*(meaning[text][0] for text in texts[:-1]), 0])[codes]] = 1
            else:
                texts, codes = _texts(column)
                flags = np.zeros((len(texts), len(self.names)), dtype=bool)
                for k in np.unique(codes).tolist():
                    flags[k, list(meaning[texts[k]])] = True
                Y[flags[codes]] = 1
        return Y


def understood(columns: Sequence[str], cells: Sequence[Cells], schema: pyarrow.Schema, paths: Sequence[str]) -> LabelCells:
    """What all cells of the label columns say together; unknown labels and what means nothing are refused by file and row."""
    only = columns[0] if len(columns) == 1 else None
    if only is not None and _is_list(schema.field(only).type):
        return _listed(only, {None: None} | {item: (item,) for item in cells[0] if item is not None}, cells[0], paths)
    if only is not None and not _is_number(schema.field(only).type):
        items = written_lists([text for text in cells[0] if text is not None and text not in GAPS])
        if items is not None:
            return _listed(only, items | {None: ()}, cells[0], paths)
    pairs = zip(columns, cells, strict=True)
    return LabelCells(tuple(columns), tuple(columns), tuple(_of_two(j, name, own, paths) for j, (name, own) in enumerate(pairs)))


def _listed(name: str, items: Mapping[str | None, Sequence[str] | None], cells: Cells, paths: Sequence[str]) -> LabelCells:
    """Labels in lists."""
    used = {cell: items[cell] for cell in cells}
    for cell, held in used.items():
        if held is None:
            raise _unknown(name, cells[cell], paths)
    names = tuple(sorted({item for held in used.values() for item in held or ()}))
    if not names:
        raise no_label(name, paths[0])
    places = {item: k for k, item in enumerate(names)}
    return LabelCells((name,), names, ({cell: tuple(places[item] for item in held or ()) for cell, held in used.items()},))


def _of_two(j: int, name: str, cells: Cells, paths: Sequence[str]) -> dict[str | None, tuple[int, ...]]:
    """A label of two values."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    known, wrong = meanings(texts)
    if wrong:
        text = min(wrong, key=lambda text: cells[text])
        file, row = cells[text]
        raise wrong_word(text, name, row + 1, paths[file])
    values = {cell: cell if isinstance(cell, float) else known[cell or ""] for cell in cells}
    for cell, value in values.items():
        file, row = cells[cell]
        check_two_values(np.array([value]), name, paths[file], row)
    if {-1.0, 0.0} <= set(values.values()):
        raise two_codings(name, paths[0])
    if unknown := [cells[cell] for cell, value in values.items() if value != value]:
        raise _unknown(name, min(unknown), paths)
    return {cell: (j,) if value == 1 else () for cell, value in values.items() if not isinstance(cell, float)}


def _unknown(name: str, place: Place, paths: Sequence[str]) -> DataError:
    file, row = place
    cure = "sums over rows take complete labels: write it down, leave out this row, or fit on rows that fit into memory."
    return DataError(f"label {name[:60]!r} is unknown in row {row + 1}; {cure}", path=paths[file])


class Learned(NamedTuple):
    """What the first pass over files found out."""

    n_rows: int
    sample: pyarrow.Table  # with the label columns, in the order of the files
    labels: LabelCells


def first_pass(
    files: Files, labels: LabelColumns, *, seed: int = 0, size: int | None = None, rows: int = BATCH_ROWS, on_cluster: bool = False
) -> Learned:
    """Count the rows, draw a sample, and find out what the labels are.

    Parameters
    ----------
    files : Files
    labels : list of str, str, int or list of int
        As in :func:`skcamel.data.take_labels`.
    seed, size : int
        Of the sample.
    rows : int
        In memory at a time.
    on_cluster : bool
        Whether the workers of the current Dask client read the files.
    """
    names = files.schema.names
    columns = tuple(name for name, flag in zip(names, label_columns(names, labels, files.paths[0]), strict=True) if flag)
    read = partial(_table_rows, files, rows)
    found = _total(files, read, seen, Asked(columns, seed, size or SAMPLE_ROWS), on_cluster=on_cluster)
    return Learned(found.n_rows, found.in_order(), understood(columns, found.cells, files.schema, files.paths))


def _total(
    files: Files, read: Callable[[int], Iterator[Any]], function: Callable[[Any, Any], Any], constant: Any, *, on_cluster: bool
) -> Any:
    """Sum of a function over all batches, here or on the cluster."""
    if on_cluster:
        return where_they_are([()] * len(files.pieces), partial(_on_worker, read), function, constant)
    return added((batch for k in range(len(files.pieces)) for batch in read(k)), function, constant)


def _table_rows(files: Files, rows: int, number: int) -> Iterator[TableRows]:
    return files.batches(files.pieces[number], rows)


def _on_worker(read: Callable[[int], Iterator[Any]], number: int) -> Iterator[Any]:
    try:
        yield from read(number)
    except OSError as error:
        problem = f"a worker of the cluster cannot read it ({error.strerror or error})"
        raise DataError(f"{problem}; put the files where every worker finds them under the same path.", path=error.filename) from error


class Prepared(NamedTuple):
    """A batch as an estimator takes it, and how it differs from the sample."""

    batch: Batch
    differences: Differences


class Counted(NamedTuple):
    """A sum over batches, and how they differ from the sample."""

    found: Any
    differences: Differences

    def plus(self, other: Counted) -> Counted:
        """Over the batches of both."""
        return Counted(self.found.plus(other.found), self.differences.plus(other.differences))


def _counted(prepared: Prepared, given: tuple[Callable[[Batch, Any], Any], Any]) -> Counted:
    function, constant = given
    return Counted(function(prepared.batch, constant), prepared.differences)


def _prepared_rows(files: Files, rows: int, preparer: TablePreparer, labels: LabelCells, number: int) -> Iterator[Prepared]:
    for batch in _table_rows(files, rows, number):
        try:
            X, differences = preparer.transform_with_differences(without(batch.table, labels.columns))
            Y = labels.signs(batch.table)
        except ValueError as error:
            raise DataError(str(error), path=batch.path) from error
        except KeyError as error:
            raise DataError(f"changed while it was read ({error} is a new label); fit again.", path=batch.path) from error
        yield Prepared(Batch(canonical(X) if sparse.issparse(X) else X, Y), differences)


class TableFiles(Named):
    r"""The rows of files, prepared.

    Parameters
    ----------
    files : Files
    preparer : fitted TablePreparer
    labels : LabelCells
    rows : int
        In memory at a time.
    on_cluster : bool
        Whether the workers of the current Dask client read the files: one piece is one task.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from skcamel import CamelClassifier
    >>> from skcamel.data.batches import opened
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tiny.csv")
    ...     _ = file.write_text("size,kind,sea,sun\n1,x,1,0\n2,y,0,1\n3,x,1,1\n")
    ...     files = opened([file])
    ...     found = first_pass(files, ["sea", "sun"])
    ...     preparer = TablePreparer().fit(found.sample.drop_columns(["sea", "sun"]))
    ...     CamelClassifier(solver="landmark").fit(TableFiles(files, preparer, found.labels), None).label_names_.tolist()
    ['sea', 'sun']
    """

    def __init__(
        self, files: Files, preparer: TablePreparer, labels: LabelCells, *, rows: int = BATCH_ROWS, on_cluster: bool = False
    ) -> None:
        super().__init__(Streaming(primal=False, count=0))
        self.files, self.on_cluster = files, on_cluster
        self.read = partial(_prepared_rows, files, rows, preparer, labels)
        self.feature_names, self.label_names = None, labels.names
        self.n_features = len(preparer.source_columns_)
        self.told: list[Differences] = []  # of all rows from the sample, once a pass is over; copies share it

    def under(self, by: Streaming) -> Self:
        """The same rows, to be summed up in this way; of how many they are nobody need be told batch by batch."""
        return super().under(replace(by, tell=Streaming.tell, threads=1 if self.on_cluster else by.threads))

    def total(self, function: Callable[[Batch, Any], Any], constant: Any) -> Any:
        """Sum of a function over all batches."""
        found = _total(self.files, self.read, _counted, (function, constant), on_cluster=self.on_cluster)
        self.told[:] = [found.differences]
        return found.found


def rows_within(files: Files, budget: int | None, d: int = 0) -> int:
    """Rows of a batch that leave seven eighths of a memory to other work, by default of what is free; d columns once they are prepared."""
    free = memory.available() if budget is None else budget
    width = 2 * len(files.schema) + 3 * max(d, len(files.schema))
    return min(BATCH_ROWS, max(LEAST_ROWS, min(MOST_BYTES, MOST_BYTES if free is None else free) // 8 // (8 * width)))

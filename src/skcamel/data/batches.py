"""Parquet files with the same columns as one table that is read in batches, so that it need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skcamel.data import DataError, Path_
from skcamel.data.labels import LabelColumns, Labels, label_columns, labels_in
from skcamel.data.sources import PARQUET, check_proportion, pyarrow_module, shortened, suffix_of
from skcamel.data.tables import damaged_parquet, declared_bytes, open_parquet, plain_columns

if TYPE_CHECKING:
    import pyarrow

    from skcamel.data.preparer import Differences, TablePreparer

BATCH_ROWS, LEAST_ROWS = 2**16, 2**8
BATCH_NUMBERS = 2**24  # cells of a batch, as numbers
SAMPLE_ROWS = 50_000  # from which a preparer learns


class Rows(NamedTuple):
    """A batch of a table."""

    table: pyarrow.Table
    first: int  # number of its first row among all rows


@dataclass(frozen=True)
class ParquetFiles:
    """Files with the same columns, in any order.

    Examples
    --------
    >>> import tempfile, pyarrow, pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, sizes in {"a.parquet": [1, 2], "b.parquet": [2.5]}.items():
    ...         pyarrow.parquet.write_table(pyarrow.table({"size": sizes}), f"{folder}/{name}")
    ...     files = opened([f"{folder}/a.parquet", f"{folder}/b.parquet"])
    ...     [(rows.first, rows.table["size"].to_pylist()) for rows in files.batches()]
    [(0, [1.0, 2.0]), (2, [2.5])]
    """

    paths: tuple[str, ...]
    schema: pyarrow.Schema
    n_rows: int

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Batches of these columns, or of all, none of them empty."""
        arrow, dataset = pyarrow_module(), pyarrow_module("pyarrow.dataset")
        names = self.schema.names if columns is None else list(columns)
        kinds = arrow.schema([self.schema.field(name) for name in names])
        size = min(BATCH_ROWS, max(LEAST_ROWS, BATCH_NUMBERS // len(self.schema)))
        first = 0
        for path in self.paths:
            n_bytes = Path(path).stat().st_size
            try:
                rows = dataset.dataset(path, format="parquet").to_batches(
                    columns=names,
                    batch_size=size,
                    batch_readahead=1,
                    fragment_readahead=1,
                    use_threads=False,
                )
                for batch in rows:
                    if batch.num_rows:
                        table = plain_columns(arrow.Table.from_batches([batch]), path, n_bytes)
                        yield Rows(table.cast(kinds, safe=False), first)
                        first += batch.num_rows
            except (arrow.ArrowException, OSError, KeyError) as error:
                raise damaged_parquet(error, path) from error

    def sample(self, count: int = SAMPLE_ROWS, seed: int = 0) -> tuple[pyarrow.Table, np.ndarray]:
        """At most `count` rows, drawn at random, and their numbers."""
        generator = np.random.default_rng(seed)
        numbers = np.sort(generator.choice(self.n_rows, min(count, self.n_rows), replace=False))
        parts = []
        for rows in self.batches():
            start, end = np.searchsorted(numbers, [rows.first, rows.first + len(rows.table)])
            parts.append(rows.table.take(numbers[start:end] - rows.first))
        return pyarrow_module().concat_tables(parts), numbers

    def labels(self, asked: LabelColumns) -> Labels:
        """Labels of all rows, every one of them known."""
        source = ", ".join(Path(path).name for path in self.paths)
        columns = label_columns(self.schema.names, asked, source)
        parts = [rows.table for rows in self.batches(columns)]
        names, Y = labels_in(pyarrow_module().concat_tables(parts), columns, source)
        unknown = np.argwhere(np.isnan(Y))
        if len(unknown):
            row, label = unknown[0]
            raise DataError(
                f"label {names[label][:60]!r} is unknown in row {row + 1}; sums over rows take"
                " complete labels: write it down, leave out this row, or fit on rows that fit into"
                " memory.",
                path=source,
            )
        return Labels(names, Y, columns)

    def prepared(
        self, preparer: TablePreparer, labels: Labels
    ) -> Iterator[tuple[Any, int, Differences]]:
        """Rows of each batch as a fitted preparer makes them, the number of the first, and how they differ from those of its fit."""
        names = [name for name in self.schema.names if name not in labels.columns]
        for rows in self.batches(names):
            X, differences = preparer.transform_with_differences(rows.table)
            yield X, rows.first, differences


def is_parquet(path: Path_) -> bool:
    """Whether a file of this name can be read in batches.

    >>> is_parquet("a.parquet"), is_parquet("a.csv")
    (True, False)
    """
    return suffix_of(path) in PARQUET


def opened(paths: Sequence[Path_]) -> ParquetFiles:
    """Parquet files as one table."""
    arrow = pyarrow_module()
    names = [str(path) for path in paths]
    schema, n_rows = None, 0
    for path in names:
        if not is_parquet(path):
            problem = "is read as a whole only; save it as .parquet to read it in batches."
            raise DataError(problem, path=path)
        size = Path(path).stat().st_size
        with open_parquet(path, path, size) as file:
            for needed, what in declared_bytes(file).items():
                check_proportion(needed, what, path, size)
            empty = plain_columns(file.schema_arrow.empty_table(), path, size)
            n_rows += file.metadata.num_rows
        own = empty.schema.remove_metadata()
        schema = own if schema is None else schema
        _check_columns(own, schema, path, names[0])
        _check_columns(schema, own, names[0], path)
        try:
            schema = arrow.unify_schemas([schema, own], promote_options="permissive")
        except arrow.ArrowException as error:
            raise DataError(
                f"holds a column of another type than {Path(names[0]).name} ({str(error)[:160]}).",
                path=path,
            ) from error
    if not n_rows:
        raise DataError("holds no row.", path=", ".join(names))
    return ParquetFiles(tuple(names), schema, n_rows)


def _check_columns(own: Any, wanted: Any, path: str, other: str) -> None:
    """Refuse a file that lacks a column of another."""
    absent = [name for name in wanted.names if name not in own.names]
    if absent:
        which = f"the column {shortened(absent[:1])} of {Path(other).name}"
        raise DataError(
            f"lacks {which}; files of one table have the same columns, in any order.", path=path
        )


def fit_batches(
    model: Any, files: ParquetFiles, labels: Labels, preparer: TablePreparer
) -> Differences:
    """Fit an estimator on all rows of files, by sums, and say how they differ from those of the preparer's fit.

    Parameters
    ----------
    model : CamelClassifier or CamelClassifierCV with a solver by sums
    files : ParquetFiles
    labels : Labels
        Of all rows, as :meth:`ParquetFiles.labels` reads them.
    preparer : fitted TablePreparer
    """
    from scipy import sparse

    from skcamel.arrays import canonical
    from skcamel.camel.landmark import Block
    from skcamel.camel.stream import Batches

    signs = np.where(labels.Y > 0, 1, -1).astype(np.int8)
    differences: list[Differences] = []

    def read() -> Iterator[Block]:
        differences.clear()  # of the last pass alone
        for X, first, found in files.prepared(preparer, labels):
            differences.append(found)
            rows = canonical(X) if sparse.issparse(X) else X
            yield Block(rows, signs[first : first + rows.shape[0]], None, first)

    model.fit(Batches(read, labels.names, len(preparer.source_columns_)), None)
    return reduce(lambda one, other: one.plus(other), differences)

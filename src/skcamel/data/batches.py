"""Parquet files with the same columns as one table that is read in batches, so that it need not fit into memory."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skcamel.data import DataError, Path_
from skcamel.data.labels import Labels, label_columns, labels_in
from skcamel.data.readers import PARQUET, declared_bytes, decoded_columns, open_parquet
from skcamel.data.separated import pyarrow_module
from skcamel.data.text import check_proportion, shortened

if TYPE_CHECKING:
    import pyarrow

    from skcamel.data.labels import LabelColumns
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
    counts: tuple[int, ...]  # rows of each file
    as_text: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        return sum(self.counts)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Batches of these columns, or of all, none of them empty."""
        arrow, dataset = pyarrow_module(), pyarrow_module("pyarrow.dataset")
        names = self.schema.names if columns is None else list(columns)
        kinds = arrow.schema([self.schema.field(name) for name in names])
        size = min(BATCH_ROWS, max(LEAST_ROWS, BATCH_NUMBERS // len(self.schema)))
        how = {
            "batch_size": size,
            "batch_readahead": 1,
            "fragment_readahead": 1,
            "use_threads": False,
        }
        first = 0
        for path in self.paths:
            try:
                for batch in dataset.dataset(path, format="parquet").to_batches(
                    columns=names, **how
                ):
                    if batch.num_rows:
                        yield Rows(
                            self._decoded(arrow.Table.from_batches([batch]), path).cast(
                                kinds, safe=False
                            ),
                            first,
                        )
                        first += batch.num_rows
            except (arrow.ArrowException, OSError, KeyError) as error:
                raise DataError(
                    f"is damaged or no Parquet file ({str(error)[:120]}); copy or write it again.",
                    path=path,
                ) from error

    def column_table(self, columns: Sequence[str]) -> pyarrow.Table:
        """All rows of a few columns."""
        return pyarrow_module().concat_tables([rows.table for rows in self.batches(columns)])

    def sample(self, count: int = SAMPLE_ROWS, seed: int = 0) -> tuple[pyarrow.Table, np.ndarray]:
        """At most `count` rows, drawn at random, and their numbers."""
        drawn = np.random.default_rng(seed).choice(
            self.n_rows, min(count, self.n_rows), replace=False
        )
        numbers = np.sort(drawn)
        parts = []
        for rows in self.batches():
            start, end = np.searchsorted(numbers, [rows.first, rows.first + rows.table.num_rows])
            parts.append(rows.table.take(numbers[start:end] - rows.first))
        return pyarrow_module().concat_tables(parts), numbers

    def _decoded(self, table: pyarrow.Table, path: str) -> pyarrow.Table:
        return decoded_columns(
            table, self.as_text, path, plain=False, size=Path(path).stat().st_size
        )


def is_parquet(path: Path_) -> bool:
    """Whether a file of this name can be read in batches.

    >>> is_parquet("a.parquet"), is_parquet("a.csv")
    (True, False)
    """
    return Path(str(path).lower()).suffix in PARQUET


def opened(paths: Sequence[Path_], as_text: Collection[str] = ()) -> ParquetFiles:
    """Parquet files as one table; columns named in `as_text` are text whatever they look like."""
    arrow = pyarrow_module()
    names = [os.fspath(path) for path in paths]
    schemas: list[pyarrow.Schema] = []
    counts: list[int] = []
    for path in names:
        if not is_parquet(path):
            raise DataError(
                f"is read as a whole only; save it as {PARQUET[0]} to read it in batches.",
                path=path,
            )
        with open_parquet(path) as file:
            size = Path(path).stat().st_size
            for needed, what in declared_bytes(file).items():
                check_proportion(needed, what, path, size)
            empty = decoded_columns(
                file.schema_arrow.empty_table(), as_text, path, plain=False, size=size
            )
            counts.append(file.metadata.num_rows)
        schemas.append(empty.schema.remove_metadata())
        _check_columns(schemas[0], schemas[-1], names[0], path)
        try:
            schemas[0] = arrow.unify_schemas(
                [schemas[0], schemas[-1]], promote_options="permissive"
            )
        except arrow.ArrowException as error:
            raise DataError(
                f"holds a column of another type than {Path(names[0]).name} ({str(error)[:160]}).",
                path=path,
            ) from error
    if not sum(counts):
        raise DataError(
            "holds no row." if len(names) == 1 else "neither it nor the others hold a row.",
            path=names[0],
        )
    return ParquetFiles(tuple(names), schemas[0], tuple(counts), tuple(as_text))


def _check_columns(first: pyarrow.Schema, own: pyarrow.Schema, first_path: str, path: str) -> None:
    """Refuse a file that lacks a column of another."""
    for held, wanted, lacking, other in (
        (own, first, path, first_path),
        (first, own, first_path, path),
    ):
        if absent := [name for name in wanted.names if name not in held.names]:
            which = (
                f"the column{'s' * (len(absent) > 1)} {shortened(absent, 8)} of {Path(other).name}"
            )
            raise DataError(
                f"lacks {which}; files of one table have the same columns, in any order.",
                path=lacking,
            )


def labels_of(files: ParquetFiles, asked: LabelColumns) -> Labels:
    """Labels of all rows, every one of them known."""
    source = ", ".join(Path(path).name for path in files.paths)
    flags = label_columns(files.schema.names, asked, source)
    columns = tuple(name for name, flag in zip(files.schema.names, flags, strict=True) if flag)
    names, Y = labels_in(files.column_table(columns), columns, source)
    unknown = np.argwhere(np.isnan(Y))
    if len(unknown):
        row, label = unknown[0]
        advice = "write it down, leave out this row, or fit on rows that fit into memory."
        raise DataError(
            f"label {names[label][:60]!r} is unknown in row {row + 1}; sums over rows take complete"
            f" labels: {advice}",
            path=source,
        )
    return Labels(names, Y, columns)


def prepared(
    files: ParquetFiles, preparer: TablePreparer, labels: Labels
) -> Iterator[tuple[Any, int, Differences]]:
    """Rows of each batch as a fitted preparer makes them, the number of the first, and how they differ from those of its fit."""
    names = [name for name in files.schema.names if name not in labels.columns]
    for rows in files.batches(names):
        X, differences = preparer.transform_with_differences(rows.table)
        yield X, rows.first, differences

"""Parquet files with the same columns as one table, read in batches that fit into memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import canonical
from skcamel.data import DataError, Path_, sources
from skcamel.data.labels import LabelColumns, Labels, label_columns, labels_in

if TYPE_CHECKING:
    from skcamel.data.preparer import Differences, TablePreparer

arrow, parquet = sources.pyarrow_module(), sources.pyarrow_module("pyarrow.parquet")
compute = sources.pyarrow_module("pyarrow.compute")

BATCH_ROWS, LEAST_ROWS = 2**16, 2**8
BATCH_NUMBERS = 2**24  # cells of a batch, as numbers
SAMPLE_ROWS = 50_000  # from which a preparer learns
COLUMN_BYTES, CELL_BYTES = 12_000, 16  # of memory for a column without its cells, and for a cell
PANDAS_INDEX = re.compile(r"__index_level_\d+__")


class Rows(NamedTuple):
    """A batch of a table."""

    table: Any
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
    schema: Any
    n_rows: int

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Rows]:
        """Batches of these columns, or of all, none of them empty."""
        names = self.schema.names if columns is None else list(columns)
        kinds = arrow.schema([self.schema.field(name) for name in names])
        size = min(BATCH_ROWS, max(LEAST_ROWS, BATCH_NUMBERS // len(self.schema)))
        first = 0
        for path in self.paths:
            with _open(path) as file:
                for batch in file.iter_batches(size, columns=names):
                    table = _plain(arrow.Table.from_batches([batch]), path)
                    yield Rows(table.select(names).cast(kinds, safe=False), first)
                    first += len(table)
        if first < self.n_rows:
            problem = f"{self.n_rows} rows are announced, {first} are there"
            raise DataError(f"{problem}; copy or write it again.", path=self.paths[-1])

    def sample(self, count: int = SAMPLE_ROWS, seed: int = 0) -> tuple[Any, np.ndarray]:
        """At most `count` rows, drawn at random, and their numbers."""
        generator = np.random.default_rng(seed)
        count = min(count, self.n_rows)
        numbers = np.sort(generator.choice(self.n_rows, count, replace=False))
        parts = []
        for rows in self.batches():
            last = rows.first + len(rows.table)
            start, end = np.searchsorted(numbers, [rows.first, last])
            parts.append(rows.table.take(numbers[start:end] - rows.first))
        return arrow.concat_tables(parts), numbers

    def labels(self, wanted: LabelColumns) -> Labels:
        """Labels of all rows, every one of them known."""
        source = ", ".join(Path(path).name for path in self.paths)
        columns = label_columns(self.schema.names, wanted, source)
        parts = [rows.table for rows in self.batches(columns)]
        names, Y = labels_in(arrow.concat_tables(parts), columns, source)
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


def is_parquet(path: Path_) -> bool:
    """Whether a file of this name can be read in batches.

    >>> is_parquet("a.parquet"), is_parquet("a.csv")
    (True, False)
    """
    return sources.suffix_of(path) in sources.PARQUET


def opened(paths: Sequence[Path_]) -> ParquetFiles:
    """Parquet files as one table."""
    names = [str(path) for path in paths]
    schema, n_rows = None, 0
    for path in names:
        if not is_parquet(path):
            problem = "is read as a whole only; save it as .parquet to read it in batches."
            raise DataError(problem, path=path)
        with _open(path) as file:
            n_rows += file.metadata.num_rows
            own = _plain(file.schema_arrow.empty_table(), path).schema
        schema = schema or own
        odd = {*own.names} ^ {*schema.names}
        if odd:
            problem = f"differs from {Path(names[0]).name} by the columns"
            hint = "files of one table have the same columns, in any order"
            raise DataError(f"{problem} {sources.shortened(sorted(odd))}; {hint}.", path=path)
        try:
            schema = arrow.unify_schemas([schema, own], promote_options="permissive")
        except arrow.ArrowException as error:
            problem = f"holds a column of another type than {Path(names[0]).name}"
            raise DataError(f"{problem} ({str(error)[:160]}).", path=path) from error
    if not n_rows:
        raise DataError("holds no row.", path=", ".join(names))
    return ParquetFiles(tuple(names), schema, n_rows)


@contextmanager
def _open(path: Path_) -> Iterator[Any]:
    """Open a Parquet file; equal texts are read once. Damage is a DataError, also later."""
    Path(path).stat()  # a file that is not there is not damaged
    try:
        schema = parquet.read_schema(path)
        texts = [field.name for field in schema if is_text(field.type)]
        with parquet.ParquetFile(path, read_dictionary=texts) as file:
            sources.check_proportion(_declared_bytes(file), "its cells", path)
            sources.check_different_labels(schema.names, path, "columns")
            yield file
    except (arrow.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError) as error:
        problem = f"is damaged or no Parquet file ({str(error)[:120]}); copy or write it again."
        raise DataError(problem, path=path) from error


def _declared_bytes(file: Any) -> int:
    """Peak memory for a whole Parquet file, by its declared columns, cells and unpacked bytes."""
    declared = file.metadata
    groups = [declared.row_group(k) for k in range(declared.num_row_groups)]
    unpacked = sum(group.total_byte_size for group in groups)
    of_column = COLUMN_BYTES + CELL_BYTES * declared.num_rows
    return max(of_column * len(file.schema_arrow), 2 * unpacked)


def read_parquet(path: Path_) -> Any:
    """All rows of a Parquet file."""
    parts: list[Any] = []
    n_bytes = 0
    for rows in opened([path]).batches():
        parts.append(rows.table)
        n_bytes += rows.table.nbytes
        sources.check_claimed_size(n_bytes, "its cells", path)
    return arrow.concat_tables(parts)


def _plain(table: Any, path: Path_) -> Any:
    """Columns of a Parquet file, texts unpacked, without the index of pandas."""
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if PANDAS_INDEX.fullmatch(name):
            continue
        if arrow.types.is_dictionary(kind) and is_text(kind.value_type):
            sources.check_claimed_size(_text_bytes(column), f"the texts of {name!r:.60}", path)
            column = column.cast(kind.value_type)
        elif "binary" in str(kind):
            column = column.cast(arrow.string())
        check_cells(column, name, path)
        columns[name] = column
    return arrow.table(columns)


def _text_bytes(column: Any) -> int:
    """Memory for the texts of a column that are stored once, where each row has its own."""
    total = 0
    for chunk in column.chunks:
        lengths = compute.binary_length(chunk.dictionary).take(chunk.indices)
        total += compute.sum(lengths).as_py() or 0
    return 2 * total


def is_text(kind: Any) -> bool:
    """Whether a type of pyarrow is one of texts."""
    return str(kind) in ("string", "large_string", "string_view")


def check_cells(column: Any, name: str, path: Path_) -> None:
    """Refuse a column of pyarrow whose cells are objects or lists of lists."""
    kind = column.type
    if arrow.types.is_list(kind) or arrow.types.is_large_list(kind):
        kind = kind.value_type
    if arrow.types.is_nested(kind):
        holds = f"column {name!r:.60} holds {str(kind)[:60]}"
        raise DataError(f"{holds}; give each of its parts a column of its own.", path=path)


def fit_batches(
    model: Any, files: ParquetFiles, labels: Labels, preparer: TablePreparer
) -> Differences:
    """Fit an estimator on all rows of files, by sums, and return how they differ from the sample.

    Parameters
    ----------
    model : CamelClassifier or CamelClassifierCV with a solver by sums
    files : ParquetFiles
    labels : Labels
        Of all rows, as :meth:`ParquetFiles.labels` reads them.
    preparer : fitted TablePreparer
    """
    from skcamel.camel import landmark, stream

    signs = np.where(labels.Y > 0, 1, -1).astype(np.int8)
    names = [name for name in files.schema.names if name not in labels.columns]
    differences: list[Differences] = []

    def read() -> Iterator[landmark.Block]:
        differences.clear()  # of the last pass alone
        for rows in files.batches(names):
            X, found = preparer.transform_with_differences(rows.table)
            differences.append(found)
            X = canonical(X) if sparse.issparse(X) else X
            Y = signs[rows.first : rows.first + len(rows.table)]
            yield landmark.Block(X, Y, np.ones(len(Y)), rows.first)

    model.fit(stream.Batches(read, labels.names, len(preparer.source_columns_)), None)
    return sum(differences, Counter())

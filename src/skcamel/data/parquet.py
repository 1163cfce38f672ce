"""Parquet files, by way of pyarrow: what they declare is checked before it is read, and equal texts are kept once."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skcamel import memory
from skcamel.data import DataError, Path_
from skcamel.data.dataset import Dataset
from skcamel.data.table import Start, TableRows
from skcamel.data.text import check_claimed_size
from skcamel.files import whole_file

BATCH_CELLS = 2**20  # read at once
COLUMN_BYTES = 8000  # that pyarrow takes for one column, without its cells
CELL_BYTES = 10  # that stay, with room to grow


def read_parquet(path: Path, start: Start) -> TableRows:
    """Read all rows of a Parquet file into what `start` makes of the column names."""
    parquet, arrow = pyarrow()
    with path.open("rb"):  # a missing file is no damage
        pass
    size = max(path.stat().st_size, 1)
    options: dict[str, Any] = {"thrift_container_size_limit": size, "thrift_string_size_limit": size}  # nothing in it can be longer
    try:
        with parquet.ParquetFile(path, **options) as file:
            _check_declared(file, path)
            texts = [str(field.name) for field in file.schema_arrow if _is_text(field.type, arrow)]
            if not texts:
                return _read(file, start, path, arrow)
        with parquet.ParquetFile(path, read_dictionary=texts, **options) as file:
            return _read(file, start, path, arrow)
    except (arrow.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError) as error:
        raise DataError(f"is damaged or no Parquet file ({str(error)[:120]}); copy or write it again.", path=path) from error


def _check_declared(file: Any, path: Path) -> None:
    """Refuse sizes that do not fit, before anything is unpacked."""
    declared, n_columns = file.metadata, len(file.schema_arrow)
    n_rows = declared.num_rows
    unpacked = max((declared.row_group(k).total_byte_size for k in range(declared.num_row_groups)), default=0)
    check_claimed_size(COLUMN_BYTES * n_columns, f"{n_columns} columns", path)
    check_claimed_size(CELL_BYTES * n_rows * n_columns, f"{n_rows} rows x {n_columns} columns", path)
    check_claimed_size(2 * unpacked, f"{unpacked} unpacked bytes", path)


def _read(file: Any, start: Start, path: Path, arrow: Any) -> TableRows:
    rows = start([str(name) for name in file.schema_arrow.names], False)
    numbers, texts = _kinds(file.schema_arrow, rows, arrow)
    first = 1
    for batch in file.iter_batches(batch_size=max(1, BATCH_CELLS // max(1, len(rows.names)))):
        table = np.full((batch.num_rows, len(rows.names)), np.nan)
        for positions in numbers:
            table[:, positions] = _numbers(batch.select(positions), arrow)
        _check_kinds(table, rows, path)
        rows.add_text({position: _text(batch.column(position)) for position in texts}, range(first, first + len(table)), table)
        first += len(table)
    if first == 1:
        raise DataError("holds no row.", path=path)
    return rows


def _is_text(type_: Any, arrow: Any) -> bool:
    return any(check(type_) for check in (arrow.types.is_string, arrow.types.is_large_string, arrow.types.is_null))


def _kinds(schema: Any, rows: TableRows, arrow: Any) -> tuple[list[list[int]], list[int]]:
    """Positions of the columns of numbers, by type, and of those of text, as far as they are used."""
    numbers: dict[Any, list[int]] = {}
    texts: list[int] = []
    for position, type_ in enumerate(schema.types):
        values = type_.value_type if arrow.types.is_dictionary(type_) else type_
        if not (rows.is_label[position] or rows.is_feature[position]):
            continue
        if _is_text(values, arrow):
            texts.append(position)
        elif any(check(values) for check in (arrow.types.is_boolean, arrow.types.is_integer, arrow.types.is_floating)):
            numbers.setdefault(type_, []).append(position)
        else:
            raise arrow.ArrowInvalid(f"a column of type {type_}; convert it to numbers or text")
    return list(numbers.values()), texts


def _numbers(batch: Any, arrow: Any) -> np.ndarray:
    """Columns of one type as a table, with NaN for null."""
    type_ = batch.schema.field(0).type
    if arrow.types.is_integer(type_) or type_ == arrow.float64() or type_ == arrow.float32():
        return batch.to_tensor(null_to_nan=True).to_numpy()  # all columns in one step
    columns = [column.dictionary_decode() if arrow.types.is_dictionary(type_) else column for column in batch.columns]
    columns = [column.cast(arrow.int8()) if arrow.types.is_boolean(column.type) else column for column in columns]
    return np.column_stack([column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False) for column in columns])


def _text(column: Any) -> list[str]:
    """Cells of a text column; equal ones are one object, however long they are."""
    if not hasattr(column, "dictionary"):
        return ["" if value is None else value for value in column.to_pylist()]
    missing = np.asarray(column.is_null())
    codes = np.where(missing, 0, column.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64))
    used, places = np.unique(codes[~missing], return_inverse=True)
    values = np.array(["", *("" if value is None else value for value in column.dictionary.take(used).to_pylist())], dtype=object)
    chosen = np.zeros(len(codes), dtype=np.int64)
    chosen[~missing] = places + 1
    return values[chosen].tolist()


def _check_kinds(table: np.ndarray, rows: TableRows, path: Path_) -> None:
    """Refuse numbers in a column that is known to hold text."""
    for position in rows.text:
        if not np.isnan(table[:, position]).all():
            raise DataError(f"column {rows.names[position][:60]!r} held text at first and holds numbers now.", path=path)


def pyarrow() -> tuple[Any, Any]:
    """Import the modules ``pyarrow.parquet`` and ``pyarrow``, or say how to get them."""
    try:
        return import_module("pyarrow.parquet"), import_module("pyarrow")
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install skcamel[parquet]") from None


def write_parquet(dataset: Dataset, path: Path_) -> None:
    """Write a Parquet file: features first, then labels, under their names."""
    parquet, arrow = pyarrow()
    memory.require(8.0 * dataset.n * dataset.d, "A dense table of the features", "Write .arff or .svm instead, which hold sparse ones.")
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    columns = [arrow.array(column) for column in X.T] + [arrow.array(column) for column in dataset.Y.T.astype(np.int8)]
    table = arrow.Table.from_arrays(columns, names=[*dataset.feature_names, *dataset.label_names])
    with whole_file(path) as file:
        parquet.write_table(table, file)

"""What a messy table is, and the files that people keep such tables in."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

Rows = slice | Sequence[int] | np.ndarray
# Truth (n, q) and names ► the cells of label columns.
LabelCells = Callable[[np.ndarray, Sequence[str]], dict[str, list]]
Form = Callable[[Path, str, pd.DataFrame, np.ndarray | None, Sequence[str]], tuple[Path, list[str]]]


@dataclass(frozen=True, eq=False)
class Messy:
    """A table as someone keeps it, with the truth about it.

    Attributes
    ----------
    name : str
    cells : DataFrame of shape (n, d)
        The features as a user has them in pandas: strings where the file has strings.
    Y : ndarray of shape (n, q)
    label_names : tuple of str
        Sorted, so that a list of labels in a cell has them in the same order.
    labels : str
        Value of ``--labels``.
    form : callable
        Writes the file.
    kinds : sequence of str
        The kind of each column of `cells`.
    by_hand : tuple of float
        Average precision on the held-out rows behind a preparation that a competent person builds
        of scikit-learn, and on spoilt rows.
    spoilt : callable, optional
        `cells` of new rows that the training rows do not prepare for: unseen categories, gaps in
        columns that had none.
    """

    name: str
    cells: pd.DataFrame
    Y: np.ndarray
    label_names: tuple[str, ...]
    labels: str
    form: Form
    kinds: Sequence[str]
    by_hand: tuple[float, ...]
    spoilt: Callable[[pd.DataFrame], pd.DataFrame] | None = None

    def frame(self, *, fresh: bool = False) -> pd.DataFrame:
        """All rows as a frame of features; with `fresh`, spoilt as new rows may be."""
        if not fresh:
            return self.cells.copy()
        return self.spoilt(self.cells.copy())

    def write(
        self, folder: Path, rows: Rows = slice(None), *, fresh: bool = False, labelled: bool = True
    ) -> tuple[Path, list[str]]:
        """Write some rows below `folder`; returns the file, and options beside ``--labels``."""
        cells, Y = self.frame(fresh=fresh).iloc[rows], self.Y[rows] if labelled else None
        return self.form(folder, self.name, cells, Y, self.label_names)

    def split(self) -> tuple[np.ndarray, np.ndarray]:
        """The first 70 % of the rows and the others; rows have no order that means anything."""
        cut = round(0.7 * len(self.Y))
        return np.arange(cut), np.arange(cut, len(self.Y))


def marks(yes: str = "1", no: str = "0") -> LabelCells:
    """A column for each label."""
    return lambda Y, names: {
        name: np.where(column == 1, yes, no).tolist()
        for name, column in zip(names, Y.T, strict=True)
    }


def joined(column: str, separator: str) -> LabelCells:
    """One column with the names of all labels of the row."""
    return lambda Y, names: {column: [separator.join(own) for own in named(Y, names)]}


def lists(column: str) -> LabelCells:
    """One column of lists, for files that can hold them."""
    return lambda Y, names: {column: named(Y, names)}


def named(Y: np.ndarray, names: Sequence[str]) -> list[list[str]]:
    """Names of the labels of each row."""
    return [[name for name, flag in zip(names, row, strict=True) if flag] for row in Y]


def separated(labels: LabelCells, separator: str = ",", *, encoding: str = "utf-8") -> Form:
    """A text file."""

    def write(folder, name, frame, Y, names):
        added = {} if Y is None else labels(Y, names)
        text = io.StringIO(newline="")
        out = csv.writer(text, delimiter=separator)
        out.writerow([*frame, *added])
        features = [frame[column].astype(object) for column in frame]
        cells = [["" if pd.isna(cell) else cell for cell in column] for column in features]
        out.writerows(zip(*cells, *added.values(), strict=True))
        path = folder / f"{name}.csv"
        path.write_bytes(text.getvalue().encode(encoding))
        return path, []

    return write


def parquet(labels: LabelCells) -> Form:
    """A Parquet file; categories are dictionaries, times are timestamps."""

    def write(folder, name, frame, Y, names):
        path = folder / f"{name}.parquet"
        whole = pa.Table.from_pandas(frame, preserve_index=False)
        for column, cells in ({} if Y is None else labels(Y, names)).items():
            whole = whole.append_column(column, pa.array(cells))
        pq.write_table(whole, path)
        return path, []

    return write


def json_lines(labels: LabelCells) -> Form:
    """One object per line; a gap is a key that is not there."""

    def write(folder, name, frame, Y, names):
        path = folder / f"{name}.jsonl"
        added = {} if Y is None else labels(Y, names)
        with path.open("w", encoding="utf-8") as file:
            for r, record in enumerate(frame.astype(object).to_dict("records")):
                known = {key: value for key, value in record.items() if not pd.isna(value)}
                own = known | {column: cells[r] for column, cells in added.items()}
                file.write(json.dumps(own, ensure_ascii=False) + "\n")
        return path, []

    return write


def sheet(labels: LabelCells) -> Form:
    """An Excel sheet whose top row is empty; dates are dates."""

    def write(folder, name, frame, Y, names):
        path, book = folder / f"{name}.xlsx", openpyxl.Workbook()
        page = book.active
        added = {} if Y is None else labels(Y, names)
        columns = [frame[column].astype(object).tolist() for column in frame] + list(added.values())
        for at, row in enumerate([(*frame, *added), *zip(*columns, strict=True)], start=2):
            for column, cell in enumerate(row, start=1):
                if not pd.isna(cell) and cell != "":
                    is_time = isinstance(cell, pd.Timestamp)
                    page.cell(at, column, cell.to_pydatetime() if is_time else cell)
        book.save(path)
        return path, []

    return write

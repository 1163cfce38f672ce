"""Multi-label data: any usual file ► one :class:`Dataset`; statistics, defects, balanced splits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from skcamel.names import lazily

if TYPE_CHECKING:
    from skcamel.data.arff import read_meka, read_mulan, write_meka, write_mulan
    from skcamel.data.catalogue import (
        DatasetNotFoundError,
        DownloadError,
        TermsError,
        dataset_facts,
        fetch_dataset,
        list_datasets,
        load_dataset,
    )
    from skcamel.data.checks import check_dataset
    from skcamel.data.dataset import Dataset, card
    from skcamel.data.labels import take_labels
    from skcamel.data.mat import read_mat
    from skcamel.data.preparer import TablePreparer
    from skcamel.data.sources import read_dataset, write_dataset
    from skcamel.data.splitting import (
        MultilabelStratifiedKFold,
        MultilabelStratifiedShuffleSplit,
    )
    from skcamel.data.svmlight import read_svmlight, write_svmlight
    from skcamel.data.tables import read_columns, read_table, write_table

_NAMES = {
    "arff": "read_meka read_mulan write_meka write_mulan",
    "catalogue": (
        "DatasetNotFoundError DownloadError TermsError"
        " dataset_facts fetch_dataset list_datasets load_dataset"
    ),
    "checks": "check_dataset",
    "dataset": "Dataset card",
    "labels": "take_labels",
    "mat": "read_mat",
    "preparer": "TablePreparer",
    "sources": "read_dataset write_dataset",
    "splitting": "MultilabelStratifiedKFold MultilabelStratifiedShuffleSplit",
    "svmlight": "read_svmlight write_svmlight",
    "tables": "read_columns read_table write_table",
}
__all__ = [
    "DataError",
    "Dataset",
    "DatasetNotFoundError",
    "DownloadError",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "TablePreparer",
    "TermsError",
    "card",
    "check_dataset",
    "dataset_facts",
    "fetch_dataset",
    "list_datasets",
    "load_dataset",
    "read_columns",
    "read_dataset",
    "read_mat",
    "read_meka",
    "read_mulan",
    "read_svmlight",
    "read_table",
    "take_labels",
    "write_dataset",
    "write_meka",
    "write_mulan",
    "write_svmlight",
    "write_table",
]

__getattr__, _ = lazily(
    __name__, {name: module for module, names in _NAMES.items() for name in names.split()}
)


def __dir__() -> list[str]:
    return sorted(__all__)


Path_ = str | os.PathLike[str]


class DataError(ValueError):
    """A file does not hold what its format or its companions say.

    The message names the file and, where one is at fault, its line; then what was found, what is
    wrong and what to do.

    Parameters
    ----------
    message : str
        What was found, what is wrong, what to do.
    path : str or path, optional
        File at fault; the message shows its name, `path` keeps the whole.
    line : int, optional
        Line at fault, counted from 1.

    Examples
    --------
    >>> raise DataError("77 values, header declares 78; is it whole?", path="a.arff", line=81)
    Traceback (most recent call last):
        ...
    skcamel.data.DataError: a.arff, line 81: 77 values, header declares 78; is it whole?
    """

    def __init__(self, message: str, *, path: Path_ | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = None if path is None else os.fspath(path)
        self.line = line
        where = "" if self.path is None else Path(self.path).name
        where += "" if line is None else f", line {line}"
        super().__init__(f"{where}: {message}" if where else message)

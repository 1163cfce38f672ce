"""Multi-label data: any usual file ► one :class:`Dataset`; its statistics, its defects, and splits that keep its labels balanced."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from skcamel.lazy import lazily

if TYPE_CHECKING:
    from skcamel.data.arff import read_meka, read_mulan, write_meka, write_mulan
    from skcamel.data.card import card
    from skcamel.data.catalogue import DatasetNotFoundError, dataset_facts, list_datasets, load_dataset
    from skcamel.data.checks import check_dataset
    from skcamel.data.dataset import Dataset
    from skcamel.data.download import DownloadError
    from skcamel.data.errors import DataError
    from skcamel.data.fetch import TermsError, fetch_dataset
    from skcamel.data.formats import read_dataset, write_dataset
    from skcamel.data.mat import read_mat
    from skcamel.data.splitting import (
        MultilabelStratifiedKFold,
        MultilabelStratifiedShuffleSplit,
        RepeatedMultilabelStratifiedKFold,
        fold_quality,
    )
    from skcamel.data.svmlight import read_svmlight, write_svmlight
    from skcamel.data.tabular import read_table, write_table

_HOME = {
    "DataError": "errors",
    "Dataset": "dataset",
    "DatasetNotFoundError": "catalogue",
    "DownloadError": "download",
    "MultilabelStratifiedKFold": "splitting",
    "MultilabelStratifiedShuffleSplit": "splitting",
    "RepeatedMultilabelStratifiedKFold": "splitting",
    "TermsError": "fetch",
    "card": "card",
    "check_dataset": "checks",
    "dataset_facts": "catalogue",
    "fetch_dataset": "fetch",
    "fold_quality": "splitting",
    "list_datasets": "catalogue",
    "load_dataset": "catalogue",
    "read_dataset": "formats",
    "read_mat": "mat",
    "read_meka": "arff",
    "read_mulan": "arff",
    "read_svmlight": "svmlight",
    "read_table": "tabular",
    "write_dataset": "formats",
    "write_meka": "arff",
    "write_mulan": "arff",
    "write_svmlight": "svmlight",
    "write_table": "tabular",
}
__all__ = [
    "DataError",
    "Dataset",
    "DatasetNotFoundError",
    "DownloadError",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "RepeatedMultilabelStratifiedKFold",
    "TermsError",
    "card",
    "check_dataset",
    "dataset_facts",
    "fetch_dataset",
    "fold_quality",
    "list_datasets",
    "load_dataset",
    "read_dataset",
    "read_mat",
    "read_meka",
    "read_mulan",
    "read_svmlight",
    "read_table",
    "write_dataset",
    "write_meka",
    "write_mulan",
    "write_svmlight",
    "write_table",
]


__getattr__, __dir__ = lazily(__name__, _HOME)


class _Package(ModuleType):
    """The package under which ``card`` is the function, although a submodule has that name too."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "card" and isinstance(value, ModuleType):
            return  # Python binds each submodule to its name as it is imported
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

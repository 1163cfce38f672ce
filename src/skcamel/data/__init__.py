"""Multi-label data: any usual file ► one :class:`Dataset`; its statistics, its defects, and splits that keep its labels balanced."""

from typing import TYPE_CHECKING

from skcamel.lazy import lazily

if TYPE_CHECKING:
    from skcamel.data.arff import read_meka, read_mulan, write_meka, write_mulan
    from skcamel.data.catalogue import DatasetNotFoundError, dataset_facts, list_datasets, load_dataset
    from skcamel.data.checks import check_dataset
    from skcamel.data.dataset import Dataset
    from skcamel.data.errors import DataError
    from skcamel.data.fetch import DownloadError, TermsError, fetch_dataset
    from skcamel.data.formats import read_dataset, write_dataset
    from skcamel.data.mat import read_mat
    from skcamel.data.splitting import (
        MultilabelStratifiedKFold,
        MultilabelStratifiedShuffleSplit,
        RepeatedMultilabelStratifiedKFold,
    )
    from skcamel.data.statistics import card, fold_quality
    from skcamel.data.svmlight import read_svmlight, write_svmlight
    from skcamel.data.table import read_table, write_table

_NAMES = {
    "arff": ("read_meka", "read_mulan", "write_meka", "write_mulan"),
    "catalogue": ("DatasetNotFoundError", "dataset_facts", "list_datasets", "load_dataset"),
    "checks": ("check_dataset",),
    "dataset": ("Dataset",),
    "errors": ("DataError",),
    "fetch": ("DownloadError", "TermsError", "fetch_dataset"),
    "formats": ("read_dataset", "write_dataset"),
    "mat": ("read_mat",),
    "splitting": ("MultilabelStratifiedKFold", "MultilabelStratifiedShuffleSplit", "RepeatedMultilabelStratifiedKFold"),
    "statistics": ("card", "fold_quality"),
    "svmlight": ("read_svmlight", "write_svmlight"),
    "table": ("read_table", "write_table"),
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

__getattr__, __dir__ = lazily(__name__, {name: module for module, names in _NAMES.items() for name in names})

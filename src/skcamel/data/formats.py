"""A path ► a Dataset, or rows as a model wants them, by the reader of its format; a Dataset ► the writer of its format.

The suffix tells the format, and for ARFF what lies beside and inside the file. A model is given its
features by name and in its
order, text numbered as at the fit, from files with or without labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skcamel.data import DataError, Path_
from skcamel.data.text import counted, label_files, open_lines, shortened, xml_beside

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset
    from skcamel.data.labels import LabelColumns

KNOWN = {
    **dict.fromkeys((".arff",), "arff"),
    **dict.fromkeys(
        (".csv", ".tsv", ".tab", ".parquet", ".pq", ".xlsx", ".xlsm", ".jsonl", ".ndjson"), "table"
    ),
    **dict.fromkeys((".mat",), "mat"),
    **dict.fromkeys((".svm", ".svmlight", ".libsvm", ".txt"), "svmlight"),
}
MEKA_RELATION = re.compile(r"@relation\b.*-C\s*-?\d", re.IGNORECASE)
CURE = "give the columns the names that they had at the fit"


def format_of(path: Path_) -> str:
    """``"arff"``, ``"table"``, ``"mat"`` or ``"svmlight"``, by the suffix before an optional ``.gz``.

    Examples
    --------
    >>> format_of("emotions.arff.gz"), format_of("mine.csv")
    ('arff', 'table')
    """
    name = Path(path).name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix not in KNOWN:
        raise DataError(
            f"the suffix {suffix!r} names no known format; known are {', '.join(KNOWN)}, each also"
            " with .gz.",
            path=path,
        )
    return KNOWN[suffix]


def read_dataset(
    path: Path_,
    *,
    xml: Path_ | None = None,
    labels: LabelColumns | None = None,
    nominal: str = "index",
    test: Path_ | None = None,
) -> Dataset:
    """Read a file of any known format.

    Parameters
    ----------
    path : str or path
        ``.arff`` with a Mulan XML beside it, or of MEKA (``-C n`` in its relation); ``.csv``,
        ``.tsv``, ``.parquet``; ``.mat``;
        ``.svm``, ``.svmlight``, ``.libsvm``, ``.txt``. All but Parquet and Matlab also gzipped.
    xml : str or path, default=None
        Mulan label file. None: the one of the same name beside the ARFF, if there is one.
    labels : optional
        Label columns of a table; see ``read_table``.
    nominal : {"index", "onehot"}, default="index"
        Text columns of a table and nominals of an ARFF file; see ``read_table`` and ``read_mulan``.
    test : str or path, default=None
        A second file, ARFF or svmlight. Its rows follow those of the first, and `train` and `test`
        tell them apart.

    Returns
    -------
    Dataset
    """
    kind = format_of(path)
    if test is not None and kind not in ("arff", "svmlight"):
        raise DataError(
            "a second file is read of ARFF and svmlight only; put the rows of both into one file.",
            path=path,
        )
    if kind == "table":
        if labels is None:
            raise DataError(
                "a table does not say which columns are labels; name them by labels= (command line:"
                " --labels).",
                path=path,
            )
        from skcamel.data.table import read_table

        return read_table(path, labels=labels, nominal=nominal)
    if kind == "arff":
        return _read_arff(Path(path), xml, nominal, test)
    return _read_nameless(path, kind, test=test)


def _read_arff(path: Path, xml: Path_ | None, nominal: str, test: Path_ | None = None) -> Dataset:
    from skcamel.data.arff import read_meka, read_mulan

    found = (
        next((file for file in label_files(path) if file.is_file()), None) if xml is None else xml
    )
    if found is not None:
        return read_mulan(path, found, nominal=nominal, test=test)
    with open_lines(path) as file:
        is_meka = (
            MEKA_RELATION.search(file.stream.read(1 << 16).decode("utf-8", errors="replace"))
            is not None
        )
    if is_meka:
        return read_meka(path, nominal=nominal, test=test)
    raise DataError(
        f"no {xml_beside(path).name} lies beside it and its relation has no -C n, so its labels are"
        " unknown; give the XML file by xml= (command line: --xml).",
        path=path,
    )


def _read_nameless(
    path: Path_,
    kind: str,
    n_features: int | None = None,
    n_labels: int | None = None,
    test: Path_ | None = None,
    zero_based: tuple[bool, bool] | None = None,
) -> Dataset:
    """Read a format that holds no names; a svmlight file need not tell its sizes, nor where it begins to count."""
    if kind == "mat":
        from skcamel.data.mat import read_mat

        return read_mat(path)
    from skcamel.data.svmlight import read_svmlight

    return read_svmlight(
        path,
        n_features=n_features,
        n_labels=n_labels,
        test=test,
        zero_based=zero_based or "auto",
    )


def write_dataset(dataset: Dataset, path: Path_, *, meka: bool = False) -> tuple[Path, ...]:
    """Write a file in the format that its suffix names.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        ``.arff`` (Mulan, with the XML beside it), ``.csv``, ``.tsv``, ``.parquet``, ``.svm``,
        ``.svmlight``, ``.libsvm``, ``.txt``.
    meka : bool, default=False
        Write ``.arff`` in MEKA's form, one file.

    Returns
    -------
    tuple of Path
        The files written.
    """
    path, kind = Path(path), format_of(path)
    if kind == "mat":
        raise DataError(
            "Matlab files are read, not written; write .arff, .csv or .svm instead.", path=path
        )
    if kind == "arff":
        from skcamel.data.arff import write_meka, write_mulan

        if not meka:
            write_mulan(dataset, path)
            return path, xml_beside(path)
        write_meka(dataset, path)
    elif kind == "table":
        from skcamel.data.table import write_table

        write_table(dataset, path)
    else:
        from skcamel.data.svmlight import write_svmlight

        write_svmlight(dataset, path)
    return (path,)


class Expected(NamedTuple):
    """What a model wants to see."""

    n_features: int
    features: (
        tuple[str, ...] | None
    )  # None where the model knows no names: columns are then taken in their order
    categories: Mapping[str, tuple[str, ...]]  # values of text features
    labels: tuple[str, ...]
    zero_based: tuple[bool, bool] | None = None  # how the svmlight file of the fit counted

    def columns(self) -> list[str] | None:
        """Columns of a table that hold the features."""
        return None if self.features is None else list(self.features)


class Rows(NamedTuple):
    """Rows for a model, and which columns of the file were not among its features."""

    X: Any  # (n, d), columns in the order of the model
    Y: (
        np.ndarray | None
    )  # (n, q), labels in the order of the model, NaN where unknown; None where they were not asked for
    labels: tuple[str, ...]  # label columns in the file
    ignored: tuple[str, ...]  # neither features nor labels
    by_position: bool  # no names were compared


def read_matching(path: Path_, expected: Expected, *, truth: bool) -> Rows:
    """Read the rows of a file that a model is to see; the file may have the labels, or lack them.

    With `truth` all labels of the model are wanted too; else labels are left aside unread.
    DataError where features or wanted labels
    are missing, or text has values without a number.
    """
    kind = format_of(path)
    if kind == "table":
        from skcamel.data.readers import read_plain

        return match_table(
            read_plain(path, as_text=expected.categories), expected, path, truth=truth
        )
    if kind == "arff":
        from skcamel.data.arff import read_with_labels

        return match(
            read_with_labels(path, expected.labels, expected.features or ()), expected, truth=truth
        )
    dataset = _read_nameless(
        path,
        kind,
        n_features=expected.n_features,
        n_labels=len(expected.labels),
        zero_based=expected.zero_based,
    )
    _check_count(dataset.d, expected, path)
    if truth and dataset.q != len(expected.labels):
        raise DataError(
            f"has {counted(dataset.q, 'label')}, the model {len(expected.labels)}; is it of the"
            " same kind?",
            path=path,
        )
    return Rows(dataset.X, dataset.Y if truth else None, dataset.label_names, (), True)


def match(dataset: Dataset, expected: Expected, *, truth: bool) -> Rows:
    """Rows of a data set as a model wants them; see :func:`read_matching`."""
    Y = match_labels(dataset, expected.labels) if truth else None
    if expected.features is None:
        _check_count(dataset.d, expected, dataset.source)
        return Rows(dataset.X, Y, dataset.label_names, (), True)
    if dataset.feature_names == expected.features:
        X, ignored = dataset.X, ()
    else:
        positions = _positions(dataset.feature_names, expected.features, "feature", dataset.source)
        X = dataset.X[:, positions]
        used = set(positions)
        ignored = tuple(
            name for position, name in enumerate(dataset.feature_names) if position not in used
        )
    _check_categories(dataset, expected)
    return Rows(X, Y, dataset.label_names, ignored, False)


def read_labels(path: Path_, labels: tuple[str, ...]) -> np.ndarray:
    """LabelColumns of these names from a file, (n, q); nothing else in it is looked at where the format allows."""
    kind = format_of(path)
    if kind == "table":
        from skcamel.data.readers import read_plain

        return _labels_of(read_plain(path), labels, path)
    if kind == "arff":
        from skcamel.data.arff import read_with_labels

        return match_labels(read_with_labels(path, labels, ()), labels)
    dataset = _read_nameless(path, kind)
    if dataset.q != len(labels):
        raise DataError(
            f"has {counted(dataset.q, 'label')}, {len(labels)} are needed; is it of the same kind?",
            path=path,
        )
    return dataset.Y


def match_labels(dataset: Dataset, labels: tuple[str, ...]) -> np.ndarray:
    """LabelColumns of these names from a data set, (n, q)."""
    return dataset.Y[:, _positions(dataset.label_names, labels, "label", dataset.source)]


def _labels_of(table: Any, labels: tuple[str, ...], path: Path_) -> np.ndarray:
    """LabelColumns of these names from a table, (n, q): int64, or float64 with NaN where some are unknown."""
    from skcamel.data.labels import cells_of, label_vector

    _positions(table.column_names, labels, "label", path)
    Y = np.column_stack([label_vector(cells_of(table, name), name, path) for name in labels])
    return Y if np.isnan(Y).any() else Y.astype(np.int64)


def match_table(
    table: Any, expected: Expected, path: Path_, *, truth: bool, size: int | None = None
) -> Rows:
    """Rows of a pyarrow table, read plainly, as a model wants them; messages name `path`, and `size` is its length where it is no file."""
    from skcamel.data.table import features

    wanted = expected.columns()
    if wanted is None:
        wanted = [name for name in table.column_names if name not in expected.labels]
        _check_count(len(wanted), expected, path)
    chosen = table.select(_positions(table.column_names, wanted, "feature", path))
    Y = _labels_of(table, expected.labels, path) if truth else None
    X, _ = features(chosen, path, expected.categories, size)
    used, labels = set(wanted), set(expected.labels)
    rest = [name for name in table.column_names if name not in used]
    return Rows(
        X,
        Y,
        tuple(name for name in rest if name in labels),
        tuple(name for name in rest if name not in labels),
        expected.features is None,
    )


def _positions(names: Sequence[str], wanted: Sequence[str], noun: str, path: Path_) -> list[int]:
    """Where each wanted name stands; of equal names the first wanted one is the first that stands there, and so on."""
    places: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        places.setdefault(name, []).append(position)
    missing = [name for name in wanted if name not in places]
    if missing:
        cure = CURE if noun == "feature" else "give a file that holds the truth, or use 'predict'"
        noun, verb = (noun, "is") if len(missing) == 1 else (f"{noun}s", "are")
        raise DataError(
            f"the {noun} {shortened(missing)} of the model {verb} missing; {cure}.", path=path
        )
    times = Counter(wanted)
    for name, known in times.items():
        if max(known, len(places[name])) > 1 and known != len(places[name]):
            raise DataError(
                f"{len(places[name])} columns are called {name[:60]!r}, the model knows {known};"
                f" {CURE}.",
                path=path,
            )
    remaining = {name: iter(places[name]) for name in times}
    return [next(remaining[name]) for name in wanted]


def _check_count(count: int, expected: Expected, path: Path_) -> None:
    if count != expected.n_features:
        known = "" if expected.features is None else ", and its columns have no names to go by"
        raise DataError(
            f"has {count} columns beside the labels, the model was fitted on"
            f" {expected.n_features}{known}; bring the columns of the fit, in the same order.",
            path=path,
        )


def _check_categories(dataset: Dataset, expected: Expected) -> None:
    """Refuse a header whose nominal values have other numbers than at the fit."""
    from skcamel.data.attributes import feature_codes

    for name in expected.features or ():
        theirs, mine = dataset.categories.get(name, ()), expected.categories.get(name, ())
        if theirs == mine:
            continue
        known = feature_codes(mine)
        if not theirs or any(
            known.get(value) != code
            for value, code in feature_codes(theirs).items()
            if value != "?"
        ):
            raise DataError(
                f"{name[:60]!r} holds {shortened(theirs, 8) or 'numbers'}, at the fit it held"
                f" {shortened(mine, 8) or 'numbers'}; declare them alike and in the same order.",
                path=dataset.source,
            )

"""ARFF files with many labels: Mulan's, with an XML file of label names, and MEKA's, with their number in the relation name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from skcamel.data.arff_header import Header, feature_codes, names_of, quoted, read_header
from skcamel.data.arff_rows import DenseRows, Layout, SparseRows, layout_of
from skcamel.data.dataset import Dataset
from skcamel.data.errors import DataError
from skcamel.data.label_xml import label_xml, read_label_names
from skcamel.data.nominals import without_identifiers, without_nominals
from skcamel.data.text import Path_, first_repeated, numerals, open_lines, shortened, stem, write_lines

MEKA_LABELS = re.compile(r"-C\s+(-?\d{1,9})\b", re.ASCII)
NOMINAL_CHOICES = ("index", "onehot")


def read_mulan(arff: Path_, xml: Path_ | None = None, *, nominal: str = "index", test: Path_ | None = None) -> Dataset:
    """Read an ARFF file whose labels are named by an XML file, as the Mulan library publishes them.

    Parameters
    ----------
    arff : str or path
        Dense or sparse, plain or gzip-compressed.
    xml : str or path, optional
        Label file; by default the ARFF's name with ``.xml``, also without a trailing ``-train`` or ``-test``.
    nominal : {"index", "onehot"}, default="index"
        Nominal features stay one column (numerals as numbers, YES/NO and TRUE/FALSE as 1/0, others as their position in the header);
        "onehot" gives those with three or more values one 0/1 column for each value.
    test : str or path, optional
        A second ARFF with the same header. Its rows follow those of the first, and `train` and `test` tell them apart.

    Returns
    -------
    Dataset
        Features and labels in the order of the ARFF, wherever the labels stand. String and date attributes, and nominals with one
        value per row, identify rows: they are left out and listed in `dropped`. Missing values (``?``) are NaN.

    Raises
    ------
    DataError
        Where the files do not hold together; the message names the file, the line and the cure.

    Notes
    -----
    In a sparse row an omitted nominal has its *first* declared value, as ARFF defines it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mulan(Dataset([[0.5], [1.5]], [[1, 0], [0, 1]], name="tiny"), f"{folder}/tiny.arff")
    ...     read_mulan(f"{folder}/tiny.arff")
    Dataset(tiny: 2 rows, 1 feature, 2 labels)
    """
    xml = _companion(Path(arff)) if xml is None else Path(xml)
    labels = read_label_names(xml)
    return _read(
        arff, test, nominal, lambda header: _labels_by_name(header, labels, arff, xml), "is the matching XML file from the same release?"
    )


def read_meka(path: Path_, *, nominal: str = "index", test: Path_ | None = None) -> Dataset:
    """Read an ARFF file of the MEKA library: ``-C n`` in its relation name says that the first n attributes are the labels.

    Parameters
    ----------
    path : str or path
        Dense or sparse, plain or gzip-compressed. A negative n means the last attributes.
    nominal, test
        As in :func:`read_mulan`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_meka(Dataset([[0.5], [1.5]], [[1, 0], [0, 1]], name="tiny"), f"{folder}/tiny.arff")
    ...     read_meka(f"{folder}/tiny.arff")
    Dataset(tiny: 2 rows, 1 feature, 2 labels)
    """
    return _read(path, test, nominal, lambda header: _labels_by_count(header, path), "is the file whole, and a value with a comma quoted?")


def read_with_labels(path: Path_, labels: Collection[str], features: Collection[str]) -> Dataset:
    """Read an ARFF file in which attributes of these names are labels, if there are such; `features` are kept even if they name rows."""
    wanted = set(labels)

    def find(header: Header) -> np.ndarray:
        twice = first_repeated(attribute.name for attribute in header.attributes if attribute.name in wanted)
        if twice is not None:
            raise DataError(f"two labels are called {twice[:60]!r}; rename one.", path=path)
        return np.array([attribute.name in wanted for attribute in header.attributes])

    return _read(path, None, "index", find, "is the file whole, and a value with a comma quoted?", keep=features)


def _read(
    path: Path_,
    test: Path_ | None,
    nominal: str,
    find_labels: Callable[[Header], np.ndarray],
    cure: str,
    keep: Collection[str] = (),
) -> Dataset:
    if nominal not in NOMINAL_CHOICES:
        raise ValueError(f"nominal must be one of {', '.join(NOMINAL_CHOICES)}, got {nominal!r}.")
    rows: DenseRows | SparseRows | None = None
    header: Header | None = None
    counts = []
    for part in [path] if test is None else [path, test]:
        with open_lines(part) as file:
            own = read_header(file)
            _check_same_attributes(header, own, part)
            header, count = own, 0
            layout = layout_of(own.attributes, find_labels(own), part, cure)
            if rows is not None:
                rows.layout = layout
            for block in file.blocks(b"%"):
                if not block.lines:
                    continue
                rows = rows or (SparseRows(layout) if block.text.lstrip().startswith(b"{") else DenseRows(layout))
                count += rows.add(block)
            if not count or rows is None:
                raise file.error("no row follows @data; the file is cut short.")
            counts.append(count)
    assert rows is not None  # noqa: S101 every file gave a row
    return _dataset(path, rows, layout, nominal, counts, keep)


def _dataset(path: Path_, rows: DenseRows | SparseRows, layout: Layout, nominal: str, counts: list[int], keep: Collection[str]) -> Dataset:
    X, Y = rows.finish()
    attributes = [layout.attributes[column] for column in layout.features]
    X, attributes = without_identifiers(X, attributes, path, keep)
    kept = {id(attribute) for attribute in attributes}
    dropped = [
        attribute.name for attribute, is_label in zip(layout.attributes, layout.is_label) if not is_label and id(attribute) not in kept
    ]
    names = names_of(attributes)
    if nominal == "onehot":
        X, names = without_nominals(X, attributes, layout.path)
    if not names:
        raise DataError("no feature is left beside labels and row identifiers; is the label file the right one?", path=path)
    first = counts[0]
    return Dataset(
        X,
        Y,
        tuple(names),
        tuple(layout.attributes[column].name for column in layout.labels),
        name=stem(path),
        source=str(path),
        dropped=tuple(dropped),
        train=np.arange(first) if len(counts) > 1 else None,
        test=np.arange(first, sum(counts)) if len(counts) > 1 else None,
        categories={a.name: a.values for a in attributes if a.kind == "nominal" and not feature_codes(a.values).by_number},
    )


def _companion(arff: Path) -> Path:
    """Label file that belongs to an ARFF by its name."""
    base = stem(arff)
    names = dict.fromkeys(f"{name}.xml" for name in (base, re.sub(r"[-_](train|test)$", "", base, flags=re.IGNORECASE)))
    for name in names:
        if arff.with_name(name).exists():
            return arff.with_name(name)
    if not arff.exists():
        raise FileNotFoundError(2, "No such file", str(arff))
    looked = " or ".join(names)
    raise DataError(
        f"no label file {looked} beside it; give its path as xml=…, or use read_meka if the labels are counted by -C.", path=arff
    )


def _labels_by_name(header: Header, labels: list[str], arff: Path_, xml: Path_) -> np.ndarray:
    names = names_of(header.attributes)
    absent = set(labels) - set(names)
    if absent:  # some label files are padded with spaces
        labels = [label.strip() if label in absent else label for label in labels]
        absent = set(labels) - set(names)
    if absent:
        listed = shortened(label for label in labels if label in absent)
        raise DataError(
            f"{len(absent)} labels are not attributes of {Path(arff).name}: {listed}; are both files of the same release?", path=xml
        )
    wanted = set(labels)
    is_label = np.array([name in wanted for name in names])
    twice = first_repeated(name for name in names if name in wanted)
    if twice is not None:
        raise DataError(f"{twice[:60]!r} is a label and the name of two attributes; rename one.", path=arff)
    return is_label


def _labels_by_count(header: Header, path: Path_) -> np.ndarray:
    found, width = MEKA_LABELS.search(header.relation), len(header.attributes)
    if found is None:
        raise DataError(
            f"the relation {header.relation[:60]!r} has no '-C n', MEKA's number of labels; add it, or use read_mulan.", path=path
        )
    count = int(found[1])
    if not 0 < abs(count) < width:
        problem = f"-C {count} for {width} attributes; the number of labels lies between 1 and {width - 1}."
        raise DataError(f"{problem} Correct the relation name.", path=path)
    position = np.arange(width)
    is_label = position < count if count > 0 else position >= width + count
    names = [header.attributes[column].name for column in np.flatnonzero(is_label)]
    twice = first_repeated(names)
    if twice is not None:
        raise DataError(f"two labels are called {twice[:60]!r}; rename one.", path=path)
    return is_label


def _check_same_attributes(first: Header | None, second: Header, path: Path_) -> None:
    if first is None or first.attributes == second.attributes:
        return
    pairs = zip(first.attributes, second.attributes)
    differing = next(
        (mine.name for mine, theirs in pairs if mine != theirs), f"their number, {len(first.attributes)} and {len(second.attributes)}"
    )
    raise DataError(
        f"its attributes differ from those of the first file, beginning with {differing[:60]!r}; are both of the same release?", path=path
    )


def write_mulan(dataset: Dataset, arff: Path_, xml: Path_ | None = None) -> None:
    """Write an ARFF file, dense or sparse as X is, and the XML file of label names.

    Parameters
    ----------
    dataset : Dataset
    arff : str or path
        Compressed where it ends in ``.gz``. Files appear whole or not at all.
    xml : str or path, optional
        By default the ARFF's name with ``.xml``.

    Warns
    -----
    UserWarning
        Where the data set has train and test parts, which the format cannot hold.
    """
    names = [*dataset.feature_names, *dataset.label_names]
    clashes = set(dataset.label_names) & set(dataset.feature_names)
    if clashes:
        raise ValueError(f"{shortened(sorted(clashes))} name both a feature and a label; Mulan finds labels by name, rename one of them.")
    _warn_about_parts(dataset)
    label_lines = list(label_xml(dataset.label_names))
    write_lines(arff, _lines(dataset, dataset.name or "data", names, labels_first=False))
    write_lines(Path(arff).with_name(f"{stem(arff)}.xml") if xml is None else xml, label_lines)


def write_meka(dataset: Dataset, path: Path_) -> None:
    """Write an ARFF file whose relation name ends in ``-C q``, with the labels in front.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        Compressed where it ends in ``.gz``. The file appears whole or not at all.

    Warns
    -----
    UserWarning
        Where the data set has train and test parts, which the format cannot hold.
    """
    _warn_about_parts(dataset)
    relation = f"{MEKA_LABELS.sub('', dataset.name) or 'data'}: -C {dataset.q}"
    write_lines(path, _lines(dataset, relation, [*dataset.label_names, *dataset.feature_names], labels_first=True))


def _warn_about_parts(dataset: Dataset) -> None:
    if dataset.train is not None or dataset.test is not None:
        warnings.warn("ARFF does not hold train and test parts; write each part to a file of its own.", UserWarning, stacklevel=3)


def _lines(dataset: Dataset, relation: str, names: list[str], *, labels_first: bool) -> Iterator[str]:
    yield f"@relation {quoted(relation)}\n\n"
    first, second = (dataset.q, dataset.d) if labels_first else (dataset.d, dataset.q)
    types = ["{0,1}" if labels_first else "numeric"] * first + ["numeric" if labels_first else "{0,1}"] * second
    for name, kind in zip(names, types, strict=True):
        yield f"@attribute {quoted(name)} {kind}\n"
    yield "\n@data\n"
    rows = _sparse_rows if sparse.issparse(dataset.X) else _dense_rows
    yield from rows(dataset, labels_first=labels_first)


def _dense_rows(dataset: Dataset, *, labels_first: bool) -> Iterator[str]:
    for x, y in zip(dataset.X, dataset.Y):
        features, labels = numerals(x, "?"), [str(value) for value in y.tolist()]
        yield ",".join(labels + features if labels_first else features + labels) + "\n"


def _sparse_rows(dataset: Dataset, *, labels_first: bool) -> Iterator[str]:
    feature_offset, label_offset = (dataset.q, 0) if labels_first else (0, dataset.d)
    X = dataset.X
    for row, y in enumerate(dataset.Y):
        stored = slice(X.indptr[row], X.indptr[row + 1])
        columns, values = (X.indices[stored] + feature_offset).tolist(), numerals(X.data[stored], "?")
        features = [f"{column} {value}" for column, value in zip(columns, values) if value not in ("0", "-0")]
        labels = [f"{label + label_offset} 1" for label in np.flatnonzero(y).tolist()]
        yield "{" + ",".join(labels + features if labels_first else features + labels) + "}\n"

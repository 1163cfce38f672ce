"""ARFF files with many labels: Mulan's, with an XML file of label names, and MEKA's, with their number in the relation name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy import sparse

from skcamel.data import DataError, Path_
from skcamel.data.arff_rows import QUOTED, Layout, Rows, cells, unquoted
from skcamel.data.attributes import Attribute, check_nominal, feature_codes, finished
from skcamel.data.dataset import Dataset, parts_of
from skcamel.data.sources import (
    BLOCK_BYTES,
    NAME_BYTES,
    Block,
    LineFile,
    check_claimed_size,
    check_different_labels,
    decoded,
    first_repeated,
    label_files,
    numerals,
    open_lines,
    shortened,
    stem,
    stored_cells,
    write_lines,
    xml_beside,
)

Attributes = tuple[Attribute, ...]
ATTRIBUTE = re.compile(
    rf"@attribute\s+(?P<name>{QUOTED}|[^\s{{]+(?=\s*\{{)|\S+)\s*(?P<type>.*)",
    re.IGNORECASE | re.DOTALL,
)
KINDS = {
    "numeric": "numeric",
    "real": "numeric",
    "integer": "numeric",
    "string": "text",
    "date": "text",
}
ESCAPED = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
HEADER_RATIO = 50  # bytes that the attributes take for each byte of the header
MEKA_LABELS = re.compile(r"-C\s+(-?\d{1,9})\b", re.ASCII)
# XML 1.0 has no way to write these
UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
WHOLE = "is the file whole, and a value with a comma quoted?"


def read_mulan(
    arff: Path_, xml: Path_ | None = None, *, nominal: str = "index", test: Path_ | None = None
) -> Dataset:
    """Read an ARFF file whose labels are named by an XML file, as the Mulan library publishes them.

    Parameters
    ----------
    arff : str or path
        Dense or sparse, plain or gzip-compressed.
    xml : str or path, optional
        Label file; by default the ARFF's name with ``.xml``, also without a trailing ``-train`` or
        ``-test``.
    nominal : {"index", "onehot"}, default="index"
        Nominal features stay one column (numerals as numbers, YES/NO and TRUE/FALSE as 1/0, others
        as their position in the header);
        "onehot" gives those with three or more values one 0/1 column for each value.
    test : str or path, optional
        A second ARFF with the same header. Its rows follow those of the first, and `train` and
        `test` tell them apart.

    Returns
    -------
    Dataset
        Features and labels in the order of the ARFF, wherever the labels stand. String and date
        attributes, and nominals with one
        value per row, identify rows: they are left out and listed in `dropped`. Missing values
        (``?``) and unknown labels (``?``)
        are NaN.

    Raises
    ------
    DataError
        If the files do not fit together; the message names the file, the line and what to do.

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
    label_file = _found_beside(Path(arff)) if xml is None else xml
    labels = read_label_names(label_file)

    def find(_: str, attributes: Attributes) -> np.ndarray:
        return _named_labels(attributes, labels, arff, label_file)

    return _read(arff, test, nominal, find, "is the matching XML file from the same release?")


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

    def find(relation: str, attributes: Attributes) -> np.ndarray:
        return _counted_labels(relation, len(attributes), path)

    return _read(path, test, nominal, find, WHOLE)


def read_with_labels(path: Path_, labels: Collection[str], features: Collection[str]) -> Dataset:
    """Read an ARFF file in which attributes of these names, if any, are labels; `features` are kept even if they identify rows."""
    wanted = set(labels)

    def find(_: str, attributes: Attributes) -> np.ndarray:
        return _are_named(attributes, wanted)

    return _read(path, None, "index", find, WHOLE, features)


def _read(
    path: Path_,
    test: Path_ | None,
    nominal: str,
    find_labels: Callable[[str, Attributes], np.ndarray],
    hint: str,
    keep: Collection[str] = (),
) -> Dataset:
    """Read one file, or two with the same header; `find_labels` tells which attributes are labels."""
    check_nominal(nominal)
    rows = Rows()
    layouts: list[Layout] = []
    counts: list[int] = []
    for part in [path] if test is None else [path, test]:
        with open_lines(part) as file:
            relation, attributes, blocks = read_header(file)
            layout = Layout(part, attributes, find_labels(relation, attributes), hint)
            check_different_labels(layout.label_names, part)
            layouts.append(layout)
            _check_same_attributes(layouts[0].attributes, attributes, part)
            for block in blocks:
                rows.add(block, layout)
            counts.append(rows.n_rows - sum(counts))
            if not counts[-1]:
                raise file.error("no row follows @data; the file is cut short.")
    X, Y = rows.finish()
    layout = layouts[0]
    features = [layout.attributes[column] for column in layout.features]
    X, names, kept = finished(X, features, nominal, path, keep, "is the label file the right one?")
    used = {attribute.name for attribute in kept}.union(layout.label_names)
    coded = [a for a in kept if a.kind == "nominal" and not feature_codes(a.values).by_number]
    return Dataset(
        X,
        Y,
        names,
        layout.label_names,
        name=stem(path),
        source=str(path),
        dropped=tuple(a.name for a in layout.attributes if a.name not in used),
        categories={attribute.name: attribute.values for attribute in coded},
        **parts_of(counts),
    )


def _found_beside(arff: Path) -> Path:
    """Label file that belongs to an ARFF by its name."""
    candidates = label_files(arff)
    for file in candidates:
        if file.exists():
            return file
    if not arff.exists():
        raise FileNotFoundError(2, "No such file", str(arff))
    looked = " or ".join(file.name for file in candidates)
    raise DataError(
        f"no label file {looked} beside it; give its path as xml=…, or use read_meka if the labels"
        " are counted by -C.",
        path=arff,
    )


def _named_labels(attributes: Attributes, labels: list[str], arff: Path_, xml: Path_) -> np.ndarray:
    """Which attributes are labels, by the names of a label file."""
    names = {attribute.name for attribute in attributes}
    # some label files are padded with spaces
    wanted = {label if label in names else label.strip() for label in labels}
    absent = sorted(wanted - names)
    if absent:
        raise DataError(
            f"{len(absent)} labels are not attributes of {Path(arff).name}: {shortened(absent)};"
            " are both files of the same release?",
            path=xml,
        )
    return _are_named(attributes, wanted)


def _are_named(attributes: Attributes, names: Collection[str]) -> np.ndarray:
    return np.array([attribute.name in names for attribute in attributes])


def _counted_labels(relation: str, width: int, path: Path_) -> np.ndarray:
    """Which of `width` attributes are labels, by the number in the relation name."""
    found = MEKA_LABELS.search(relation)
    if found is None:
        raise DataError(
            f"the relation {relation[:60]!r} has no '-C n', MEKA's number of labels; add it, or use"
            " read_mulan.",
            path=path,
        )
    count = int(found[1])
    if not 0 < abs(count) < width:
        raise DataError(
            f"-C {count} for {width} attributes; the number of labels lies between 1 and"
            f" {width - 1}. Correct the relation name.",
            path=path,
        )
    position = np.arange(width)
    return position < count if count > 0 else position >= width + count


def _check_same_attributes(first: Attributes, second: Attributes, path: Path_) -> None:
    if first != second:
        names = sorted({attribute.name for attribute in set(first) ^ set(second)})
        raise DataError(
            "its attributes differ from those of the first file, in"
            f" {shortened(names) or 'their order'}; are both of the same release?",
            path=path,
        )


def read_header(file: LineFile) -> tuple[str, Attributes, Iterator[Block]]:
    """Relation name, attributes, and the blocks of rows that follow the line ``@data``."""
    relation = ""
    attributes: list[Attribute] = []
    size = 0
    blocks = file.blocks(b"%")
    for block in blocks:
        size += len(block.text)
        check_claimed_size(HEADER_RATIO * size, "the attributes of its header", file.path)
        position = 0
        for row, line in enumerate(block.text.split(b"\n")[:-1]):
            position += len(line) + 1
            text = decoded(line).strip()
            keyword = text[:10].lower()
            if keyword.startswith("@data") and attributes:
                rest = block.after(position)
                rows = chain([rest], blocks) if rest.text else blocks
                return relation, tuple(attributes), rows
            if keyword.startswith("@relation"):
                relation = unquoted(text[9:].strip())
                continue
            try:
                attributes.append(_attribute(text))
            except ValueError as error:
                raise file.error(str(error), block.line(row)) from None
    raise file.error("the file ends before @data; it is cut short or no ARFF file.")


def _attribute(text: str) -> Attribute:
    if text[:5].lower() == "@data":
        raise ValueError("@data comes before any @attribute; the header is missing.")
    if text[:10].lower() != "@attribute":
        raise ValueError(
            f"{text[:40]!r} in the header; expected @relation, @attribute, @data or a comment (%)."
            " Is this an ARFF file?"
        )
    match = ATTRIBUTE.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text[:60]!r} is not '@attribute name type'; quote names that hold spaces."
        )
    name, kind = unquoted(match["name"]), match["type"].strip()
    word = kind.split(maxsplit=1)[0].lower() if kind else ""
    if word in KINDS:
        return Attribute(name, KINDS[word])
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, "nominal", declared_values(kind[1:-1]))
    raise ValueError(
        f"attribute {name[:60]!r} has the type {kind[:40]!r}; known are numeric, real, integer,"
        " string, date and {value,…}."
    )


@lru_cache(maxsize=64)
def declared_values(text: str) -> tuple[str, ...]:
    """Values between the braces of a nominal attribute."""
    return tuple(cells(text)) if text.strip() else ()


def quoted(name: str) -> str:
    """Text as ARFF holds it: quoted where it needs to be."""
    if re.fullmatch(r"[A-Za-z0-9_.:/()=<>*+&#-]+", name):
        return name
    return f"'{name.translate(ESCAPED)}'"


def read_label_names(path: Path_) -> list[str]:
    """Names of all ``label`` elements, nested ones too, in the order of the file.

    A document type is refused: label files have none, and its entities could fill the memory or
    read other files.
    """
    names: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "label":
            if "name" not in attributes:
                raise ValueError('a <label> element has no name; write <label name="…"></label>')
            names.append(attributes["name"])

    def refuse(*_: object) -> None:
        raise ValueError("it has a DOCTYPE, which label files never need; remove it")

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    try:
        with open_lines(path) as file:
            while chunk := file.stream.read(BLOCK_BYTES):
                parser.Parse(chunk, False)
                check_claimed_size(NAME_BYTES * len(names), "the names of its labels", path)
        parser.Parse(b"", True)
        if not names:
            raise ValueError("it names no label")
    except DataError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise DataError(
            f"is no label file ({str(error)[:120]}); expected XML: <labels> with one"
            ' <label name="…"> for each label.',
            path=path,
            line=parser.CurrentLineNumber,
        ) from None
    twice = first_repeated(names)
    if twice is not None:
        raise DataError(f"names the label {twice[:60]!r} twice; remove one.", path=path)
    return names


def label_xml(names: Sequence[str]) -> Iterator[str]:
    """Lines of a label file."""
    yield (
        '<?xml version="1.0" encoding="utf-8"?>\n<labels'
        ' xmlns="http://mulan.sourceforge.net/labels">\n'
    )
    for name in names:
        if UNWRITABLE.search(name):
            raise ValueError(
                f"The label name {name!r} holds a character that XML cannot hold; rename it before"
                " writing."
            )
        yield f"<label name={quoteattr(name)}></label>\n"
    yield "</labels>\n"


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
    clashes = set(dataset.label_names) & set(dataset.feature_names)
    if clashes:
        raise ValueError(
            f"{shortened(sorted(clashes))} name both a feature and a label; Mulan finds labels by"
            " name, rename one of them."
        )
    _warn_about_parts(dataset)
    label_lines = list(label_xml(dataset.label_names))  # a name may be refused
    write_lines(arff, _lines(dataset, dataset.name or "data", labels_first=False))
    write_lines(xml_beside(arff) if xml is None else xml, label_lines)


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
    write_lines(path, _lines(dataset, relation, labels_first=True))


def _warn_about_parts(dataset: Dataset) -> None:
    if dataset.train is not None or dataset.test is not None:
        warnings.warn(
            "ARFF does not hold train and test parts; write each part to a file of its own.",
            UserWarning,
            stacklevel=3,
        )


def _lines(dataset: Dataset, relation: str, *, labels_first: bool) -> Iterator[str]:
    features = [f"@attribute {quoted(name)} numeric\n" for name in dataset.feature_names]
    labels = [f"@attribute {quoted(name)} {{0,1}}\n" for name in dataset.label_names]
    yield f"@relation {quoted(relation)}\n\n"
    yield from labels + features if labels_first else features + labels
    yield "\n@data\n"
    is_sparse = sparse.issparse(dataset.X)
    first_feature = dataset.q if labels_first else 0
    first_label = 0 if labels_first else dataset.d
    if is_sparse:
        rows = stored_cells(dataset.X, " ", first_feature, "?")
    else:
        rows = (numerals(x, "?") for x in dataset.X)
    for features, y in zip(rows, dataset.Y):
        if is_sparse:
            stored = np.flatnonzero(y).tolist()
            labels = [f"{first_label + label} {_label(y[label])}" for label in stored]
        else:
            labels = [_label(value) for value in y.tolist()]
        cells = labels + features if labels_first else features + labels
        line = ",".join(cells)
        yield f"{{{line}}}\n" if is_sparse else f"{line}\n"


def _label(value: float) -> str:
    return str(int(value)) if value == value else "?"  # NaN: unknown

"""A path ► the reader or writer of its format, told by suffix and, for ARFF, by what lies beside and inside the file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skcamel.data.errors import DataError

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset
    from skcamel.data.tabular import Labels

KNOWN = {
    ".arff": "arff",
    ".csv": "table",
    ".tsv": "table",
    ".tab": "table",
    ".parquet": "table",
    ".pq": "table",
    ".mat": "mat",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".txt": "svmlight",
}
MEKA_RELATION = re.compile(r"@relation\b.*-C\s*-?\d", re.IGNORECASE)


def format_of(path: str | os.PathLike[str]) -> str:
    """``"arff"``, ``"table"``, ``"mat"`` or ``"svmlight"``, by the suffix before an optional ``.gz``.

    Examples
    --------
    >>> format_of("emotions.arff.gz"), format_of("mine.csv")
    ('arff', 'table')
    """
    name = Path(path).name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix not in KNOWN:
        raise DataError(f"the suffix {suffix!r} names no known format; known are {', '.join(KNOWN)}, each also with .gz.", path=path)
    return KNOWN[suffix]


def read_dataset(
    path: str | os.PathLike[str], *, xml: str | os.PathLike[str] | None = None, labels: Labels | None = None, nominal: str = "index"
) -> Dataset:
    """Read a file of any known format.

    Parameters
    ----------
    path : str or path
        ``.arff`` with a Mulan XML beside it, or of MEKA (``-C n`` in its relation); ``.csv``, ``.tsv``, ``.parquet``; ``.mat``;
        ``.svm``, ``.svmlight``, ``.libsvm``, ``.txt``. All but Parquet and Matlab also gzipped.
    xml : str or path, default=None
        Mulan label file. None: the one of the same name beside the ARFF, if there is one.
    labels : optional
        Label columns of a table; see ``read_table``.
    nominal : {"index", "onehot"}, default="index"
        Text columns of a table and nominals of an ARFF file; see ``read_table`` and ``read_mulan``.

    Returns
    -------
    Dataset
    """
    path = Path(path)
    kind = format_of(path)
    if kind == "table":
        return _read_table(path, labels, nominal)
    if kind == "mat":
        from skcamel.data.mat import read_mat

        return read_mat(path)
    if kind == "svmlight":
        from skcamel.data.svmlight import read_svmlight

        return read_svmlight(path)
    return _read_arff(path, None if xml is None else Path(xml), nominal)


def write_dataset(dataset: Dataset, path: str | os.PathLike[str], *, meka: bool = False) -> tuple[Path, ...]:
    """Write a file in the format that its suffix names.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        ``.arff`` (Mulan, with the XML beside it), ``.csv``, ``.tsv``, ``.parquet``, ``.svm``, ``.svmlight``, ``.libsvm``, ``.txt``.
    meka : bool, default=False
        Write ``.arff`` in MEKA's form, one file.

    Returns
    -------
    tuple of Path
        The files written.
    """
    path = Path(path)
    kind = format_of(path)
    if kind == "mat":
        raise DataError("Matlab files are read, not written; write .arff, .csv or .svm instead.", path=path)
    if kind == "arff":
        return _write_arff(dataset, path, meka=meka)
    if kind == "table":
        from skcamel.data.tabular import write_table

        write_table(dataset, path)
    else:
        from skcamel.data.svmlight import write_svmlight

        write_svmlight(dataset, path)
    return (path,)


def xml_beside(arff: Path) -> Path:
    """Where the label file of an ARFF file is expected: the same name, ending in ``.xml``.

    Examples
    --------
    >>> xml_beside(Path("emotions.arff.gz")).name
    'emotions.xml'
    """
    return arff.with_name(re.sub(r"\.arff(\.gz)?$", ".xml", arff.name, flags=re.IGNORECASE))


def _write_arff(dataset: Dataset, path: Path, *, meka: bool) -> tuple[Path, ...]:
    from skcamel.data.arff import write_meka, write_mulan

    if meka:
        write_meka(dataset, path)
        return (path,)
    xml = xml_beside(path)
    write_mulan(dataset, path, xml)
    return path, xml


def _read_table(path: Path, labels: Labels | None, nominal: str) -> Dataset:
    if labels is None:
        raise DataError("a table does not say which columns are labels; name them by labels= (command line: --labels).", path=path)
    from skcamel.data.tabular import read_table

    return read_table(path, labels=labels, nominal=nominal)


def _read_arff(path: Path, xml: Path | None, nominal: str) -> Dataset:
    from skcamel.data.arff import read_meka, read_mulan

    if xml is None:
        beside = (xml_beside(path), xml_beside(path.with_name(re.sub(r"[-_](train|test)(?=\.arff)", "", path.name, flags=re.IGNORECASE))))
        xml = next((found for found in beside if found.is_file()), None)
    if xml is not None:
        return read_mulan(path, xml, nominal=nominal)
    if _is_meka(path):
        return read_meka(path, nominal=nominal)
    raise DataError(
        f"no {xml_beside(path).name} lies beside it and its relation has no -C n, so its labels are unknown; "
        "give the XML file by xml= (command line: --xml).",
        path=path,
    )


def _is_meka(path: Path) -> bool:
    """Whether the first lines hold a relation with ``-C n``."""
    from skcamel.data.text import open_lines

    with open_lines(path) as file:
        return MEKA_RELATION.search(file.stream.read(1 << 16).decode("utf-8", errors="replace")) is not None

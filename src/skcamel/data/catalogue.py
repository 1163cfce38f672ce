"""The sixteen sets of the paper's Table 1 and their variants, by name: facts, places, checks; never the network.

The facts stand in ``catalogue.json``: sizes, checksums, sources, licence status, references and
known defects.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources, util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skcamel.data import DataError, Path_

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

DATA_HOME, CACHE = "SKCAMEL_DATA", "SKCAMEL_CACHE"  # environment variables
EMBEDDED = "yeast"  # the one set that a permissively licensed package carries
_warned: set[str] = set()


class DatasetNotFoundError(FileNotFoundError):
    """No place holds the data set; the message names the places and the command that gets it."""


@dataclass(frozen=True)
class DatasetFacts:
    """What is known about one data set without opening it."""

    name: str
    n: int
    d: int
    q: int
    cardinality: float
    sparse: bool
    in_paper: bool  # the very set of Table 1, not a variant
    digest: str  # of X and Y, see skcamel.data.dataset.digest
    files: Mapping[str, str]  # file name ► SHA-256 of its unpacked content
    reference: str
    licence: str
    terms: bool  # whether terms of use apply that a user has to accept
    defects: tuple[str, ...]
    sources: tuple[str, ...]  # repository@commit
    repaired: str | None = None  # the variant without the defects
    download: Any = None  # a mapping, what fetch_dataset needs; None where there is no download

    @property
    def notice(self) -> str:
        """Source, licence status and reference, to be read before a download."""
        return (
            f"{self.name}: from {', '.join(self.sources)}\nLicence: {self.licence}\nPlease cite:"
            f" {self.reference}"
        )


@dataclass(frozen=True)
class Place:
    """A folder that may hold the files of one data set, and why it is searched."""

    folder: Path
    reason: str
    name: str

    @property
    def arff(self) -> Path | None:
        """The ARFF file, plain or gzipped, where the XML lies beside it; else None."""
        plain, packed = self.folder / f"{self.name}.arff", self.folder / f"{self.name}.arff.gz"
        found = plain if plain.is_file() else packed
        return found if found.is_file() and self.xml.is_file() else None

    @property
    def xml(self) -> Path:
        """The label file."""
        return self.folder / f"{self.name}.xml"


def list_datasets() -> tuple[str, ...]:
    """Names that :func:`load_dataset` knows: the sixteen of Table 1 in its order, then the variants of rcv1.

    Examples
    --------
    >>> list_datasets()[:3]
    ('cal500', 'emotions', 'genbase')
    >>> len(list_datasets())
    23
    """
    return tuple(_catalogue())


def dataset_facts(name: str) -> DatasetFacts:
    """Sizes, checksums, source, licence status, reference and known defects of one data set.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`; capitals do not matter.

    Examples
    --------
    >>> dataset_facts("scene").q
    6
    >>> dataset_facts("scene").defects[0][:39]
    'Table 1 of the paper prints 5 labels; t'
    """
    catalogue = _catalogue()
    if not isinstance(name, str):
        raise TypeError(f"The name of a data set is a str, got {type(name).__name__}.")
    if name.lower() not in catalogue:
        near = difflib.get_close_matches(name.lower(), catalogue, n=3, cutoff=0.5)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise DataError(
            f"No data set is called {name!r}; {meant}'skcamel datasets list' shows all"
            f" {len(catalogue)} (in Python: list_datasets()); a file of your own is named with its"
            " suffix, such as mine.arff (in Python: read_dataset)."
        )
    return catalogue[name.lower()]


def load_dataset(name: str, data_home: Path_ | None = None) -> Dataset:
    """Load a benchmark set by name, checked against its known sizes and checksum; nothing is downloaded.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    data_home : str or path, default=None
        Folder with one folder per set: ``data_home/NAME/NAME.arff`` or ``.arff.gz``, and
        ``NAME.xml``. None: the folder
        that the environment variable ``SKCAMEL_DATA`` names, if it does.

    Returns
    -------
    Dataset
        From the first place that holds it: `data_home`, the cache that ``fetch_dataset`` fills, and
        for yeast the ``river``
        package.

    Raises
    ------
    DatasetNotFoundError
        Where no place holds it.
    DataError
        Where a file is not the data set that the name stands for.

    Warns
    -----
    UserWarning
        Once per process for each of the public rcv1 subsets, whose labels are partly in wrong
        columns.

    Examples
    --------
    >>> load_dataset("yeast").Y.shape
    (2417, 14)
    """
    facts, place = dataset_facts(name), whereabouts(name, data_home)
    if place is None:
        raise DatasetNotFoundError(_not_found(facts, data_home))
    dataset = _embedded_yeast(facts) if place.reason == "river" else read_checked(facts, place)
    warn_once(facts, stacklevel=3)
    return dataset


def places(name: str, data_home: Path_ | None = None) -> tuple[Place, ...]:
    """Folders to search for a data set, in order; they need not exist."""
    found = []
    if data_home is not None:
        found.append(Place(Path(data_home) / name, "data_home", name))
    elif os.environ.get(DATA_HOME):
        found.append(Place(Path(os.environ[DATA_HOME]) / name, DATA_HOME, name))
    found.append(Place(cache_folder() / name, "cache", name))
    return tuple(found)


def whereabouts(name: str, data_home: Path_ | None = None) -> Place | None:
    """Where :func:`load_dataset` would find a set; None where it would not."""
    facts = dataset_facts(name)
    for place in places(facts.name, data_home):
        if place.arff is not None:
            return place
    embedded = _river_yeast() if facts.name == EMBEDDED else None
    return None if embedded is None else Place(embedded.parent, "river", facts.name)


def cache_folder(cache: Path_ | None = None) -> Path:
    """Folder that ``fetch_dataset`` fills: the argument, else ``SKCAMEL_CACHE``, else the cache folder of the platform."""
    if cache is not None:
        return Path(cache)
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE])
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "skcamel" / "datasets"


def read_checked(facts: DatasetFacts, place: Place) -> Dataset:
    """Read the files of `place`; refuse them unless they hold exactly the data that `facts` describes."""
    from skcamel.data.arff import read_mulan

    arff = place.arff
    if arff is None:
        raise DatasetNotFoundError(
            f"{place.folder} does not hold {facts.name}.arff[.gz] and {facts.name}.xml."
        )
    dataset = read_mulan(arff, place.xml)
    as_published = all(
        _content_sha256(path) == facts.files.get(path.name.removesuffix(".gz"))
        for path in (arff, place.xml)
    )
    _check(facts, dataset, str(arff), values_known=as_published)
    return replace(dataset, name=facts.name, source=str(arff))


def _check(facts: DatasetFacts, dataset: Dataset, path: str, *, values_known: bool) -> None:
    """Compare sizes and cardinality first, for a clear message; then all values by digest, unless the file itself is known."""
    from skcamel.data.dataset import digest

    n, d, q = dataset.n, dataset.d, dataset.q
    cardinality = float(dataset.Y.sum()) / max(n, 1)
    cure = (
        f"put the published file in {Path(path).parent}, or give yours as a file, with its suffix"
        " (in Python: read_dataset)."
    )
    if (n, d, q) != (facts.n, facts.d, facts.q) or abs(cardinality - facts.cardinality) > 1e-6:
        raise DataError(
            f"this is not the data set {facts.name}: it has n={n}, d={d}, q={q}, cardinality"
            f" {cardinality:.6f}, expected n={facts.n}, d={facts.d}, q={facts.q},"
            f" {facts.cardinality:.6f}; {cure}",
            path=path,
        )
    if not values_known and digest(dataset.X, dataset.Y) != facts.digest:
        raise DataError(
            f"it has the sizes of {facts.name}, but neither its checksum nor its values agree;"
            f" {cure}",
            path=path,
        )


def _content_sha256(path: Path) -> str:
    """SHA-256 of what the file holds, unpacked."""
    from skcamel.data.text import open_lines

    hasher = hashlib.sha256()
    with open_lines(path) as file:
        while block := file.stream.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()


def _river_yeast() -> Path | None:
    """Find the yeast table inside the river package, without importing river."""
    spec = util.find_spec("river")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "datasets" / "yeast.csv.gz"
        if path.is_file():
            return path
    return None


def _embedded_yeast(facts: DatasetFacts) -> Dataset:
    """Yeast as the river package carries it: one gzipped CSV, features first, then Class1 to Class14."""
    from skcamel.data.table import read_table

    path = str(_river_yeast())
    try:
        dataset = read_table(path, labels=facts.q)
    except (OSError, ValueError) as error:  # DataError is a ValueError
        cure = "install river again: pip install --force-reinstall 'river>=0.26'."
        raise DataError(f"this table cannot be read ({error}); {cure}", path=path) from error
    _check(facts, dataset, path, values_known=False)
    return replace(dataset, name=facts.name)


def _not_found(facts: DatasetFacts, data_home: Path_ | None) -> str:
    looked = [f"{place.folder} ({place.reason})" for place in places(facts.name, data_home)]
    if data_home is None and not os.environ.get(DATA_HOME):
        looked.insert(0, f"{DATA_HOME} (not set)")
    if facts.name == EMBEDDED:
        looked.append("the river package (pip install 'skcamel[datasets]')")
    if facts.download is None:
        cure = f"skcamel has no download for it; put {files_needed(facts)}."
    else:
        cure = (
            f"skcamel datasets fetch {facts.name}{' --yes' if facts.terms else ''}; or put"
            f" {files_needed(facts)}."
        )
    return (
        f"The data set {facts.name} is not here. Looked in: {'; '.join(looked)}. To get it: {cure}"
    )


def files_needed(facts: DatasetFacts) -> str:
    """Which files to put where."""
    return (
        f"{facts.name}.arff[.gz] and {facts.name}.xml into {facts.name}/ under the folder that"
        f" {DATA_HOME} names"
    )


def warn_once(facts: DatasetFacts, *, stacklevel: int) -> None:
    """Warn of known defects if a repaired variant exists, the first time in this process."""
    if facts.repaired is None or facts.name in _warned:
        return
    _warned.add(facts.name)
    warnings.warn(
        f"{facts.name} is the public file with its known defects: {' '.join(facts.defects)} Use it"
        f" to compare with the paper, and {facts.repaired} for new work.",
        UserWarning,
        stacklevel=stacklevel,
    )


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, DatasetFacts]:
    content = json.loads(
        resources.files("skcamel.data").joinpath("catalogue.json").read_text(encoding="utf-8")
    )
    return {
        name: _facts(name, entry, content["repositories"])
        for name, entry in content["datasets"].items()
    }


def _facts(
    name: str, entry: dict[str, Any], repositories: dict[str, dict[str, str]]
) -> DatasetFacts:
    """One entry of the JSON file, its short names of repositories written out."""
    entry = {
        key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
    }
    if download := entry.get("download"):
        for part in download["parts"]:
            part["at"] = tuple(_address(place, repositories) for place in part["at"])
    return DatasetFacts(name=name, **entry)


def _address(place: str, repositories: dict[str, dict[str, str]]) -> str:
    """``owner/repository/commit/path`` from ``key:path``."""
    key, _, path = place.partition(":")
    return f"{repositories[key]['name']}/{repositories[key]['commit']}/{path}"

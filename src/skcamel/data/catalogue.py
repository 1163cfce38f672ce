"""The sixteen sets of the paper's Table 1 and their variants, by name: facts, places, checks, and the download.

The facts stand in ``catalogue.json``: sizes, digests, sources, licence status, references and known
defects. Only :func:`fetch_dataset` uses the network.
"""

from __future__ import annotations

import difflib
import gzip
import http.client
import json
import os
import sys
import tempfile
import urllib.error
import urllib.request
import warnings
import zlib
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources, util
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from skcamel.data import DataError, Path_

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

DATA_HOME, CACHE = "SKCAMEL_DATA", "SKCAMEL_CACHE"  # environment variables
EMBEDDED = "yeast"  # the one set that a permissively licensed package carries
GITHUB = "https://raw.githubusercontent.com"
_warned: set[str] = set()


class DatasetNotFoundError(FileNotFoundError):
    """No place holds the data set; the message names the places and the command that gets it."""


class TermsError(PermissionError):
    """The terms of use of the data set were not accepted."""


class DownloadError(OSError):
    """A file could not be downloaded whole; the message says why, and what to do."""


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

    @property
    def needed(self) -> str:
        """Which files to put where."""
        return (
            f"{self.name}.arff[.gz] and {self.name}.xml into {self.name}/ under the folder that"
            f" {DATA_HOME} names"
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
        for name in (f"{self.name}.arff", f"{self.name}.arff.gz"):
            if (self.folder / name).is_file() and self.xml.is_file():
                return self.folder / name
        return None

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
    dataset = _embedded_yeast(facts, place) if place.reason == "river" else _read(facts, place)
    _warn_once(facts)
    return dataset


def places(name: str, data_home: Path_ | None = None) -> tuple[Place, ...]:
    """Folders to search for a data set, in order; they need not exist."""
    cache = Place(cache_folder() / name, "cache", name)
    home = data_home or os.environ.get(DATA_HOME)
    if not home:
        return (cache,)
    reason = DATA_HOME if data_home is None else "data_home"
    return Place(Path(home) / name, reason, name), cache


def whereabouts(name: str, data_home: Path_ | None = None) -> Place | None:
    """Where :func:`load_dataset` would find a set; None where it would not."""
    facts = dataset_facts(name)
    for place in places(facts.name, data_home):
        if place.arff is not None:
            return place
    river = util.find_spec("river") if facts.name == EMBEDDED else None
    if river is None or river.origin is None:
        return None
    return Place(Path(river.origin).parent / "datasets", "river", facts.name)


def cache_folder(cache: Path_ | None = None) -> Path:
    """Folder that ``fetch_dataset`` fills: the argument, else ``SKCAMEL_CACHE``, else the cache folder of the platform."""
    chosen = cache or os.environ.get(CACHE)
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "skcamel" / "datasets"


def _read(facts: DatasetFacts, place: Place) -> Dataset:
    """Read the files of `place`; refuse them unless they hold exactly the data that `facts` describes."""
    from skcamel.data.arff import read_mulan

    if place.arff is None:
        raise DatasetNotFoundError(f"{place.folder} does not hold {facts.name} and its label file.")
    dataset = read_mulan(place.arff, place.xml)
    return _checked(facts, replace(dataset, name=facts.name, source=str(place.arff)))


def _checked(facts: DatasetFacts, dataset: Dataset) -> Dataset:
    """The data set, if its values are the expected ones."""
    from skcamel.data.dataset import digest

    folder = Path(dataset.source).parent
    hint = (
        f"put the published file in {folder}, or give yours as a file, with its suffix (in Python:"
        " read_dataset)."
    )
    found, expected = _sizes(dataset), _sizes(facts)
    if found != expected:
        raise DataError(
            f"this is not the data set {facts.name}: it has {found}, expected {expected}; {hint}",
            path=dataset.source,
        )
    if digest(dataset.X, dataset.Y) != facts.digest:
        raise DataError(
            f"it has the sizes of {facts.name}, but other values; {hint}", path=dataset.source
        )
    return dataset


def _sizes(data: Dataset | DatasetFacts) -> str:
    return f"n={data.n}, d={data.d}, q={data.q}"


def _embedded_yeast(facts: DatasetFacts, place: Place) -> Dataset:
    """Yeast as the river package carries it: one gzipped CSV, features first, then Class1 to Class14."""
    import numpy as np

    from skcamel.data.dataset import Dataset

    path, d = place.folder / "yeast.csv.gz", facts.d
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            names = file.readline().strip().split(",")
            values = np.loadtxt(file, delimiter=",", ndmin=2)
        X, Y = values[:, :d], values[:, d:]
        dataset = Dataset(X, Y, names[:d], names[d:], name=facts.name, source=str(path))
        return _checked(facts, dataset)
    except (OSError, EOFError, ValueError, zlib.error) as error:  # DataError is a ValueError
        hint = "install river again: pip install --force-reinstall 'river>=0.26'."
        raise DataError(f"this table cannot be read ({error}); {hint}", path=path) from error


def _not_found(facts: DatasetFacts, data_home: Path_ | None) -> str:
    looked = [f"{place.folder} ({place.reason})" for place in places(facts.name, data_home)]
    if data_home is None and not os.environ.get(DATA_HOME):
        looked.insert(0, f"{DATA_HOME} (not set)")
    if facts.name == EMBEDDED:
        looked.append("the river package (pip install 'skcamel[datasets]')")
    accepted = ", yes=True" if facts.terms else ""
    hint = f"skcamel.data.fetch_dataset({facts.name!r}{accepted}); or put {facts.needed}."
    if facts.download is None:
        hint = f"skcamel has no download for it; put {facts.needed}."
    where = "; ".join(looked)
    return f"The data set {facts.name} is not here. Looked in: {where}. To get it: {hint}"


def _warn_once(facts: DatasetFacts) -> None:
    """Warn of known defects if a repaired variant exists, the first time in this process."""
    if facts.repaired is None or facts.name in _warned:
        return
    _warned.add(facts.name)
    warnings.warn(
        f"{facts.name} is the public file with its known defects: {' '.join(facts.defects)} Use it"
        f" to compare with the paper, and {facts.repaired} for new work.",
        UserWarning,
        stacklevel=3,
    )


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, DatasetFacts]:
    file = resources.files("skcamel.data").joinpath("catalogue.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    found: dict[str, DatasetFacts] = {}
    for name, entry in content["datasets"].items():
        entry["defects"] = tuple(entry["defects"])
        entry["sources"] = tuple(entry["sources"])
        found[name] = DatasetFacts(name=name, **entry)
    return found


def fetch_dataset(
    name: str,
    *,
    yes: bool = False,
    cache: Path_ | None = None,
    base_url: str = GITHUB,
    timeout: float = 30.0,
) -> Dataset:
    """Download one benchmark set into the cache, from where ``load_dataset`` takes it.

    The files are fetched from public repositories at a fixed commit, converted if needed, and kept
    only if every value of X and Y is the expected one. If the cache has the set already, nothing is
    fetched. Two processes may fetch the same set at once; the cache then has the files of one of
    them.

    Parameters
    ----------
    name : str
        One of ``list_datasets()`` for which there is a download.
    yes : bool, default=False
        Accept the terms of use; needed for the rcv1 sets.
    cache : str or path, default=None
        Folder to fill. None: see ``cache_folder``.
    base_url : str, default="https://raw.githubusercontent.com"
        Host or mirror that serves ``/OWNER/REPOSITORY/COMMIT/PATH``.
    timeout : float, default=30
        Seconds without any answer from the host.

    Returns
    -------
    Dataset
        As ``load_dataset`` gives it.

    Raises
    ------
    TermsError
        If terms apply and `yes` is False.
    DownloadError
        If a file could not be downloaded, or is not the expected one.
    DatasetNotFoundError
        If there is no download for the set.
    """
    facts = dataset_facts(name)
    if facts.download is None:
        raise DatasetNotFoundError(f"skcamel has no download for {facts.name}. Put {facts.needed}.")
    if facts.terms and not yes:
        raise TermsError(
            f"{facts.notice}\nTerms apply to {facts.name}; if you accept them, pass yes=True"
            " (command line: --yes)."
        )
    if not base_url.startswith("https://"):
        raise ValueError(f"{base_url}: data is fetched by https only.")
    place = Place(cache_folder(cache) / facts.name, "cache", facts.name)
    try:
        dataset = _read(facts, place)
    except (DataError, DatasetNotFoundError):  # missing or damaged
        parts = facts.download["parts"]
        contents = {part["save_as"]: _downloaded(part, base_url, timeout) for part in parts}
        dataset = _installed(facts, contents, place)
    _warn_once(facts)
    return dataset


def _downloaded(part: Any, base_url: str, timeout: float) -> bytes:
    """A file from the first address that has it; `timeout` is in seconds without any answer."""
    for path in part["at"]:
        address = f"{base_url.rstrip('/')}/{quote(path)}"
        try:
            with urllib.request.urlopen(address, timeout=timeout) as response:  # noqa: S310 https, see fetch_dataset
                content = response.read(part["max_bytes"] + 1)
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError) and error.code == 404:
                continue
            raise DownloadError(
                f"{address} could not be fetched ({error}); is this machine online? Run it again"
                " later, or put the files into data_home."
            ) from error
        if len(content) > part["max_bytes"]:
            raise DownloadError(
                f"{address} is larger than {part['max_bytes']} bytes, the most that the published"
                " file has."
            )
        return content
    raise DownloadError(
        f"Not found (HTTP 404): {', '.join(part['at'])}. The files have moved; put them in place by"
        " hand (data_home)."
    )


def _installed(facts: DatasetFacts, contents: dict[str, bytes], place: Place) -> Dataset:
    """Build the set beside its place, check it there as ``load_dataset`` would, then move it in one step."""
    parent = place.folder.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{facts.name}.", dir=parent) as work:
            staged = replace(place, folder=Path(work, "whole"))
            staged.folder.mkdir()
            _stage(facts, contents, Path(work), staged)
            dataset = _read(facts, staged)
            if place.folder.exists():  # damaged, or of another process that was faster
                place.folder.rename(Path(work, "before"))
            staged.folder.rename(place.folder)
    except (DataError, UnicodeError) as error:
        raise DownloadError(
            f"What was sent for {facts.name} is not the expected data ({error}). Nothing was kept;"
            " run it again. If the error stays, the host has other files than the pinned ones."
        ) from error
    except OSError as error:
        raise DownloadError(
            f"{parent} cannot be written: {error.strerror or error}; free some space, or set"
            f" {CACHE} to another folder. Nothing was kept."
        ) from error
    return replace(dataset, source=str(place.arff))


def _stage(facts: DatasetFacts, contents: dict[str, bytes], work: Path, staged: Place) -> None:
    """Write the downloaded files as one ARFF and its label file."""
    from skcamel.data.arff import read_mulan, write_mulan
    from skcamel.data.mat import read_mat

    form = facts.download["form"]
    folder = staged.folder if form == "mulan" else work
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    if form == "mulan":
        return
    files = [folder / name for name in contents]
    if form == "mulan-parts":
        train, test, xml = files
        dataset = read_mulan(train, xml, test=test)
    else:  # the source has no names, so they are numbered
        dataset = _numbered(read_mat(files[0]), facts)
    dataset = replace(dataset, train=None, test=None, name=facts.name)  # one file holds no parts
    write_mulan(dataset, staged.folder / f"{facts.name}.arff", staged.xml)


def _numbered(dataset: Dataset, facts: DatasetFacts) -> Dataset:
    """A data set with numbered names, stored as `facts` say."""
    from scipy import sparse

    from skcamel.arrays import default_names

    return replace(
        dataset,
        X=sparse.csr_array(dataset.X) if facts.sparse else dataset.X,
        feature_names=default_names(facts.download["feature_prefix"], dataset.d),
        label_names=default_names(facts.download["label_prefix"], dataset.q),
    )

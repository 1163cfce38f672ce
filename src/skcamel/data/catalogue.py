"""The sixteen sets of the paper's Table 1 and their variants: facts, places, checks, downloads.

The facts stand in ``catalogue.json``: sizes, digests, sources, licence status, references and known
defects. Only :func:`fetch_dataset` uses the network.
"""

from __future__ import annotations

import difflib
import http.client
import json
import os
import tempfile
import urllib.error
import urllib.request
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources, util
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from skcamel.data import DataError, Path_

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

DATA_HOME, CACHE = "SKCAMEL_DATA", "SKCAMEL_CACHE"  # environment variables
EMBEDDED = "yeast"  # the one set that a permissively licensed package, river, carries
RIVER_FILE = "yeast.csv.gz"
GITHUB = "https://raw.githubusercontent.com"


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
    defects: list[str]
    sources: list[str]  # repository@commit
    repaired: str | None = None  # the variant without the defects
    download: Any = None  # a mapping, what fetch_dataset needs; None where there is no download

    def how_to_get(self) -> str:
        """What a user calls to have it."""
        if self.download is None:
            return f"skcamel has no download for {self.name}"
        accepted = ", yes=True" if self.terms else ""
        return f"To get it: skcamel.data.fetch_dataset({self.name!r}{accepted})"


def list_datasets() -> tuple[str, ...]:
    """Names that :func:`load_dataset` knows: the sixteen of Table 1, then the variants of rcv1.

    Examples
    --------
    >>> list_datasets()[:3]
    ('cal500', 'emotions', 'genbase')
    >>> len(list_datasets())
    23
    """
    return tuple(_catalogue())


@cache
def _catalogue() -> dict[str, DatasetFacts]:
    file = resources.files("skcamel.data").joinpath("catalogue.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    return {name: DatasetFacts(name=name, **entry) for name, entry in content["datasets"].items()}


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
    key = str(name).lower()
    if key not in catalogue:
        near = difflib.get_close_matches(key, catalogue, n=3, cutoff=0.5)
        raise DataError(
            f"No data set is called {name!r}; similar names: {', '.join(near) or 'none'}. 'skcamel"
            " datasets list' shows all (in Python: list_datasets()); a file of your own is named"
            " with its suffix, such as mine.arff (in Python: read_dataset)."
        )
    return catalogue[key]


def load_dataset(name: str, data_home: Path_ | None = None) -> Dataset:
    """Load a benchmark set by name, checked by sizes and digest; nothing is downloaded.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    data_home : str or path, default=None
        Folder with one folder per set: ``data_home/NAME/NAME.arff`` or ``.arff.gz``, and
        ``NAME.xml``. None: the folder that the environment variable ``SKCAMEL_DATA`` names, if it
        does.

    Returns
    -------
    Dataset
        From the first place that holds it: `data_home`, the cache that ``fetch_dataset`` fills, and
        for yeast the ``river`` package.

    Raises
    ------
    DatasetNotFoundError
        Where no place holds it.
    DataError
        Where a file is not the data set that the name stands for.

    Warns
    -----
    UserWarning
        For each of the public rcv1 subsets, whose labels are partly in wrong columns.

    Examples
    --------
    >>> load_dataset("yeast").Y.shape
    (2417, 14)
    """
    facts = dataset_facts(name)
    path = whereabouts(facts.name, data_home)
    if path is None:
        looked = ", ".join(map(str, places(facts.name, data_home)))
        raise DatasetNotFoundError(
            f"The data set {facts.name} is not here. Looked in: {looked}. {facts.how_to_get()}; or"
            f" put {facts.name}.arff[.gz] and {facts.name}.xml into {facts.name}/ under the folder"
            f" that {DATA_HOME} names."
        )
    dataset = _checked(facts, _read(path, facts), path)
    if facts.repaired is not None:
        warnings.warn(
            f"{facts.name} is the public file with its known defects: {' '.join(facts.defects)} Use"
            f" it to compare with the paper, and {facts.repaired} for new work.",
            UserWarning,
            stacklevel=2,
        )
    return dataset


def cache_folder() -> Path:
    """Folder that ``fetch_dataset`` fills: ``SKCAMEL_CACHE``, else one under ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(CACHE) or Path(base, "skcamel", "datasets"))


def places(name: str, data_home: Path_ | None = None) -> list[Path]:
    """Folders to search for a data set, in order; they need not exist."""
    home = data_home or os.environ.get(DATA_HOME)
    folders = [cache_folder()]
    if home:
        folders.insert(0, Path(home))
    return [folder / name for folder in folders]


def whereabouts(name: str, data_home: Path_ | None = None) -> Path | None:
    """The file from which :func:`load_dataset` would read a set; None where there is none."""
    for folder in places(name, data_home):
        for suffix in (".arff", ".arff.gz"):
            path = folder / f"{name}{suffix}"
            if path.is_file():
                return path
    river = util.find_spec("river") if name == EMBEDDED else None
    if river is None or river.origin is None:
        return None
    return Path(river.origin).parent / "datasets" / RIVER_FILE


def _read(path: Path, facts: DatasetFacts) -> Dataset:
    """A Mulan file, or yeast as the river package carries it: d features, then the labels."""
    import numpy as np  # slow to import, and not needed to list the sets

    from skcamel.arrays import default_names
    from skcamel.data.arff import read_mulan
    from skcamel.data.dataset import Dataset

    if path.name != RIVER_FILE:
        return read_mulan(path)
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    X, Y = np.split(values, [facts.d], axis=1)
    return Dataset(X, Y, default_names("Att", facts.d), default_names("Class", facts.q))


def _checked(facts: DatasetFacts, dataset: Dataset, path: Path) -> Dataset:
    """The data set under its name, if its values are the expected ones."""
    if dataset.sha256 != facts.digest:
        raise DataError(
            f"this is not the data set {facts.name}: {dataset!r} has other sizes or values than the"
            f" published {facts.n} rows, {facts.d} features and {facts.q} labels; put the published"
            f" file in {path.parent}, or give yours as a file, with its suffix (in Python:"
            " read_dataset).",
            path=path,
        )
    return replace(dataset, name=facts.name, source=str(path))


def fetch_dataset(
    name: str,
    *,
    yes: bool = False,
    cache: Path_ | None = None,
    timeout: float = 30.0,
) -> Dataset:
    """Download one benchmark set into the cache, from where ``load_dataset`` takes it.

    The files are fetched from public repositories at a fixed commit, and kept only if every value
    of X and Y is the expected one. If the cache has the set already, nothing is fetched.

    Parameters
    ----------
    name : str
        One of ``list_datasets()`` for which there is a download.
    yes : bool, default=False
        Accept the terms of use; needed for the rcv1 sets.
    cache : str or path, default=None
        Folder to fill. None: the variable ``SKCAMEL_CACHE``, else one under ``~/.cache``.
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
    from skcamel.data.arff import write_mulan

    facts = dataset_facts(name)
    if facts.download is None:
        raise DatasetNotFoundError(f"{facts.how_to_get()}.")
    if facts.terms and not yes:
        raise TermsError(
            f"{facts.name}: from {', '.join(facts.sources)}\nLicence: {facts.licence}\nPlease cite:"
            f" {facts.reference}\nTerms apply; if you accept them, pass yes=True."
        )
    home = Path(cache or cache_folder())
    with suppress(DataError, DatasetNotFoundError):  # damaged or missing
        return load_dataset(facts.name, home)
    try:
        with tempfile.TemporaryDirectory() as work:
            for part in facts.download["parts"]:
                content = _downloaded(part, timeout)
                Path(work, part["save_as"]).write_bytes(content)
            dataset = _checked(facts, _converted(facts, Path(work)), Path(work))
    except DataError as error:
        raise DownloadError(
            f"What was sent for {facts.name} is not the expected data ({error}). Nothing was kept;"
            " run it again. If the error stays, the host has other files than the pinned ones."
        ) from error
    folder = home / facts.name
    folder.mkdir(parents=True, exist_ok=True)
    write_mulan(dataset, folder / f"{facts.name}.arff")
    return load_dataset(facts.name, home)


def _downloaded(part: Any, timeout: float) -> bytes:
    """A file from the first address that has it; `timeout` is in seconds without any answer."""
    problem = ""
    for path in part["at"]:
        address = f"{GITHUB}/{quote(path)}"
        try:
            with urllib.request.urlopen(address, timeout=timeout) as response:  # noqa: S310 https
                return response.read(part["max_bytes"])  # what is cut is not the expected data
        except (OSError, http.client.HTTPException) as error:
            problem = f"{address} could not be fetched ({error})"
    raise DownloadError(
        f"{problem}; is this machine online? Run it again later, or put the files into data_home."
    )


def _converted(facts: DatasetFacts, folder: Path) -> Dataset:
    """The data set that downloaded files hold, sparse as the published one is."""
    from scipy import sparse

    from skcamel.arrays import default_names
    from skcamel.data.sources import read_dataset

    plan = facts.download
    files = [folder / part["save_as"] for part in plan["parts"]]
    has_parts = plan["form"] == "mulan-parts"
    dataset = read_dataset(files[0], test=files[1] if has_parts else None)
    if plan["form"] == "mat":  # without names
        labels = default_names(plan["label_prefix"], dataset.q)
        dataset = replace(dataset, X=sparse.csr_array(dataset.X), label_names=labels)
    return replace(dataset, train=None, test=None)  # one file holds no parts

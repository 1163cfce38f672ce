"""Public, commit-pinned files ► the user's cache, whole and checked, or not at all."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from skcamel.data.catalogue import DatasetFacts, DatasetNotFoundError, Place, cache_folder, dataset_facts, read_checked, warn_once
from skcamel.data.download import DownloadError, check_address, download
from skcamel.data.errors import DataError
from skcamel.data.locking import exclusive

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

GITHUB = "https://raw.githubusercontent.com"
FileProgress = Callable[[str, int, int | None], None]  # file, bytes so far, bytes in all where known
DATA_LINE = re.compile(rb"^[ \t]*@data[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)


class TermsError(PermissionError):
    """Terms of use apply to the data set and were not accepted."""


def fetch_dataset(
    name: str,
    *,
    yes: bool = False,
    cache: str | os.PathLike[str] | None = None,
    base_url: str = GITHUB,
    timeout: float = 30.0,
    announce: Callable[[str], object] | None = None,
    progress: FileProgress | None = None,
) -> Dataset:
    """Download one benchmark set into the cache, from where ``load_dataset`` takes it.

    The files are fetched from public repositories at a fixed commit, converted where needed, and kept only if every value
    of X and Y is the expected one. Where the cache has the set already, nothing is fetched. Two processes may fetch the
    same set at once: one works, the other waits and takes the result.

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
    announce : callable, optional
        Called once, before anything is fetched, with source, licence status and reference.
    progress : callable, optional
        Called with file name, bytes so far and bytes in all (None where unknown).

    Returns
    -------
    Dataset
        As ``load_dataset`` gives it.

    Raises
    ------
    TermsError
        Where terms apply and `yes` is False.
    DownloadError
        Where a file could not be had, or is not the expected one.
    DatasetNotFoundError
        Where there is no download for the set.
    """
    facts = dataset_facts(name)
    _check_fetchable(facts, yes=yes)
    check_address(base_url)
    if announce is not None:
        announce(facts.notice)
    folder = cache_folder(cache)
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive(folder / f".{facts.name}.lock"):
        dataset = _cached(facts, folder)
        if dataset is None:
            partial = folder / f".{facts.name}.part"
            files = _download_parts(facts, partial, base_url=base_url, timeout=timeout, progress=progress)
            dataset = _install(facts, files, folder)
            shutil.rmtree(partial, ignore_errors=True)
    warn_once(facts, stacklevel=3)
    return dataset


def _check_fetchable(facts: DatasetFacts, *, yes: bool) -> None:
    if facts.download is None:
        raise DatasetNotFoundError(
            f"skcamel has no download for {facts.name}. Put {facts.name}.arff[.gz] and {facts.name}.xml into "
            f"{facts.name}/ under the folder that SKCAMEL_DATA names."
        )
    if facts.terms and not yes:
        raise TermsError(f"{facts.notice}\nTerms apply to {facts.name}; if you accept them, pass yes=True (command line: --yes).")


def _cached(facts: DatasetFacts, folder: Path) -> Dataset | None:
    """Read the set as it lies in the cache; None where it is missing or damaged."""
    place = Place(folder / facts.name, "cache", facts.name)
    try:
        return None if place.arff is None else read_checked(facts, place)
    except DataError:
        return None  # fetched anew and put in its place


def _download_parts(facts: DatasetFacts, partial: Path, *, base_url: str, timeout: float, progress: FileProgress | None) -> list[Path]:
    partial.mkdir(exist_ok=True)
    files = []
    for part in _plan(facts)["parts"]:
        target = partial / part["save_as"]
        files.append(target)
        if (done := target.with_name(f"{target.name}.done")).exists():
            continue
        addresses = [f"{base_url.rstrip('/')}/{quote(path)}" for path in part["at"]]
        report = None if progress is None else _for_file(progress, part["save_as"])
        try:
            download(addresses, target, max_bytes=part["max_bytes"], timeout=timeout, progress=report)
        except DownloadError:
            with suppress(OSError):  # not empty: what is there is kept for the next call
                partial.rmdir()
            raise
        done.touch()
    return files


def _for_file(progress: FileProgress, name: str) -> Callable[[int, int | None], None]:
    return lambda done, total: progress(name, done, total)


def _install(facts: DatasetFacts, files: list[Path], folder: Path) -> Dataset:
    """Build the set beside its place, check it there as ``load_dataset`` would, then move it in one step."""
    staged = Place(folder / f".{facts.name}.new", "download", facts.name)
    shutil.rmtree(staged.folder, ignore_errors=True)  # left by a process that was killed
    staged.folder.mkdir()
    try:
        BUILDERS[_plan(facts)["form"]](facts, files, staged)
        dataset = read_checked(facts, staged)
        final = _move(staged, folder / facts.name)
    except (DataError, UnicodeError) as error:
        shutil.rmtree(files[0].parent, ignore_errors=True)
        raise DownloadError(
            f"What was sent for {facts.name} is not the expected data ({error}). Nothing was kept; run it again, and if it stays "
            "so, the host has other files than the pinned ones."
        ) from error
    except OSError as error:
        shutil.rmtree(files[0].parent, ignore_errors=True)
        raise DownloadError(
            f"{folder} cannot be written: {error.strerror or error}; free some space, or set SKCAMEL_CACHE. Nothing was kept."
        ) from error
    finally:
        shutil.rmtree(staged.folder, ignore_errors=True)
    return replace(dataset, source=str(final.arff))


def _move(staged: Place, final: Path) -> Place:
    """Put the checked folder in its place; a damaged one that stands there goes first."""
    for path in staged.folder.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    old = final.with_name(f".{final.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if final.exists():
        final.rename(old)
    staged.folder.rename(final)
    shutil.rmtree(old, ignore_errors=True)
    return Place(final, "cache", final.name)


def _plan(facts: DatasetFacts) -> Any:
    return facts.download


def _copy_mulan(facts: DatasetFacts, files: list[Path], staged: Place) -> None:
    """ARFF and XML as published."""
    arff, xml = files
    shutil.copyfile(arff, staged.folder / f"{facts.name}.arff")
    shutil.copyfile(xml, staged.xml)


def _join_mulan(facts: DatasetFacts, files: list[Path], staged: Place) -> None:
    """Put the rows of the training file, then those of the test file, under one header."""
    train, test, xml = files
    header, rows = _split_arff(train)
    test_header, test_rows = _split_arff(test)
    if _attributes(header) != _attributes(test_header):
        raise DataError(f"{train.name} and {test.name} declare different attributes")
    parts = (header, rows.rstrip(), b"\n", test_rows)
    (staged.folder / f"{facts.name}.arff").write_bytes(b"".join(parts))
    shutil.copyfile(xml, staged.xml)


def _split_arff(path: Path) -> tuple[bytes, bytes]:
    content = path.read_bytes()
    line = DATA_LINE.search(content)
    if line is None:
        raise DataError(f"{path.name} has no @data line")
    return content[: line.end()], content[line.end() :]


def _attributes(header: bytes) -> list[bytes]:
    lines = (line.strip() for line in header.splitlines())
    return [line for line in lines if line[:10].lower() == b"@attribute"]


def _convert_mat(facts: DatasetFacts, files: list[Path], staged: Place) -> None:
    """Matlab arrays, training rows first; the source has no names, so they are numbered."""
    from scipy import sparse

    from skcamel.data.arff import write_mulan
    from skcamel.data.dataset import default_names
    from skcamel.data.mat import read_mat

    plan, dataset = _plan(facts), read_mat(files[0])
    dataset = replace(
        dataset,
        X=sparse.csr_array(dataset.X) if facts.sparse else dataset.X,
        feature_names=default_names(plan["feature_prefix"], dataset.d),
        label_names=default_names(plan["label_prefix"], dataset.q),
        train=None,  # one file holds no parts
        test=None,
        name=facts.name,
    )
    write_mulan(dataset, staged.folder / f"{facts.name}.arff", staged.xml)


BUILDERS: dict[str, Callable[[DatasetFacts, list[Path], Place], None]] = {
    "mulan": _copy_mulan,
    "mulan-parts": _join_mulan,
    "mat": _convert_mat,
}

"""Public, commit-pinned files ► the user's cache, whole and checked, or not at all."""

from __future__ import annotations

import http.client
import re
import tempfile
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from skcamel.data import DataError, Path_
from skcamel.data.catalogue import (
    DatasetFacts,
    DatasetNotFoundError,
    Place,
    cache_folder,
    dataset_facts,
    files_needed,
    read_checked,
    warn_once,
)

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

GITHUB = "https://raw.githubusercontent.com"
ATTRIBUTE = re.compile(rb"^[ \t]*(@attribute[^\r\n]*?)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
DATA_LINE = re.compile(rb"^[ \t]*@data[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
BLOCK = 1 << 16

FileProgress = Callable[
    [str, int, int | None], None
]  # name of a file, bytes so far, bytes in all where the host says so


class TermsError(PermissionError):
    """The terms of use of the data set were not accepted."""


class DownloadError(OSError):
    """A file could not be downloaded whole; the message says why, and what to do."""


def fetch_dataset(
    name: str,
    *,
    yes: bool = False,
    cache: Path_ | None = None,
    base_url: str = GITHUB,
    timeout: float = 30.0,
    announce: Callable[[str], object] | None = None,
    progress: FileProgress | None = None,
) -> Dataset:
    """Download one benchmark set into the cache, from where ``load_dataset`` takes it.

    The files are fetched from public repositories at a fixed commit, converted if needed, and kept
    only if every value
    of X and Y is the expected one. If the cache has the set already, nothing is fetched. Two
    processes may fetch the
    same set at once; the cache then has the files of one of them.

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
        If terms apply and `yes` is False.
    DownloadError
        If a file could not be downloaded, or is not the expected one.
    DatasetNotFoundError
        If there is no download for the set.
    """
    facts = dataset_facts(name)
    if facts.download is None:
        raise DatasetNotFoundError(
            f"skcamel has no download for {facts.name}. Put {files_needed(facts)}."
        )
    if facts.terms and not yes:
        raise TermsError(
            f"{facts.notice}\nTerms apply to {facts.name}; if you accept them, pass yes=True"
            " (command line: --yes)."
        )
    check_address(base_url)
    if announce is not None:
        announce(facts.notice)
    place = Place(cache_folder(cache) / facts.name, "cache", facts.name)
    try:
        dataset = read_checked(facts, place)
    except (DataError, DatasetNotFoundError):  # missing or damaged
        contents = [
            _downloaded(part, base_url, timeout, progress) for part in facts.download["parts"]
        ]
        dataset = _installed(facts, contents, place)
    warn_once(facts, stacklevel=3)
    return dataset


def _installed(facts: DatasetFacts, contents: list[bytes], place: Place) -> Dataset:
    """Build the set beside its place, check it there as ``load_dataset`` would, then move it in one step."""
    folder = place.folder.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{facts.name}.", dir=folder) as work:
            staged = replace(place, folder=Path(work, "whole"))
            staged.folder.mkdir()
            write = _write_mat if facts.download["form"] == "mat" else _write_mulan
            write(facts, contents, staged)
            dataset = read_checked(facts, staged)
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
            f"{folder} cannot be written: {error.strerror or error}; free some space, or set"
            " SKCAMEL_CACHE to another folder. Nothing was kept."
        ) from error
    return replace(dataset, source=str(place.arff))


def _write_mulan(_: DatasetFacts, contents: list[bytes], place: Place) -> None:
    """ARFF and XML as published; rows of a training file, then those of a test file, under one header."""
    *tables, xml = contents
    joined = tables[0]
    for table in tables[1:]:
        header, *rows = DATA_LINE.split(table, maxsplit=1)
        if ATTRIBUTE.findall(header) != ATTRIBUTE.findall(DATA_LINE.split(joined)[0]):
            raise DataError("the training and the test file declare different attributes")
        joined = joined.rstrip() + b"\n" + b"".join(rows)
    (place.folder / f"{place.name}.arff").write_bytes(joined)
    place.xml.write_bytes(xml)


def _write_mat(facts: DatasetFacts, contents: list[bytes], place: Place) -> None:
    """Matlab arrays, training rows first; the source has no names, so they are numbered."""
    from scipy import sparse

    from skcamel.arrays import default_names
    from skcamel.data.arff import write_mulan
    from skcamel.data.mat import read_mat

    source = place.folder.with_suffix(".mat")
    source.write_bytes(contents[0])
    dataset = read_mat(source)
    named = replace(
        dataset,
        X=sparse.csr_array(dataset.X) if facts.sparse else dataset.X,
        feature_names=default_names(facts.download["feature_prefix"], dataset.d),
        label_names=default_names(facts.download["label_prefix"], dataset.q),
        train=None,  # one file holds no parts
        test=None,
        name=facts.name,
    )
    write_mulan(named, place.folder / f"{place.name}.arff", place.xml)


def _downloaded(part: Any, base_url: str, timeout: float, progress: FileProgress | None) -> bytes:
    """A file from the first address that has it; `timeout` is in seconds without any answer."""
    for path in part["at"]:
        address = f"{base_url.rstrip('/')}/{quote(path)}"
        try:
            with urllib.request.build_opener(_NoDowngrade).open(
                address, timeout=timeout
            ) as response:
                return _received(response, part, progress)
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, DownloadError):
                raise
            if getattr(error, "code", None) != 404:
                raise DownloadError(
                    f"{address} could not be fetched ({error}); is this machine online? "
                    "Run it again later, or put the files into data_home."
                ) from error
    raise DownloadError(
        f"Not found (HTTP 404): {', '.join(part['at'])}. The files have moved; put them in place by"
        " hand (data_home)."
    )


def _received(
    response: http.client.HTTPResponse, part: Any, progress: FileProgress | None
) -> bytes:
    """The whole body of a response, if it is no larger than the published file."""
    total = response.length
    content = bytearray()
    while max(len(content), total or 0) <= part["max_bytes"]:
        block = response.read(BLOCK)
        if not block:
            break
        content += block
        if progress is not None:
            progress(part["save_as"], len(content), total)
    else:
        raise DownloadError(
            f"{response.url} is larger than {part['max_bytes']} bytes, the most that the published"
            " file has."
        )
    if total is not None and len(content) < total:
        raise OSError(f"the connection ended after {len(content)} of {total} bytes")
    return bytes(content)


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from https to anything else."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> Any:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise DownloadError(
                f"{req.full_url} redirects to {newurl}, which is not https; refused."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_address(address: str) -> None:
    """Refuse addresses other than https, or http on this machine."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in THIS_MACHINE):
        raise ValueError(f"{address}: data is fetched by https only (or http from this machine).")

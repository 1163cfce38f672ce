"""Public, commit-pinned files ► the user's cache, whole and checked, or not at all; one process at a time.

Downloads need only the standard library. The package pooch resumes no download and limits no size, so it would not shorten this.
"""

from __future__ import annotations

import errno
import http.client
import ipaddress
import os
import re
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import skcamel
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
DATA_LINE = re.compile(rb"^[ \t]*@data[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
BLOCK = 1 << 16
ATTEMPTS = 4  # connections per address; each goes on where the last one stopped
PAUSE = 0.5  # seconds before the second connection, doubled before each further one

Listener = Callable[[int, int | None], None]  # bytes so far, bytes in all where the host says so
FileProgress = Callable[[str, int, int | None], None]  # the same for a file of this name


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

    The files are fetched from public repositories at a fixed commit, converted if needed, and kept only if every value
    of X and Y is the expected one. If the cache has the set already, nothing is fetched. Two processes may fetch the
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
        If terms apply and `yes` is False.
    DownloadError
        If a file could not be downloaded, or is not the expected one.
    DatasetNotFoundError
        If there is no download for the set.
    """
    facts = dataset_facts(name)
    if facts.download is None:
        raise DatasetNotFoundError(f"skcamel has no download for {facts.name}. Put {files_needed(facts)}.")
    if facts.terms and not yes:
        raise TermsError(f"{facts.notice}\nTerms apply to {facts.name}; if you accept them, pass yes=True (command line: --yes).")
    check_address(base_url)
    if announce is not None:
        announce(facts.notice)
    folder = cache_folder(cache)
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive(folder / f".{facts.name}.lock"):
        dataset = _cached(facts, folder)
        if dataset is None:
            parts = folder / f".{facts.name}.part"
            files = _download_parts(facts, parts, base_url=base_url, timeout=timeout, progress=progress)
            dataset = _install(facts, files, folder)
            shutil.rmtree(parts, ignore_errors=True)
    warn_once(facts, stacklevel=3)
    return dataset


def _cached(facts: DatasetFacts, folder: Path) -> Dataset | None:
    """Read the set as it lies in the cache; None where it is missing or damaged."""
    place = Place(folder / facts.name, "cache", facts.name)
    try:
        return None if place.arff is None else read_checked(facts, place)
    except DataError:
        return None  # fetched anew and put in its place


def _download_parts(facts: DatasetFacts, parts: Path, *, base_url: str, timeout: float, progress: FileProgress | None) -> list[Path]:
    parts.mkdir(exist_ok=True)
    files = []
    for part in facts.download["parts"]:
        target = parts / part["save_as"]
        files.append(target)
        if (done := target.with_name(f"{target.name}.done")).exists():
            continue
        addresses = [f"{base_url.rstrip('/')}/{quote(path)}" for path in part["at"]]
        report = None if progress is None else partial(progress, part["save_as"])
        try:
            download(addresses, target, max_bytes=part["max_bytes"], timeout=timeout, progress=report)
        except DownloadError:
            with suppress(OSError):  # not empty: what is there is kept for the next call
                parts.rmdir()
            raise
        done.touch()
    return files


def _install(facts: DatasetFacts, files: list[Path], folder: Path) -> Dataset:
    """Build the set beside its place, check it there as ``load_dataset`` would, then move it in one step."""
    staged = Place(folder / f".{facts.name}.new", "download", facts.name)
    shutil.rmtree(staged.folder, ignore_errors=True)  # left by a process that was killed
    staged.folder.mkdir()
    try:
        BUILDERS[facts.download["form"]](facts, files, staged)
        dataset = read_checked(facts, staged)
        final = _move(staged, folder / facts.name)
    except (DataError, UnicodeError, OSError) as error:
        shutil.rmtree(files[0].parent, ignore_errors=True)
        if isinstance(error, OSError):
            problem = f"{folder} cannot be written: {error.strerror or error}; free some space, or set SKCAMEL_CACHE. Nothing was kept."
        else:
            problem = (
                f"What was sent for {facts.name} is not the expected data ({error}). Nothing was kept; run it again. If the error stays, "
                "the host has other files than the pinned ones."
            )
        raise DownloadError(problem) from error
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
    from skcamel.data.mat import read_mat
    from skcamel.rows import default_names

    plan, dataset = facts.download, read_mat(files[0])
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


class _InterruptedTransferError(Exception):
    """The connection gave less than the whole file: worth another try."""


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from https to anything else."""

    def redirect_request(self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> Any:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise DownloadError(f"{req.full_url} redirects to {newurl}, which is not https; refused.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(addresses: Sequence[str], target: Path, *, max_bytes: int, timeout: float = 30.0, progress: Listener | None = None) -> str:
    """Fetch the first address that exists into `target` and return it; bytes already there are not fetched again.

    `target` grows as bytes arrive. After an interruption it stays, so that a later call resumes; if the content cannot be right
    (larger than `max_bytes`, disk full) it is removed. `timeout` is in seconds without any answer.
    """
    for address in addresses:
        check_address(address)
    for address in addresses:
        if _fetch_from(address, target, max_bytes=max_bytes, timeout=timeout, progress=progress):
            return address
    target.unlink(missing_ok=True)
    raise DownloadError(f"Not found (HTTP 404): {', '.join(addresses)}. The files have moved; put them in place by hand (data_home).")


def check_address(address: str) -> None:
    """Refuse addresses other than https, or http on this machine."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
        raise ValueError(f"{address}: data is fetched by https only (or http from this machine).")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _fetch_from(address: str, target: Path, *, max_bytes: int, timeout: float, progress: Listener | None) -> bool:
    """Whether the address has the file; several connections, each resuming."""
    reason = ""
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * 2 ** (attempt - 1) if attempt else 0)
        try:
            _transfer(address, target, max_bytes=max_bytes, timeout=timeout, progress=progress)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 404:
                return False
            if error.code == 416:  # the host does not know the bytes after ours: begin anew
                target.unlink(missing_ok=True)
            elif error.code < 500 and error.code != 429:
                raise DownloadError(f"{address} answered HTTP {error.code} {error.reason}; nothing was changed.") from error
            reason = f"HTTP {error.code} {error.reason}"
        except _InterruptedTransferError as error:
            reason = str(error)
        else:
            return True
    have = _size(target)
    cure = f"{have} bytes are kept, run it again to go on" if have else "is this machine online? Else put the files into data_home"
    raise DownloadError(f"{address} could not be fetched ({reason}) in {ATTEMPTS} tries; {cure}.")


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _transfer(address: str, target: Path, *, max_bytes: int, timeout: float, progress: Listener | None) -> None:
    """One connection: append what is missing to `target`."""
    have = _size(target)
    headers = {"User-Agent": f"skcamel/{skcamel.__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - check_address has seen the scheme
    with _interruptions():
        response = urllib.request.build_opener(_NoDowngrade).open(request, timeout=timeout)
    with response:
        start = _first_byte(response, have)
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else None
        _refuse_if_larger(address, target, total or 0, max_bytes)
        done = start
        with target.open("r+b" if start else "wb") as file:
            file.seek(start)
            while block := _next_block(response):
                done += len(block)
                _refuse_if_larger(address, target, done, max_bytes)
                write_block(file, block, target)
                if progress is not None:
                    progress(done, total)
    if total is not None and done < total:
        raise _InterruptedTransferError(f"the connection ended after {done} of {total} bytes")


def _first_byte(response: http.client.HTTPResponse, have: int) -> int:
    """Where the sent bytes begin: `have` if the host resumes, 0 if it sends the whole file again."""
    if response.status != 206:
        return 0
    sent = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if sent is None or int(sent[1]) != have:
        raise _InterruptedTransferError("the host sent another part of the file than asked for")
    return have


def _next_block(response: http.client.HTTPResponse) -> bytes:
    with _interruptions():
        return response.read(BLOCK)


@contextmanager
def _interruptions() -> Iterator[None]:
    """Within the body, a broken connection deserves another try; an answer of the host, or a refusal, does not."""
    try:
        yield
    except (urllib.error.HTTPError, DownloadError):
        raise
    except (OSError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", error)  # without the wrapping of urllib
        said = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
        raise _InterruptedTransferError(said) from error


def write_block(file: IO[bytes], block: bytes, target: Path) -> None:
    """Write and flush one block; if the disk refuses, free what was taken."""
    try:
        file.write(block)
        file.flush()
    except OSError as error:
        target.unlink(missing_ok=True)
        full = error.errno == errno.ENOSPC
        cure = "the disk is full; free some space" if full else f"{error.strerror or error}; set SKCAMEL_CACHE to another folder"
        raise DownloadError(f"{target.parent} cannot be written: {cure}, then run it again. Nothing was kept.") from error


def _refuse_if_larger(address: str, target: Path, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        target.unlink(missing_ok=True)
        raise DownloadError(f"{address} is larger than {max_bytes} bytes, the most that the published file has; nothing was kept.")


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def exclusive(path: Path, *, wait: float = 600.0) -> Iterator[None]:
    """Hold the lock file `path` while the body runs; others wait for `wait` seconds, then raise TimeoutError.

    The operating system frees the lock when its holder ends, however it ends. The file itself stays, empty:
    if it were removed, two holders could lock two files of one name.
    """
    deadline = time.monotonic() + wait
    with path.open("a+b") as file:
        while True:
            try:
                _try_lock(file.fileno())
                break
            except (BlockingIOError, PermissionError) as error:  # held elsewhere: POSIX says the first, Windows the second
                if time.monotonic() >= deadline:
                    raise TimeoutError(f"Another process has held {path} for {wait:g} seconds; wait for it to end, or end it.") from error
                time.sleep(0.05)
        yield  # closing the file releases the lock

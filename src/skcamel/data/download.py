"""One address ► one file, with size limit, timeout and resume; only the standard library."""

from __future__ import annotations

import errno
import http.client
import ipaddress
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import skcamel

BLOCK = 1 << 16
ATTEMPTS = 4  # connections per address; each goes on where the last one stopped
PAUSE = 0.5  # seconds before the second connection, doubled before each further one
Progress = Callable[[int, int | None], None]  # bytes so far, bytes in all where the host says so


class DownloadError(OSError):
    """A file could not be had whole; the message says what stopped it and what to do."""


class _InterruptedTransferError(Exception):
    """The connection gave less than the whole file: worth another try."""


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from https to anything else."""

    def redirect_request(self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> Any:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise DownloadError(f"{req.full_url} redirects to {newurl}, which is not https; refused.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(addresses: Sequence[str], target: Path, *, max_bytes: int, timeout: float = 30.0, progress: Progress | None = None) -> str:
    """Fetch the first address that exists into `target`; bytes already there are not fetched again.

    Parameters
    ----------
    addresses : sequence of str
        Places of the same file, tried in order where one answers 404. https, or http on this machine.
    target : Path
        Grows as bytes arrive. After an interruption it stays, so that a later call resumes; where the content cannot be
        right (too large, disk full) it is removed.
    max_bytes : int
        A larger file is refused, before it is fetched where the host tells its size.
    timeout : float, default=30
        Seconds without any answer.
    progress : callable, optional
        Called with the bytes so far and, where known, in all.

    Returns
    -------
    str
        The address that gave the file.

    Raises
    ------
    DownloadError
    """
    for address in addresses:
        check_address(address)
    for address in addresses:
        if _fetch_from(address, target, max_bytes=max_bytes, timeout=timeout, progress=progress):
            return address
    target.unlink(missing_ok=True)
    raise DownloadError(f"Not found (HTTP 404): {', '.join(addresses)}. The files have moved; put them in place by hand (data_home).")


def check_address(address: str) -> None:
    """Refuse what is neither https nor http on this machine.

    Examples
    --------
    >>> check_address("file:///etc/hosts")
    Traceback (most recent call last):
    ...
    ValueError: file:///etc/hosts: data is fetched by https only (or http from this machine).
    """
    parts = urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
        return
    raise ValueError(f"{address}: data is fetched by https only (or http from this machine).")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _fetch_from(address: str, target: Path, *, max_bytes: int, timeout: float, progress: Progress | None) -> bool:
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
    have = target.stat().st_size if target.exists() else 0
    if not have:
        raise DownloadError(
            f"{address} could not be fetched ({reason}) in {ATTEMPTS} tries; is this machine online? Else put the files into data_home."
        )
    raise DownloadError(f"{address} could not be fetched ({reason}) in {ATTEMPTS} tries; {have} bytes are kept, run it again to go on.")


def _transfer(address: str, target: Path, *, max_bytes: int, timeout: float, progress: Progress | None) -> None:
    """One connection: append what is missing to `target`."""
    have = target.stat().st_size if target.exists() else 0
    headers = {"User-Agent": f"skcamel/{skcamel.__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - check_address has seen the scheme
    try:
        response = urllib.request.build_opener(_NoDowngrade).open(request, timeout=timeout)
    except (urllib.error.HTTPError, DownloadError):
        raise
    except (OSError, http.client.HTTPException) as error:
        raise _InterruptedTransferError(_cause(error)) from error
    with response:
        start = _first_byte(response, have)
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else None
        _refuse_if_larger(address, target, total or 0, max_bytes)
        done = start
        with target.open("r+b" if start else "wb") as file:
            file.seek(start)
            while block := _read_block(response):
                done += len(block)
                _refuse_if_larger(address, target, done, max_bytes)
                write_block(file, block, target)
                if progress is not None:
                    progress(done, total)
    if total is not None and done < total:
        raise _InterruptedTransferError(f"the connection ended after {done} of {total} bytes")


def _first_byte(response: Any, have: int) -> int:
    """Where the sent bytes begin: `have` if the host resumes, 0 if it sends the whole file again."""
    if response.status != 206:
        return 0
    sent = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if sent is None or int(sent[1]) != have:
        raise _InterruptedTransferError("the host sent another part of the file than asked for")
    return have


def _read_block(response: Any) -> bytes:
    try:
        return response.read(BLOCK)
    except (OSError, http.client.HTTPException) as error:
        raise _InterruptedTransferError(_cause(error)) from error


def _cause(error: Exception) -> str:
    """Say what stopped the connection, without the wrapping of urllib."""
    cause = getattr(error, "reason", error)
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__


def write_block(file: IO[bytes], block: bytes, target: Path) -> None:
    """Write and flush one block; where the disk refuses, give back what was taken."""
    try:
        file.write(block)
        file.flush()
    except OSError as error:
        target.unlink(missing_ok=True)
        cure = (
            "the disk is full; free some space"
            if error.errno == errno.ENOSPC
            else f"{error.strerror or error}; set SKCAMEL_CACHE to another folder"
        )
        raise DownloadError(f"{target.parent} cannot be written: {cure}, then run it again. Nothing was kept.") from error


def _refuse_if_larger(address: str, target: Path, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        target.unlink(missing_ok=True)
        raise DownloadError(f"{address} is larger than the {max_bytes} bytes of the published file at most; nothing was kept.")

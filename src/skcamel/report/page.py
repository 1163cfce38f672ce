"""Sections ► one self-contained HTML file: no network, escaped, and the same bytes for the same input.

A page is a list of sections. A section has a template (``static/NAME.html``) for what is text, data
for what is drawn, and
scripts (``static/NAME.js``) that draw it. Text goes through Jinja's autoescape, data through
:func:`as_json`; scripts put names
into the page as text nodes only. A content security policy names the digests of the one script and
the one style sheet, so
nothing else could run even if something slipped through.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import skcamel
from skcamel.files import whole_file

STATIC = Path(__file__).parent / "static"
CORE = "page.js"  # runs first; START last
START = "skcamel.start();\n"


@dataclass(frozen=True)
class Section:
    """One part of a page."""

    name: str  # its id in the page, and the name under which its script registers
    title: str
    context: Mapping[str, Any] = field(default_factory=dict)  # what the template shows
    data: Mapping[str, Any] | None = (
        None  # what the script draws; arrays are sent as packed numbers
    )
    scripts: Sequence[
        str
    ] = ()  # files of ``static``, in the order in which they run; those that sections share are sent once
    template: str = ""  # default: ``static/<name>.html``
    short: str = ""  # what the bar at the top calls it; default: the title


@dataclass(frozen=True)
class Page:
    """A title, one paragraph, findings in words, facts as pairs, and sections; `shared` is data that several sections draw from."""

    title: str
    lead: str
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    shared: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[str] = ()
    folder: Path | None = (
        # of templates, scripts and a style sheet of its own; its scripts may ask the server that
        # sent the page
        None
    )
    footer: str = (
        "This file is complete: it loads nothing from elsewhere and can be kept, sent and printed."
    )


@dataclass(frozen=True)
class Rounded:
    """A matrix sent with 16 bits for each number: exact to 1/65534 of the largest of its column, in half the space."""

    matrix: np.ndarray


@dataclass(frozen=True)
class Column:
    """A column of a table: its head, how many digits its numbers have, and what its head means.

    Examples
    --------
    >>> Column("F1", 3).text(0.5), Column("F1", 3).text(float("nan")), Column("name").text("sea")
    ('0.500', '–', 'sea')
    """

    title: str
    digits: int | None = None  # None: text
    note: str = ""

    def text(self, value: Any) -> str:
        """Show a cell."""
        if self.digits is None:
            return str(value)
        return "–" if value is None or not math.isfinite(value) else f"{value:,.{self.digits}f}"

    def key(self, value: Any) -> str:
        """Full value of a cell, for sorting and for the CSV file."""
        return (
            str(value)
            if self.digits is None
            else ""
            if value is None or not math.isfinite(value)
            else f"{float(value):.6g}"
        )


def write(page: Page, path: str | os.PathLike[str]) -> None:
    """Write the page; the file appears whole or not at all."""
    html = render(page).encode(
        errors="replace"
    )  # half a character in a name must not cost the page
    with whole_file(path) as file:
        file.write(html)


def render(page: Page) -> str:
    """HTML text of the page."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("Pages need: pip install 'skcamel[report]'") from error
    places = [STATIC] if page.folder is None else [page.folder, STATIC]
    templates = Environment(
        loader=FileSystemLoader(places),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = _static("style.css") + (
        "" if page.folder is None else (page.folder / "own.css").read_text(encoding="utf-8")
    )
    script = _script(page, places)
    data = {"page": as_json(page.shared)} | {
        section.name: as_json(section.data) for section in page.sections if section.data is not None
    }
    return templates.get_template("page.html").render(
        page=page,
        data=data,
        style=style,
        script=script,
        policy=_policy(style, script, asks=page.folder is not None),
        version=skcamel.__version__,
    )


def as_json(value: Any) -> str:
    r"""JSON that may stand inside a script element: keys sorted, nothing that could end the element or open a comment.

    Arrays of floats become base64 of little-endian float32, arrays of integers and booleans of
    uint8, with their shape;
    numbers that are not finite become null.

    Examples
    --------
    >>> as_json({"b": float("nan"), "a": "</script><!--"})
    '{"a":"\\u003c/script\\u003e\\u003c!--","b":null}'
    >>> as_json(np.array([[1.0, 2.0]]))
    '{"f32":"AACAPwAAAEA=","shape":[1,2]}'
    """
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def significant(value: float, digits: int = 3) -> str:
    """A number for a sentence.

    Examples
    --------
    >>> significant(0.012345), significant(1234567.0), significant(2.0)
    ('0.0123', '1,230,000', '2')
    """
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if 1000 <= abs(value) < 1e12 else text


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Rounded):
        scale = abs(value.matrix).max(axis=0, initial=0.0) / 32767
        packed = np.rint(value.matrix / np.where(scale > 0, scale, 1.0)).astype("<i2")
        return {
            "i16": _base64(packed),
            "scale": [float(f"{step:.9g}") for step in scale],
            "shape": list(packed.shape),
        }
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        packed, name = (
            (value.astype("<f4"), "f32") if value.dtype.kind == "f" else (_bytes(value), "u8")
        )
        return {name: _base64(packed), "shape": list(value.shape)}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _bytes(value: np.ndarray) -> np.ndarray:
    if value.size and (value.min() < 0 or value.max() > 255):
        raise ValueError(
            f"Arrays of integers are sent as bytes, got values from {value.min()} to {value.max()};"
            " send a list."
        )
    return value.astype(np.uint8)


def _static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _script(page: Page, places: Sequence[Path]) -> str:
    files = dict.fromkeys([CORE, *(name for section in page.sections for name in section.scripts)])
    found = [next(place / name for place in places if (place / name).exists()) for name in files]
    return "\n" + "\n".join(path.read_text(encoding="utf-8") for path in found) + START


def _policy(style: str, script: str, *, asks: bool) -> str:
    """Nothing from outside, and of what is inside only this script and this style sheet; it may ask the server that sent it, if any."""

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    own = "connect-src 'self'; " if asks else ""
    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:"
        f" blob:; {own}base-uri 'none'; form-action 'none'"
    )

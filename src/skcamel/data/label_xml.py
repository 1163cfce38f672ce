"""Mulan's label files: the names of the labels, flat or as a tree, in XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from skcamel.data.errors import DataError
from skcamel.data.growing import NAME_BYTES, Tally
from skcamel.data.text import BLOCK_BYTES, Path_, first_repeated, open_lines

NAMESPACE = "http://mulan.sourceforge.net/labels"
LARGEST_XML = 2**26  # bytes


def read_label_names(path: Path_) -> list[str]:
    """Names of all ``label`` elements, nested ones too, in the order of the file.

    A document type is refused before anything of it is read: label files have none, and entities are how XML is made to fill
    the memory or to read other files.
    """
    names: list[str] = []
    tally = Tally("the names of its labels")
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "label":
            if "name" not in attributes:
                raise DataError('a <label> element has no name; write <label name="…"></label>.', path=path, line=parser.CurrentLineNumber)
            names.append(attributes["name"])
            tally.add(NAME_BYTES + len(names[-1]), path)

    def refuse(*_: Any) -> None:
        raise DataError("has a DOCTYPE, which label files never need; remove it.", path=path, line=parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        for chunk in _chunks(path):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except DataError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        message = f'is not well-formed XML ({error}); expected <labels> with one <label name="…"> for each label.'
        raise DataError(message, path=path, line=parser.CurrentLineNumber) from error
    return _checked(names, path)


def _chunks(path: Path_) -> Iterator[bytes]:
    size = 0
    with open_lines(path) as file:
        while chunk := file.stream.read(BLOCK_BYTES):
            size += len(chunk)
            if size > LARGEST_XML:
                raise DataError(f"is larger than {LARGEST_XML >> 20} MiB; is this the label file?", path=path)
            yield chunk


def _checked(names: list[str], path: Path_) -> list[str]:
    if not names:
        raise DataError('names no label; expected <labels> with one <label name="…"> for each label.', path=path)
    twice = first_repeated(names)
    if twice is not None:
        raise DataError(f"names the label {twice[:60]!r} twice; remove one.", path=path)
    return names


def label_xml(names: Sequence[str]) -> Iterator[str]:
    """Lines of a label file.

    Examples
    --------
    >>> print("".join(label_xml(["calm & quiet"])), end="")
    <?xml version="1.0" encoding="utf-8"?>
    <labels xmlns="http://mulan.sourceforge.net/labels">
    <label name="calm &amp; quiet"></label>
    </labels>
    """
    yield f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{NAMESPACE}">\n'
    for name in names:
        if any(_unwritable(letter) for letter in name):
            raise ValueError(f"The label name {name!r} holds a character that XML cannot hold; rename it before writing.")
        yield f"<label name={quoteattr(name)}></label>\n"
    yield "</labels>\n"


def _unwritable(letter: str) -> bool:
    """Whether XML 1.0 has no way to write this character."""
    return (letter < " " and letter not in "\t\n\r") or "\ud800" <= letter <= "\udfff" or letter in "\ufffe\uffff"

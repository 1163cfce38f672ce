"""The header of an ARFF file: attributes, and how the text of each becomes a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from skcamel.data.decimals import number
from skcamel.data.errors import DataError
from skcamel.data.growing import Tally
from skcamel.data.text import LineFile, Path_, decoded, shortened

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE = re.compile(rf"@attribute\s+(?P<name>{QUOTED}|[^\s{{]+(?=\s*\{{)|\S+)\s*(?P<type>.*)", re.IGNORECASE | re.DOTALL)
VALUE = re.compile(rf"\s*(?P<value>(?:{QUOTED})(?=\s*(?:,|\Z))|[^,]*)\s*(?:,|\Z)", re.DOTALL)  # always matches, in linear time
NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
NUMERIC_TYPES = ("numeric", "real", "integer")
TEXT_TYPES = ("string", "date")
WORDS = ({"NO": 0.0, "YES": 1.0}, {"FALSE": 0.0, "TRUE": 1.0})
ATTRIBUTE_BYTES, VALUE_BYTES = 700, 400  # of an attribute, and of each value of a nominal with its number, on top of their characters
UNUSED = 0.0  # stands for every value of a text attribute, which is dropped


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute as declared: `kind` is "numeric", "nominal" or "text"; `values` are those of a nominal."""

    name: str
    kind: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """Relation name and attributes, in file order."""

    relation: str
    attributes: tuple[Attribute, ...]


class Codes(dict[str, float]):
    """Number of each nominal value; numerals are also found in another spelling, such as 1.0 for 1."""

    def __init__(self, numbers: dict[str, float], *, numerals: bool) -> None:
        super().__init__(numbers)
        self.setdefault("?", float("nan"))
        self.by_number = {number(value): code for value, code in numbers.items()} if numerals else {}

    def __missing__(self, value: str) -> float:
        return self.by_number[number(value)]


def read_header(file: LineFile) -> Header:
    """Read up to and including the line ``@data``."""
    relation = ""
    attributes: list[Attribute] = []
    tally = Tally("the attributes of its header")
    while line := file.readline():
        text = decoded(line).strip()
        keyword = text[:10].lower()
        if not text or text.startswith("%"):
            continue
        if keyword.startswith("@attribute"):
            tally.add(ATTRIBUTE_BYTES + line.count(b",") * VALUE_BYTES + len(line), file.path)
            attributes.append(_attribute(text, file))
        elif keyword.startswith("@relation"):
            relation = unquoted(text[9:].strip())
        elif keyword.startswith("@data"):
            if not attributes:
                raise file.error("@data comes before any @attribute; the header is missing.")
            return Header(relation, tuple(attributes))
        else:
            raise file.error(f"{text[:40]!r} in the header; expected @relation, @attribute, @data or a comment (%). Is this an ARFF file?")
    raise file.error("the file ends before @data; it is cut short or no ARFF file.")


def _attribute(text: str, file: LineFile) -> Attribute:
    match = ATTRIBUTE.fullmatch(text)
    if match is None:
        raise file.error(f"{text[:60]!r} is not '@attribute name type'; quote names that hold spaces.")
    name, kind = unquoted(match["name"]), match["type"].strip()
    word = kind.split(maxsplit=1)[0].lower() if kind else ""
    if word in NUMERIC_TYPES:
        return Attribute(name, "numeric")
    if word in TEXT_TYPES:
        return Attribute(name, "text")
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, "nominal", declared_values(kind[1:-1]))
    raise file.error(f"attribute {name[:60]!r} has the type {kind[:40]!r}; known are numeric, real, integer, string, date and {{value,…}}.")


@lru_cache(maxsize=64)
def declared_values(text: str) -> tuple[str, ...]:
    r"""Values between the braces of a nominal attribute.

    Examples
    --------
    >>> declared_values(r"red, 'dark \'n blue', 'a,b'")
    ('red', "dark 'n blue", 'a,b')
    """
    return tuple(unquoted(value) for value in cells(text)) if text.strip() else ()


def cells(text: str) -> list[str]:
    """Text between commas, still quoted, without the spaces around it; commas within quotes do not count."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    found: list[str] = []
    position = 0
    while (match := VALUE.match(text, position)) is not None:
        found.append(match["value"].strip())
        position = match.end()
        if position == len(text) and not match[0].endswith(","):
            break
    return found


def unquoted(text: str) -> str:
    r"""Text without its quotes and escapes.

    Examples
    --------
    >>> unquoted(r"'it\'s 50\%'")
    "it's 50%"
    """
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), text[1:-1], flags=re.DOTALL)
    return text


def quoted(name: str) -> str:
    r"""Text as ARFF holds it: quoted where it needs to be.

    Examples
    --------
    >>> print(quoted("plain"), quoted("it's"))
    plain 'it\'s'
    """
    if re.fullmatch(r"[A-Za-z0-9_.:/()=<>*+&#-]+", name):
        return name
    for letter, escape in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        name = name.replace(letter, escape)
    return f"'{name}'"


@lru_cache(maxsize=64)
def feature_codes(values: tuple[str, ...]) -> Codes:
    """Numerals as numbers, YES/NO and TRUE/FALSE as 1/0, else the position in the header.

    Examples
    --------
    >>> feature_codes(("NO", "YES"))["YES"], feature_codes(("2", "4"))["4"], feature_codes(("red", "blue"))["blue"]
    (1.0, 4.0, 1.0)
    """
    if values and all(NUMERAL.fullmatch(value) for value in values) and len({float(value) for value in values}) == len(values):
        return Codes({value: float(value) for value in values}, numerals=True)
    words = [value.upper() for value in values]
    for meaning in WORDS:
        if values and set(words) <= set(meaning) and len(set(words)) == len(words):
            return Codes({value: meaning[word] for value, word in zip(values, words)}, numerals=False)
    return Codes({value: float(position) for position, value in enumerate(values)}, numerals=False)


@lru_cache(maxsize=64)
def label_codes(values: tuple[str, ...]) -> Codes | None:
    """0 and 1 for the values of a label, or None where they do not say which is which."""
    codes = feature_codes(values)
    numbers = [codes[value] for value in values]
    if sorted(numbers) == [-1, 1] and codes.by_number:
        return Codes({value: max(codes[value], 0.0) for value in values}, numerals=True)
    meant = codes.by_number or {value.upper() for value in values} <= {"YES", "NO", "TRUE", "FALSE"}
    return codes if meant and set(numbers) <= {0.0, 1.0} else None


def decoder(attribute: Attribute, is_label: bool, path: Path_) -> Callable[[str], float]:
    """Text of one value ► number; raises KeyError or ValueError where the header does not allow it."""
    if attribute.kind == "text":
        if is_label:
            raise DataError(
                f"label {attribute.name[:60]!r} is a string attribute; labels are {{0,1}}. Is the label file of the same release?",
                path=path,
            )
        return lambda _: UNUSED
    if attribute.kind == "numeric":
        return lambda text: float("nan") if text == "?" else number(text)
    codes = label_codes(attribute.values) if is_label else feature_codes(attribute.values)
    if codes is None:
        found = f"label {attribute.name[:60]!r} has the values {shortened(attribute.values)}"
        raise DataError(
            f"{found}; a label is {{0,1}}, {{-1,1}}, {{NO,YES}} or {{FALSE,TRUE}}: recode it, or keep it as a feature.", path=path
        )
    return codes.__getitem__


def is_identity(attribute: Attribute, is_label: bool) -> bool:
    """Whether a value's number is the number that is written."""
    if attribute.kind != "nominal":
        return attribute.kind == "numeric"
    codes = label_codes(attribute.values) if is_label else feature_codes(attribute.values)
    return codes is not None and all(written == code for written, code in codes.by_number.items()) and bool(codes.by_number)


def names_of(attributes: Iterable[Attribute]) -> list[str]:
    """Names in order."""
    return [attribute.name for attribute in attributes]

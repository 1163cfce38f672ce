"""A small reader of the sixteen benchmark sets (Mulan ARFF + XML, dense or sparse)."""

import gzip
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

SMALL = ("cal500", "emotions", "image", "scene", "yeast")


def data_home() -> Path | None:
    """Folder named by SKCAMEL_DATA, or None."""
    home = os.environ.get("SKCAMEL_DATA")
    return Path(home) if home else None


def read(name: str, home: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) float64 and Y (n, q) int64 in {0, 1} of one benchmark set."""
    folder = (home or data_home()) / name
    if (folder / f"{name}.arff").exists():
        text = (folder / f"{name}.arff").read_text()
    else:
        text = gzip.decompress((folder / f"{name}.arff.gz").read_bytes()).decode()
    header, _, body = re.split(r"(@data)\s*\n", text, maxsplit=1, flags=re.IGNORECASE)
    names = re.findall(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)", header, flags=re.IGNORECASE)
    names = [attribute.strip("'\"") for attribute in names]
    rows = [line for line in body.splitlines() if line.strip() and not line.startswith("%")]
    table = _sparse(rows, len(names)) if rows[0].startswith("{") else _dense(rows)
    elements = ElementTree.parse(folder / f"{name}.xml").iter()
    labels = {element.attrib["name"] for element in elements if "name" in element.attrib}
    is_label = np.array([n in labels for n in names])
    is_id = np.array([n == "protein" for n in names])  # genbase's row identifier
    return table[:, ~is_label & ~is_id], table[:, is_label].astype(np.int64)


def _sparse(rows: list[str], width: int) -> np.ndarray:
    table = np.zeros((len(rows), width))
    for i, line in enumerate(rows):
        for cell in line.strip("{} \r").split(","):
            if cell.strip():
                index, value = cell.split()
                table[i, int(index)] = float(value)
    return table


def _dense(rows: list[str]) -> np.ndarray:
    cells = ([cell.strip() for cell in line.split(",")] for line in rows)
    return np.column_stack([_column(column) for column in zip(*cells, strict=True)])


def _column(cells: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array(cells, dtype=float)
    except ValueError:  # YES/NO of genbase, or its row names, which the caller drops
        return np.array([cell == "YES" for cell in cells], dtype=float)

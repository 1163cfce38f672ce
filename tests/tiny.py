"""A made-up data set in the shape of a catalogue entry."""

from pathlib import Path
from typing import Any

import numpy as np

from skcamel.data.catalogue import DatasetFacts
from skcamel.data.dataset import digest

N, D, Q = 40, 3, 2
REPOSITORY = "someone/somewhere/0123456789"


def arrays() -> tuple[np.ndarray, np.ndarray]:
    """X in multiples of 1/8, so that decimal text holds it exactly, and Y."""
    rng = np.random.default_rng(3)
    X, Y = rng.integers(-40, 40, (N, D)) / 8, rng.integers(0, 2, (N, Q))
    Y[~Y.any(axis=1), 0] = 1  # each row has a label
    return X, Y


def arff(rows: slice = slice(None), relation: str = "tiny") -> bytes:
    """Mulan ARFF of some rows."""
    X, Y = arrays()
    head = [
        f"@relation {relation}",
        *(f"@attribute f{j} numeric" for j in range(D)),
        *(f"@attribute l{j} {{0,1}}" for j in range(Q)),
        "@data",
    ]
    body = [
        ",".join([*(str(x) for x in row), *(str(y) for y in labels)])
        for row, labels in zip(X[rows], Y[rows], strict=True)
    ]
    return ("\n".join([*head, *body]) + "\n").encode()


def xml() -> bytes:
    """Its label file."""
    labels = "".join(f'<label name="l{j}"></label>' for j in range(Q))
    return (
        '<?xml version="1.0"?><labels'
        f' xmlns="http://mulan.sourceforge.net/labels">{labels}</labels>'.encode()
    )


def facts(**changes: Any) -> DatasetFacts:
    """Its catalogue entry, to be fetched as one ARFF and one XML file."""
    X, Y = arrays()
    parts = [
        {"save_as": f"tiny.{kind}", "max_bytes": 5000, "at": (f"{REPOSITORY}/a b/tiny.{kind}",)}
        for kind in ("arff", "xml")
    ]
    entry: dict[str, Any] = {
        "name": "tiny",
        "n": N,
        "d": D,
        "q": Q,
        "cardinality": round(float(Y.sum() / N), 6),
        "sparse": False,
        "in_paper": False,
        "digest": digest(X, Y),
        "reference": "Nobody, 2000",
        "licence": "none, it is made up",
        "terms": False,
        "defects": (),
        "sources": (REPOSITORY,),
        "download": {"form": "mulan", "parts": parts},
    }
    return DatasetFacts(**entry | changes)


def served() -> dict[str, bytes]:
    """What a host would have to serve."""
    return {f"/{REPOSITORY}/a b/tiny.arff": arff(), f"/{REPOSITORY}/a b/tiny.xml": xml()}


def put(folder: Path, name: str = "tiny") -> Path:
    """Lay it out as data_home has it, below `folder`."""
    (folder / name).mkdir(parents=True)
    (folder / name / f"{name}.arff").write_bytes(arff())
    (folder / name / f"{name}.xml").write_bytes(xml())
    return folder / name

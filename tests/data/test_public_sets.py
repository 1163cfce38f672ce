"""The benchmark sets that SKCAMEL_DATA names: sizes as in their index, values as by liac-arff."""

import gzip
import json
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from skcamel.data import read_mulan

pytestmark = pytest.mark.data
HOME = Path(os.environ.get("SKCAMEL_DATA", "nowhere"))


def entries():
    """Entries of the index, or none."""
    index = HOME / "index.json"
    return json.loads(index.read_text()) if index.exists() else []


def arff_of(entry):
    return HOME / next(file["file"] for file in entry["files"] if ".arff" in file["file"])


if entries():
    every_set = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["name"])
else:
    reason = "SKCAMEL_DATA does not name a folder with index.json and the benchmark sets"
    every_set = pytest.mark.parametrize(
        "entry", [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    )


def bytes_of(data):
    X = data.X
    return data.Y.nbytes + (
        X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
    )


@every_set
def test_sizes_are_those_of_the_index(entry):
    tracemalloc.start()
    data = read_mulan(arff_of(entry))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (data.n, data.d, data.q) == (entry["n"], entry["d"], entry["q"])
    assert data.Y.sum() / data.n == pytest.approx(entry["lcard"], abs=1e-6)
    assert data.dropped == tuple(entry["drop_attributes"])
    assert sparse.issparse(data.X) == entry["sparse"]
    assert peak <= 3 * bytes_of(data) + 20e6


def as_number(value, values):
    """One value of liac-arff as this library codes it."""
    if isinstance(value, float) or value is None:
        return np.nan if value is None else value
    return (
        {"YES": 1.0, "NO": 0.0}[value]
        if value in ("YES", "NO")
        else float(value)
        if values == ["0", "1"]
        else float(values.index(value))
    )


@every_set
def test_values_are_those_of_liac_arff(entry):
    arff = pytest.importorskip("arff", reason="liac-arff is not installed")
    path = arff_of(entry)
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        content = arff.load(file, return_type=arff.LOD if entry["sparse"] else arff.DENSE)
    data = read_mulan(path)
    names = [name for name, _ in content["attributes"]]
    kinds = [kind if isinstance(kind, list) else None for _, kind in content["attributes"]]
    table = np.zeros((data.n, len(names)))
    for row, cells in enumerate(content["data"]):
        for column, value in cells.items() if entry["sparse"] else enumerate(cells):
            table[row, column] = as_number(value, kinds[column])
    position = {name: column for column, name in enumerate(names)}
    X = data.X.toarray() if entry["sparse"] else data.X
    np.testing.assert_array_equal(X, table[:, [position[name] for name in data.feature_names]])
    np.testing.assert_array_equal(data.Y, table[:, [position[name] for name in data.label_names]])

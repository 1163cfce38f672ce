"""Files as a user would have them, for the commands on model files."""

import csv
import io
import json

import numpy as np

SEA, SUN = 'sea, "deep"', "<script>alert('☀')</script>"
HOSTILE = (SEA, SUN, "line\r\nfeed", "semi;colon")


def table(
    path, rows, *, labels=("sea", "sun"), with_labels=True, columns=("x", "y", "z"), separator=","
):
    """A CSV of some of 60 made rows, with features `columns`; returns X (of x, y, z) and Y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(3)
    Y = (
        X @ rng.normal(size=(3, len(labels))) + 0.3 * rng.normal(size=(60, len(labels))) > 0.5
    ).astype(int)
    X, Y = X[rows], Y[rows]
    with path.open("w", newline="") as file:
        out = csv.writer(file, delimiter=separator)
        out.writerow([*columns, *(labels if with_labels else ())])
        for x, y in zip(X, Y, strict=True):
            out.writerow([*(x["xyz".index(name)] for name in columns), *(y if with_labels else ())])
    return X, Y


def read_records(path):
    """Records of any of the three forms; cells of CSV are text."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.read_table(path).to_pylist()
    text = path.read_bytes().decode()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text, newline="")))


def named_table(path, rows, name, prefix):
    """As `table`, behind a first column that names the rows: the prefix and 1, 2, …"""
    table(path, rows)
    head, *lines = path.read_text().splitlines()
    named = [f"{prefix}{k},{line}" for k, line in enumerate(lines, 1)]
    path.write_text("\n".join([f"{name},{head}", *named]) + "\n")

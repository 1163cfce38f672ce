"""Damaged and hostile data files: each ends in a consistent Dataset, or in one DataError that names the file; memory stays bounded."""

import gzip
import random
import re
import tempfile
import tracemalloc
import warnings
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse
from scipy.io import savemat

from skcamel import CamelClassifier
from skcamel.data import (
    DataError,
    Dataset,
    load_dataset,
    read_dataset,
    read_mat,
    read_meka,
    read_mulan,
    read_svmlight,
    read_table,
    write_meka,
    write_mulan,
    write_svmlight,
    write_table,
)
from skcamel.data.dataset import is_table
from skcamel.data.matching import Rows, read_labels, read_rows

MEMORY = 120e6  # bytes beyond what stands before; the files have some kilobytes
LIMITS = {  # small ones, so that many files can be tried
    "skcamel.data.text.CLAIMED_ALWAYS": 2**24,
    "skcamel.data.text.ALWAYS_PLAUSIBLE": 2**12,
    "skcamel.data.text.UNPACKED_ALWAYS": 2**22,
}
SNIPPETS = (
    *(
        b"{",
        b"}",
        b",",
        b"'",
        b'"',
        b"\\",
        b"?",
        b"%",
        b"#",
        b":",
        b" ",
        b"\t",
        b"\n",
        b"\r",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"-",
        b"+",
    ),
    *(
        b".",
        b"e",
        b"nan",
        b"inf",
        b"1e999",
        b"1_0",
        b"999999999999",
        b"99999999999999999999",
        b"-1",
        b"0.5",
        b"@data\n",
        b"@attribute",
    ),
    *(
        b"{}\n",
        b"\n\n",
        b"{1000000000000 1}\n",
        b"@relation 'x: -C -3'\n",
        b"9 9 9\n",
        b"1 1000000000 1000000000\n",
        b"<!DOCTYPE x>",
    ),
    *(b"&a;", b"<label name=''>", b"{1,0}", b"=1+1", b"'=1", b"\x1f\x8b\x08"),
)
HUGE = (
    b"2147483647",
    b"4294967296",
    b"1048576",
    b"65536",
    b"1000000",
    b"9999999999999999",
    b"300",
    b"0",
    b"-1",
)
NAMES = ("plain", "two words", "it's", "x"), ("a", "b & c", "'q'")
NOMINAL = b"""@relation 'n: -C 1'
@attribute l {0,1}
@attribute id string
@attribute c {red,'dark blue',green}
@attribute w {YES,NO}
@attribute n {1,2,3}
@data
1,'a, b',red,YES,1
0,c,'dark blue',NO,?
1,d,green,NO,3
0,e,red,YES,2
"""
OMITTED = b"""@relation 'o: -C 2'
@attribute l {0,1}
@attribute m {1,0}
@attribute c {1,0}
@attribute d {3,0,7}
@attribute e numeric
@data
{}
{0 1,2 0}
{1 0,3 7,4 2.5}
{4 1}
"""
TEXTS = b"name,colour,x,l\np1,red,1.5,0\np2,,2,1\np3,blue,?,1\np4,red,4,0\n"
CODES = b'code;size;day;tags\n007;1,5;2001-02-03;sea|sun\n008;"2,5";2001-02-04;sun\n009;NA;;"sea"\n009;3;;sun\n'
LINES = (
    b'{"x": 1.5, "c": "red", "tags": ["a", "b"]}\n{"x": 2, "c": "blue", "tags": []}\n{"x": 3, "c":'
    b' "red", "tags": ["b"]}\n'
)


def storages() -> dict[str, Dataset]:
    """One data set, dense and sparse."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((12, 4)) < 0.6, rng.normal(size=(12, 4)).round(3), 0)
    Y = rng.integers(0, 2, size=(12, 3))
    return {"dense": Dataset(X, Y, *NAMES), "sparse": Dataset(sparse.csr_array(X), Y, *NAMES)}


def write_mat(data, path):
    savemat(path, {"data": data.X, "target": data.Y.T}, do_compression=path.stem.endswith("z"))


def write_packed(write, level):
    def write_it(data, path):
        plain = path.with_suffix("")
        write(data, plain)
        path.write_bytes(
            gzip.compress(plain.read_bytes(), compresslevel=level)
        )  # level 0: damage reaches the text

    return write_it


def write_xml(data, path):
    write_mulan(data, path.with_suffix(".arff"))


def write_known(data, path):
    path.parent.mkdir(exist_ok=True)
    write_mulan(data, path)


def write_frame(_, path):
    columns = {
        "t": ["u", "v", None, "u"],
        "d": pa.array(["u", "v", "w", "u"]).dictionary_encode(),
        "x": [1, None, 3, 4],
        "f": [True] * 4,
    }
    pq.write_table(
        pa.table({**columns, "n": pa.nulls(4), "l": [0, 1, 1, 0]}), path, compression="gzip"
    )


def write_sheet(data, path):
    book = openpyxl.Workbook()
    for row in (
        (*NAMES[0], *NAMES[1]),
        *np.hstack([data.X.toarray() if sparse.issparse(data.X) else data.X, data.Y]).tolist(),
    ):
        book.active.append(row)
    book.save(path)


def content(text):
    return lambda _, path: path.write_bytes(text)


@cache
def model():
    data = storages()["dense"]
    frame = pd.DataFrame(data.X, columns=NAMES[0])
    return CamelClassifier().fit(frame, data.labels)


def matched(path):
    return read_rows(model(), path, truth=True)


FORMATS = {
    "mulan": ("a.arff", write_mulan, read_mulan),
    "label xml": ("a.xml", write_xml, lambda path: read_dataset(path.with_suffix(".arff"))),
    "meka": ("a.arff", write_meka, read_meka),
    "any arff": ("a.arff.gz", write_packed(write_meka, 0), read_dataset),
    "packed meka": ("a.arff.gz", write_packed(write_meka, 6), read_meka),
    "known set": (
        "emotions/emotions.arff.gz",
        write_known,
        lambda path: load_dataset("emotions", path.parent.parent),
    ),
    "known labels": (
        "emotions/emotions.xml",
        write_known,
        lambda path: load_dataset("emotions", path.parent.parent),
    ),
    "nominal": ("a.arff", content(NOMINAL), lambda path: read_meka(path, nominal="onehot")),
    "omitted": ("a.arff", content(OMITTED), lambda path: read_meka(path, nominal="onehot")),
    "svmlight": ("a.svm", write_svmlight, read_svmlight),
    "packed svmlight": ("a.svm.gz", write_svmlight, read_dataset),
    "plain svmlight": (
        "a.svm",
        lambda data, path: write_svmlight(data, path, header=False),
        read_svmlight,
    ),
    "csv": ("a.csv", write_table, lambda path: read_table(path, labels=3)),
    "packed csv": ("a.csv.gz", write_table, lambda path: read_dataset(path, labels=3)),
    "tsv": ("a.tsv", write_table, lambda path: read_table(path, labels=["a"])),
    "texts": ("a.csv", content(TEXTS), lambda path: read_table(path, labels=1)),
    "no names": (
        "a.csv",
        content(b"1,2,0\n3,4,1\n"),
        lambda path: read_table(path, labels=1, header=False),
    ),
    "codes": ("a.csv", content(CODES), lambda path: read_table(path, labels=["tags"])),
    "json lines": ("a.jsonl", content(LINES), lambda path: read_table(path, labels=["tags"])),
    "packed lines": (
        "a.jsonl.gz",
        content(gzip.compress(LINES)),
        lambda path: read_dataset(path, labels=["tags"]),
    ),
    "sheet": ("a.xlsx", write_sheet, lambda path: read_table(path, labels=3)),
    "matching csv": ("a.csv", write_table, matched),
    "matching arff": ("a.arff", write_mulan, matched),
    "labels": ("a.csv", write_table, lambda path: read_labels(path, NAMES[1])),
    "parquet": ("a.parquet", write_table, lambda path: read_table(path, labels=3)),
    "frame": ("a.parquet", write_frame, lambda path: read_table(path, labels=1)),
    "mat": ("a.mat", write_mat, read_mat),
    "packed mat": ("az.mat", write_mat, read_mat),
}


@cache
def originals(kind: str, storage: str) -> dict[str, bytes]:
    """Whole files of a format, by their path in the folder."""
    name, write, _ = FORMATS[kind]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind.startswith("known"):
            (Path(folder) / name).parent.mkdir()
            write(storages()[storage], (Path(folder) / name).with_name("emotions.arff.gz"))
        else:
            write(storages()[storage], Path(folder) / name)
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in Path(folder).rglob("*")
            if path.is_file()
        }


def mutated(whole: bytes, rng: random.Random) -> bytes:
    """One of the usual accidents, or several: cuts, repeats, flips, foreign bits, large numbers."""
    changed = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(len(changed) + 1)
        stop = min(len(changed), start + rng.choice((1, 1, 2, 8, 60)))
        kind = rng.randrange(8)
        if kind == 0:
            del changed[start:stop]
        elif kind == 1:
            del changed[start:]
        elif kind == 2:
            changed[start:start] = changed[start:stop] * rng.choice((1, 2, 50, 2000))
        elif kind == 3:
            changed[start:start] = rng.choice(SNIPPETS)
        elif kind == 4:
            changed[start:stop] = rng.choice(SNIPPETS)
        elif kind == 5 and start < len(changed):
            changed[start] ^= 1 << rng.randrange(8)
        elif kind == 6 and (number := re.compile(rb"\d+").search(changed, start)):
            changed[number.start() : number.end()] = rng.choice(HUGE)
        elif kind == 7:
            line = changed.find(b"\n", start) + 1
            end = changed.find(b"\n", line) + 1 or len(changed)
            changed[line:line] = changed[line:end][:400] * rng.choice((1, 30, 3000))
        del changed[2**20 :]
    return bytes(changed)


def damaged(whole: bytes, rng: random.Random) -> bytes:
    """Damage a file; of a compressed one its bytes, what it holds, or how often its blocks stand there."""
    if not whole.startswith(b"\x1f\x8b") or rng.random() < 0.4:
        return mutated(whole, rng)
    packed = gzip.compress(mutated(gzip.decompress(whole), rng))
    return packed * rng.choice((1, 1, 1, 2, 500))


def outcome(read, path: Path) -> Dataset | DataError | Rows | np.ndarray:
    """What reading the file ends in; anything but the four is a misbehaviour."""
    try:
        return read(path)
    except DataError as error:
        refusal = error
    assert refusal.path is not None
    assert str(refusal).startswith(Path(refusal.path).name)
    assert Path(refusal.path).is_relative_to(path.parent)
    assert len(str(refusal)) < 700
    return refusal


def check(result: Dataset | DataError | Rows | np.ndarray) -> None:
    """A data set holds together."""
    if isinstance(result, DataError):
        return
    X, Y = (result.X, result.Y) if isinstance(result, Dataset | Rows) else (None, result)
    unknown = Y != Y
    assert Y.dtype == (np.float64 if unknown.any() else np.int64)
    assert ((Y == 0) | (Y == 1) | unknown).all()
    if is_table(X):
        assert X.shape[0] == Y.shape[0] > 0
    elif X is not None:
        assert X.dtype == np.float64
        assert X.ndim == Y.ndim == 2
        assert X.shape[0] == Y.shape[0] > 0
    if sparse.issparse(X):
        X.check_format(full_check=True)
        assert X.has_canonical_format
    if isinstance(result, Dataset):
        assert (len(result.feature_names), len(result.label_names)) == (X.shape[1], Y.shape[1])
        assert len(set(result.label_names)) == result.q


def attack(seed: int, folder: Path) -> None:
    """Damage one file of one format and read it."""
    rng = random.Random(seed)  # noqa: S311
    kind, storage = rng.choice(list(FORMATS)), rng.choice(("dense", "sparse"))
    name, _, read = FORMATS[kind]
    files = originals(kind, storage)
    for path, whole in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(whole)
    hostile = damaged(files[name], rng)
    (folder / name).write_bytes(hostile)
    if not tracemalloc.is_tracing():
        tracemalloc.start()  # and not stopped between files: threads of pyarrow may still allocate
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for target, limit in LIMITS.items():
                patch(target, limit).start()
            check(outcome(read, folder / name))
        peak = tracemalloc.get_traced_memory()[1] - before
        assert peak < MEMORY, f"{peak:.0f} bytes"
    except Exception as error:
        raise AssertionError(
            f"{type(error).__name__} on {kind}, {storage}: {hostile[:2000]!r}"
        ) from error
    finally:
        patch.stopall()

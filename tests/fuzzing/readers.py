"""Damaged data files: each ends in a Dataset, or in one DataError that names the file."""

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
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from skcamel import CamelClassifier
from skcamel.data import (
    DataError,
    Dataset,
    load_dataset,
    read_dataset,
    read_meka,
    write_dataset,
    write_meka,
)
from skcamel.data.dataset import is_table
from skcamel.data.matching import Rows, read_rows

MEMORY = 120e6  # bytes beyond what stands before; the files have some kilobytes
LIMITS = {"skcamel.data.sources.CLAIMED_ALWAYS": 2**24}  # small, so that many files can be tried
SNIPPETS = [
    *(bytes([letter]) for letter in b"{},'\"\\?%#: \t\n\r\x00\xff-+."),
    *b"e nan inf 1e999 1_0 999999999999 99999999999999999999 -1 0.5 @attribute {1,0} =1+1".split(),
    *b"{}\n|\n\n|{1000000000000 1}\n|@data\n|@relation 'x: -C -3'\n|9 9 9\n".split(b"|"),
    *b"1 1000000000 1000000000\n|<!DOCTYPE x>|&a;|<label name=''>|\x1f\x8b\x08".split(b"|"),
]
HUGE = b"2147483647 4294967296 1048576 65536 1000000 9999999999999999 300 0 -1".split()
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
KINDS = (b"l {0,1}", b"m {1,0}", b"c {1,0}", b"d {3,0,7}", b"e numeric")
OMITTED = b"@relation 'o: -C 2'\n" + b"".join(b"@attribute %s\n" % kind for kind in KINDS)
OMITTED += b"@data\n{}\n{0 1,2 0}\n{1 0,3 7,4 2.5}\n{4 1}\n"
TEXTS = b"name,colour,x,l\np1,red,1.5,0\np2,,2,1\np3,blue,?,1\np4,red,4,0\n"
CODES = b'code;size;l\n007;1,5;1\n008;"2,5";0\n009;NA;1\n009;3;0\n'
LINES = b'{"x": 1.5, "c": "red", "l": 1}\n{"x": 2, "c": "blue", "l": 0}\n{"x": 3, "l": 1}\n'


def write_bare(data, path):
    dump_svmlight_file(data.X, data.Y, str(path), multilabel=True, zero_based=False)


def write_mat(data, path):
    savemat(path, {"data": data.X, "target": data.Y.T}, do_compression=path.stem.endswith("z"))


def write_sheet(data, path):
    book = openpyxl.Workbook()
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    for row in ((*NAMES[0], *NAMES[1]), *np.hstack([X, data.Y]).tolist()):
        book.active.append(row)
    book.save(path)


def read_known(path):
    return load_dataset("emotions", path.parent.parent)


def read_table(path):
    return read_dataset(path, labels=1)


@cache
def model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, 4)), columns=NAMES[0])
    return CamelClassifier().fit(frame, pd.DataFrame(np.eye(12, 3, dtype=int), columns=NAMES[1]))


def read_for_model(path):
    return read_rows(model(), path, truth=True)


def read_expanded(path):
    return read_meka(path, nominal="onehot")


# Format ► the file that is damaged, how it is written, or what it holds, and how it is read.
FORMATS = {
    "mulan": ("a.arff", write_dataset, read_dataset),
    "label xml": ("a.xml", write_dataset, lambda path: read_dataset(path.with_suffix(".arff"))),
    "packed meka": ("a.arff.gz", write_meka, read_meka),
    "known set": ("emotions/emotions.arff.gz", write_dataset, read_known),
    "nominal": ("a.arff", NOMINAL, read_expanded),
    "omitted": ("a.arff", OMITTED, read_expanded),
    "svmlight": ("a.svm", write_dataset, read_dataset),
    "packed svmlight": ("a.svm.gz", write_dataset, read_dataset),
    "plain svmlight": ("a.svm", write_bare, read_dataset),
    "mat": ("a.mat", write_mat, read_dataset),
    "packed mat": ("az.mat", write_mat, read_dataset),
    "csv": ("a.csv", write_dataset, read_table),
    "packed tsv": ("a.tsv.gz", write_dataset, read_table),
    "matching csv": ("a.csv", write_dataset, read_for_model),
    "matching arff": ("a.arff", write_dataset, read_for_model),
    "texts": ("a.csv", TEXTS, read_table),
    "codes": ("a.csv", CODES, read_table),
    "json lines": ("a.jsonl", LINES, read_table),
    "sheet": ("a.xlsx", write_sheet, read_table),
    "parquet": ("a.parquet", write_dataset, read_table),
}


@cache
def originals(kind: str, storage: str) -> dict[str, bytes]:
    """Whole files of a format, by their path in the folder."""
    name, source, _ = FORMATS[kind]
    if isinstance(source, bytes):
        return {name: source}
    rng = np.random.default_rng(0)
    X = np.where(rng.random((12, 4)) < 0.6, rng.normal(size=(12, 4)).round(3), 0)
    Y = rng.integers(0, 2, size=(12, 3))
    data = Dataset(sparse.csr_array(X) if storage == "sparse" else X, Y, *NAMES)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        source(data, path.with_suffix(".arff") if path.suffix == ".xml" else path)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


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
    """Damage a file; of a compressed one its bytes, or what it holds, or repeat its blocks."""
    if not whole.startswith(b"\x1f\x8b") or rng.random() < 0.4:
        return mutated(whole, rng)
    packed = gzip.compress(mutated(gzip.decompress(whole), rng))
    return packed * rng.choice((1, 1, 1, 2, 500))


def outcome(read, path: Path) -> Dataset | Rows | DataError:
    """What reading the file ends in; anything else is a misbehaviour."""
    try:
        return read(path)
    except DataError as error:
        refusal = error
    assert refusal.path is not None
    assert str(refusal).startswith(Path(refusal.path).name)
    assert Path(refusal.path).is_relative_to(path.parent)
    assert len(str(refusal)) < 700
    return refusal


def check(result: Dataset | Rows | DataError) -> None:
    """Data hold together."""
    if isinstance(result, DataError):
        return
    X, Y = result.X, result.Y
    unknown = Y != Y
    assert Y.dtype == (np.float64 if unknown.any() else np.int64)
    assert ((Y == 0) | (Y == 1) | unknown).all()
    assert X.shape[0] == Y.shape[0] > 0
    if isinstance(result, Dataset):
        assert (len(result.feature_names), len(result.label_names)) == (X.shape[1], Y.shape[1])
        assert len(set(result.label_names)) == result.q
    if is_table(X):
        return
    assert X.dtype == np.float64
    if sparse.issparse(X):
        X.check_format(full_check=True)
        assert X.has_canonical_format


def attack(seed: int, folder: Path) -> None:
    """Damage one file of one format and read it."""
    rng = random.Random(seed)  # noqa: S311
    kind, storage = rng.choice(list(FORMATS)), rng.choice(("dense", "sparse"))
    name, _, read = FORMATS[kind]
    for path, whole in originals(kind, storage).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(whole)
    hostile = damaged((folder / name).read_bytes(), rng)
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
        what = f"{type(error).__name__} on {kind}, {storage}: {hostile[:2000]!r}"
        raise AssertionError(what) from error
    finally:
        patch.stopall()

"""Damaged files: each ends in a Dataset or in one DataError that names the file; memory stays bounded."""

import gzip
import random
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from skcamel.data import (
    DataError,
    Dataset,
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

FILES = 400  # damaged ones of each format and storage, the same in every run; raise it to search for longer
MEMORY = 120e6  # bytes beyond what stands before; the files have some kilobytes
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
        b".",
    ),
    *(
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
        b"{}\n",
        b"\n\n",
    ),
    *(
        b"{1000000000000 1}\n",
        b"@relation 'x: -C -3'\n",
        b"9 9 9\n",
        b"1 1000000000 1000000000\n",
        b"<!DOCTYPE x>",
        b"&a;",
        b"<label name=''>",
    ),
)


def mutated(content, rng):
    """One of the usual accidents, or several: cuts, repeats, flips, foreign bits."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(len(content) + 1)
        stop = min(len(content), start + rng.choice((1, 1, 2, 8, 60)))
        kind = rng.randrange(6)
        if kind == 0:
            del content[start:stop]
        elif kind == 1:
            del content[start:]
        elif kind == 2:
            content[start:start] = content[start:stop] * rng.choice((1, 2, 50))
        elif kind == 3:
            content[start:start] = rng.choice(SNIPPETS)
        elif kind == 4:
            content[start:stop] = rng.choice(SNIPPETS)
        elif start < len(content):
            content[start] ^= 1 << rng.randrange(8)
    return bytes(content)


def storages():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((12, 4)) < 0.6, rng.normal(size=(12, 4)).round(3), 0)
    Y = rng.integers(0, 2, size=(12, 3))
    names = ("plain", "two words", "it's", "x"), ("a", "b & c", "'q'")
    return {"dense": Dataset(X, Y, *names), "sparse": Dataset(sparse.csr_array(X), Y, *names)}


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


def write_nominal(_, path):
    path.write_bytes(NOMINAL)


def write_mat(data, path):
    savemat(path, {"data": data.X, "target": data.Y.T}, do_compression=path.stem.endswith("z"))


def write_packed_meka(data, path):
    plain = path.with_suffix(".plain")
    write_meka(data, plain)
    path.write_bytes(gzip.compress(plain.read_bytes(), compresslevel=0))  # stored: damage reaches the text


FORMATS = {
    "mulan": ("a.arff", write_mulan, read_mulan),
    "label xml": (
        "a.xml",
        lambda data, path: write_mulan(data, path.with_suffix(".arff")),
        lambda path: read_mulan(path.with_suffix(".arff")),
    ),
    "meka": ("a.arff", write_meka, read_meka),
    "packed meka": ("a.arff.gz", write_packed_meka, read_meka),
    "nominal": ("a.arff", write_nominal, lambda path: read_meka(path, nominal="onehot")),
    "svmlight": ("a.svm", write_svmlight, read_svmlight),
    "plain svmlight": ("a.svm", lambda data, path: write_svmlight(data, path, header=False), read_svmlight),
    "csv": ("a.csv", write_table, lambda path: read_table(path, labels=3)),
    "tsv": ("a.tsv", write_table, lambda path: read_table(path, labels=["a"], nominal="onehot")),
    "parquet": ("a.parquet", write_table, lambda path: read_table(path, labels=3)),
    "mat": ("a.mat", write_mat, read_mat),
    "packed mat": ("az.mat", write_mat, read_mat),
}


def check_one(read, path, content):
    """Read a file; returns whether it was accepted."""
    path.write_bytes(content)
    try:
        result = read(path)
    except DataError as error:
        result = error
    if isinstance(result, Dataset):
        return True
    assert result.path is not None
    assert str(result).startswith(result.path.rpartition("/")[2])
    assert len(str(result)) < 600
    return False


@pytest.mark.filterwarnings("ignore:.*does not hold")
@pytest.mark.filterwarnings("ignore:a.[ct]sv")  # about text columns
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_files_end_in_a_dataset_or_a_data_error(kind, storage, tmp_path, monkeypatch):
    monkeypatch.setattr("skcamel.data.errors.CLAIMED_BYTES_LIMIT", 2**24)
    monkeypatch.setattr("skcamel.data.errors.ALWAYS_PLAUSIBLE", 2**12)
    name, write, read = FORMATS[kind]
    path = tmp_path / name
    write(storages()[storage], path)
    whole, rng = path.read_bytes(), random.Random(f"{kind} {storage}")  # noqa: S311
    assert check_one(read, path, whole)
    accepted = 0
    tracemalloc.start()
    for tried in range(FILES):
        content = mutated(whole, rng)
        try:
            accepted += check_one(read, path, content)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} on file {tried}: {content[:3000]!r}") from error
        peak = tracemalloc.get_traced_memory()[1]
        assert peak < MEMORY, f"{peak:.0f} bytes on file {tried}: {content[:3000]!r}"
        tracemalloc.reset_peak()
    tracemalloc.stop()
    assert accepted < FILES


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\x00" * 300, b"\xff\xfe@\x00r\x00", b"@", b"{}", b"\x1f\x8b", b"\x1f\x8b\x08\x00" + b"\x00" * 20, b"PAR1", b"1"],
)
@pytest.mark.parametrize("kind", FORMATS)
def test_files_of_another_kind(kind, content, tmp_path):
    name, write, read = FORMATS[kind]
    if kind in ("mulan", "label xml"):
        write(storages()["dense"], tmp_path / name)
    assert not check_one(read, tmp_path / name, content)

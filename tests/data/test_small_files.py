"""Small files cannot demand gigabytes: each ends in one error that says so, or in a Dataset."""

import gzip
import re
import tracemalloc

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.io import savemat

from skcamel import memory
from skcamel.data import DataError, Dataset, read_dataset, write_dataset
from skcamel.data.sources import utf8

SPENT = 2**29  # bytes of resident memory that reading any of these files may take
LONG = "x" * 1_000_000


def arff(n_labels, head, rows):
    return f"@relation 'a: -C {n_labels}'\n{head}@data\n{rows}"


def attributes(count, prefix, kind):
    return "".join(f"@attribute {prefix}{k} {kind}\n" for k in range(count))


LABEL = attributes(1, "l", "{0,1}")
MANY, ONES = attributes(5000, "l", "{0,1}"), attributes(5000, "f", "{1,0}")
REAL = "@attribute a real\n"
NOMINAL = "@attribute x {" + ",".join(map(str, range(20_000))) + "}\n"
TEXTS = {  # what claims too much ► the name of the file, and what it holds
    "omitted nominals": ("a.arff", lambda: arff(1, LABEL + ONES, "{}\n" * 100_000)),
    "labels": ("a.arff", lambda: arff(5000, MANY + "@attribute x real\n", "{}\n" * 10**5)),
    "values of a nominal": ("a.arff", lambda: arff(1, LABEL + NOMINAL, "0,1\n" * 30_000)),
    "attributes": ("a.arff.gz", lambda: arff(1, LABEL + REAL * 1_500_000, "{0 1}\n")),
    "labels of svmlight": ("a.svm", lambda: f"256 3 {2**20}\n" + "1 1:1\n" * 256),
    "packed cells": (
        "a.csv.gz",
        lambda: ",".join(f"f{k}" for k in range(1000)) + "\n" + ("0," * 999 + "0\n") * 90_000,
    ),
    "keys": ("a.jsonl", lambda: "".join(f'{{"k{k}": 1}}\n' for k in range(40_000))),
}
NUMBERS = {"x": pa.array(range(300)), "l": pa.array([0, 1] * 150)}
TABLES = {
    "texts": lambda: {"t": pa.array([LONG] * 300), **NUMBERS},
    "a dictionary": lambda: {"t": pa.array([LONG] * 300).dictionary_encode(), **NUMBERS},
    "rows": lambda: {f"c{k}": pa.array(np.zeros(10**7, dtype=np.int8)) for k in range(10)},
}
MATRICES = {
    "a packed matrix": lambda: (np.zeros((20_000, 4000), np.int8), np.zeros((20_000, 1), np.int8)),
    "rows of nothing": lambda: (sparse.csc_array((10**9, 2)), sparse.csc_array((10**9, 1))),
    "labels of nothing": lambda: (sparse.csc_array((10**5, 2)), sparse.csc_array((10**5, 5000))),
}


def packed(path, content):
    path.write_bytes(gzip.compress(content.encode() if isinstance(content, str) else content))


def made(kind, folder):
    """Write a small file that claims much."""
    if kind in TEXTS:
        path = folder / TEXTS[kind][0]
        content = TEXTS[kind][1]()
        if path.suffix == ".gz":
            packed(path, content)
        else:
            path.write_text(content)
    elif kind in TABLES:
        path = folder / "a.parquet"
        pq.write_table(pa.table(TABLES[kind]()), path, compression="zstd")
    elif kind in MATRICES:
        path = folder / "a.mat"
        data, target = MATRICES[kind]()
        savemat(path, {"data": data, "target": target}, do_compression=True)
    else:
        path = folder / "a.xlsx"
        book = openpyxl.Workbook()
        book.active["A1"], book.active["XFD1048576"] = "x", 1
        book.save(path)
    return path


def options(path):
    is_table = re.search(r"\.(csv|parquet|xlsx|jsonl)", path.name)
    return {"labels": 1} if is_table else {"nominal": "onehot"}


def spent(read):
    """Resident memory that it takes, and what it gives or raises."""
    before = memory.resident()
    memory.forget_peak()
    try:
        result = read()
    except DataError as error:
        result = error
    return memory.peak() - before, result


@pytest.mark.parametrize("kind", [*TEXTS, *TABLES, *MATRICES, "far cells"])
def test_a_small_file_that_claims_gigabytes_is_refused_at_once(kind, tmp_path):
    path = made(kind, tmp_path)
    assert path.stat().st_size < 2**21
    taken, result = spent(lambda: read_dataset(path, **options(path)))
    assert isinstance(result, DataError)
    assert str(result).startswith(path.name)
    assert re.search("out of proportion|does not fit into memory", str(result))
    assert taken < SPENT


def test_a_line_of_many_cells_is_refused_for_its_width(tmp_path):
    packed(tmp_path / "a.csv.gz", b"x,l\n" + b"ab," * 2**23 + b"0\n")
    taken, result = spent(lambda: read_dataset(tmp_path / "a.csv.gz", labels=1))
    assert "Row #2: Expected 2 columns, got 8388609" in str(result)
    assert taken < SPENT


@pytest.fixture
def little_memory(monkeypatch):
    """As if this process could have 2 MiB more than when the test began."""
    tracemalloc.start()
    monkeypatch.setattr(
        "skcamel.memory.available", lambda device=None: 2**21 - tracemalloc.get_traced_memory()[0]
    )
    yield
    tracemalloc.stop()


REFUSAL = (
    r" needs about .* of memory and .* are free\. Keep a part of its rows or columns, or give this"
    r" process more memory\."
)


@pytest.mark.filterwarnings("ignore:.*does not hold")
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "name", ["a.arff", "a.arff.gz", "a.csv", "a.csv.gz", "a.tsv", "a.parquet", "a.svm"]
)
def test_a_file_that_does_not_fit_is_refused_with_the_cure(name, storage, tmp_path, rng, request):
    path = tmp_path / name
    X = storage(rng.random((4000, 100)).round(2))
    write_dataset(Dataset(X, rng.integers(0, 2, size=(4000, 4))), path)
    request.getfixturevalue("little_memory")
    with pytest.raises(DataError, match=f"{name}: .*{REFUSAL}"):
        read_dataset(path, labels=4)
    assert tracemalloc.get_traced_memory()[1] < 20e6  # the parser's blocks among them


def test_names_count_too(tmp_path, little_memory):
    (tmp_path / "a.csv").write_text(",".join(f"f{k}" for k in range(20_000)) + "\n")
    with pytest.raises(DataError, match=f"a.csv: Room for 20000 columns{REFUSAL}"):
        read_dataset(tmp_path / "a.csv", labels=1)


def damaged(content):
    """Cut, wrong checksum, wrong method, garbage inside, garbage behind."""
    whole = gzip.compress(content)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    changed = [whole[:-8] + b"\0" * 8, whole[:2] + b"\x07" + whole[3:], bytes(flipped)]
    return [whole[:-9], whole[:12], *changed, whole + b"garbage"]


BEGINS = {"a.arff.gz": b"@relation a\n", "a.csv.gz": b"x,l\n1.5,0\n", "a.svm.gz": b"1 1:1\n"}
BEGINS["a.xml"] = b'<labels><label name="l"/></labels>'


@pytest.mark.parametrize("kind", range(6))
@pytest.mark.parametrize("name", BEGINS)
def test_damaged_compression_is_a_data_error_in_every_format(name, kind, tmp_path):
    noise = np.random.default_rng(0).integers(32, 120, size=2000, dtype=np.uint8).tobytes()
    if name == "a.xml":
        noise = b"<!-- -->" * 200
        (tmp_path / "a.arff").write_text(arff(0, "@attribute x real\n" + LABEL, "1,1\n"))
    (tmp_path / name).write_bytes(damaged(BEGINS[name] + noise)[kind])
    with pytest.raises(DataError, match=name):
        read_dataset(tmp_path / name.replace(".xml", ".arff"), labels=1)


def test_texts_of_older_tools_are_read_too():
    for content in (b"caf\xe9", "café".encode(), "café".encode("utf-8-sig")):
        assert utf8(content, "a.txt") == "café".encode()

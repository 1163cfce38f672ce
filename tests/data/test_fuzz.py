"""The first seeds of the fuzzer of readers, and files of another kind than their name says."""

import tracemalloc

import pytest

from fuzzing.readers import FORMATS, attack, check, originals, outcome
from skcamel.data import DataError

FILES = 1800  # damaged ones, the same in every run; ``make fuzz`` goes on
FOUND = 20010526  # announced rows that are not there
TESTS = 6


@pytest.fixture(scope="module", autouse=True)
def tracing():
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("part", range(TESTS))
def test_damaged_files_end_in_a_dataset_or_a_data_error(part, tmp_path):
    for seed in (*range(part, FILES, TESTS), FOUND):
        attack(seed, tmp_path)


def lay_out(kind, storage, folder):
    for path, whole in originals(kind, storage).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(whole)
    return folder / FORMATS[kind][0]


@pytest.mark.filterwarnings("ignore")  # about text columns
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("kind", FORMATS)
def test_whole_files_are_read(kind, storage, tmp_path):
    result = outcome(FORMATS[kind][2], lay_out(kind, storage, tmp_path))
    check(result)
    if kind.startswith("known"):
        assert "this is not the data set emotions" in str(result)
    else:
        assert not isinstance(result, DataError), str(result)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\x00" * 300, b"\xff\xfe@\x00r\x00", b"@", b"{}", b"\x1f\x8b\x08\x00", b"PAR1"],
)
@pytest.mark.parametrize("kind", FORMATS)
def test_files_of_another_kind(kind, content, tmp_path):
    path = lay_out(kind, "dense", tmp_path)
    path.write_bytes(content)
    assert isinstance(outcome(FORMATS[kind][2], path), DataError)

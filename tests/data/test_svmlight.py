"""Multi-label svmlight, with and without a first line of sizes."""

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from any_dataset import datasets, same_bits
from skcamel import CamelClassifier, load, save
from skcamel.data import DataError, read_svmlight, write_svmlight
from skcamel.data.matching import read_rows, remember


@pytest.fixture
def read(tmp_path):
    def read_text(text, **options):
        path = tmp_path / "made.svm"
        path.write_text(text)
        return read_svmlight(path, **options)

    return read_text


def test_plain_lines_count_from_one_unless_a_zero_occurs(read):
    data = read("1,3 2:0.5 4:1\n 1:1\n3\n")
    assert isinstance(data.X, sparse.csr_array)
    np.testing.assert_array_equal(data.X.toarray(), [[0, 0.5, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]])
    assert data.Y.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 1]]
    zero = read("0,2 1:0.5 3:1\n1 0:1\n")
    assert (zero.d, zero.q) == (4, 3)
    one = read("1 1:1\n", zero_based=True)
    assert (one.d, one.q) == (2, 2)


def test_a_first_line_of_sizes_counts_from_zero(read):
    data = read("2 5 4\n1,3 0:1 2:0.5\n 4:1\n")
    np.testing.assert_array_equal(data.X.toarray(), [[1, 0, 0.5, 0, 0], [0, 0, 0, 0, 1]])
    assert data.Y.tolist() == [[0, 1, 0, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "text",
    [
        "1,2  3:1\t4:2 # why\n\n# a comment\n2 1:1 \n",
        "1,2.0 3:1 4:2\r\n2.0 1:1\r\n",
        "\ufeff1,2 3:1 4:2\n2 1:1",
    ],
)
def test_comments_and_spaces(read, text):
    data = read(text)
    np.testing.assert_array_equal(data.X.toarray(), [[0, 0, 1, 2], [1, 0, 0, 0]])
    assert data.Y.tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1 1:1\n1 1\n", 2, "'1 1' cannot be read"),
        ("1 1:x\n", 1, "'1 1:x' cannot be read (could not convert string to float"),
        ("1 1:1\n" * 900 + "a 1:1\n" * 30, 901, "'a 1:1' cannot be read"),
        ("-1 1:1\n", 1, "a label is no whole number from 0 on"),
        ("1,,2 1:1\n", 1, "'1,,2 1:1' cannot be read"),
        ("1 2:1 2:1\n", 1, "ascending index"),
        ("1 99999999:1\n", None, "99999999 columns need 14.0 GiB, out of proportion"),
        ("1 99999999999999999999:1\n", 1, "cannot be read"),
        ("9 2 2\n1 1:1\n", 2, "the file has 1 rows, 9 expected"),
        ("1 2 2\n1 2:1\n", None, "for 2 columns counted from 0"),
        ("1 2 999999999999\n1 1:1\n", None, "999999999999 columns need"),
        ("", 1, "the file has 0 rows, some expected"),
        (" 1:1\n", None, "for 0 columns counted from 1"),
        ("1\n", None, "for 0 columns counted from 1"),
    ],
)
def test_errors_name_the_line_and_what_to_do(read, text, line, message):
    with pytest.raises(DataError) as caught:
        read(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.path.endswith("made.svm")) == (line, True)


@given(datasets(named=False, storage=("sparse",)))
def test_round_trip(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("s") / "a.svm.gz"
    write_svmlight(data, path)
    assert same_bits(read_svmlight(path), data)


def test_a_model_reads_new_rows_with_the_base_of_its_training_file(tmp_path, rng):
    """New rows may lack feature 0 and label 0, which alone would show that counting starts at 0."""
    X = sparse.csr_array(np.where(rng.random((60, 8)) < 0.5, rng.random((60, 8)), 0))
    Y = (X.toarray()[:, [0, 3, 5]] > 0.3).astype(int)
    lines = []
    for x, y in zip(X.toarray(), Y):
        cells = " ".join(f"{j}:{x[j]}" for j in np.flatnonzero(x))
        lines.append(f"{','.join(map(str, np.flatnonzero(y)))} {cells}\n")
    (tmp_path / "train.svm").write_text("".join(lines))
    late = np.flatnonzero((X.toarray()[:, 0] == 0) & (Y[:, 0] == 0) & Y.any(axis=1))
    (tmp_path / "new.svm").write_text("".join(lines[row] for row in late))
    train = read_svmlight(tmp_path / "train.svm")
    assert train.zero_based == (True, True)
    model = CamelClassifier().fit(train.X, train.labels)
    remember(model, train)
    save(model, tmp_path / "m.skcamel")
    rows = read_rows(load(tmp_path / "m.skcamel"), tmp_path / "new.svm", truth=True)
    np.testing.assert_array_equal(rows.X.toarray(), X[late].toarray())
    np.testing.assert_array_equal(rows.Y, Y[late])

"""The small pieces that the readers are made of: text, names, nominal values, rows of matrices, addresses and locks."""

import numpy as np
import pytest
from scipy import sparse

from skcamel.data import DataError, Dataset
from skcamel.data.attributes import number
from skcamel.data.dataset import as_labels, row_kinds
from skcamel.data.sources import (
    check_memory,
    check_plausible_width,
    decoded,
    numerals,
)


def test_text_of_older_tools_is_read_too():
    assert decoded(b"caf\xe9") == decoded("café".encode()) == "café"


def test_numbers_as_text_and_back():
    assert numerals(np.array([1.0, 0.1, -0.0, np.nan]), "?") == ["1", "0.1", "-0", "?"]
    assert number("1e3") == 1000
    with pytest.raises(ValueError, match="not a number"):
        number("1_0")


def test_what_does_not_fit_is_refused():
    with pytest.raises(
        DataError, match=r"^wide\.csv: Its header needs about 1073741824\.0 GiB of memory and "
    ):
        check_memory(2.0**60, "Its header", "wide.csv")
    with pytest.raises(
        DataError,
        match=(
            r"^odd\.txt: 1000000000000 features, but only 3 stored in the file; is the file"
            r" damaged\?$"
        ),
    ):
        check_plausible_width(10**12, 3, "features", "odd.txt")


@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_array, lambda rows: np.array(rows, dtype=object)]
)
def test_labels_of_any_form_become_ones(form):
    assert as_labels(form([[1, -1], [1, 1]])).tolist() == [[1, 0], [1, 1]]


def test_equal_rows_are_told_by_their_values_only():
    X = np.array([[0.0, 1.5], [1.5, 0.0], [-0.0, 1.5]])
    assert row_kinds(X).tolist() == row_kinds(sparse.csr_array(X)).tolist() == [0, 1, 0]
    assert row_kinds(X, np.array([[1], [0], [0]])).tolist() == [0, 1, 2]
    assert Dataset(X, np.eye(3, 2, dtype=int), label_names=("sea", "sun")).labels[:1].columns == (
        "sea",
        "sun",
    )

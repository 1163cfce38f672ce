"""Small data sets for round trips: odd names and numbers, empty rows, dense and sparse."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from skcamel.data import Dataset
from skcamel.data.dataset import digest, is_table

FINITE = (0.0, -0.0, 1.0, 0.1, 1 / 3, -1e-300, 5e-324, 1.7976931348623157e308, 1234567890123456.0)
ODD_NUMBERS = st.sampled_from((*FINITE, 123456789012345678.0, np.inf, -np.inf, np.nan))
FLOATS = st.floats(allow_nan=True, allow_infinity=True)
NUMBERS = ODD_NUMBERS | FLOATS | st.integers(-1000, 1000).map(float)
LETTERS = st.sampled_from("ab01 ,;'\"\\{}%?#@:\n\t\r=<&é☃") | st.characters(
    exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"
)
NAMES = st.text(LETTERS, max_size=8)


@st.composite
def datasets(draw, *, storage=("dense", "sparse"), named=True):
    """A data set with up to 6 rows, 5 features and 4 labels, all names different."""
    n, d, q = draw(st.integers(1, 6)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (n, d), elements=NUMBERS))
    Y = draw(arrays(np.int64, (n, q), elements=st.integers(0, 1)))
    names = draw(st.lists(NAMES, min_size=d + q, max_size=d + q, unique=True)) if named else []
    if draw(st.sampled_from(storage)) == "sparse":
        X = sparse.csr_array(np.where(draw(arrays(np.bool_, (n, d))), X, 0.0))
    return Dataset(X, Y, tuple(names[:d]), tuple(names[d:]), name="made")


def same(mine, theirs):
    """Whether two data sets have the same values, names and parts, however they are stored."""
    if is_table(mine.X):
        same_values = mine.X.equals(theirs.X) and np.array_equal(mine.Y, theirs.Y, equal_nan=True)
    else:
        same_values = digest(mine.X, mine.Y) == digest(theirs.X, theirs.Y)
    names = (mine.feature_names, mine.label_names)
    same_parts = np.array_equal(mine.train, theirs.train) and np.array_equal(mine.test, theirs.test)
    return same_values and same_parts and names == (theirs.feature_names, theirs.label_names)


def same_bits(mine, theirs):
    """Whether two data sets agree to the last bit; zeros of a sparse X have no sign."""
    if sparse.issparse(mine.X) != sparse.issparse(theirs.X) or not same(mine, theirs):
        return False
    return (
        sparse.issparse(mine.X)
        or np.array_equal(np.signbit(mine.X), np.signbit(theirs.X))
        or bool(np.isnan(mine.X).any())
    )

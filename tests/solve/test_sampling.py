"""The sample of a stream: unbiased, the same for any order and any batches, and rare labels are in it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skcamel.solve import sampling
from skcamel.solve.sampling import Rows, Sample, digests

RNG = np.random.default_rng(0)
N, Q = 300, 3
X = RNG.integers(0, 40, size=(N, 2)).astype(np.float64)  # some rows occur twice
Y = np.where(RNG.random((N, Q)) < (0.5, 0.1, 0.01), 1, -1).astype(np.int8)
WEIGHTS = RNG.integers(1, 4, N).astype(np.float64)


def in_batches(order, cuts, size, weights=None, rows=X):
    found = Sample(0, size)
    for part in np.split(order, sorted(cuts)):
        if len(part):
            found = found.add(rows[part], Y[part], None if weights is None else weights[part])
    return found


def assert_same(first: Rows, second: Rows):
    for mine, theirs in zip(first, second, strict=True):
        np.testing.assert_allclose(
            *(part.toarray() if sparse.issparse(part) else part for part in (mine, theirs)), rtol=1e-14
        )  # weights that are no integers are summed in another order


@given(st.randoms(use_true_random=False), st.lists(st.integers(0, N), max_size=5), st.sampled_from([8, 40, 10_000]), st.booleans())
def test_neither_order_nor_batches_matter(random, cuts, size, weighted):
    order = np.array(random.sample(range(N), N))
    weights = WEIGHTS / 7 if weighted else None
    assert_same(in_batches(order, cuts, size, weights).rows(), in_batches(np.arange(N), [], size, weights).rows())


def test_one_row_at_a_time_is_a_batch_too():
    assert_same(in_batches(np.arange(N), range(1, N), 40).rows(), in_batches(np.arange(N), [], 40).rows())


@pytest.mark.parametrize("block", [7, 64])
def test_blocks_do_not_matter(block, monkeypatch):
    whole = in_batches(np.arange(N), [], 40).rows()
    monkeypatch.setattr(sampling, "BLOCK_ROWS", block)
    assert_same(in_batches(np.arange(N), [], 40).rows(), whole)


@pytest.mark.parametrize("size", [8, 10_000])
def test_a_weight_equals_copies(size):
    repeated = np.repeat(np.arange(N), WEIGHTS.astype(int))
    assert_same(Sample(0, size).add(X[repeated], Y[repeated]).rows(), Sample(0, size).add(X, Y, WEIGHTS).rows())


def test_many_copies_of_one_row_do_not_crowd_out_others():
    first = digests(X, Y, 0).argmin()  # is in every sample
    copies = np.repeat(np.arange(N), np.where(np.arange(N) == first, 1000, 1))
    expected, found = Sample(0, 40).add(X, Y).rows(), Sample(0, 40).add(X[copies], Y[copies]).rows()
    np.testing.assert_array_equal(found.X, expected.X)


def test_copies_of_little_weight_lose_what_one_of_them_has():
    rows, labels = np.ones((5, 1)), np.ones((5, 1), dtype=np.int8)
    found = Sample(0).add(rows, labels, np.array([0.25, 0.25, 0.25, 0.25, 0.25])).rows()
    assert (found.weights.tolist(), found.units.tolist()) == ([1.25], [0.25])
    assert Sample(0).add(rows, labels, np.full(5, 3.0)).rows().units.tolist() == [1.0]
    everything = sampling.all_rows(rows, labels, np.array([0.5, 1.0, 2.0, 0.25, 1.0]))
    assert everything.units.tolist() == [0.5, 1.0, 1.0, 0.25, 1.0]


@pytest.mark.parametrize("size", [24, 120])
def test_sums_over_the_sample_are_unbiased(size):
    f = np.column_stack([np.ones(N), X[:, 0], Y[:, 1] == 1, (Y[:, 2] == 1) * X[:, 1]])  # (n, 4)
    different = np.unique(np.column_stack([X, Y]), axis=0, return_index=True)[1]
    estimates = []
    for seed in range(400):
        rows = Sample(seed, size).add(np.column_stack([X, f])[different], Y[different]).rows()
        estimates.append((rows.weights / rows.chance) @ rows.X[:, 2:])
    mean, error = np.mean(estimates, axis=0), np.std(estimates, axis=0) / 20
    assert (abs(mean - f[different].sum(axis=0)) <= 4 * error + 1e-9).all()
    assert (np.std(estimates, axis=0)[:2] > 0).all()


@given(st.integers(0, 2**31), st.integers(1, 60))
def test_rare_labels_are_there_and_sizes_are_as_stated(seed, size):
    rows = Sample(seed, size).add(X + np.arange(N)[:, None], Y).rows()  # all rows differ
    quota = min(sampling.OF_A_LABEL, max(1, size // (8 * Q)))
    general = size - min(size // 4, 2 * quota * Q)
    for j in range(Q):
        for sign in (1, -1):
            assert (rows.Y[:, j] == sign).sum() >= min(quota, (Y[:, j] == sign).sum())
    assert general <= len(rows.Y) <= general + 2 * quota * Q
    assert ((rows.chance > 0) & (rows.chance <= 1)).all()


def test_all_rows_are_there_while_they_are_few():
    rows = Sample(3).add(X, Y, WEIGHTS).rows()
    assert rows.weights.sum() == WEIGHTS.sum()
    assert (rows.chance == 1).all()
    assert len(rows.Y) == len(np.unique(np.column_stack([X, Y]), axis=0))


@given(st.integers(0, N), st.sampled_from([8, 40, 10_000]), st.booleans())
def test_samples_of_two_machines_add_up(cut, size, as_sparse):
    rows = sparse.csr_array(X) if as_sparse else X
    first, second = (Sample(0, size) if i == j else Sample(0, size).add(rows[i:j], Y[i:j]) for i, j in ((0, cut), (cut, N)))
    whole = Sample(0, size).add(rows, Y).rows()
    assert_same((first + second).rows(), whole)
    assert_same((second + first).rows(), whole)


def test_equal_rows_have_equal_numbers_however_they_are_stored():
    values = np.array([[0.0, -0.0, 1.5], [2.0, 0.0, -3.25], [0.0, 0.0, 0.0]])
    labels = np.array([[1, -1], [1, 1], [-1, -1]], dtype=np.int8)
    expected = digests(values, labels, 7)
    stored_zero = sparse.csr_array(([0.0, 1.5, 2.0, -3.25], [0, 2, 0, 2], [0, 2, 4, 4]), shape=(3, 3))
    others = [values.astype(np.float32), sparse.csr_array(values), stored_zero, np.asfortranarray(values), abs(values) * np.sign(values)]
    for same in others:
        np.testing.assert_array_equal(digests(same, labels, 7), expected)
    np.testing.assert_array_equal(digests(values, labels.astype(np.float64), 7), expected)
    assert len(np.unique(np.concatenate([expected, digests(values, -labels, 7), digests(values, labels, 8)]))) == 9


def test_numbers_are_as_if_drawn_at_random():
    rows = np.stack(np.meshgrid(np.arange(100.0), np.arange(100.0)), axis=-1).reshape(-1, 2)  # small whole numbers
    numbers = digests(rows, np.ones((len(rows), 1), dtype=np.int8), 0)
    assert len(np.unique(numbers)) == len(rows)
    counts, _ = np.histogram(numbers, 50, (0, 1))
    assert abs(counts - 200).max() < 5 * 200**0.5
    assert abs(np.corrcoef(np.column_stack([rows, numbers]).T)[2, :2]).max() < 0.05


def test_sparse_and_dense_batches_may_follow_each_other():
    mixed = Sample(0, 40).add(sparse.csr_array(X[:100]), Y[:100]).add(X[100:], Y[100:]).rows()
    other = Sample(0, 40).add(X[:100], Y[:100]).add(sparse.csr_array(X[100:]), Y[100:]).rows()
    np.testing.assert_array_equal(mixed.X.toarray(), other.X)


def test_a_sample_of_nothing_is_refused():
    with pytest.raises(ValueError, match="No row has been seen yet"):
        Sample(0).rows()

"""Sums over rows against loops over the rows."""

import numpy as np
import pytest

from skcamel.arrays import to_numpy
from skcamel.camel import landmark
from skcamel.camel.kernel import Kernel


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lambda2", [1e-3, 1e-18])  # sums are whitened, or blocks
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_over_blocks_are_those_over_rows(weighted, lambda2, threads, rng, xp):
    X, Y, w = (
        rng.normal(size=(11, 3)),
        np.where(rng.random((11, 2)) < 0.4, 1.0, -1.0),
        rng.uniform(0.5, 3, size=11),
    )
    of = landmark.features(Kernel("rbf", 2.0), xp(X[:4] + 0.1), n_rows=11, lambda2=lambda2)
    blocks = [
        lambda rows=slice(i, i + 3): landmark.Block(
            xp(X[rows]), xp(Y[rows]), xp(w[rows]) if weighted else None
        )
        for i in range(0, 11, 3)
    ]
    found = landmark.moments(of, blocks, 2, threads=threads)
    expected = [np.zeros(part.shape) for part in found]
    for x, y, weight in zip(X, Y, w if weighted else np.ones(11), strict=True):
        k = np.exp(-((x - X[:4] - 0.1) ** 2).sum(axis=1) / 8) - to_numpy(of.origin)
        seen = k @ to_numpy(of.whitening) if of.of_blocks else k
        target = np.append(y, 1)
        for total, term in zip(
            expected, (np.outer(seen, seen), np.outer(seen, target), k, target), strict=True
        ):
            total += weight * term
    assert of.of_blocks == (lambda2 < 1e-10)
    for part, total in zip(found, expected, strict=True):
        np.testing.assert_allclose(to_numpy(part), total, rtol=1e-9, atol=1e-11 * abs(total).max())


def test_what_all_kernels_have_in_common_does_not_call_for_whitened_blocks(rng):
    Z, of = rng.normal(size=(100, 9)) * np.append(5.0, np.ones(8)), Kernel("rbf", 8.0)
    K = of(Z, Z)
    spread, least = np.linalg.norm(K - K.mean(axis=0)), np.linalg.eigvalsh(K)[0]
    assert np.linalg.norm(K) > 3 * spread
    bound = 100 * landmark.DIGITS * least * 0.1 / (np.finfo(np.float64).eps * spread**2)  # rows
    assert not landmark.features(of, Z, n_rows=bound / 2, lambda2=0.1).of_blocks
    assert landmark.features(of, Z, n_rows=2 * bound, lambda2=0.1).of_blocks

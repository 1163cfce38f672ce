"""Peak memory of a fit, counted in n x n matrices of doubles."""

import tracemalloc

import numpy as np
import pytest

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.inputs import MATRICES_ALIVE

N = 700


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / (8 * N**2)
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 20))
    return X, (X[:, :8] + rng.normal(size=(N, 8)) > 1).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        CamelClassifier(),
        CamelClassifier(kernel="laplacian", scaling="standard", threshold="label"),
        CamelClassifierCV(),
        CamelClassifierCV(lambda1s=(0.5, 1.0, 2.0), threshold="label"),
        CamelClassifierCV(kernels=("rbf", "laplacian"), bandwidths=(0.5, 1.0)),
    ],
    ids=["plain", "laplacian", "search", "large search", "kernels"],
)
def test_a_fit_keeps_within_five_matrices(model, data):
    assert peak_of(lambda: model.fit(*data)) <= MATRICES_ALIVE


def test_prediction_keeps_within_its_blocks(data, monkeypatch):
    X, Y = data
    model = CamelClassifier().fit(X, Y)
    monkeypatch.setattr("skcamel.prediction.PREDICT_BLOCK_BYTES", 8 * N * 50)
    monkeypatch.setattr("skcamel.kernel.BLOCK_BYTES", 8 * N * 50)
    many = np.repeat(X, 20, axis=0)
    small = 8 * (many.size + 2 * many.shape[0] * Y.shape[1])  # the rows once more, and the scores
    assert peak_of(lambda: model.decision_function(many)) * 8 * N**2 < small + 6 * 8 * N * 50 + 2**21

"""Tensors in, tensors out; a device that is not there is named in one sentence."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification

from skcamel import CamelClassifier, CamelClassifierCV

X, Y = make_multilabel_classification(80, n_features=6, n_classes=4, n_labels=2, random_state=0)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed: pip install skcamel[gpu]")


@pytest.fixture(params=["cpu", "cuda"])
def device(request, torch):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA GPU")
    return request.param


LANDMARKS = {"solver": "landmark", "n_landmarks": 20}
PRIMAL = {"solver": "primal"}
MODELS = {
    "thresholds": CamelClassifier(threshold="macro_f1"),
    "laplacian": CamelClassifier(kernel="laplacian", scaling="standard"),
    "alternating": CamelClassifier(0.1, solver="alternating", tol=1e-10),
    "search": CamelClassifierCV(
        kernels=("rbf", "laplacian"), threshold="micro_f1", scoring="micro_f1"
    ),
    "folds": CamelClassifierCV(cv=3),
    "landmarks": CamelClassifier(**LANDMARKS, threshold="macro_f1"),
    "centres": CamelClassifier(
        **LANDMARKS, kernel="laplacian", scaling="standard", landmarks="kmeans"
    ),
    "whitened": CamelClassifier(solver="landmark", n_landmarks=60, bandwidth=40.0, lambda2=0.01),
    "columns": CamelClassifier(**PRIMAL, kernel="linear"),
    "search by landmarks": CamelClassifierCV(
        **LANDMARKS, kernels=("rbf", "linear"), threshold="micro_f1"
    ),
    "folds in columns": CamelClassifierCV(**PRIMAL, kernels=("linear",), cv=3),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", MODELS)
def test_a_device_agrees_with_numpy(name, device):
    weights = np.arange(60) % 3 + 1.0
    here = clone(MODELS[name]).fit(X[:60], Y[:60], weights)
    there = clone(MODELS[name]).set_params(device=device).fit(X[:60], Y[:60], weights)
    assert isinstance(there.dual_coef_, np.ndarray)
    mine, theirs = there.outputs(X[60:]), here.outputs(X[60:])
    assert_allclose(mine.scores, theirs.scores, atol=1e-8)
    assert_array_equal(mine.decisions, theirs.decisions)
    if hasattr(here, "predict_proba"):
        assert_allclose(mine.probabilities, theirs.probabilities, atol=1e-7)
    if hasattr(here, "cv_results_"):
        assert here.best_params_ == pytest.approx(there.best_params_)
        scores = (own.cv_results_["mean_test_score"] for own in (there, here))
        assert_allclose(*scores, atol=1e-8)


@pytest.mark.torch
def test_what_is_wrong_with_the_first_kernel_is_said_as_without_a_device(device):
    K = np.where(np.eye(20) > 0, -1.0, 0.0)  # started in a thread while the labels are learned
    for where in (None, device):
        with pytest.raises(ValueError, match="not positive semi-definite"):
            CamelClassifierCV(kernels=["precomputed"], device=where).fit(K, Y[:20])


@pytest.mark.torch
def test_tensors_in_tensors_out(torch, device):
    rows, labels = torch.tensor(X, device=device), torch.tensor(Y, device=device)
    model = CamelClassifier(device=device).fit(rows[:60], labels[:60])
    expected = CamelClassifier().fit(X[:60], Y[:60])
    for method in ("decision_function", "predict", "predict_proba"):
        result = getattr(model, method)(rows[60:])
        assert isinstance(result, torch.Tensor)
        assert result.device == rows.device
        assert_allclose(result.cpu().numpy(), getattr(expected, method)(X[60:]), atol=1e-7)
    assert model.decision_function(rows[60:].to(torch.float32)).dtype == torch.float32
    assert isinstance(model.predict(X[60:]), np.ndarray)


@pytest.mark.torch
def test_tensors_need_no_device_parameter(torch):
    model = CamelClassifier().fit(torch.tensor(X), torch.tensor(Y))
    assert isinstance(model.predict(torch.tensor(X)), torch.Tensor)


@pytest.mark.torch
def test_devices_that_are_not_there_are_named(torch):
    with pytest.raises(ValueError, match="device='abacus' is not a device torch knows"):
        CamelClassifier(device="abacus").fit(X, Y)
    if not torch.cuda.is_available():
        message = "device='cuda' needs a CUDA GPU and torch sees none here; use device=None"
        with pytest.raises(ValueError, match=message):
            CamelClassifier(device="cuda").fit(X, Y)


def test_missing_torch_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    message = r"device='cuda' needs torch: pip install 'skcamel\[gpu\]', or use device=None"
    with pytest.raises(ImportError, match=message):
        CamelClassifier(device="cuda").fit(X, Y)

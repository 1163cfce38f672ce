"""IMCC, a method of the study of alternatives: its minimum, and a search as by separate fits."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold

from baselines import overlapping
from reference import imcc as literal
from skcamel.experiment import get_method
from skcamel.metrics import average_precision, micro_f1

SCRIPT = Path(__file__).parents[2] / "studies" / "alternatives" / "imcc.py"
pytestmark = [
    pytest.mark.skipif(
        not SCRIPT.is_file(), reason="studies are part of a clone, not of an installed package"
    ),
    pytest.mark.filterwarnings(
        "ignore::sklearn.exceptions.ConvergenceWarning"
    ),  # fewer different rows than clusters
]

X, Y = overlapping.make(60)
NEW = X[:9] + 0.1


@pytest.fixture(scope="module")
def imcc():
    spec = importlib.util.spec_from_file_location("imcc_of_the_study", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(max_examples=25, deadline=None)
@given(
    alpha=st.sampled_from([0.0, 0.1, 1.0, 30.0]),
    beta=st.sampled_from([0.0, 0.01, 1.0, 30.0]),
    ridge=st.sampled_from([1e-3, 0.1, 10.0]),
    count=st.sampled_from([1, 3, 20, 500]),
    n=st.integers(2, 20),
)
def test_scores_are_those_of_the_normal_equations(imcc, alpha, beta, ridge, count, n):
    labels = np.vstack([Y[: n - 1], 1 - Y[:1]])
    clusters = imcc.Clusters(imcc.Rows("none", X[:n], labels), count, 0)
    expected = literal.outputs(X[:n], labels, clusters.of_row, alpha, beta, ridge, NEW)
    np.testing.assert_allclose(clusters.solve(alpha, beta, ridge).scores(NEW), expected, atol=1e-8)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_the_search_scores_as_separate_fits_and_its_method_runs_in_a_study(imcc, as_rows):
    thin = np.where(abs(X) < 0.5, 0.0, X)
    axes = "alphas=[0.0, 2.0], betas=[0.1], ridges=[0.01, 1.0], cluster_counts=[3, 9], cv=3"
    method = get_method(f"imcc={SCRIPT}:IMCCCV({axes})")
    models = method.fit(as_rows(thin), Y.astype(int), seed=0)
    found = models[""].outcome(as_rows(thin))
    values, held_out = {}, {}
    for params in method.estimator._candidates():
        one = clone(method.estimator).set_params(
            **{f"{name}s": [value] for name, value in params.items()}
        )
        key, held = tuple(params.items()), np.empty(Y.shape)
        folds = []
        for train, test in KFold(3, shuffle=True, random_state=0).split(thin):
            (model,) = one._models(thin[train], Y[train], [params])
            held[test] = model.scores(thin[test])
            folds.append(average_precision(Y[test], held[test]))
        values[key], held_out[key] = np.mean(folds), held
    best = max(values, key=values.get)
    assert found.params == dict(best)
    cut = max(held_out[best].ravel(), key=lambda cut: micro_f1(Y, held_out[best] >= cut))
    ours = imcc.best_cut(Y, held_out[best])
    assert micro_f1(Y, held_out[best] >= ours) == micro_f1(Y, held_out[best] >= cut)
    np.testing.assert_array_equal(found.decisions, found.scores >= ours)

"""Labels that are known in part: binary relevance learns from what is known, others refuse them."""

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from baselines import overlapping
from skcamel import baselines
from skcamel.baselines import BinaryRelevance
from skcamel.baselines.base import WithThresholds

NAN = np.nan
METHODS = [BinaryRelevance(), BinaryRelevance(LogisticRegression())]
OTHERS = [baselines.EnsembleOfClassifierChains(3), baselines.RAkEL(), baselines.LLSF()]
OTHERS += [baselines.JFSCCV(cv=3), WithThresholds(ExtraTreesClassifier(5))]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("method", OTHERS, ids=lambda method: type(method).__name__)
def test_methods_that_need_every_label_say_what_to_do(method):
    X, _, gaps = partial()
    message = r"unknown entries \(NaN\).*needs every label.*or use BinaryRelevance"
    with pytest.raises(ValueError, match=message):
        method.fit(X, gaps)


def partial(share=0.3, seed=0):
    """Overlapping classes, of whose labels a share is hidden: X, Y complete, Y with gaps."""
    X, Y = overlapping.make()
    hidden = np.random.default_rng(seed).random(Y.shape) < share
    return X, Y, np.where(hidden, NAN, Y)


@pytest.mark.parametrize("threshold", ["zero", "micro_f1", "macro_f1"])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_label_without_a_known_entry_is_never_predicted(method, threshold):
    X, _, gaps = partial()
    gaps[:, 1] = NAN
    gaps[7] = NAN
    with pytest.warns(UserWarning, match=r"1 of 4 labels have no known entry \(label2\)"):
        model = copy.deepcopy(method).set_params(threshold=threshold).fit(X, gaps)
    assert np.isfinite(model.decision_function(X)).all()
    assert not model.predict(X)[:, 1].any()
    assert model.predict(X)[:, [0, 2, 3]].any()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("base", [None, LogisticRegression()])
@pytest.mark.parametrize("weighted", [False, True])
def test_binary_relevance_learns_each_label_as_its_known_rows_alone_would(
    form, base, weighted, rng
):
    X, _, gaps = partial()
    weights = rng.integers(1, 4, size=len(X)).astype(float) if weighted else None
    P = BinaryRelevance(base).fit(form(X), gaps, weights).predict_proba(form(X))
    for j, y in enumerate(gaps.T):
        known = ~np.isnan(y)
        own = None if weights is None else weights[known]
        alone = BinaryRelevance(base).fit(form(X[known]), y[known, None], own)
        expected = alone.predict_proba(form(X))[:, 0]
        np.testing.assert_allclose(P[:, j], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings(
    "ignore::skcamel.checks.ConstantLabelWarning", "ignore:.*no known entry"
)
def test_targets_without_a_known_value_have_probability_zero():
    X = np.arange(4.0)[:, None]
    Y = np.array([[NAN, 1, 1], [NAN, NAN, 0], [NAN, 1, NAN], [NAN, 1, 0]])
    P = BinaryRelevance().fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(P[:, :2], [[0, 1]] * 4)

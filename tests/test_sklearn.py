"""scikit-learn's own demands, with the multi-label tags that make them apply."""

import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import cross_validate
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.metrics import get_scorer

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
GRID = {"alphas": (0.0, 0.5), "lambda2s": (0.01, 0.1)}
ESTIMATORS = [
    CamelClassifier(),
    CamelClassifier(0.1, solver="alternating"),
    CamelClassifierCV(**GRID),
    CamelClassifierCV(**GRID, cv=2, scoring="micro_f1"),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [CamelClassifier(), CamelClassifierCV()])
def test_multi_label_tags_are_set(estimator):
    tags = get_tags(estimator)
    assert tags.estimator_type == "classifier"
    assert tags.classifier_tags.multi_label
    assert tags.target_tags.multi_output
    assert tags.target_tags.single_output
    assert tags.input_tags.sparse
    assert not tags.input_tags.pairwise


def test_a_precomputed_kernel_is_pairwise_and_cross_validates():
    X, Y = make_multilabel_classification(60, random_state=0)
    options = {"scoring": get_scorer("coverage"), "cv": 3}
    estimator = CamelClassifier(kernel="precomputed")
    assert get_tags(estimator).input_tags.pairwise
    of_matrix = cross_validate(estimator, X @ X.T, Y, **options)
    of_rows = cross_validate(CamelClassifier(kernel="linear"), X, Y, **options)
    assert_allclose(of_matrix["test_score"], of_rows["test_score"])

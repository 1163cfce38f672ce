"""scikit-learn's own demands, with the multi-label tags that make them apply."""

import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.metrics import get_scorer

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")


def small_grid(**options):
    return CamelClassifierCV(alphas=(0.0, 0.5), lambda2s=(0.01, 0.1), **options)


@parametrize_with_checks(
    [
        CamelClassifier(),
        CamelClassifier(0.1, solver="alternating"),
        small_grid(),
        small_grid(cv=2, scoring="micro_f1"),
    ]
)
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
    K = X @ X.T
    estimator = CamelClassifier(kernel="precomputed")
    assert get_tags(estimator).input_tags.pairwise
    of_matrix = cross_validate(estimator, K, Y, scoring=get_scorer("coverage"), cv=3)["test_score"]
    of_rows = cross_validate(
        CamelClassifier(kernel="linear"), X, Y, scoring=get_scorer("coverage"), cv=3
    )["test_score"]
    assert_allclose(of_matrix, of_rows)


def test_it_works_in_pipelines_and_searches():
    X, Y = make_multilabel_classification(60, random_state=0)
    pipeline = make_pipeline(StandardScaler(), CamelClassifier())
    search = GridSearchCV(
        pipeline,
        {"camelclassifier__alpha": [0.0, 0.5]},
        scoring=get_scorer("average_precision"),
        cv=3,
    ).fit(X, Y)
    assert search.best_score_ > 0.5
    inside = CamelClassifier(
        alpha=search.best_params_["camelclassifier__alpha"], scaling="standard"
    ).fit(X, Y)
    assert_allclose(search.decision_function(X), inside.decision_function(X), atol=1e-10)


def test_clone_keeps_every_parameter():
    estimator = CamelClassifier(
        0.2,
        2.0,
        0.3,
        kernel="laplacian",
        bandwidth=2.0,
        scaling="minmax",
        threshold="label",
        sparsity=0.1,
    )
    assert clone(estimator).get_params() == estimator.get_params()

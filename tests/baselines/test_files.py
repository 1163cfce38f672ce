"""Model files of the comparison methods."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression

from skcamel import load, save
from skcamel.baselines import JFSC, JFSCCV, LLSF, LLSFCV, BinaryRelevance, EnsembleOfClassifierChains, RAkEL

X, Y = make_multilabel_classification(80, n_features=5, n_classes=4, n_labels=2, random_state=0)
MODELS = [
    BinaryRelevance(),
    EnsembleOfClassifierChains(3, random_state=0),
    RAkEL(2, 3, random_state=0),
    LLSF(),
    JFSC(threshold="tuned"),
    BinaryRelevance(threshold="label"),
    LLSFCV(cv=2),
    JFSCCV(cv=2),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_predictions_on_new_rows_are_identical(model, tmp_path):
    model.fit(X[:60], Y[:60])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X[60:]), model.decision_function(X[60:]))
    np.testing.assert_array_equal(again.predict(X[60:]), model.predict(X[60:]))
    assert again.get_params() == model.get_params()
    assert again.label_sets(X[60:]) == model.label_sets(X[60:])


def test_a_foreign_base_estimator_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"cannot store base_estimator=LogisticRegression.* use skops.io.dump"):
        save(BinaryRelevance(LogisticRegression()).fit(X, Y), tmp_path / "model")


def test_a_model_without_its_weights_is_not_saved(tmp_path):
    model = LLSF().fit(X, Y)
    del model.coef_
    with pytest.raises(ValueError, match="This LLSF cannot be saved: coef_ missing"):
        save(model, tmp_path / "model")


def weights(model):
    """All weights of a model, as arrays."""
    if isinstance(model, RAkEL):
        return [softmax.coef for _, softmax in model._models]
    return [model.model_.coef] if isinstance(model, BinaryRelevance) else [chain.links.coef for chain in model.estimators_]


@pytest.mark.parametrize("model", [BinaryRelevance(), EnsembleOfClassifierChains(4, random_state=0), RAkEL(random_state=0)])
def test_weights_are_stored_once(model, tmp_path):
    X, Y = make_multilabel_classification(60, n_features=1000, n_classes=12, n_labels=3, random_state=0)
    save(model.fit(X, Y), tmp_path / "model")
    size, of_weights = (tmp_path / "model").stat().st_size, sum(array.nbytes for array in weights(model))
    assert of_weights < size < 1.5 * of_weights  # the rest: three numbers for each column, and names

"""The seven metrics as scikit-learn scorers, for our estimators and others."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier

from skcamel import CamelClassifier, metrics
from skcamel.metrics import get_scorer

CV = KFold(3)


def data(q):
    """60 rows with q labels, none of which is constant in a fold."""
    return make_multilabel_classification(60, n_features=5, n_classes=q, random_state=0)


def options(name, **ranking):
    """Conventions for the ranking metrics alone."""
    return ranking if name in metrics.RANKING else {}


def scorers(**ranking):
    return {name: get_scorer(name, **options(name, **ranking)) for name in metrics.NAMES}


def sign(name):
    return -1 if name in metrics.LOSSES else 1


def by_hand(estimator, X, Y, **ranking):
    """Every metric of every fold without scorers, losses negated."""
    results = {name: [] for name in metrics.NAMES}
    for train, test in CV.split(X):
        estimator.fit(X[train], Y[train])
        truth = Y[test].reshape(len(test), -1)
        scores, decisions = (
            np.reshape(part(X[test]), truth.shape)
            for part in (estimator.decision_function, estimator.predict)
        )
        for name, value in metrics.evaluate(truth, scores, decisions, **ranking).items():
            results[name].append(sign(name) * value)
    return results


@pytest.mark.parametrize("q", [1, 2])
def test_grid_search_ranks_by_the_scorer_and_refits(q):
    X, Y = data(q)
    grid = {"lambda2": [1e-3, 1.0]}
    search = GridSearchCV(
        CamelClassifier(), grid, scoring=scorers(rows="mulan"), refit="hamming_loss", cv=CV
    ).fit(X, Y)
    for i, lambda2 in enumerate(grid["lambda2"]):
        for name, values in by_hand(CamelClassifier(lambda2=lambda2), X, Y, rows="mulan").items():
            assert search.cv_results_[f"mean_test_{name}"][i] == pytest.approx(
                np.mean(values), abs=1e-15
            )
    assert search.best_score_ == search.cv_results_["mean_test_hamming_loss"].max() <= 0
    assert search.best_estimator_.lambda2 == grid["lambda2"][search.best_index_]


@pytest.mark.parametrize("name", metrics.NAMES)
def test_scorers_survive_pickling_weigh_rows_and_skip_unknown_entries(name):
    X, Y = data(3)
    model, weights, truth = CamelClassifier().fit(X, Y), np.arange(60.0), Y.astype(float)
    truth[:9, 1] = np.nan
    prediction = model.decision_function(X) if name in metrics.RANKING else model.predict(X)
    conventions = options(name, ties="index", rows="mulan")
    scorer = pickle.loads(pickle.dumps(get_scorer(name, **conventions)))  # noqa: S301 - our own bytes
    for labels in (Y, truth):
        value = getattr(metrics, name)(labels, prediction, sample_weight=weights, **conventions)
        assert scorer(model, X, labels, sample_weight=weights) == sign(name) * value


ESTIMATORS = {  # by decision_function, which comes first, and by lists of probabilities
    "ridge": RidgeClassifier(),
    "chain": ClassifierChain(LogisticRegression()),
    "forest": RandomForestClassifier(5, random_state=0),
    "neighbours": KNeighborsClassifier(),
}


@pytest.mark.parametrize("q", [2, 3])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_other_estimators_are_scored_by_decision_function_or_else_by_probabilities(name, q):
    X, Y = data(q)
    estimator = ESTIMATORS[name].fit(X, Y)
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(X)
    else:
        scores = np.column_stack([p[:, 1] for p in estimator.predict_proba(X)])
    for metric in metrics.RANKING:
        value = getattr(metrics, metric)(Y, scores)
        assert get_scorer(metric)(estimator, X, Y) == sign(metric) * value


@pytest.mark.parametrize("constant", [0, 1])
def test_a_label_constant_in_training_is_scored_though_its_probabilities_have_one_column(constant):
    X, Y = data(3)
    training = Y.copy()
    training[:, 1] = constant
    forest = RandomForestClassifier(5, random_state=0).fit(X, training)
    first, only, third = forest.predict_proba(X)
    assert only.shape == (60, 1)
    scores = np.column_stack([first[:, 1], np.full(60, float(constant)), third[:, 1]])
    for name in metrics.RANKING:
        assert get_scorer(name)(forest, X, Y) == sign(name) * getattr(metrics, name)(Y, scores)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_labels_of_a_frame_are_matched_by_name(frame):
    library = pytest.importorskip(frame)
    X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    model = CamelClassifier().fit(X, library.DataFrame(dict(zip("abc", Y.T, strict=True))))
    for names in ("bca", "xyz"):  # other names: by position
        order = ["abc".find(name) if name in "abc" else k for k, name in enumerate(names)]
        others = library.DataFrame({name: Y[:, k] for name, k in zip(names, order, strict=True)})
        assert model.score(X, others) == model.score(X, Y)
        truth = library.DataFrame(dict(zip("abc", Y.T, strict=True)))
        assert metrics.hamming_loss(truth, others) == 0
        for name in metrics.NAMES:
            scorer = get_scorer(name)
            assert scorer(model, X, others) == scorer(model, X, Y)


def test_unknown_names_and_conventions_are_refused_with_the_known_ones():
    known = ", ".join(repr(name) for name in metrics.NAMES)
    with pytest.raises(ValueError, match=f"name='accuracy' is not known; choose one of {known}"):
        get_scorer("accuracy")
    with pytest.raises(ValueError, match="convention of macro_f1='ties' is not known"):
        get_scorer("macro_f1", ties="worst")

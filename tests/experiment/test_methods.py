"""Methods by name, by text and by object."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from skcamel.experiment import METHODS, get_method, run_study
from skcamel.experiment.unit import OwnMetric, described, evaluated, own_metric
from study_methods import Mean, made

FILE = """
from study_methods import Mean

class Mine(Mean):
    def fit(self, X, Y):
        super().fit(X, Y)
"""


@pytest.mark.parametrize("preset", ["quick", "paper", "best"])
def test_every_method_of_the_library_has_a_name(preset):
    for name in METHODS:
        if name in ("catboost", "xgboost") and find_spec(name) is None:
            with pytest.raises(ImportError, match=f"pip install {name}"):
                get_method(name, preset)
            continue
        method = get_method(name, preset)
        assert method.name == name


@pytest.mark.parametrize("name", ["br", "ecc", "rakel", "llsf", "jfsc", "extra-trees", "svc"])
def test_quick_and_best_tune_the_thresholds_of_all_methods_alike(name):
    for preset, threshold in (("quick", "micro_f1"), ("paper", "zero"), ("best", "micro_f1")):
        found = get_method(name, preset).estimator.get_params()
        tuned = [value for key, value in found.items() if key.endswith("threshold")]
        assert tuned in ([threshold], [] if threshold == "zero" else None)


def test_a_class_of_ones_own_needs_fit_predict_and_decision_function(tmp_path):
    path = tmp_path / "mine_of_a_test.py"
    path.write_text(FILE)
    text = f"own={path}:Mine('mine', pause=0.0)"
    records = run_study([made()], [text, ("mean", Mean())], n_folds=2)
    assert {record["method"] for record in records} == {"mean", "own"}
    own = next(record for record in records if record["method"] == "own")
    settings = {"params": {"name": "mine", "pause": 0.0}, "changed": ["name"]}
    assert own["settings"] == settings | {"class": "mine_of_a_test.Mine"}


def test_a_text_names_an_estimator():
    plain = get_method("sklearn.neighbors:KNeighborsClassifier")
    named = get_method("nn=sklearn.neighbors:KNeighborsClassifier(9, weights='distance')")
    assert (plain.name, plain.estimator.n_neighbors) == ("KNeighborsClassifier", 5)
    assert (named.name, named.estimator.n_neighbors) == ("nn", 9)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("nothing:Class", ImportError, "No module named 'nothing'"),
        ("math:nothing", ImportError, "has no attribute 'nothing'"),
        ("folder/nothing.py:f", ImportError, "FileNotFoundError"),
        ("sklearn.svm:SVC(C=open('x'))", ValueError, "arguments are Python literals"),
        ("sklearn.svm:SVC(D=1)", TypeError, "unexpected keyword"),
        ("sklearn.svm:", ValueError, "is not understood"),
        ("math:sqrt(4)", TypeError, "needs an object with fit and predict"),
    ],
)
def test_a_text_that_names_none_is_refused(text, error, message):
    with pytest.raises(error, match=message):
        get_method(text)


@pytest.mark.parametrize(
    "estimator",
    [
        *(ExtraTreesClassifier(5), MultiOutputClassifier(LogisticRegression())),
        *(KNeighborsClassifier(), make_pipeline(KNeighborsClassifier())),
        *(DummyClassifier(), LogisticRegression()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore:.*single label")
def test_all_forms_of_scores_are_understood(estimator):
    data = made(40)
    outcome = get_method(("own", estimator)).fit(data.X, data.Y, seed=0)[""].outcome(data.X)
    assert outcome.scores.shape == outcome.decisions.shape == data.Y.shape
    assert outcome.probabilities is None or outcome.probabilities.shape == data.Y.shape


def test_answers_of_another_shape_are_refused():
    class Wrong(Mean):
        def predict(self, X):
            return np.zeros((len(X), 7))

    data = made()
    models = get_method(("wrong", Wrong())).fit(data.X, data.Y, seed=0)
    with pytest.raises(ValueError, match=r"gave shape \(24, 7\); it must be \(24, 3\)"):
        models[""].outcome(data.X)


def test_sparse_decisions_and_those_of_plus_and_minus_one_are_understood():
    class Signs(Mean):
        def predict(self, X):
            return sparse.csr_array(2 * super().predict(X) - 1)

    data = made()
    ours = get_method(("signs", Signs())).fit(data.X, data.Y, seed=0)[""].outcome(data.X)
    plain = get_method(("mean", Mean())).fit(data.X, data.Y, seed=0)[""].outcome(data.X)
    assert np.array_equal(ours.decisions, plain.decisions)


def test_unset_seeds_are_those_of_the_unit():
    forest, data = ExtraTreesClassifier(5), made()
    model = get_method(("forest", forest)).fit(data.X, data.Y, seed=7)[""].model
    assert (model.random_state, forest.random_state) == (7, None)


def test_settings_name_every_parameter_and_no_module_inside_a_package():
    settings = described(get_method("br", "best").estimator)
    assert settings["class"] == "skcamel.BinaryRelevance"
    assert settings["changed"] == ["threshold"]
    assert {"base_estimator", "tol"} <= settings["params"].keys()
    nested = described(make_pipeline(KNeighborsClassifier(n_neighbors=np.int64(3))))
    assert nested["params"]["steps"][0][1]["params"]["n_neighbors"] == 3
    arrays = [described({"weights": np.full(3, value)}) for value in (1.0, 1.0, 2.0)]
    assert arrays[0] == arrays[1] != arrays[2]


def test_a_metric_gets_what_its_parameters_name():
    data = made(40)
    outcome = get_method("br").fit(data.X, data.Y, seed=0)[""].outcome(data.X)
    mine = OwnMetric("mine", lambda y_pred, y_true: float((y_pred == y_true).mean()), "largest")
    found = evaluated(data.Y, {"": outcome}, (mine,))
    assert found["mine"] == pytest.approx(1 - found["hamming_loss"])
    probable = OwnMetric("p", lambda y_true, y_prob: float(y_prob.mean()), "largest")
    assert own_metric("loss=sklearn.metrics:log_loss:smallest").best == "smallest"
    assert 0 < probable.value(data.Y, outcome) < 1
    assert np.isnan(probable.value(data.Y, outcome._replace(probabilities=None)))

"""Methods by name, by import path and from Python; scores and decisions in every form that scikit-learn has."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import study_methods
from skcamel import CamelClassifierCV
from skcamel.baselines import JFSCCV, LLSFCV, BinaryRelevance
from skcamel.camel.thresholds import METRICS as DECISION
from skcamel.experiment import METHOD_TITLES, EstimatorMethod, get_method
from skcamel.experiment.compute import measured
from skcamel.experiment.identity import jsonable
from skcamel.experiment.methods import PRESETS
from skcamel.metrics import NAMES, evaluate
from study_methods import Mean, made


@pytest.fixture
def few_trees(monkeypatch):
    monkeypatch.setattr("skcamel.experiment.methods.TREES", 10)


@pytest.fixture
def with_constants():
    """Data in which one label is always and one never there."""
    data = made(40)
    Y = np.column_stack([data.Y, np.ones(40, dtype=int), np.zeros(40, dtype=int)])
    return data.X, Y


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", METHOD_TITLES)
def test_every_name_works_with_constant_labels_and_the_same_seed_gives_the_same(
    name, storage, with_constants, few_trees
):
    X, Y = storage(with_constants[0]), with_constants[1]
    one, two = (
        get_method(name, "quick").fit(X[:30], Y[:30], seed=4).outcomes(X[30:]) for _ in range(2)
    )
    for criterion, outcome in one.items():
        assert outcome.scores.shape == outcome.decisions.shape == (10, 5)
        assert np.array_equal(outcome.scores, two[criterion].scores)
        assert set(np.unique(outcome.decisions)) <= {0, 1}
        if name != "llsf":  # has no intercept, as its authors left it
            assert outcome.decisions[:, 3].all()
        assert not outcome.decisions[:, 4].any()
        evaluate(Y[30:], outcome.scores, outcome.decisions)
    assert set(one) == ({"average_precision"} if name in ("camel", "llsf", "jfsc") else {""})


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("name", "search"), [("llsf", LLSFCV), ("jfsc", JFSCCV)])
def test_the_settings_of_a_grid_search_are_what_it_was_told(name, search, preset):
    method = get_method(name, preset)
    assert isinstance(method.estimator, search)
    assert method.settings["params"] | {"device": None} == method.estimator.get_params()
    assert method.settings["params"]["preset"] == ("fair" if preset == "best" else "faithful")
    assert method.settings["grid"] == {
        key: list(values) for key, values in search.GRIDS["coarse"].items()
    }


@pytest.mark.parametrize("preset", PRESETS)
def test_a_unit_of_camel_is_what_the_public_estimator_gives(preset):
    """Figure for figure, for the one model and for each metric's own."""
    data = made(60, q=4)
    train, test = (data.X[:45], data.Y[:45]), (data.X[45:], data.Y[45:])
    one = get_method("camel", preset).fit(*train, seed=3).outcomes(test[0])
    each = get_method("camel", preset, per_metric=True).fit(*train, seed=3).outcomes(test[0])
    record, records = measured(test[1], one), measured(test[1], each)
    assert set(one) == {"average_precision"}
    assert set(each) == set(NAMES)
    for criterion in NAMES:
        tuned = {"threshold": criterion} if criterion in DECISION and preset != "paper" else {}
        model = CamelClassifierCV.from_preset(
            preset, scoring=criterion, random_state=3, **tuned
        ).fit(*train)
        assert each[criterion].params == jsonable(model.best_params_)
        figures = evaluate(test[1], model.decision_function(test[0]), model.predict(test[0]))
        assert records[criterion] == figures[criterion]
        for metric, value in figures.items():
            assert records[f"{metric}_by_{criterion}"] == value
            if criterion == "average_precision":
                assert record[metric] == value
    assert (record["criterion"], records["criterion"]) == ("average_precision", "each")


@pytest.mark.parametrize("name", [name for name in METHOD_TITLES if name != "camel"])
def test_all_that_camel_is_compared_with_tunes_its_thresholds_in_preset_best(name, few_trees):
    data = made(40)
    for preset, rule in (("quick", "zero"), ("paper", "zero"), ("best", "micro_f1")):
        told = get_method(name, preset).estimator.get_params()
        rules = {value for key, value in told.items() if key.rpartition("__")[2] == "threshold"}
        assert rules == (
            {rule} if rule != "zero" or name not in ("extra-trees", "random-forest") else set()
        )
    outcomes = get_method(name, "best").fit(data.X, data.Y, seed=0).outcomes(data.X)
    assert {outcome.decisions.shape for outcome in outcomes.values()} == {data.Y.shape}


def test_a_search_tells_its_choice():
    data = made(40)
    outcome = (
        get_method(("llsf", LLSFCV(alphas=[1.0], betas=[0.1], rhos=[1.0])))
        .fit(data.X, data.Y, seed=0)
        .outcomes(data.X)
    )
    assert outcome["average_precision"].params == {"alpha": 1.0, "beta": 0.1, "rho": 1.0}


ESTIMATORS = [
    DecisionTreeClassifier(max_depth=3),
    ExtraTreesClassifier(5),
    KNeighborsClassifier(3),
    RidgeClassifier(),
    MLPClassifier((3,), solver="lbfgs", max_iter=5000),
    OneVsRestClassifier(SVC()),
    OneVsRestClassifier(LogisticRegression()),
    MultiOutputClassifier(LogisticRegression()),
    DummyClassifier(strategy="stratified"),
    make_pipeline(StandardScaler(), BinaryRelevance()),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: str(e).replace(" ", "")[:40])
@pytest.mark.parametrize("q", [1, 2, 3])
def test_scores_rank_what_is_predicted_above_what_is_not(estimator, q):
    data = made(40, q=q) if q > 1 else made(40)
    Y = data.Y[:, :q]
    outcome = EstimatorMethod("any", estimator).fit(data.X, Y, seed=0).outcomes(data.X)[""]
    assert outcome.scores.shape == outcome.decisions.shape == (40, q)
    for scores, decisions in zip(outcome.scores.T, outcome.decisions.T, strict=True):
        assert scores[decisions == 1].min(initial=np.inf) >= scores[decisions == 0].max(
            initial=-np.inf
        )


def test_scores_of_a_list_are_the_probabilities_of_class_one(with_constants):
    X, Y = with_constants
    model = RandomForestClassifier(10, random_state=0).fit(X, Y)
    wanted = np.column_stack(
        [*(P[:, 1] for P in model.predict_proba(X)[:3]), np.ones(40), np.zeros(40)]
    )
    found = (
        EstimatorMethod("forest", RandomForestClassifier(10))
        .fit(X, Y, seed=0)
        .outcomes(X)[""]
        .scores
    )
    assert np.array_equal(found, wanted)


def test_an_estimator_without_scores_gives_its_decisions():
    class Only(DecisionTreeClassifier):
        predict_proba = property()  # hasattr says no

    data = made()
    outcome = EstimatorMethod("only", Only()).fit(data.X, data.Y, seed=0).outcomes(data.X)[""]
    assert np.array_equal(outcome.scores, outcome.decisions)


def test_unset_random_states_get_the_seed_and_set_ones_are_kept():
    data = made()
    method = EstimatorMethod("bag", make_pipeline(ExtraTreesClassifier(2)))
    assert method.fit(data.X, data.Y, seed=7).model[-1].random_state == 7
    assert method.estimator[-1].random_state is None
    method = EstimatorMethod("bag", ExtraTreesClassifier(2, random_state=3))
    assert method.fit(data.X, data.Y, seed=7).model.random_state == 3


def test_settings_describe_an_estimator_alike_in_every_run():
    one, two = (
        EstimatorMethod(
            "p", make_pipeline(StandardScaler(), KNeighborsClassifier(metric=lambda a, b: 0.0))
        ).settings
        for _ in range(2)
    )
    assert one == two
    assert "0x" not in str(one)
    assert (
        EstimatorMethod("k", KNeighborsClassifier(3)).settings
        != EstimatorMethod("k", KNeighborsClassifier(4)).settings
    )
    assert (
        EstimatorMethod("k", KNeighborsClassifier()).settings["params"]
        == KNeighborsClassifier().get_params()
    )


def test_an_import_path_names_a_class_an_instance_or_a_function():
    assert get_method("sklearn.tree:DecisionTreeClassifier").name == "DecisionTreeClassifier"
    assert get_method("study_methods:Slow").name == "slow"
    assert get_method(Mean("mine")).name == "mine"


@pytest.mark.parametrize("path", ["nowhere.at.all:Class", "sklearn.tree:Nothing"])
def test_an_import_path_that_leads_nowhere_is_told(path):
    with pytest.raises(
        ImportError,
        match=f"{path}: .*; write name=package.module:Class\\(arg=1\\), importable from here",
    ):
        get_method(path)


def test_an_import_path_to_what_needs_arguments_is_told():
    with pytest.raises(
        TypeError,
        match=r"study_methods:FailsOnce: .*'flag'; write its arguments as in FailsOnce\(alpha=0.5",
    ):
        get_method("study_methods:FailsOnce")


class Answers(DecisionTreeClassifier):
    """Answers what it was made with, whatever the rows."""

    def __init__(self, decisions=None, scores=None):
        self.decisions = decisions
        self.scores = scores

    def fit(self, X, Y):
        return self

    def predict(self, X):
        return self.decisions

    def decision_function(self, X):
        return self.scores


@pytest.mark.parametrize(
    ("decisions", "scores", "message"),
    [
        (
            np.zeros(24),
            np.zeros((24, 3)),
            r"predict of Answers gave shape \(24,\) for 24 rows and 3 labels; it must be \(24, 3\)",
        ),
        (
            np.zeros((3, 24)),
            np.zeros((24, 3)),
            r"predict of Answers gave shape \(3, 24\)",
        ),  # transposed: as many values, all misplaced
        (
            np.zeros((24, 3)),
            np.zeros((3, 24)),
            r"decision_function of Answers gave shape \(3, 24\)",
        ),
        (
            np.full((24, 3), 0.25),
            np.zeros((24, 3)),
            r"predict of Answers gave 0.25; decisions are 0 and 1",
        ),
    ],
    ids=["1-d", "transposed", "transposed scores", "shares"],
)
def test_answers_of_another_form_are_refused(decisions, scores, message):
    data = made()
    with pytest.raises(ValueError, match=message):
        EstimatorMethod("answers", Answers(decisions, scores)).fit(data.X, data.Y, seed=0).outcomes(
            data.X
        )


@pytest.mark.parametrize(
    "spec",
    [study_methods.FitsNothing(), DecisionTreeClassifier, ("tree", DecisionTreeClassifier), 3],
    ids=["method", "class", "pair", "number"],
)
def test_what_is_no_method_is_refused(spec):
    with pytest.raises(
        TypeError, match=r"needs fit, predict and get_params, .*, got .*; pass an instance"
    ):
        get_method(spec)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_camel_refuses_missing_values_wherever_they_are(storage):
    data = made()
    gap = data.X.copy()
    gap[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        get_method("camel", "quick").fit(storage(gap), data.Y, seed=0)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        get_method("camel", "quick").fit(storage(data.X), data.Y, seed=0).outcomes(storage(gap))


@pytest.mark.parametrize("name", ["camel", "llsf", "jfsc"])
def test_a_device_reaches_what_computes_there_and_changes_no_unit(name):
    here, there = get_method(name), get_method(name, device="cuda")
    assert (here.device, there.device) == (None, "cuda")
    assert there._model(0).device == "cuda"
    assert here.settings == there.settings


def test_one_label_that_is_unknown_in_some_rows_is_learned_by_every_method_of_the_paper(rng):
    X = rng.normal(size=(40, 2))
    Y = (X[:, :1] > 0).astype(float)
    Y[::4] = np.nan
    for name in ("camel", "br", "ecc", "rakel", "llsf", "jfsc", "logistic", "svc"):
        (outcome,) = get_method(name, "quick").fit(X, Y, seed=0).outcomes(X).values()
        assert outcome.scores.shape == (40, 1)


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("name", ["extra-trees", "random-forest"])
def test_a_method_that_does_not_take_unknown_labels_says_so_and_what_to_do(rng, name, q):
    X, Y = rng.normal(size=(40, 2)), rng.integers(0, 2, size=(40, q)).astype(float)
    Y[3, 0] = np.nan
    with pytest.raises(
        ValueError,
        match=(
            rf"{name} does not take unknown labels, of which Y has 1 \(NaN\); give"
            r" BinaryRelevance\(estimator\)"
        ),
    ):
        get_method(name, "quick").fit(X, Y, seed=0)

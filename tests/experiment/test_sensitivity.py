"""Figure 1: every point as a refit gives it, one decomposition per fold, the alternation's own curve, a file that is whole."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold

from skcamel import PAPER_ALPHAS, PAPER_LAMBDA2S, CamelClassifier
from skcamel.data import Dataset, load_dataset
from skcamel.experiment import sensitivity
from skcamel.experiment.paper import paper_cell
from skcamel.experiment.sensitivity import LAMBDA1S, PARAMETERS, best_setting, run_sensitivity, save_sensitivity
from skcamel.metrics import NAMES, evaluate
from skcamel.solve import spectral, unknown

BASE = {"alpha": 0.3, "lambda1": 2.0, "lambda2": 0.05}
FEW = {"alpha": (0.0, 0.6), "lambda1": (1.0,), "lambda2": (0.1, 1.0)}


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(60, n_features=6, n_classes=4, n_labels=2, random_state=0)
    return Dataset(X, Y, name="made")


@pytest.fixture(scope="module")
def result(data):
    return run_sensitivity(data, base=BASE, n_folds=3, seed=4)


def test_the_grids_are_the_papers(result):
    curves = result["curves"]
    assert (tuple(curves["alpha"]["values"]), tuple(curves["lambda2"]["values"])) == (PAPER_ALPHAS, PAPER_LAMBDA2S)
    assert tuple(curves["lambda1"]["values"]) == LAMBDA1S
    for parameter in PARAMETERS:
        assert {np.shape(curves[parameter][metric]) for metric in NAMES} == {(len(curves[parameter]["values"]), 3)}


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_each_point_is_a_refit_with_the_other_parameters_kept(data, result, parameter):
    folds = list(KFold(3, shuffle=True, random_state=4).split(data.X))
    curve = result["curves"][parameter]
    for index, value in enumerate(curve["values"]):
        for fold, (train, test) in enumerate(folds):
            model = CamelClassifier(**(BASE | {parameter: value})).fit(data.X[train], data.Y[train])
            expected = evaluate(data.Y[test], model.decision_function(data.X[test]), model.predict(data.X[test]))
            for metric in NAMES:
                assert curve[metric][index][fold] == pytest.approx(expected[metric], abs=1e-9)


@pytest.fixture(scope="module")
def gaps(data):
    """The same rows, a third of the labels unknown; one row knows none."""
    Y = np.where(np.random.default_rng(1).random(data.Y.shape) < 0.3, np.nan, data.Y)
    Y[7] = np.nan
    return Dataset(data.X, Y, name="gaps")


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_each_point_is_a_refit_where_labels_are_unknown(gaps, parameter, monkeypatch):
    monkeypatch.setattr(unknown, "ROUGH", 1e-9)  # fillings as exact as those of a fit
    monkeypatch.setattr(unknown.fill, "__kwdefaults__", {"start": None, "tol": 1e-9})
    curve = run_sensitivity(gaps, base=BASE, n_folds=3, seed=4)["curves"][parameter]
    for fold, (train, test) in enumerate(KFold(3, shuffle=True, random_state=4).split(gaps.X)):
        for index, value in enumerate(curve["values"]):
            model = CamelClassifier(**(BASE | {parameter: value})).fit(gaps.X[train], gaps.Y[train])
            expected = evaluate(gaps.Y[test], model.decision_function(gaps.X[test]), model.predict(gaps.X[test]))
            for metric in NAMES:
                assert curve[metric][index][fold] == pytest.approx(expected[metric], abs=1e-9)


def test_where_labels_are_unknown_the_alternation_approaches_the_exact_solution(gaps):
    found = run_sensitivity(gaps, base=BASE, grids=FEW, n_folds=3)
    delta = found["convergence"]["delta"]
    assert (np.diff(delta) < 0).all()
    assert delta[-1] < 1e-3 * delta[0]


def test_unknown_labels_are_not_taken_for_absent(gaps):
    absent = Dataset(gaps.X, np.nan_to_num(gaps.Y), name="absent")
    found, other = (run_sensitivity(each, base=BASE, grids=FEW, n_folds=3)["curves"]["alpha"]["hamming_loss"] for each in (gaps, absent))
    assert found != other


@pytest.mark.filterwarnings("ignore::skcamel.checks.ConstantLabelWarning")
def test_labels_and_folds_that_know_nothing_are_legal(data, tmp_path):
    Y = data.Y.astype(float)
    Y[:, 1] = np.nan
    (_, test), *_ = KFold(3, shuffle=True, random_state=0).split(Y)
    Y[test] = np.nan
    found = run_sensitivity(Dataset(data.X, Y, name="gaps"), grids=FEW, n_folds=3)
    assert all(row[0] is None and row[1] is not None for row in found["curves"]["alpha"]["average_precision"])
    assert all(row[0] is None and row[1] is not None for row in found["curves"]["alpha"]["hamming_loss"])
    save_sensitivity(found, tmp_path)


def test_a_set_without_any_known_label_is_refused(data):
    with pytest.raises(ValueError, match=r"Y has shape \(60, 4\) and no known entry"):
        run_sensitivity(Dataset(data.X, np.full(data.Y.shape, np.nan)), base=BASE)


def test_a_fold_costs_one_decomposition(data, monkeypatch):
    calls = []
    decompose = spectral.decompose
    monkeypatch.setattr(spectral, "decompose", lambda *arguments: calls.append(1) or decompose(*arguments))
    run_sensitivity(data, base=BASE, n_folds=4)
    assert len(calls) == 4


def test_sparse_rows_give_the_same_curves(data, result):
    from scipy import sparse

    as_sparse = Dataset(sparse.csr_array(data.X), data.Y, name="made")
    other = run_sensitivity(as_sparse, base=BASE, n_folds=3, seed=4)
    for parameter in PARAMETERS:
        assert np.allclose(other["curves"][parameter]["coverage"], result["curves"][parameter]["coverage"])


def test_convergence_is_that_of_algorithm_1(data, result):
    model = CamelClassifier(**BASE, solver="alternating").fit(data.X, data.Y)
    delta = result["convergence"]["delta"]
    assert delta == pytest.approx(model.convergence_[: sensitivity.ALTERNATIONS])
    assert {name: result["convergence"][name] for name in PARAMETERS} == BASE


def test_without_a_setting_the_best_by_leave_one_out_is_kept(data):
    found = run_sensitivity(data, metric="micro_f1", n_folds=2)
    assert found["base"] == best_setting(data, "micro_f1")
    assert found["base"]["lambda1"] == 1.0
    assert found["base_found_by"] == "leave-one-out, micro_f1"


def test_other_grids_and_progress(data):
    told = []
    found = run_sensitivity(data, base=BASE, grids={"alpha": (0.5,)}, n_folds=2, progress=lambda *done: told.append(done))
    assert found["curves"]["alpha"]["values"] == [0.5]
    assert told == [(1, 2), (2, 2)]


def test_equal_seeds_give_equal_results(data, result):
    assert run_sensitivity(data, base=BASE, n_folds=3, seed=4) == result
    assert run_sensitivity(data, base=BASE, n_folds=3, seed=5)["curves"] != result["curves"]


def test_the_file_is_strict_json_and_reads_back(result, tmp_path):
    undefined = json.loads(json.dumps(result))
    undefined["curves"]["alpha"]["coverage"][0][0] = float("nan")
    path = save_sensitivity(result, tmp_path)
    assert path == tmp_path / "sensitivity" / "made.json"
    assert json.loads(path.read_text()) == result
    with pytest.raises(ValueError, match="not JSON compliant"):
        save_sensitivity(undefined, tmp_path)
    assert json.loads(path.read_text()) == result  # the old file is still whole
    assert [file.name for file in path.parent.iterdir()] == ["made.json"]


@pytest.mark.parametrize("name", ["", "a/b", "../made", "."])
def test_a_name_that_leads_out_of_the_folder_is_refused(result, tmp_path, name):
    with pytest.raises(ValueError, match="cannot be the name of a file; give it another one"):
        save_sensitivity(result | {"dataset": name}, tmp_path / "study")
    assert not list(tmp_path.iterdir())


def test_an_undefined_metric_is_null():
    X, Y = make_multilabel_classification(30, n_classes=2, random_state=1)
    one_label = Dataset(X, Y[:, :1], name="one")
    found = run_sensitivity(one_label, base=BASE, n_folds=2, grids={"alpha": (0.0,)})
    assert found["curves"]["alpha"]["coverage"] == [[None, None]]
    assert None not in found["curves"]["alpha"]["hamming_loss"][0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"metric": "accuracy"}, "metric"),
        ({"base": {"alpha": 0.5}}, "base names alpha; it must name alpha, lambda1, lambda2"),
        ({"base": BASE, "grids": {"beta": (1,)}}, "grids names alpha, lambda1, lambda2, beta"),
        ({"base": BASE | {"lambda2": 0}}, "lambda2"),
        ({"base": BASE, "grids": {"alpha": (2,)}}, "alpha"),
    ],
)
def test_wrong_requests_are_refused(data, wrong, message):
    with pytest.raises(ValueError, match=message):
        run_sensitivity(data, **wrong)


@pytest.mark.data
@pytest.mark.parametrize("name", ["emotions", "cal500"])
def test_at_the_best_setting_the_curves_meet_the_papers_table(name):
    found = run_sensitivity(load_dataset(name))
    for parameter in PARAMETERS:
        curve = found["curves"][parameter]
        at_base = np.mean(curve["coverage"][curve["values"].index(found["base"][parameter])])
        paper = paper_cell(name, "coverage", "camel")
        assert abs(at_base - paper.mean) < 2 * paper.std
    delta = found["convergence"]["delta"]
    assert delta == sorted(delta, reverse=True)

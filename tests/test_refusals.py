"""What came, what is wrong, what to do; and the estimator stays as it was."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skcamel import CamelClassifier, CamelClassifierCV, find_label_errors, memory, save
from skcamel.baselines import LLSF, BinaryRelevance, EnsembleOfClassifierChains, RAkEL
from skcamel.memory import check_memory

pytestmark = pytest.mark.filterwarnings("ignore::skcamel.checks.ConstantLabelWarning")
X, Y = np.arange(24.0).reshape(12, 2) % 5, (np.arange(12)[:, None] % [2, 3] == 0).astype(int)
GAPS = np.where(np.eye(12, 2) > 0, np.nan, Y)
ONE_NAN = np.where(np.arange(24).reshape(12, 2) == 3, np.nan, X)


# Data


WORDS = np.full((12, 2), "sea")
BAD_DATA = [
    (ONE_NAN, Y, "Input X contains NaN"),
    (pd.DataFrame(ONE_NAN).astype("Int64"), Y, "Input X contains NaN. .* row 1, column 1"),
    (np.where(np.isnan(ONE_NAN), pd.NA, X), Y, "Input X contains NaN. .* row 1, column 1"),
    (np.where(np.isnan(ONE_NAN), np.inf, X), Y, "Input X contains infinity"),
    (
        X,
        np.full((12, 2), np.nan),
        r"Y has shape \(12, 2\) and no known entry \(all are NaN\); give",
    ),
    (X, np.where(GAPS == 1, 2.0, GAPS), "Y must hold only 0 and 1"),
    (X, pd.DataFrame({"sea": [1, 2] * 6, "sun": [1, None] * 6}, dtype=object), "Y must hold only"),
    (X, np.array([1.0, 2.0, np.nan] * 4), "Input y contains NaN"),
    (X, GAPS[:, 0], r"Input y contains NaN in 1 rows, .* y\[:, None\] for one, where NaN means"),
    (X, Y + 1, r"Y must hold only 0 and 1, or only -1 and \+1, one column per label; found 1, 2"),
    (X, Y.astype(str), "Y must hold only 0 and 1, .*; found '0', '1'"),
    (X, Y - np.eye(12, 2, k=-1), "Y must hold only 0 and 1, or only -1"),
    (X, Y / 2, "Y must hold only 0 and 1"),
    (X, WORDS, "Y must hold only 0 and 1, .*; found 'sea'"),
    (X, Y[:4], "Y has 4 rows but X has 12; each row of X needs one row of labels"),
    (X, [("sea",), ("sea", "sun")] * 6, "ragged.*MultiLabelBinarizer"),
    (X, pd.Series([["a", "b"], []] * 6), "MultiLabelBinarizer"),
    (X, pd.Series([{"a", "b"}, set()] * 6), "MultiLabelBinarizer"),
    (X, pd.Series([{"a": 1}, {}] * 6), "MultiLabelBinarizer"),
    (X, np.ones((12, 2, 2)), r"Y has 3 dimension\(s\)"),
    (X, Y[:, :0], r"Y has shape \(12, 0\): no label"),
    (X, None, "requires y to be passed, but the target y is None"),
    (X, np.linspace(0, 1, 12), "Unknown label type: continuous"),
    (X * 1e200, Y, "kernel matrix holds NaN or infinity: features .* too large"),
    ((X - 2) * 1e-300, Y, "too small"),
    ((X - 2) * 1e-160, Y, "too small"),
]


@pytest.mark.parametrize(("rows", "labels", "message"), BAD_DATA)
@pytest.mark.parametrize("make", [CamelClassifier, CamelClassifierCV])
def test_bad_data_is_refused_and_the_estimator_stays_as_it_was(rows, labels, message, make):
    fresh, fitted = make(), make().fit(X, Y)
    for model in (fresh, fitted):
        before = dict(vars(model))
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
            model.fit(rows, labels)
        assert dict(vars(model)) == before


FAILING = [CamelClassifierCV(cv=2), CamelClassifier(0.1, solver="alternating")]
FAILING += [CamelClassifier(solver="primal", kernel="linear")]


@pytest.mark.parametrize("model", FAILING)
def test_features_too_large_for_a_kernel_are_refused(model):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="holds NaN or infinity: feat"):
        model.fit(X * 1e200, Y)


ARGUMENTS = [
    (
        {"sample_weight": np.ones(5)},
        r"sample_weight has shape \(5,\); one weight for each of the 12",
    ),
    ({"sample_weight": -np.ones(12)}, "finite and at least 0"),
    ({"sample_weight": np.full(12, np.nan)}, "finite and at least 0"),
    ({"sample_weight": np.r_[np.ones(11), 1e12]}, r"sample_weight spans from 1.0e\+00 to 1.0e\+12"),
    ({"sample_weight": np.zeros(12)}, "All weights in sample_weight are zero"),
    ({"groups": np.arange(9)}, r"groups has shape \(9,\); one group for each of the 12 rows"),
    ({"groups": np.zeros(12)}, "All 12 rows are in one group"),
    ({"groups": np.full(12, np.nan)}, "groups holds missing values: 12; give every row a group"),
    ({"groups": np.array(["p1"] * 11 + [None])}, "groups holds missing values: 1;"),
    ({"groups": np.array(["p1"] * 11 + [np.nan], dtype=object)}, "groups holds missing values: 1;"),
    ({"groups": np.array([*range(11), "NaT"], dtype="M8[D]")}, "groups holds missing values: 1;"),
]


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS)
@pytest.mark.parametrize("make", [CamelClassifier, CamelClassifierCV])
def test_weights_and_groups_that_make_no_sense_are_refused(arguments, message, make):
    with pytest.raises(ValueError, match=message):
        make().fit(X, Y, **arguments)


def test_kernel_matrices_must_be_square_and_symmetric():
    model = CamelClassifier(kernel="precomputed")
    with pytest.raises(
        ValueError, match=r"'precomputed' got a matrix of shape \(12, 2\); fit needs"
    ):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="not symmetric"):
        model.fit(np.arange(144.0).reshape(12, 12), Y)
    model.fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="2 features, but CamelClassifier is expecting 12"):
        model.predict(X)


# Parameters


def camel(message, **parameters):
    return CamelClassifier(**parameters), message


def searched(message, **parameters):
    return CamelClassifierCV(**parameters), message


def by_landmarks(message, **parameters):
    return CamelClassifier(**{"solver": "landmark"} | parameters), message


SOLVERS = "'auto', 'spectral', 'landmark', 'primal', 'alternating'"
TUNED = "'zero', 'hamming_loss', 'macro_f1', 'micro_f1', a number, or one for each label"
COSTS = "miss_cost must be a number > 0 or a mapping from labels to such numbers, got"
MEMORY = "max_memory: a number of bytes, or text such as '1GiB', is needed, got"
BAD_PARAMETERS = [
    camel("lambda2 must be a number > 0, got -0.1", lambda2=-0.1),
    camel("lambda1 must be a number > 0", lambda1=10**400),
    camel(r"alpha must be a number in \[0, 1\], got 1.2", alpha=1.2),
    camel("alpha must be a number", alpha="half"),
    camel("kernel='cosine' is not known; choose one of 'rbf', 'laplacian'", kernel="cosine"),
    camel("bandwidth must be a number > 0 or 'mean', got 0", bandwidth=0),
    camel("bandwidth must be a number > 0 or 'mean', got 'median'", bandwidth="median"),
    camel("bandwidth must be a number", bandwidth=np.ones(2)),
    camel("bandwidth must lie between", bandwidth=1e-300),
    camel("scaling='robust' is not known; choose one of 'none'", scaling="robust"),
    camel("sparsity must be a number > 0", sparsity=0),
    camel("correlation='raw' is not known; choose one of 'paper', 'centred'", correlation="raw"),
    camel(r"correlation=\['paper'\] is not known; choose one of 'paper'", correlation=["paper"]),
    camel("max_iter must be an integer >= 1", max_iter=0),
    camel("not positive semi-definite", kernel=lambda A, B: -(A @ B.T)),
    camel(r"returned shape \(2, 2\); it must return \(12, 12\)", kernel=lambda *_: np.eye(2)),
    camel(f"solver='newton' is not known; choose one of {SOLVERS}", solver="newton"),
    camel(f"threshold='half' is not known; choose {TUNED}", threshold="half"),
    camel(
        "threshold='auto' is no longer there: threshold='micro_f1', .* is tuned", threshold="auto"
    ),
    camel("threshold=.* is not known", threshold=[0.1, np.nan]),
    camel("threshold=1000.* is not known", threshold=10**400),
    camel(f"{COSTS} 0", miss_cost=0),
    camel("miss_cost must be a number > 0 .*, got -1", miss_cost={"label1": -1}),
    camel("miss_cost names sea, and the labels are label1 and label2", miss_cost={"sea": 2}),
    searched("cv='kfold' is not known; choose 'loo', a number of folds", cv="kfold"),
    searched("cv gave no split", cv=[]),
    searched("cv gave no split, or one without training or test", cv=[(np.arange(3), [])]),
    searched("scoring='accuracy' is not known; choose one of 'one_error'", scoring="accuracy"),
    searched(r"alphas must be a sequence with at least one value, got \(\)", alphas=()),
    searched("alphas must be a sequence", alphas=0.5),
    searched("alphas must be a sequence", alphas=np.array(3)),
    searched(r"alphas must be a number in \[0, 1\], got 1.5", alphas=(0.5, 1.5)),
    searched("lambda2s must be a number > 0, got -1", lambda2s=(0.1, -1)),
    searched("bandwidths must lie between", bandwidths=(1e-300,)),
    searched("kernels must be a sequence", kernels="rbf"),
    searched("mixes 'precomputed' with kernels of features", kernels=("rbf", "precomputed")),
    searched("kernel='sigmoid' is not known", kernels=("sigmoid",)),
    searched("scaling='robust' is not known", scalings=("robust",)),
    searched("correlation='raw' is not known; choose one of 'paper'", correlation="raw"),
    searched("callback must be a function", callback=3),
    *(
        searched("representations|scaling|kernel", representations=wrong)
        for wrong in ((), "none", (("none", "rbf"),), (("none", "rbf", 0.0),))
    ),
    searched("scaling='odd' is not known", representations=(("odd", "rbf", 1.0),)),
    searched("kernel='odd' is not known", representations=(("none", "odd", 1.0),)),
    by_landmarks("landmarks='grid' is not known; choose one of 'uniform', 'km", landmarks="grid"),
    by_landmarks(r"landmarks has shape \(9, 1\); give finite rows of the 2", landmarks=X[:9, :1]),
    by_landmarks(r"landmarks has shape \(2,\)", landmarks=X[0]),
    by_landmarks("give finite rows", landmarks=np.full((2, 2), np.nan)),
    by_landmarks("at least one", landmarks=np.zeros((0, 2))),
    by_landmarks("n_landmarks must be an integer >= 1, got 0", n_landmarks=0),
    by_landmarks("n_landmarks must be an integer >= 1, got 2.5", n_landmarks=2.5),
    by_landmarks(f"{MEMORY} 'lots'", max_memory="lots"),
    by_landmarks(f"{MEMORY} -1", max_memory=-1),
    by_landmarks(f"{MEMORY} True", max_memory=True),
    by_landmarks("not positive semi-definite", kernel=lambda A, B: -(A @ B.T)),
    (RAkEL(k="3"), "k must be an integer >= 1, got '3'"),
    (RAkEL(k=True), "k must be an integer"),
    (BinaryRelevance(tol=float("inf")), "tol must be a number > 0, got inf"),
    (EnsembleOfClassifierChains(bootstrap="no"), "bootstrap='no' is not known; choose one of True"),
    (LLSF(threshold=10**400), "threshold=1000.* is not known"),
]


@pytest.mark.parametrize(("model", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


# Memory


def test_too_many_rows_are_refused_before_anything_is_allocated():
    rows = np.empty((1_000_000, 1))
    message = r"1000000 rows.* needs about 372\d\d.\d GiB .* free. Take fewer .* solver='landmark'"
    with pytest.raises(MemoryError, match=message):
        check_memory(rows, 3, None)
    check_memory(rows[:100], 3, None)


@pytest.mark.parametrize("solver", ["spectral", "landmark"])
def test_too_many_labels_are_refused(solver, monkeypatch):
    rows, labels = np.ones((2, 1)), sparse.csr_array((2, 100_000), dtype=int)
    monkeypatch.setattr(memory, "available", lambda device=None: 2**30)
    with pytest.raises(MemoryError, match=r"2 rows and 100000 labels needs .* Take fewer labels"):
        CamelClassifier(solver=solver).fit(rows, labels)


# What does not go together


def lazily():
    da = pytest.importorskip("dask.array", reason="no dask: pip install skcamel[distributed]")
    return da.from_array(X, chunks=(5, 2)), da.from_array(Y, chunks=(5, 2))


def fit(labels=Y, rows=X, **parameters):
    return CamelClassifier(**parameters).fit(rows, labels)


def search(labels=Y, rows=X, **parameters):
    return CamelClassifierCV(**parameters).fit(rows, labels)


def lazy_fit(**parameters):
    return CamelClassifier(**parameters).fit(*lazily())


CLASSES, PAIRS, THIN = np.arange(12) % 3, X @ X.T, sparse.csr_array(X)
EXACT, SUMS = "use .*solver='spectral'", "use solver='landmark' or 'primal'"
LOOP, MATRIX = {"solver": "alternating"}, {"kernel": "precomputed"}
REFUSALS = [  # what is tried, and what its error says to do
    (lambda: fit(**LOOP, miss_cost=2), EXACT),
    (lambda: fit(Y[:, 0], miss_cost=2), "give a matrix with one column per label"),
    (lambda: search(GAPS, solver="landmark"), EXACT),
    (lambda: CamelClassifier().partial_fit(X, GAPS), EXACT),
    (lambda: CamelClassifier().fit(X, GAPS, groups=CLASSES), "groups leave together exactly where"),
    (lambda: fit(rows=PAIRS, **MATRIX, solver="landmark"), EXACT),
    (lambda: search(rows=PAIRS, kernels=["precomputed"], solver="primal"), EXACT),
    (lambda: CamelClassifier(**MATRIX).partial_fit(PAIRS, Y), EXACT),
    (lambda: fit(solver="primal"), "use kernel='linear', or solver='landmark'"),
    (lambda: lazy_fit(**MATRIX), EXACT),
    (lambda: CamelClassifierCV(cv=3).fit(*lazily()), "use cv='loo'"),
    (lambda: CamelClassifier().fit(lazily()[0], lazily()[1][:, 0]), "give a label matrix"),
    (lambda: CamelClassifier().fit(*lazily(), groups=np.arange(12)), "give arrays"),
    (lambda: find_label_errors(*lazily()), r"use X.compute\(\)"),
    (lambda: fit().explain(lazily()[0]), r"use X.compute\(\)"),
    (lambda: fit(CLASSES).predict_proba, "use decision_function"),
    (lambda: fit(CLASSES).predict_sets(X), "use decision_function"),
    (lambda: search(combine=True, cv=3), "use cv='loo'"),
    (lambda: fit(rows=PAIRS, **MATRIX, scaling="unit"), "has none; use scaling='none'"),
    (lambda: fit(rows=sparse.csr_array(PAIRS), **MATRIX), "give it as an array"),
    (lambda: fit(rows=THIN, scaling="rank"), r"would fill every zero .*or X.toarray\(\)"),
    (lambda: search(rows=THIN, scalings=["rank"]), r"would fill every zero .*or X.toarray\(\)"),
    (lambda: fit(kernel="exponential").explain(X, features=True), "Explain without features=True"),
    (
        lambda: CamelClassifier(**MATRIX).fit(PAIRS, Y, np.arange(12.0)),
        "Row 0 has the weight 0; leave it out of the kernel matrix",
    ),
    (lambda: save(fit(kernel=lambda A, B: A @ B.T), "m.skcamel"), "use skops.io.dump"),
]


def assert_refused(tried, hint):
    with pytest.raises((ValueError, TypeError, AttributeError)) as refused:
        tried()
    assert any(re.search(hint, str(error)) for error in (refused.value, refused.value.__cause__))


@pytest.mark.parametrize(("tried", "hint"), REFUSALS)
def test_what_does_not_go_together_is_refused_with_what_to_do(tried, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(tried, hint)
    assert not list(tmp_path.iterdir())


def test_much_goes_together():
    costs = {"threshold": "micro_f1", "miss_cost": {"label1": 5}}
    model = CamelClassifierCV(combine=True, scores="log_odds", **costs)
    model.fit(THIN, Y, sample_weight=np.ones(12)).predict_proba(X)


def made(solver, **parameters):
    """A model of this solver, not yet fitted."""
    kernel = "linear" if solver == "primal" else "rbf"
    return CamelClassifier(kernel=kernel, solver=solver, scaling="standard", **parameters)


def found(solver):
    grid = {"alphas": (0.0, 0.5), "lambda2s": (0.1, 1.0), "kernels": (made(solver).kernel,)}
    return search(**grid, solver=solver).predict(X)


def explained(solver):
    model = made(solver).fit(X, Y)
    reasons, scores = model.explain(X, features=True), model.decision_function(X)
    assert_allclose(reasons.base + reasons.parts.sum(axis=1), scores, atol=1e-9)
    assert_allclose(reasons.feature_base + reasons.features.sum(axis=1), scores, atol=1e-9)
    return reasons.features


def in_batches(solver):
    return made(solver).partial_fit(X[:8], Y[:8]).partial_fit(X[8:], Y[8:]).predict(X)


USES = {
    "predict_proba": lambda solver: made(solver).fit(X, Y).predict_proba(X),
    "predict_sets": lambda solver: made(solver).fit(X, Y).predict_sets(X),
    "explain": explained,
    "partial_fit": in_batches,
    "CamelClassifierCV": found,
    "find_label_errors": lambda solver: find_label_errors(X, Y, made(solver)).scores,
    "unknown labels": lambda solver: made(solver).fit(X, GAPS).predict(X),
    "Dask collections": lambda solver: made(solver).fit(*lazily()).predict(X),
    "tuned thresholds": lambda solver: made(solver, threshold="macro_f1").fit(X, Y).predict(X),
}
BY_SUMS_ALONE = {"partial_fit": SUMS, "Dask collections": SUMS}
BY_LEAVE_ONE_OUT = dict.fromkeys(set(USES) - {"explain", *BY_SUMS_ALONE}, EXACT)
NOT_OFFERED = {
    "spectral": BY_SUMS_ALONE,
    "landmark": {"unknown labels": EXACT},
    "primal": {"unknown labels": EXACT},
    "alternating": BY_LEAVE_ONE_OUT
    | BY_SUMS_ALONE
    | {"CamelClassifierCV": "use CamelClassifier, or solver='auto'"},
}


@pytest.mark.parametrize("solver", NOT_OFFERED)
@pytest.mark.parametrize("what", USES)
def test_each_solver_does_what_it_offers_and_refuses_the_rest(what, solver):
    if what not in NOT_OFFERED[solver]:
        assert np.isfinite(USES[what](solver)).all()
    else:
        assert_refused(lambda: USES[what](solver), NOT_OFFERED[solver][what])

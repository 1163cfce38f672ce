"""Bad input: what came, what is wrong, what to do; and the estimator stays as it was."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from skcamel import CamelClassifier, CamelClassifierCV, memory
from skcamel.baselines import LLSF, BinaryRelevance, EnsembleOfClassifierChains, RAkEL
from skcamel.camel.representation import RoundingWarning
from skcamel.checks import ConstantLabelWarning
from skcamel.memory import BY_SUMS, Alive, check_memory

X = np.arange(12.0).reshape(6, 2) % 5
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]])


def with_value(array, value):
    array = array.astype(float)
    array[1, 1] = value
    return array


BAD_DATA = [
    (with_value(X, np.nan), Y, "Input X contains NaN"),
    (with_value(X, np.inf), Y, "Input X contains infinity"),
    (
        X,
        np.full((6, 2), np.nan),
        r"Y has shape \(6, 2\) and no known entry \(all are NaN\); give the labels that are known",
    ),
    (X, with_value(np.where(Y == 1, 2.0, Y), np.nan), "Y must hold only 0 and 1"),
    (
        X,
        pd.DataFrame({"sea": [1, 2] * 3, "sun": [1, None] * 3}, dtype=object),
        "Y must hold only 0 and 1",
    ),
    (X, np.array([1.0, 2.0, np.nan] * 2), "Input y contains NaN"),
    (X, Y + 1, r"Y must hold only 0 and 1, or only -1 and \+1, one column per label; found 1, 2"),
    (X, with_value(Y, -1), "Y must hold only 0 and 1, or only -1"),
    (X, with_value(Y, 0.5), "Y must hold only 0 and 1"),
    (X, np.full((6, 2), "sea"), "Y must hold only 0 and 1, .*; found sea"),
    (X, Y[:4], "Y has 4 rows but X has 6; each row of X needs one row of labels"),
    (X, [("sea",), ("sea", "sun")] * 3, "ragged.*MultiLabelBinarizer"),
    (X, np.ones((6, 2, 2)), r"Y has 3 dimension\(s\)"),
    (X, Y[:, :0], r"Y has shape \(6, 0\): no label"),
    (X, None, "requires y to be passed, but the target y is None"),
    (X, np.linspace(0, 1, 6), "Unknown label type: continuous"),
]


@pytest.mark.parametrize(("rows", "labels", "message"), BAD_DATA)
@pytest.mark.parametrize("make", [CamelClassifier, CamelClassifierCV])
def test_bad_data_is_refused_and_the_estimator_stays_as_it_was(rows, labels, message, make):
    fresh = make()
    before = dict(vars(fresh))
    with pytest.raises(ValueError, match=message):
        fresh.fit(rows, labels)
    assert vars(fresh) == before
    fitted = make().fit(X, Y)
    scores = fitted.decision_function(X)
    with pytest.raises(ValueError, match=message):
        fitted.fit(rows, labels)
    assert_array_equal(fitted.decision_function(X), scores)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lambda2": -0.1}, "lambda2 must be a number > 0, got -0.1"),
        ({"alpha": 1.2}, r"alpha must be a number in \[0, 1\], got 1.2"),
        ({"alpha": "half"}, "alpha must be a number"),
        ({"kernel": "cosine"}, "kernel='cosine' is not known; choose one of 'rbf', 'laplacian'"),
        ({"bandwidth": 0}, "bandwidth must be a number > 0 or 'mean', got 0"),
        ({"bandwidth": "median"}, "bandwidth must be a number > 0 or 'mean', got 'median'"),
        ({"scaling": "robust"}, "scaling='robust' is not known; choose one of 'none'"),
        (
            {"scaling": "standard", "kernel": "precomputed"},
            "needs features, and kernel='precomputed' has none; use scaling='none'",
        ),
        ({"sparsity": 0}, "sparsity must be a number > 0"),
        (
            {"correlation": "plain"},
            "correlation='plain' is not known; choose one of 'paper', 'centred'",
        ),
        (
            {"correlation": ["paper"]},
            r"correlation=\['paper'\] is not known; choose one of 'paper', 'centred'",
        ),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"bandwidth": 1e-300}, "bandwidth must lie between"),
        (
            {"solver": "newton"},
            (
                "solver='newton' is not known; choose one of 'auto', 'spectral', 'landmark',"
                " 'primal', 'alternating'"
            ),
        ),
        (
            {"solver": "alternating", "threshold": "label"},
            "needs leave-one-out scores.*use solver='spectral'",
        ),
        (
            {"threshold": "half"},
            (
                "threshold='half' is not known; choose 'zero', 'hamming_loss', 'macro_f1',"
                " 'micro_f1', a number, or one for each label"
            ),
        ),
        (
            {"threshold": "auto"},
            (
                "threshold='auto' is no longer there: threshold='micro_f1', 'macro_f1' or"
                " 'hamming_loss' is tuned"
            ),
        ),
        ({"threshold": [0.1, np.nan]}, "threshold=.* is not known"),
        (
            {"miss_cost": 0},
            "miss_cost must be a number > 0 or a mapping from labels to such numbers, got 0",
        ),
        ({"miss_cost": {"label1": -1}}, "miss_cost must be a number > 0 .*, got -1"),
        ({"miss_cost": {"sea": 2}}, "miss_cost names sea, and the labels are label1"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        CamelClassifier(**parameters).fit(
            X if parameters.get("kernel") != "precomputed" else X @ X.T, Y
        )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), r"sample_weight has shape \(5,\); one weight for each of the 6 rows"),
        (-np.ones(6), "finite and at least 0"),
        (np.full(6, np.nan), "finite and at least 0"),
        (np.array([1, 1, 1, 1, 1, 1e12]), "sample_weight spans from 1.0e\\+00 to 1.0e\\+12"),
        (np.zeros(6), "All weights in sample_weight are zero"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        CamelClassifier().fit(X, Y, sample_weight=weights)


def test_kernel_matrices_must_be_square_and_symmetric():
    model = CamelClassifier(kernel="precomputed")
    with pytest.raises(
        ValueError,
        match=r"kernel='precomputed' got a matrix of shape \(6, 2\); fit needs the square",
    ):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="not symmetric"):
        model.fit(np.arange(36.0).reshape(6, 6), Y)
    model.fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="2 features, but CamelClassifier is expecting 6"):
        model.predict(X)


@pytest.mark.parametrize(
    "model",
    [
        CamelClassifier(),
        CamelClassifierCV(),
        CamelClassifierCV(cv=2),
        CamelClassifier(0.1, solver="alternating"),
    ],
)
def test_features_too_large_for_a_kernel_are_refused(model):
    with (
        np.errstate(all="ignore"),
        pytest.raises(
            ValueError, match=r"kernel matrix holds NaN or infinity: features .* too large"
        ),
    ):
        model.fit(X * 1e200, Y)


def test_too_many_rows_are_refused_before_anything_is_allocated():
    with pytest.raises(
        MemoryError,
        match=(
            r"1000000 rows.* needs about 372\d\d.\d GiB .* are free. Take at most 0 labels,"
            r" solver='landmark', or"
        ),
    ):
        check_memory(np.empty((1_000_000, 1)), 3, None)
    check_memory(np.empty((100, 1)), 3, None)


@pytest.mark.parametrize("solver", ["spectral", "landmark"])
def test_too_many_labels_are_refused_with_the_number_that_would_fit(solver, monkeypatch):
    rows, labels = np.ones((2, 1)), sparse.csr_array((2, 100_000), dtype=int)
    alive = Alive() if solver == "spectral" else BY_SUMS
    monkeypatch.setattr(memory, "available", lambda device=None: 2**30)
    with pytest.raises(
        MemoryError,
        match=r"A fit on 2 rows and 100000 labels.* needs about .* Take at most 2\d\d\d labels",
    ) as refused:
        CamelClassifier(solver=solver).fit(rows, labels)
    most = int(str(refused.value).split("Take at most ")[1].split()[0])
    check_memory(rows, most, None, alive)
    with pytest.raises(MemoryError):
        check_memory(rows, most + 1, None, alive)


@pytest.mark.parametrize("solver", ["spectral", "landmark"])
def test_sparse_labels_give_the_model_of_dense_ones(solver):
    rows = np.random.default_rng(0).normal(size=(40, 3))
    labels = (rows[:, :2] > 0).astype(int)
    dense, other = (
        CamelClassifier(solver=solver, n_landmarks=20).fit(rows, Y)
        for Y in (labels, sparse.csr_array(labels))
    )
    assert_array_equal(dense.predict(rows), other.predict(rows))
    assert_array_equal(dense.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize("separator", ["|", ";", ", ", "/", "\t"])
def test_texts_that_look_like_label_sets_are_named(separator):
    y = pd.Series(
        [separator.join(part) for part in (["a", ""], ["a", "b"], ["b", "c"], ["a", "c"], ["c"])]
        * 2
    )
    with pytest.warns(
        UserWarning, match=r"y is read as 5 classes.* look like sets of the 3 labels .*get_dummies"
    ):
        CamelClassifier().fit(np.arange(20.0).reshape(10, 2), y)


@pytest.mark.parametrize(
    "row", [["a", "b"], {"a", "b"}, {"a": 1}, ("a", "b")], ids=lambda row: type(row).__name__
)
def test_collections_as_rows_of_y_are_refused_with_the_cure(row):
    y = pd.Series([row, type(row)()] * 3)
    with pytest.raises(ValueError, match="MultiLabelBinarizer"):
        CamelClassifier().fit(np.arange(12.0).reshape(6, 2), y)


@pytest.mark.parametrize(
    "model",
    [CamelClassifier(), CamelClassifierCV(), BinaryRelevance(), LLSF()],
    ids=lambda model: type(model).__name__,
)
def test_labels_without_positive_or_negative_rows_are_named(model):
    y = pd.DataFrame({"sea": [0, 1, 0, 1], "moon": 0, "sun": 1})
    with pytest.warns(ConstantLabelWarning) as told:
        model.fit(np.arange(8.0).reshape(4, 2), y)
    assert "1 of 3 labels have no positive row (moon)" in str(told[0].message)
    assert "1 of 3 labels have no negative row (sun)" in str(told[1].message)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RAkEL(k="3"), "k must be an integer >= 1, got '3'"),
        (RAkEL(k=True), "k must be an integer"),
        (RAkEL(n_estimators=2.5), "n_estimators must be an integer >= 1 or None, got 2.5"),
        (BinaryRelevance(max_iter="a"), "max_iter must be an integer >= 1, got 'a'"),
        (BinaryRelevance(tol=float("inf")), "tol must be a number > 0, got inf"),
        (EnsembleOfClassifierChains(bootstrap="no"), "bootstrap must be True or False"),
        (
            EnsembleOfClassifierChains(order=3),
            "order must hold each of the numbers 0 to 1 once, got 3",
        ),
        (EnsembleOfClassifierChains(order=[0, "x"]), "order must hold each of the numbers"),
        (CamelClassifier(bandwidth=np.ones(2)), "bandwidth must be a number"),
        (CamelClassifierCV(callback=3), "callback must be a function"),
        (CamelClassifierCV(alphas=np.array(3)), "alphas must be a sequence"),
        (CamelClassifier(lambda1=10**400), "lambda1 must be a number > 0"),
        (CamelClassifier(threshold=10**400), "threshold=1000.* is not known"),
        (LLSF(threshold=10**400), "threshold=1000.* is not known"),
    ],
)
def test_parameters_of_the_wrong_kind_are_refused_in_words(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


def inner_product(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    "model",
    [CamelClassifier(kernel="linear"), CamelClassifierCV(kernels=(inner_product,))],
    ids=["plain", "search"],
)
def test_rounding_that_outweighs_the_penalty_is_told(model, rng):
    X = rng.normal(size=(40, 3))
    Y = (X[:, :2] > 0).astype(int)
    with pytest.warns(
        RoundingWarning,
        match=(
            r"its rounding exceeds lambda2=.*; |its rounding exceeds lambda2=.*scaling='standard'"
        ),
    ):
        model.fit(X * 1e9, Y)
    with pytest.warns(RoundingWarning):
        CamelClassifier(kernel="linear").fit(X, Y, sample_weight=np.full(40, 1e16))
    model.fit(X * 1e3, Y)


@pytest.mark.parametrize("factor", [1e-300, 1e-160])
def test_features_too_small_for_a_kernel_are_refused(factor):
    with pytest.raises(ValueError, match="too small"):
        CamelClassifier().fit((X - 2) * factor, Y)


def test_rows_without_weight_do_not_make_a_label_vary():
    with pytest.warns(ConstantLabelWarning, match="no positive row"):
        CamelClassifier().fit(X, Y, sample_weight=(Y[:, 0] == 0).astype(float))


def test_rows_of_a_frame_and_of_an_array_get_the_same_last_digits(rng):
    X, Y = rng.normal(size=(60, 5)), rng.integers(0, 2, (60, 3))
    model = CamelClassifier(scaling="standard").fit(X, Y)
    assert_array_equal(
        model.decision_function(np.asfortranarray(X[:20])), model.decision_function(X[:20])
    )

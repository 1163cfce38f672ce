"""partial_fit: any order and batches give the model of one fit; bad batches change nothing."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel import landmark
from skcamel.camel.stream import Stream

RNG = np.random.default_rng(0)
N, D, Q = 60, 4, 3
X = RNG.normal(size=(N, D))
X[50:] = X[40:50]
Y = (X[:, :Q] + 0.5 * RNG.normal(size=(N, Q)) > 0.2).astype(int)
Y[50:55] = Y[40:45]
NEW = RNG.normal(size=(9, D))
WEIGHTS = {"none": None, "whole": RNG.integers(0, 4, N).astype(float), "any": RNG.random(N) + 0.1}
WEIGHTS["any"][50:] = WEIGHTS["any"][40:50]  # copies of one row weigh the same
WEIGHTS["whole"][-1] = 1
LANDMARKS = RNG.normal(size=(15, D))
KINDS = {
    "rbf": {"bandwidth": 2.0, "threshold": "label"},
    "laplacian": {"bandwidth": 3.0, "kernel": "laplacian", "threshold": "common"},
    "function": {"kernel": lambda A, B: (A @ B.T + 1) ** 2},
    "wide rbf": {"bandwidth": 50.0, "lambda2": 1e-3},  # whitens its blocks
    "primal": {"kernel": "linear", "threshold": "label", "correlation": "centred"},
}


def made(kind="rbf", **more):
    if kind == "primal":
        how = {"solver": "primal"}
    else:
        how = {"solver": "landmark", "landmarks": LANDMARKS}
    return CamelClassifier(**how | KINDS[kind] | more)


def assert_same(model, other, atol=1e-9):
    assert_allclose(model.decision_function(NEW), other.decision_function(NEW), atol=atol)
    for name in ("thresholds_", "label_correlation_", "cooccurrence_"):
        assert_allclose(getattr(model, name), getattr(other, name), atol=atol)
    assert model.total_weight_ == pytest.approx(other.total_weight_, rel=1e-14)
    assert model.solver_ == other.solver_
    if hasattr(model, "predict_proba"):
        assert_allclose(model.predict_proba(NEW), other.predict_proba(NEW), atol=10 * atol)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "as_sparse"), [(1, False), (7, True), (7, False), (N, False)])
def test_any_order_and_any_batches_give_the_model_of_one_fit(size, as_sparse, kind, weights):
    w, as_sparse = WEIGHTS[weights], as_sparse and kind != "function"
    # the last row has weight, and so its batch solves
    order = np.append(np.random.default_rng(size).permutation(N - 1), N - 1)
    found, rows = made(kind), sparse.csr_array(X) if as_sparse else X
    for i in range(0, N, size):
        part = order[i : i + size]
        own = None if w is None else w[part]
        if own is None or own.any():
            found.partial_fit(rows[part], Y[part], sample_weight=own, solve=i + size >= N)
    expected = made(kind).fit(X, Y, w)
    assert_same(found, expected, atol=1e-7 if kind == "wide rbf" else 1e-9)
    if kind in ("rbf", "laplacian"):
        assert_allclose(found.dual_coef_, expected.dual_coef_, atol=1e-9)
        # the first batch sets the origin of rows
        middle = found._scaling.shift if kind == "rbf" else 0.0
        if not as_sparse:
            assert_allclose(found.X_fit_ + middle, LANDMARKS)


def test_scaling_bandwidth_and_landmarks_come_from_the_first_batch():
    model = CamelClassifier(solver="landmark", n_landmarks=10, scaling="standard")
    first = model.fit(X[:40], Y[:40]).bandwidth_, model.X_fit_
    model = CamelClassifier(solver="landmark", n_landmarks=10, scaling="standard")
    model.partial_fit(X[:40], Y[:40], solve=False).partial_fit(5 * X[40:] + 3, Y[40:])
    assert model.bandwidth_ == pytest.approx(first[0])
    assert_allclose(model.X_fit_, first[1])


NAMED = pd.DataFrame(Y, columns=["sea", "sun", "sky"])
FRAME = pd.DataFrame(X, columns=list("abcd"))
TAKEN = {
    "float32": (X.astype(np.float32), Y),
    "sparse": (sparse.csr_array(X), sparse.csr_array(Y)),
    "frames": (FRAME, NAMED),
    "signs": (X, 2 * Y - 1),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", TAKEN)
def test_batches_may_be_whatever_fit_takes(kind):
    rows, labels = TAKEN[kind]
    model = made().partial_fit(rows[:25], labels[:25]).partial_fit(rows[25:], labels[25:])
    expected = made().fit(rows, labels)
    assert_same(model, expected)
    assert model.label_names_.tolist() == expected.label_names_.tolist()


ORDER = "The columns of y are sun, sea and sky; those of earlier batches were sea, sun and sky"
REFUSED = {
    "width": (X[:, :3], Y, "X has 3 features, but CamelClassifier is expecting 4"),
    "labels": (X, Y[:, :2], r"y has 2 labels \(matrix\); earlier batches had 3"),
    "names": (X, NAMED, "The columns of y are sea, .*; those of earlier batches were label1"),
    "NaN": (np.where(X[7, 2] == X, np.nan, X), Y, "NaN. The first is in row 7, column 2"),
    "infinity": (np.where(X > 1, np.inf, X), Y, "Input X contains infinity"),
    "unknown": (X, np.where(np.eye(N, 3) == Y, np.nan, Y), "partial_fit takes complete labels"),
    "rows": (X, Y[:3], "Y has 3 rows but X has 60"),
    "classes": (X, Y[:, 0], r"y has .* earlier batches had 3 \(matrix\)"),
    "numbers": (X, 3 * Y, "Y must hold only 0 and 1"),
    "nothing": (X[:0], Y[:0], "Found array with 0 sample"),
    "too large": (X * 1e200, Y, "holds NaN or infinity"),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_a_bad_batch_is_refused_and_nothing_is_lost(wrong):
    kind = "primal" if wrong == "too large" else "rbf"  # such rows are far from all landmarks
    model = made(kind).partial_fit(X[:30], Y[:30])
    rows, labels, message = REFUSED[wrong]
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows, labels)
    assert vars(model) == before
    assert_same(model.partial_fit(X[30:], Y[30:]), made(kind).fit(X, Y))


def test_frames_must_keep_their_columns():
    model = made().partial_fit(FRAME, NAMED)
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(FRAME[list("bacd")], NAMED)
    with pytest.raises(ValueError, match=ORDER):
        model.partial_fit(FRAME, NAMED[["sun", "sea", "sky"]])
    # labels without names are taken by position
    assert model.partial_fit(FRAME, Y).total_weight_ == 2 * N


def test_an_error_in_the_second_block_changes_nothing(monkeypatch):
    monkeypatch.setattr(landmark, "BLOCK_ROWS", 8)
    model = made().partial_fit(X[:30], Y[:30])
    block, calls = Stream.block, []

    def fails_late(self, *rows):
        calls.append(1)
        if len(calls) > 1:
            raise ArithmeticError("late")
        return block(self, *rows)

    with monkeypatch.context() as patched:
        patched.setattr(Stream, "block", fails_late)
        with pytest.raises(ArithmeticError, match="late"):
            model.partial_fit(X[30:], Y[30:])
    assert len(calls) > 1
    assert_same(model.partial_fit(X[30:], Y[30:]), made().fit(X, Y))


def test_classes_may_come_one_after_the_other_if_the_first_call_names_all():
    y = np.array(["low", "mid", "top"])[Y.sum(axis=1).clip(0, 2)]
    model, expected = made(threshold="zero"), made(threshold="zero").fit(X, y)
    for name in ("low", "top", "mid"):
        classes = ["top", "mid", "low"] if name == "low" else None
        model.partial_fit(X[y == name], y[y == name], classes=classes)
    assert_same(model, expected)
    assert_array_equal(model.predict(NEW), expected.predict(NEW))
    assert model.classes_.tolist() == ["low", "mid", "top"]
    for unseen in (np.array(["low", "new"]), np.array([1, 2])):
        message = r"not named before; there are low, mid and top\. Name all in the first call"
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X[:2], unseen)
    again = made(threshold="zero").fit(np.vstack([X, X[:1]]), np.append(y, y[0]))
    assert_same(model.partial_fit(X[:1], y[:1]), again)


def test_batches_without_a_solution_answer_nothing_yet():
    model = made().partial_fit(X[:30], Y[:30], solve=False)
    for method in (model.predict, model.explain):
        with pytest.raises(NotFittedError):
            method(NEW)
    assert_same(model.partial_fit(X[30:], Y[30:]), made().fit(X, Y))
    before = model.decision_function(NEW)
    assert_array_equal(model.partial_fit(X, Y, solve=False).decision_function(NEW), before)


FIXED = {"kernel": "laplacian", "bandwidth": 1.0, "landmarks": X[:5], "scaling": "unit"}


@pytest.mark.parametrize(("name", "value"), [*FIXED.items(), ("random_state", 3)])
def test_what_the_first_batch_fixed_cannot_change(name, value):
    model = made().partial_fit(X[:30], Y[:30])
    before = getattr(model, name)
    message = (
        f"{name} has changed since the first batch, which fixed it; set it back, or take a clone"
    )
    with pytest.raises(ValueError, match=message):
        model.set_params(**{name: value}).partial_fit(X[30:], Y[30:])
    assert_same(model.set_params(**{name: before}).partial_fit(X[30:], Y[30:]), made().fit(X, Y))


def test_only_solvers_by_sums_have_it():
    assert CamelClassifier().partial_fit(X, Y).solver_ == "landmark"
    assert CamelClassifier(kernel="linear").partial_fit(X, Y).solver_ == "primal"
    assert not hasattr(CamelClassifierCV(), "partial_fit")

"""partial_fit: whatever the order and the batches, the model of one fit; what a batch gets wrong is named and nothing is lost."""

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
    "rbf": {"landmarks": LANDMARKS, "bandwidth": 2.0, "threshold": "label"},
    "laplacian": {
        "landmarks": LANDMARKS,
        "bandwidth": 3.0,
        "kernel": "laplacian",
        "threshold": "common",
    },
    "function": {"landmarks": LANDMARKS, "kernel": lambda A, B: (A @ B.T + 1) ** 2},
    "wide rbf": {"landmarks": LANDMARKS, "bandwidth": 50.0, "lambda2": 1e-3},  # whitens its blocks
    "primal": {
        "solver": "primal",
        "kernel": "linear",
        "threshold": "label",
        "correlation": "centred",
    },
}


def made(kind="rbf", **more):
    return CamelClassifier(**{"solver": "landmark"} | KINDS[kind] | more)


def in_batches(model, order, size, weights=None, rows=X, labels=Y, **more):
    for i in range(0, len(order), size):
        part = order[i : i + size]
        w = None if weights is None else weights[part]
        if w is None or w.any():
            model.partial_fit(
                rows[part], labels[part], sample_weight=w, solve=i + size >= len(order), **more
            )
    return model


def assert_same(model, other, atol=1e-9):
    assert_allclose(model.decision_function(NEW), other.decision_function(NEW), atol=atol)
    assert_allclose(model.thresholds_, other.thresholds_, atol=atol)
    assert_allclose(model.label_correlation_, other.label_correlation_, atol=atol)
    assert_allclose(model.cooccurrence_, other.cooccurrence_, atol=atol)
    assert model.total_weight_ == pytest.approx(other.total_weight_, rel=1e-14)
    assert model.solver_ == other.solver_
    if model._target != "multiclass":
        assert_allclose(model.predict_proba(NEW), other.predict_proba(NEW), atol=10 * atol)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "as_sparse"), [(1, False), (7, True), (7, False), (N, False)])
def test_any_order_and_any_batches_give_the_model_of_one_fit(size, as_sparse, kind, weights):
    w, as_sparse = WEIGHTS[weights], as_sparse and kind != "function"
    order = np.append(
        np.random.default_rng(size).permutation(N - 1), N - 1
    )  # the last has weight, and so its batch solves
    found = in_batches(made(kind), order, size, w, sparse.csr_array(X) if as_sparse else X)
    expected = made(kind).fit(X, Y, w)
    assert_same(found, expected, atol=1e-7 if kind == "wide rbf" else 1e-9)
    if kind in ("rbf", "laplacian"):
        assert_allclose(found.dual_coef_, expected.dual_coef_, atol=1e-9)
        middle = (
            found._scaling.shift if kind == "rbf" else 0.0
        )  # the first batch sets the origin of rows
        if not as_sparse:
            assert_allclose(found.X_fit_ + middle, LANDMARKS)


def test_scaling_bandwidth_and_landmarks_come_from_the_first_batch():
    model = CamelClassifier(solver="landmark", n_landmarks=10, scaling="standard").partial_fit(
        X[:40], Y[:40], solve=False
    )
    first = CamelClassifier(solver="landmark", n_landmarks=10, scaling="standard").fit(
        X[:40], Y[:40]
    )
    model.partial_fit(5 * X[40:] + 3, Y[40:])
    assert model.bandwidth_ == pytest.approx(first.bandwidth_)
    assert_allclose(model.X_fit_, first.X_fit_)


KEPT = {
    "float32": (lambda X: X.astype(np.float32), np.asarray),
    "sparse": (sparse.csr_array, sparse.csr_array),
    "frames": (
        lambda X: pd.DataFrame(X, columns=list("abcd")),
        lambda Y: pd.DataFrame(Y, columns=["sea", "sun", "sky"]),
    ),
    "signs": (np.asarray, lambda Y: 2 * Y - 1),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", KEPT)
def test_batches_may_be_whatever_fit_takes(kind):
    rows, labels = KEPT[kind]
    model = (
        made().partial_fit(rows(X[:25]), labels(Y[:25])).partial_fit(rows(X[25:]), labels(Y[25:]))
    )
    expected = made().fit(rows(X), labels(Y))
    assert_same(model, expected)
    assert model.label_names_.tolist() == expected.label_names_.tolist()


BAD = X[30:].copy()
BAD[7, 2] = np.nan
NAMED = pd.DataFrame(Y, columns=["sea", "sun", "sky"])
REFUSED = {
    "width": (X[:, :3], Y, "X has 3 features, but CamelClassifier is expecting 4"),
    "labels": (X, Y[:, :2], r"y has 2 labels \(matrix\); earlier batches had 3"),
    "names": (
        X,
        NAMED,
        (
            "The columns of y are sea, sun and sky; those of earlier batches were label1, label2"
            " and label3"
        ),
    ),
    "NaN": (BAD, Y[30:], "Input X contains NaN. The first is in row 7, column 2"),
    "infinity": (np.where(X > 1, np.inf, X), Y, "Input X contains infinity"),
    "unknown": (
        X,
        np.where(X.argmax(axis=1)[:, None] == Y, np.nan, Y),
        "partial_fit takes complete labels",
    ),
    "rows": (X, Y[:3], "Y has 3 rows but X has 60"),
    "classes": (X, Y[:, 0], r"y has .* earlier batches had 3 \(matrix\)"),
    "numbers": (X, 3 * Y, "Y must hold only 0 and 1"),
    "nothing": (X[:0], Y[:0], "Found array with 0 sample"),
    "too large": (X * 1e200, Y, None),
}


@pytest.mark.parametrize("kind", ["rbf", "primal"])
@pytest.mark.parametrize("wrong", REFUSED)
def test_a_bad_batch_is_refused_and_nothing_is_lost(wrong, kind):
    model = made(kind).partial_fit(X[:30], Y[:30])
    rows, labels, message = REFUSED[wrong]
    if message is None and kind != "primal":
        return  # such rows are far from all landmarks
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message or "holds NaN or infinity"):
        model.partial_fit(rows, labels)
    assert vars(model) == before
    assert_same(model.partial_fit(X[30:], Y[30:]), made(kind).fit(X, Y))


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
    model = made(threshold="zero").partial_fit(
        X[y == "low"], y[y == "low"], classes=["top", "mid", "low"]
    )
    model.partial_fit(X[y == "top"], y[y == "top"]).partial_fit(X[y == "mid"], y[y == "mid"])
    expected = made(threshold="zero").fit(X, y)
    assert_same(model, expected)
    assert_array_equal(model.predict(NEW), expected.predict(NEW))
    assert model.classes_.tolist() == ["low", "mid", "top"]
    for unseen in (np.array(["low", "new"]), np.array([1, 2])):
        with pytest.raises(
            ValueError,
            match=(
                r"which was not named before; there are low, mid and top\. Name all in the first"
                r" call"
            ),
        ):
            model.partial_fit(X[:2], unseen)
    assert_same(
        model.partial_fit(X[:1], y[:1]),
        made(threshold="zero").fit(np.vstack([X, X[:1]]), np.append(y, y[0])),
    )


def test_batches_without_a_solution_answer_nothing_yet():
    model = made().partial_fit(X[:30], Y[:30], solve=False)
    with pytest.raises(NotFittedError):
        model.predict(NEW)
    with pytest.raises(NotFittedError):
        model.explain(NEW)
    assert_same(model.partial_fit(X[30:], Y[30:]), made().fit(X, Y))
    before = model.decision_function(NEW)
    model.partial_fit(X, Y, solve=False)
    assert_array_equal(model.decision_function(NEW), before)


@pytest.mark.parametrize(
    "changed",
    [
        {"kernel": "laplacian"},
        {"bandwidth": 1.0},
        {"landmarks": X[:5]},
        {"scaling": "unit"},
        {"random_state": 3},
    ],
)
def test_what_the_first_batch_fixed_cannot_change(changed):
    model = made().partial_fit(X[:30], Y[:30])
    (name,) = changed
    before = getattr(model, name)
    with pytest.raises(
        ValueError,
        match=(
            f"{name} has changed since the first batch, which fixed it; set it back, or take a"
            " clone"
        ),
    ):
        model.set_params(**changed).partial_fit(X[30:], Y[30:])
    assert_same(model.set_params(**{name: before}).partial_fit(X[30:], Y[30:]), made().fit(X, Y))


def test_only_solvers_by_sums_have_it():
    assert hasattr(CamelClassifier(), "partial_fit")
    assert CamelClassifier().partial_fit(X, Y).solver_ == "landmark"
    assert CamelClassifier(kernel="linear").partial_fit(X, Y).solver_ == "primal"
    for model in (
        CamelClassifier(solver="spectral"),
        CamelClassifier(kernel="precomputed"),
        CamelClassifierCV(),
    ):
        assert not hasattr(model, "partial_fit")


def test_frames_must_keep_their_columns():
    rows = pd.DataFrame(X, columns=list("abcd"))
    model = made().partial_fit(rows, NAMED)
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(rows[list("bacd")], NAMED)
    with pytest.raises(
        ValueError,
        match=(
            "The columns of y are sun, sea and sky; those of earlier batches were sea, sun and sky"
        ),
    ):
        model.partial_fit(rows, NAMED[["sun", "sea", "sky"]])
    assert (
        model.partial_fit(rows, Y).total_weight_ == 2 * N
    )  # labels without names are taken by position

"""What is taken with a warning or looks odd: constant labels, texts, rounding, forms of rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.baselines import LLSF, BinaryRelevance
from skcamel.camel.representation import RoundingWarning
from skcamel.checks import ConstantLabelWarning, names_compared


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(60, 5))
    return X, (X[:, :3] > 0).astype(int)


@pytest.mark.parametrize("separator", ["|", ";", ", ", "/", "\t"])
def test_texts_that_look_like_label_sets_are_named(separator):
    sets = [["a", ""], ["a", "b"], ["b", "c"], ["a", "c"], ["c"]] * 2
    message = r"y is read as 5 classes.* look like sets of the 3 labels .*get_dummies"
    with pytest.warns(UserWarning, match=message):
        CamelClassifier().fit(np.arange(20.0).reshape(10, 2), pd.Series(map(separator.join, sets)))


@pytest.mark.parametrize(
    "model",
    [CamelClassifier(), CamelClassifierCV(), BinaryRelevance(), LLSF()],
    ids=lambda model: type(model).__name__,
)
def test_labels_without_positive_or_negative_rows_are_named(model):
    y = pd.DataFrame({"sea": [0, 1, 0, 1], "moon": 0, "sun": 1})
    with pytest.warns(ConstantLabelWarning) as seen:
        model.fit(np.arange(8.0).reshape(4, 2), y)
    assert "1 of 3 labels have no positive row (moon)" in str(seen[0].message)
    assert "1 of 3 labels have no negative row (sun)" in str(seen[1].message)


def test_rows_without_weight_do_not_make_a_label_vary(rows):
    X, Y = rows
    with pytest.warns(ConstantLabelWarning, match="no positive row"):
        CamelClassifier().fit(X, Y, sample_weight=(Y[:, 0] == 0).astype(float))


def inner_product(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    "model",
    [CamelClassifier(kernel="linear"), CamelClassifierCV(kernels=(inner_product,))],
    ids=["plain", "search"],
)
def test_rounding_that_is_large_beside_the_penalty_is_named(model, rows):
    X, Y = rows
    with pytest.warns(
        RoundingWarning, match=r"its rounding is .* times lambda2=.*scaling='standard'"
    ):
        model.fit(X * 1e9, Y)
    with pytest.warns(RoundingWarning):
        CamelClassifier(kernel="linear").fit(X, Y, sample_weight=np.full(60, 1e16))
    model.fit(X * 1e3, Y)


@pytest.mark.parametrize("solver", ["spectral", "landmark"])
def test_sparse_labels_give_the_model_of_dense_ones(solver, rows):
    X, Y = rows
    dense = CamelClassifier(solver=solver, n_landmarks=20).fit(X, Y)
    thin = CamelClassifier(solver=solver, n_landmarks=20).fit(X, sparse.csr_array(Y))
    assert_array_equal(dense.predict(X), thin.predict(X))
    assert_array_equal(dense.dual_coef_, thin.dual_coef_)


def test_rows_of_a_frame_and_of_an_array_get_the_same_last_digits(rows):
    X, Y = rows
    model = CamelClassifier(scaling="standard").fit(X, Y)
    scores = model.decision_function(np.asfortranarray(X[:20]))
    assert_array_equal(scores, model.decision_function(X[:20]))


def test_rows_that_a_caller_has_matched_are_answered_and_refused_as_others(rows):
    X, Y = rows
    model = CamelClassifier().fit(X, Y)
    expected = model.decision_function(X)
    wrong = {"2 features": X[:, :2], "NaN": X * np.nan, "0 sample": X[:0], "1D": X[0]}
    with names_compared():
        assert_array_equal(model.decision_function(X), expected)
        for said, refused in wrong.items():
            with pytest.raises(ValueError, match=said):
                model.predict(refused)

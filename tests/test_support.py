"""What is refused together is refused in one way, and the documentation shows the same table."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from skcamel import CamelClassifier, CamelClassifierCV, compress, save, support

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12)[:, None] % [2, 3] == 0
GAPS = np.where(np.eye(12, 2) > 0, np.nan, Y)


def test_the_documents_show_the_table_of_the_code():
    assert support.as_markdown() in (Path(__file__).parents[1] / "docs" / "support.md").read_text(encoding="utf-8")


def save_with_a_function(path):
    save(CamelClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y), path / "m.skcamel")


REFUSALS = {
    frozenset({support.ALTERNATING, support.TUNED}): lambda _: CamelClassifier(solver="alternating", threshold="auto").fit(X, Y),
    frozenset({support.ALTERNATING, support.PROBABILITIES}): lambda _: CamelClassifier(solver="alternating").fit(X, Y).predict_proba,
    frozenset({support.ALTERNATING, support.SETS}): lambda _: CamelClassifier(solver="alternating").fit(X, Y).predict_sets(X),
    frozenset({support.ALTERNATING, support.UNKNOWN}): lambda _: CamelClassifier(solver="alternating").fit(X, GAPS),
    frozenset({support.ALTERNATING, support.STREAM}): lambda _: CamelClassifier(solver="alternating").partial_fit(X, Y),
    frozenset({support.EXACT, support.STREAM}): lambda _: CamelClassifier(solver="spectral").partial_fit(X, Y),
    frozenset({support.LANDMARK, support.UNKNOWN}): lambda _: CamelClassifierCV(solver="landmark").fit(X, GAPS),
    frozenset({support.PRIMAL, support.UNKNOWN}): lambda _: CamelClassifier(kernel="linear", solver="primal").fit(X, GAPS),
    frozenset({support.STREAM, support.UNKNOWN}): lambda _: CamelClassifier().partial_fit(X, GAPS),
    frozenset({support.LANDMARK, support.PRECOMPUTED}): lambda _: CamelClassifier(kernel="precomputed", solver="landmark").fit(X @ X.T, Y),
    frozenset({support.PRIMAL, support.PRECOMPUTED}): lambda _: CamelClassifierCV(kernels=["precomputed"], solver="primal").fit(X @ X.T, Y),
    frozenset({support.STREAM, support.PRECOMPUTED}): lambda _: CamelClassifier(kernel="precomputed").partial_fit(X @ X.T, Y),
    frozenset({support.PRIMAL, support.RADIAL}): lambda _: CamelClassifier(solver="primal").fit(X, Y),
    frozenset({support.CLASSES, support.PROBABILITIES}): lambda _: CamelClassifier().fit(X, np.arange(12) % 3).predict_proba,
    frozenset({support.COMBINE, support.FOLDS}): lambda _: CamelClassifierCV(combine=True, cv=3).fit(X, Y),
    frozenset({support.PRECOMPUTED, support.SCALING}): lambda _: CamelClassifier(kernel="precomputed", scaling="unit").fit(X @ X.T, Y),
    frozenset({support.PRECOMPUTED, support.SPARSE}): lambda _: CamelClassifier(kernel="precomputed").fit(sparse.csr_array(X @ X.T), Y),
    frozenset({support.RANK, support.SPARSE}): lambda _: CamelClassifier(scaling="rank").fit(sparse.csr_array(X), Y),
    frozenset({support.COMPRESS, support.PRECOMPUTED}): lambda _: compress(CamelClassifier(kernel="precomputed").fit(X @ X.T, Y)),
    frozenset({support.FUNCTION, support.FILE}): save_with_a_function,
}


@pytest.mark.parametrize("pair", support.REFUSED, ids=lambda pair: " and ".join(sorted(pair)))
def test_each_refusal_says_what_the_table_says(pair, tmp_path):
    with pytest.raises((ValueError, TypeError, AttributeError)) as told:
        REFUSALS[pair](tmp_path)
    errors = [str(told.value), str(told.value.__cause__)]
    assert any(" do not go together: " in text and support.REFUSED[pair] in text for text in errors)


def test_what_the_table_does_not_name_goes_together():
    assert not support.reason_against(support.COMBINE, support.SPARSE, support.TUNED)
    support.check_together(support.COMBINE, support.PROBABILITIES)
    CamelClassifierCV(combine=True, threshold="auto").fit(sparse.csr_array(X), Y, sample_weight=np.ones(12)).predict_proba(X)

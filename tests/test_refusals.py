"""What does not go together is refused with what to do, and everything else works with every solver."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skcamel import CamelClassifier, CamelClassifierCV, find_label_errors, save

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12)[:, None] % [2, 3] == 0
GAPS = np.where(np.eye(12, 2) > 0, np.nan, Y)


def save_with_a_function(path):
    save(CamelClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y), path / "m.skcamel")


def export_with_a_function(_):
    pytest.importorskip("onnx", reason="onnx is not installed: pip install skcamel[export]")
    from skcamel.export import to_onnx

    to_onnx(CamelClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y))


REFUSALS = [  # what is tried, and what its error says to do
    (
        lambda _: CamelClassifier(solver="alternating", threshold="micro_f1").fit(X, Y),
        "use solver='spectral'",
    ),
    (
        lambda _: CamelClassifier(solver="alternating", miss_cost=2).fit(X, Y),
        "use solver='spectral'",
    ),
    (
        lambda _: CamelClassifier(miss_cost=2).fit(X, Y[:, 0]),
        "give a matrix with one column per label",
    ),
    (
        lambda _: CamelClassifier(solver="alternating").fit(X, Y).predict_proba,
        "use solver='spectral'",
    ),
    (
        lambda _: CamelClassifier(solver="alternating").fit(X, Y).predict_sets(X),
        "use solver='spectral'",
    ),
    (
        lambda _: CamelClassifier().fit(X, np.arange(12) % 3).predict_sets(X),
        "use decision_function",
    ),
    (
        lambda _: find_label_errors(X, Y, CamelClassifier(solver="alternating")),
        "use solver='spectral'",
    ),
    (
        lambda _: CamelClassifierCV(solver="alternating").fit(X, Y),
        "use CamelClassifier, or solver='auto'",
    ),
    (lambda _: CamelClassifier(solver="alternating").fit(X, GAPS), "use solver='spectral'"),
    (
        lambda _: CamelClassifier(solver="alternating").partial_fit(X, Y),
        "use solver='landmark' or 'primal'",
    ),
    (
        lambda _: CamelClassifier(solver="spectral").partial_fit(X, Y),
        "use solver='landmark' or 'primal'",
    ),
    (lambda _: CamelClassifierCV(solver="landmark").fit(X, GAPS), "use .*solver='spectral'"),
    (
        lambda _: CamelClassifier(kernel="linear", solver="primal").fit(X, GAPS),
        "use .*solver='spectral'",
    ),
    (lambda _: CamelClassifier().partial_fit(X, GAPS), "use .*solver='spectral'"),
    (
        lambda _: CamelClassifier(kernel="precomputed", solver="landmark").fit(X @ X.T, Y),
        "use .*solver='spectral'",
    ),
    (
        lambda _: CamelClassifierCV(kernels=["precomputed"], solver="primal").fit(X @ X.T, Y),
        "use .*solver='spectral'",
    ),
    (
        lambda _: CamelClassifier(kernel="precomputed").partial_fit(X @ X.T, Y),
        "use .*solver='spectral'",
    ),
    (
        lambda _: CamelClassifier(solver="primal").fit(X, Y),
        "use kernel='linear', or solver='landmark'",
    ),
    (
        lambda _: CamelClassifier(solver="spectral").fit(*lazily()),
        "use solver='landmark' or 'primal'",
    ),
    (
        lambda _: CamelClassifier(solver="alternating").fit(*lazily()),
        "use solver='landmark' or 'primal'",
    ),
    (lambda _: CamelClassifier(kernel="precomputed").fit(*lazily()), "use .*solver='spectral'"),
    (lambda _: CamelClassifierCV(cv=3).fit(*lazily()), "use cv='loo'"),
    (lambda _: CamelClassifier().fit(lazily()[0], lazily()[1][:, 0]), "give a label matrix"),
    (lambda _: find_label_errors(*lazily()), r"use X.compute\(\)"),
    (lambda _: CamelClassifier().fit(X, Y).explain(lazily()[0]), r"use X.compute\(\)"),
    (lambda _: CamelClassifier().fit(X, np.arange(12) % 3).predict_proba, "use decision_function"),
    (lambda _: CamelClassifierCV(combine=True, cv=3).fit(X, Y), "use cv='loo'"),
    (
        lambda _: CamelClassifier(kernel="precomputed", scaling="unit").fit(X @ X.T, Y),
        "use scaling='none'",
    ),
    (
        lambda _: CamelClassifier(kernel="precomputed").fit(sparse.csr_array(X @ X.T), Y),
        "give it as an array",
    ),
    (lambda _: CamelClassifier(scaling="rank").fit(sparse.csr_array(X), Y), r"or X.toarray\(\)"),
    (
        lambda _: CamelClassifier(kernel="exponential").fit(X, Y).explain(X, features=True),
        "Explain without features=True",
    ),
    (
        lambda _: CamelClassifier(kernel="precomputed").fit(X @ X.T, Y, np.arange(12.0)),
        "Row 0 has the weight 0; leave it out of the kernel matrix",
    ),
    (lambda _: CamelClassifier().fit(*lazily(), groups=np.arange(12)), "give arrays"),
    (save_with_a_function, "use skops.io.dump"),
    (export_with_a_function, "use one with a name"),
]


@pytest.mark.parametrize(("tried", "hint"), REFUSALS)
@pytest.mark.filterwarnings("ignore::skcamel.checks.ConstantLabelWarning")
def test_what_does_not_go_together_is_refused_with_what_to_do(tried, hint, tmp_path):
    with pytest.raises((ValueError, TypeError, AttributeError)) as told:
        tried(tmp_path)
    assert any(re.search(hint, str(error)) for error in (told.value, told.value.__cause__))


def test_much_goes_together():
    CamelClassifierCV(
        combine=True, scores="log_odds", threshold="micro_f1", miss_cost={"label1": 5}
    ).fit(sparse.csr_array(X), Y, sample_weight=np.ones(12)).predict_proba(X)


def made(solver, **parameters):
    """A model of this solver, not yet fitted; small enough to be exact with as many landmarks as rows."""
    kernel = "linear" if solver == "primal" else "rbf"
    return CamelClassifier(kernel=kernel, solver=solver, scaling="standard", **parameters)


def searched(solver, _):
    kernel = "linear" if solver == "primal" else "rbf"
    return (
        CamelClassifierCV(alphas=(0.0, 0.5), lambda2s=(0.1, 1.0), kernels=(kernel,), solver=solver)
        .fit(X, Y)
        .predict(X)
    )


def explained_by_column(solver, _):
    model = made(solver).fit(X, Y)
    told = model.explain(X, features=True)
    assert_allclose(
        told.feature_base + told.features.sum(axis=1), model.decision_function(X), atol=1e-9
    )
    return told.features


def explained(solver, _):
    model = made(solver).fit(X, Y)
    told = model.explain(X)
    assert_allclose(told.base + told.parts.sum(axis=1), model.decision_function(X), atol=1e-9)
    return told.parts


def page(solver, path):
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")
    from skcamel.report import build_model_report

    build_model_report(made(solver).fit(X, Y), (X, Y), path / "page.html")
    return np.array([(path / "page.html").stat().st_size])


def lazily():
    da = pytest.importorskip(
        "dask.array", reason="dask is not installed: pip install skcamel[distributed]"
    )
    return da.from_array(X, chunks=(5, 2)), da.from_array(Y, chunks=(5, 2))


USES = {
    "predict_proba": lambda solver, _: made(solver).fit(X, Y).predict_proba(X),
    "predict_sets": lambda solver, _: made(solver).fit(X, Y).predict_sets(X),
    "explain": explained,
    "explain by column": explained_by_column,
    "partial_fit": lambda solver, _: (
        made(solver).partial_fit(X[:8], Y[:8]).partial_fit(X[8:], Y[8:]).predict(X)
    ),
    "CamelClassifierCV": searched,
    "find_label_errors": lambda solver, _: find_label_errors(X, Y, made(solver)).scores,
    "unknown labels": lambda solver, _: made(solver).fit(X, GAPS).predict(X),
    "Dask collections": lambda solver, _: made(solver).fit(*lazily()).predict(X),
    "tuned thresholds": lambda solver, _: made(solver, threshold="macro_f1").fit(X, Y).predict(X),
}


NOT_OFFERED = {
    "spectral": ("partial_fit", "Dask collections"),
    "landmark": ("unknown labels",),
    "primal": ("unknown labels",),
    "alternating": (
        "predict_proba",
        "predict_sets",
        "partial_fit",
        "CamelClassifierCV",
        "find_label_errors",
        "unknown labels",
        "Dask collections",
        "tuned thresholds",
    ),
}


@pytest.mark.parametrize("solver", NOT_OFFERED)
@pytest.mark.parametrize("what", USES)
def test_each_solver_does_what_it_offers_and_refuses_the_rest(what, solver, tmp_path):
    if what not in NOT_OFFERED[solver]:
        assert np.isfinite(USES[what](solver, tmp_path)).all()
        return
    with pytest.raises((ValueError, AttributeError)) as told:
        USES[what](solver, tmp_path)
    assert any("use " in str(error) for error in (told.value, told.value.__cause__))

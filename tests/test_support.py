"""What is refused together is refused in one way, what is not works, and the documentation shows the same tables."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from skcamel import CamelClassifier, CamelClassifierCV, find_label_errors, load, save, support

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12)[:, None] % [2, 3] == 0
GAPS = np.where(np.eye(12, 2) > 0, np.nan, Y)


def test_the_documents_show_the_tables_of_the_code():
    text = (Path(__file__).parents[1] / "docs" / "support.md").read_text(encoding="utf-8")
    assert support.as_markdown() in text
    assert support.solvers_as_markdown() in text


def save_with_a_function(path):
    save(CamelClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y), path / "m.skcamel")


def export_with_a_function(_):
    pytest.importorskip("onnx", reason="onnx is not installed: pip install skcamel[export]")
    from skcamel.export import to_onnx

    to_onnx(CamelClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y))


REFUSALS = {
    frozenset({support.ALTERNATING, support.TUNED}): lambda _: CamelClassifier(solver="alternating", threshold="auto").fit(X, Y),
    frozenset({support.ALTERNATING, support.PROBABILITIES}): lambda _: CamelClassifier(solver="alternating").fit(X, Y).predict_proba,
    frozenset({support.ALTERNATING, support.SETS}): lambda _: CamelClassifier(solver="alternating").fit(X, Y).predict_sets(X),
    frozenset({support.ALTERNATING, support.SUSPECTS}): lambda _: find_label_errors(X, Y, CamelClassifier(solver="alternating")),
    frozenset({support.ALTERNATING, support.SEARCH}): lambda _: CamelClassifierCV(solver="alternating").fit(X, Y),
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
    frozenset({support.LAZY, support.EXACT}): lambda _: CamelClassifier(solver="spectral").fit(*lazily()),
    frozenset({support.LAZY, support.ALTERNATING}): lambda _: CamelClassifier(solver="alternating").fit(*lazily()),
    frozenset({support.LAZY, support.PRECOMPUTED}): lambda _: CamelClassifier(kernel="precomputed").fit(*lazily()),
    frozenset({support.LAZY, support.FOLDS}): lambda _: CamelClassifierCV(cv=3).fit(*lazily()),
    frozenset({support.LAZY, support.CLASSES_1D}): lambda _: CamelClassifier().fit(lazily()[0], lazily()[1][:, 0]),
    frozenset({support.LAZY, support.SUSPECTS}): lambda _: find_label_errors(*lazily()),
    frozenset({support.LAZY, support.ARRAYS}): lambda _: CamelClassifier().fit(X, Y).explain(lazily()[0]),
    frozenset({support.CLASSES, support.PROBABILITIES}): lambda _: CamelClassifier().fit(X, np.arange(12) % 3).predict_proba,
    frozenset({support.COMBINE, support.FOLDS}): lambda _: CamelClassifierCV(combine=True, cv=3).fit(X, Y),
    frozenset({support.PRECOMPUTED, support.SCALING}): lambda _: CamelClassifier(kernel="precomputed", scaling="unit").fit(X @ X.T, Y),
    frozenset({support.PRECOMPUTED, support.SPARSE}): lambda _: CamelClassifier(kernel="precomputed").fit(sparse.csr_array(X @ X.T), Y),
    frozenset({support.RANK, support.SPARSE}): lambda _: CamelClassifier(scaling="rank").fit(sparse.csr_array(X), Y),
    frozenset({support.COLUMNS, support.UNSHARED}): lambda _: CamelClassifier(kernel="exponential").fit(X, Y).explain(X, features=True),
    frozenset({support.FUNCTION, support.FILE}): save_with_a_function,
    frozenset({support.FUNCTION, support.EXPORT}): export_with_a_function,
}


@pytest.mark.parametrize("pair", support.REFUSED, ids=lambda pair: " and ".join(sorted(pair)))
@pytest.mark.filterwarnings("ignore::skcamel.checks.ConstantLabelWarning")
def test_each_refusal_says_what_the_table_says(pair, tmp_path):
    with pytest.raises((ValueError, TypeError, AttributeError)) as told:
        REFUSALS[pair](tmp_path)
    errors = [str(told.value), str(told.value.__cause__)]
    assert any(" do not go together: " in text and support.REFUSED[pair] in text for text in errors)


def test_what_the_table_does_not_name_goes_together():
    assert not support.reason_against(support.COMBINE, support.SPARSE, support.TUNED)
    support.check_together(support.COMBINE, support.PROBABILITIES)
    CamelClassifierCV(combine=True, threshold="auto").fit(sparse.csr_array(X), Y, sample_weight=np.ones(12)).predict_proba(X)


def made(solver, **parameters):
    """A model of this solver, not yet fitted; small enough to be exact with as many landmarks as rows."""
    kernel = "linear" if solver == support.PRIMAL else "rbf"
    return CamelClassifier(kernel=kernel, solver=solver.split("'")[1], scaling="standard", **parameters)


def searched(solver, _):
    name, kernel = solver.split("'")[1], "linear" if solver == support.PRIMAL else "rbf"
    return CamelClassifierCV(alphas=(0.0, 0.5), lambda2s=(0.1, 1.0), kernels=(kernel,), solver=name).fit(X, Y).predict(X)


def explained_by_column(solver, _):
    model = made(solver).fit(X, Y)
    told = model.explain(X, features=True)
    np.testing.assert_allclose(told.feature_base + told.features.sum(axis=1), model.decision_function(X), atol=1e-9)
    return told.features


def explained(solver, _):
    model = made(solver).fit(X, Y)
    told = model.explain(X)
    np.testing.assert_allclose(told.base + told.parts.sum(axis=1), model.decision_function(X), atol=1e-9)
    return told.parts


def stored(solver, path):
    model = made(solver).fit(X, Y)
    save(model, path / "m.skcamel")
    np.testing.assert_array_equal(load(path / "m.skcamel").decision_function(X), model.decision_function(X))
    return load(path / "m.skcamel").predict(X)


def weighted(solver, _):
    """An integer weight equals repeated rows; landmarks are given, so that they are not drawn from other rows."""
    times = np.arange(12) % 3 + 1
    how = {"landmarks": X[::2], "bandwidth": 3.0} if solver == support.LANDMARK else {}
    one = made(solver, **how).fit(X, Y, sample_weight=times).decision_function(X)
    np.testing.assert_allclose(
        one, made(solver, **how).fit(X.repeat(times, axis=0), Y.repeat(times, axis=0)).decision_function(X), atol=1e-6
    )
    return one


def page(solver, path):
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")
    from skcamel.report import build_model_report

    build_model_report(made(solver).fit(X, Y), (X, Y), path / "page.html")
    return np.array([(path / "page.html").stat().st_size])


def on_device(solver, _):
    if find_spec("torch") is None:
        pytest.skip("torch is not installed: pip install skcamel[gpu]")
    there = made(solver, device="cpu").fit(X, Y).decision_function(X)
    np.testing.assert_allclose(there, made(solver).fit(X, Y).decision_function(X), atol=1e-8)
    return there


def sparse_rows(solver, _):
    """The same as dense rows."""
    found = made(solver).fit(sparse.csr_array(X), Y).decision_function(sparse.csr_array(X))
    np.testing.assert_allclose(found, made(solver).fit(X, Y).decision_function(X), atol=1e-9)
    return found


def lazily():
    da = pytest.importorskip("dask.array", reason="dask is not installed: pip install skcamel[distributed]")
    return da.from_array(X, chunks=(5, 2)), da.from_array(Y, chunks=(5, 2))


USES = {
    "`predict`": lambda solver, _: made(solver).fit(X, Y).predict(X),
    "`decision_function`": lambda solver, _: made(solver).fit(X, Y).decision_function(X),
    "`label_sets`": lambda solver, _: np.array([len(row) for row in made(solver).fit(X, Y).label_sets(X)]),
    "`top_k`": lambda solver, _: made(solver).fit(X, Y).top_k(X, 1),
    "`predict_proba`": lambda solver, _: made(solver).fit(X, Y).predict_proba(X),
    "`predict_sets`": lambda solver, _: made(solver).fit(X, Y).predict_sets(X),
    "`explain`": explained,
    "`explain` by column": explained_by_column,
    "`partial_fit`": lambda solver, _: made(solver).partial_fit(X[:8], Y[:8]).partial_fit(X[8:], Y[8:]).predict(X),
    "`CamelClassifierCV`": searched,
    "`find_label_errors`": lambda solver, _: find_label_errors(X, Y, made(solver)).scores,
    "unknown labels": lambda solver, _: made(solver).fit(X, GAPS).predict(X),
    "sample weights": weighted,
    "sparse rows": sparse_rows,
    "Dask collections": lambda solver, _: made(solver).fit(*lazily()).predict(X),
    "tuned thresholds": lambda solver, _: made(solver, threshold="label").fit(X, Y).predict(X),
    "`save` and `load`": stored,
    "page of the model": page,
    "`device`": on_device,
}


@pytest.mark.parametrize("solver", support.SOLVERS)
@pytest.mark.parametrize("what", support.OFFERED)
def test_each_yes_of_the_table_of_solvers_works_and_each_no_is_refused_with_its_reason(what, solver, tmp_path):
    reason = support.reason_against(solver, support.OFFERED[what])
    row = next(line for line in support.solvers_as_markdown().splitlines() if line.startswith(f"| {what} |"))
    assert row.split(" | ")[1 + support.SOLVERS.index(solver)].strip(" |") == ("no" if reason else "yes")
    if not reason:
        assert np.isfinite(USES[what](solver, tmp_path)).all()
        return
    with pytest.raises((ValueError, AttributeError)) as told:
        USES[what](solver, tmp_path)
    because = support.REFUSED[frozenset({solver, support.OFFERED[what]})]
    assert any(" do not go together: " in text and because in text for text in (str(told.value), str(told.value.__cause__)))


def test_the_table_of_solvers_names_every_solver_and_every_public_method():
    from skcamel.base import SOLVERS

    assert {f"solver={name!r}" for name in SOLVERS if name != "auto"} == set(support.SOLVERS)
    shown = " ".join(support.OFFERED)
    for name in ("predict", "decision_function", "predict_proba", "predict_sets", "label_sets", "top_k", "explain", "partial_fit"):
        assert f"`{name}`" in shown
        assert name in dir(CamelClassifier)

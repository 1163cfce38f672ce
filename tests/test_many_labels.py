"""Many labels: S by active sets, the label side without a decomposition of G, sparse labels, and answers in blocks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.preprocessing import MultiLabelBinarizer

from skcamel import CamelClassifier, CamelClassifierCV, active_set, base, correlation, find_label_errors, load, save
from skcamel.display import plot_collaboration
from skcamel.persistence import schema
from skcamel.rows import signed
from skcamel.selection.source import Batch, InMemory, added, surveyed
from skcamel.selection.stream import Stream, Streaming, begin
from skcamel.solve import krylov, landmark, sampling, spectral
from skcamel.solve.spectral import Targets


def tagged(rng, n, q):
    """Labels in {0, 1} of which many are rare, and some go together; two are equal, two opposite, and one is empty."""
    Y = (rng.random((n, q)) < rng.uniform(0.02, 0.5, q)).astype(float)
    for i in range(0, q - 1, 3):
        Y[:, i] = np.maximum(Y[:, i] * (rng.random(n) < 0.5), Y[:, i + 1] * (rng.random(n) < 0.6))
    Y[:, q // 2] = Y[:, 0]
    Y[:, q // 2 + 1] = 1 - Y[:, 1]
    Y[:, -1] = 0
    return Y


def gram_of(Y, weights=None, *, centred):
    present = sparse.csr_array(Y)
    weighted = present if weights is None else sparse.diags_array(weights) @ present
    total = float(len(Y) if weights is None else weights.sum())
    return active_set.gram_of_counts(sparse.csr_array(present.T @ weighted), total, centred=centred), total


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("strength", [0.003, 0.01, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_active_sets_give_the_S_of_the_dense_solver(rng, centred, strength, weighted):
    Y = tagged(rng, 300, 24)
    weights = rng.integers(1, 4, 300) * 0.5 if weighted else None
    C, total = gram_of(Y, weights, centred=centred)
    found = active_set.learn(C, total, strength=strength)
    wanted = correlation.learn(2 * Y - 1, centred=centred, strength=strength, weights=weights, tol=1e-10, max_iter=100_000)
    assert found.violation.max() < 1e-10
    assert found.S.format == "csc"
    np.testing.assert_allclose(found.penalty, wanted.penalty, rtol=1e-10)
    np.testing.assert_allclose(found.S.toarray(), wanted.S, atol=1e-8)


def test_a_matrix_instead_of_counts_gives_the_same(rng):
    Y = tagged(rng, 200, 15)
    C, total = gram_of(Y, centred=True)
    dense = active_set.gram_of_matrix(correlation.gram(2 * Y - 1, centred=True))
    for strength in (0.01, "noise"):
        one, other = (active_set.learn(gram, total, strength=strength).S.toarray() for gram in (C, dense))
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_noise_is_the_lasso_of_standardised_labels_in_units_of_the_labels(rng):
    n, q = 400, 14
    Y = tagged(rng, n, q)[:, [0, 1, 2, 3, 4, 5, 9, 10, 11]]  # none equal, none constant
    q = Y.shape[1]
    C, total = gram_of(Y, centred=True)
    found = active_set.learn(C, total)
    Z = (Y - Y.mean(axis=0)) / Y.std(axis=0) / n**0.5
    R = Z.T @ Z
    np.fill_diagonal(R, 0)
    penalty = np.maximum(0.01 * abs(R).max(axis=0), (2 * np.log(q) / n) ** 0.5)
    np.testing.assert_allclose(found.penalty, penalty, rtol=1e-12)
    wanted = np.zeros((q, q))
    for j in range(q):
        others = np.arange(q) != j
        lasso = Lasso(alpha=penalty[j] / n, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(Z[:, others], Z[:, j])
        wanted[others, j] = lasso.coef_ * Y[:, j].std() / Y[:, others].std(axis=0)
    np.testing.assert_allclose(found.S.toarray(), wanted, atol=1e-8)


@given(arrays(np.int8, st.tuples(st.integers(2, 25), st.integers(1, 9)), elements=st.integers(0, 1)), st.sampled_from([0.01, 0.3, "noise"]))
def test_any_labels_get_a_certified_S_with_a_zero_diagonal(Y, strength):
    C, total = gram_of(Y.astype(float), centred=True)
    found = active_set.learn(C, total, strength=strength)
    S = found.S.toarray()
    assert (np.diag(S) == 0).all()
    assert found.violation.max() <= 1e-6
    C, lengths = correlation.gram(2.0 * Y - 1, centred=True), np.ones(Y.shape[1])
    if strength == "noise":
        lengths = np.sqrt(np.diag(C)) + (np.diag(C) == 0)
    R, S = C / np.outer(lengths, lengths), S * lengths[:, None] / lengths
    assert (correlation.kkt_violation(R, S, found.penalty) <= 1e-6 * np.maximum(found.penalty, 1e-9)).all()


@pytest.mark.parametrize("strength", [0.01, "noise"])
def test_a_permutation_of_the_labels_permutes_S(rng, strength):
    Y = tagged(rng, 300, 21)
    order = rng.permutation(21)
    (C, total), (D, _) = gram_of(Y, centred=True), gram_of(Y[:, order], centred=True)
    S, T = (active_set.learn(gram, total, strength=strength).S.toarray() for gram in (C, D))
    np.testing.assert_allclose(T, S[np.ix_(order, order)], atol=1e-9)


def test_a_column_whose_active_sets_go_round_in_circles_is_solved_all_the_same(monkeypatch, rng):
    Y = tagged(rng, 300, 24)
    C, total = gram_of(Y, centred=True)
    wanted = active_set.learn(C, total, strength=0.01)
    monkeypatch.setattr(active_set, "MOST_ROUNDS", 1)
    found = active_set.learn(C, total, strength=0.01)
    assert found.violation.max() < 1e-8
    np.testing.assert_allclose(found.S.toarray(), wanted.S.toarray(), atol=1e-8)


def test_auto_is_the_papers_penalty_for_few_labels_and_noise_for_many():
    assert active_set.resolved("auto", correlation.MANY) == 0.01
    assert active_set.resolved("auto", correlation.MANY + 1) == "noise"
    assert active_set.resolved(0.2, correlation.MANY + 1) == 0.2


def summary_of(rng, r=40, q=30, s=25):
    """Features of which few carry most, and labels that depend on them."""
    omega = np.sort(rng.gamma(0.5, 50, r))
    omega[:2] = 0
    rows = rng.normal(size=(s, r)) * np.sqrt(omega / 500)
    Y = np.where(rng.random((s, q)) < 0.2, 1.0, -1.0)
    M = rng.normal(size=(r, q)) * np.sqrt(omega)[:, None]
    units = np.where(np.arange(s) < 3, 0.5, 1.0)
    targets = Targets(Y, rng.normal(size=q) / 5, M)
    return landmark.Summary(omega, rng.normal(size=(r, r)), rng.normal(size=r), None, targets, rows, units, 500.0)


def sparse_S(rng, q=30):
    S = sparse.random_array((q, q), density=0.1, rng=rng, data_sampler=lambda size: rng.normal(size=size) / 3).toarray()
    np.fill_diagonal(S, 0)
    return sparse.csc_array(S)


PENALTIES = [(1.0, 0.01), (1.0, 0.1), (3.0, 1.0)]


@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.5, 0.8, 0.95])
def test_conjugate_gradients_give_the_coefficients_of_the_decomposition(rng, alpha):
    summary, S = summary_of(rng), sparse_S(rng)
    operator, basis = krylov.LabelOperator.of(S, alpha), spectral.label_basis(correlation.collaboration(S.toarray(), alpha))
    shared = krylov.coefficients(summary, summary.targets, operator, PENALTIES)
    assert shared.residual <= 1e-6
    for (lambda1, lambda2), together in zip(PENALTIES, shared.values, strict=True):
        found = krylov.solve_in(summary, summary.targets, operator, lambda1=lambda1, lambda2=lambda2)
        wanted = landmark.solve_in(summary, summary.targets, basis, lambda1=lambda1, lambda2=lambda2)
        assert found.residual is not None
        assert found.residual <= 1e-6
        scale = abs(wanted.dual_coef).max()
        np.testing.assert_allclose(found.dual_coef, wanted.dual_coef, atol=1e-6 * scale)
        np.testing.assert_allclose(found.intercept, wanted.intercept, atol=1e-6 * abs(wanted.intercept).max())
        np.testing.assert_allclose(summary.vectors @ together, wanted.dual_coef, atol=1e-6 * scale)


def test_the_residual_bounds_the_error_of_every_row_of_coefficients(rng, monkeypatch):
    summary, S = summary_of(rng), sparse_S(rng)
    basis = spectral.label_basis(correlation.collaboration(S.toarray(), 0.6))
    lambda1, lambda2 = 1.0, 0.05
    exact = summary.targets.projected @ basis.R / (summary.values[:, None] + basis.ridges(lambda1, lambda2)) @ basis.R.T
    lengths = np.linalg.norm(summary.targets.projected, axis=1)
    for most in (1, 3, 10):
        monkeypatch.setattr(krylov, "MOST_STEPS", most)
        found = krylov.coefficients(summary, summary.targets, krylov.LabelOperator.of(S, 0.6), [(lambda1, lambda2)])
        error = np.linalg.norm(found.values[0] - exact, axis=1) * (summary.values + lambda2)
        assert (error <= found.residual * lengths * (1 + 1e-9) + 1e-12).all()
        assert found.n_iter <= most


@pytest.mark.parametrize(("alpha", "tolerance"), [(0.0, 1e-12), (0.2, 1e-3), (0.5, 1e-2), (0.9, 1e-2)])
def test_leave_one_out_is_that_of_the_decomposition_up_to_a_stated_error(rng, alpha, tolerance):
    summary, S = summary_of(rng), sparse_S(rng)
    operator, basis = krylov.LabelOperator.of(S, alpha), spectral.label_basis(correlation.collaboration(S.toarray(), alpha))
    found = krylov.leave_one_out(summary, summary.targets, [operator], PENALTIES)
    wanted = landmark.leave_one_out(summary, summary.targets, [basis], PENALTIES)
    for (_, p, approximate), (_, q, exact) in zip(found, wanted, strict=True):
        assert p == q
        error = np.linalg.norm(approximate - exact, axis=1) / np.linalg.norm(summary.targets.Y - exact, axis=1)
        assert error.max() <= tolerance


def test_scores_of_other_rows_are_those_of_the_decomposition(rng):
    summary, S = summary_of(rng), sparse_S(rng)
    K = rng.normal(size=(7, 40))
    operator, basis = krylov.LabelOperator.of(S, 0.4), spectral.label_basis(correlation.collaboration(S.toarray(), 0.4))
    found = krylov.held_out(summary, summary.targets, [operator], PENALTIES, K)
    for (*_, one), (*_, other) in zip(found, landmark.held_out(summary, summary.targets, [basis], PENALTIES, K), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-3 * abs(other).max())


def texts(rng, n=240, d=30, q=12):
    X = sparse.csr_array(rng.poisson(0.3, (n, d)).astype(float))
    W = rng.normal(size=(d, q)) * (rng.random((d, q)) < 0.3)
    Y = (X @ W + rng.normal(size=(n, q)) > 1.0).astype(np.int8)
    Y[:, 1] = np.maximum(Y[:, 0], Y[:, 1])
    return X, Y


FITS = {
    "landmark": lambda: CamelClassifier(0.4, solver="landmark", n_landmarks=60, threshold="label", sparsity=0.01),
    "primal": lambda: CamelClassifier(0.4, solver="primal", kernel="linear", correlation="centred", threshold="common"),
    "search": lambda: CamelClassifierCV((0.0, 0.4), solver="landmark", n_landmarks=60, lambda2s=(0.1, 1.0), threshold="auto"),
    "folds": lambda: CamelClassifierCV((0.0, 0.4), solver="primal", kernels=("linear",), lambda2s=(0.1, 1.0), cv=3),
    "combination": lambda: CamelClassifierCV(
        (0.4,), solver="landmark", lambda2s=(0.1,), n_landmarks=60, combine=True, scalings=("none", "unit")
    ),
    "noise": lambda: CamelClassifier(0.4, solver="landmark", n_landmarks=60, sparsity="noise"),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_labels_give_the_model_of_dense_ones(rng, name, weighted):
    X, Y = texts(rng)
    weights = rng.integers(1, 4, len(Y)) * 1.0 if weighted else None
    wanted = FITS[name]().fit(X, Y, sample_weight=weights)
    for given_as in (sparse.csr_array(Y), sparse.csc_matrix(Y.astype(float))):
        found = FITS[name]().fit(X, given_as, sample_weight=weights)
        np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), atol=1e-8)
        np.testing.assert_allclose(found.label_correlation_, wanted.label_correlation_, atol=1e-8)
        np.testing.assert_allclose(found.cooccurrence_, wanted.cooccurrence_, atol=1e-9)
        np.testing.assert_allclose(found.thresholds_, wanted.thresholds_, atol=1e-8)
        np.testing.assert_allclose(found.predict_proba(X), wanted.predict_proba(X), atol=1e-8)
        assert isinstance(found.predict(X), np.ndarray)


def test_sparse_labels_in_batches_give_the_model_of_one_fit(rng):
    X, Y = texts(rng)
    options = {"alpha": 0.4, "solver": "landmark", "landmarks": X[:50].toarray(), "bandwidth": 3.0, "threshold": "common"}
    wanted = CamelClassifier(**options).fit(X, Y)
    found = CamelClassifier(**options)
    for i in range(0, len(Y), 80):
        found.partial_fit(X[i : i + 80], sparse.csr_array(Y[i : i + 80]), solve=i == 160)
    np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(found.thresholds_, wanted.thresholds_, atol=1e-8)
    with pytest.raises(ValueError, match="sparse in some batches and not in others"):
        found.partial_fit(X, Y)


def test_sparse_labels_are_never_made_dense_in_a_fit_by_sums(rng, monkeypatch):
    X, Y = texts(rng)
    made = sparse.csr_array.toarray

    def told(matrix, *arguments, **named):
        assert matrix.shape != Y.shape
        return made(matrix, *arguments, **named)

    monkeypatch.setattr(sparse.csr_array, "toarray", told)
    CamelClassifier(0.4, solver="primal", kernel="linear").fit(X, sparse.csr_array(Y))


@pytest.mark.parametrize("name", ["landmark", "primal", "search", "folds", "combination"])
def test_the_way_of_many_labels_gives_the_model_of_few(rng, monkeypatch, name):
    X, Y = texts(rng, n=400)
    few = FITS[name]().set_params(sparsity="noise").fit(X, Y)
    monkeypatch.setattr(correlation, "MANY", 5)
    many = FITS[name]().set_params(sparsity="auto").fit(X, sparse.csr_array(Y))
    assert sparse.issparse(many.label_correlation_)
    np.testing.assert_allclose(many.label_correlation_.toarray(), few.label_correlation_, atol=1e-10)
    np.testing.assert_allclose(many.cooccurrence_.toarray(), few.cooccurrence_, atol=1e-10)
    np.testing.assert_allclose(many.decision_function(X), few.decision_function(X), atol=1e-4 if name == "combination" else 1e-6)
    np.testing.assert_allclose(many.thresholds_, few.thresholds_, atol=0.02)  # by leave-one-out, which is approximate
    np.testing.assert_allclose(many.predict_proba(X), few.predict_proba(X), atol=5e-3)
    P = many.predict(X)
    assert (P.format, P.dtype) == ("csr", np.int64)
    np.testing.assert_array_equal(P.toarray(), many.outputs(X).decisions)


def test_a_model_of_many_labels_answers_in_blocks_and_survives_a_file(rng, monkeypatch, tmp_path):
    X, Y = texts(rng)
    monkeypatch.setattr(correlation, "MANY", 5)
    model = CamelClassifier(0.4, solver="landmark", n_landmarks=40).fit(X, sparse.csr_array(Y))
    assert not {"A_", "b_", "Z_"} & set(vars(model))
    assert model.residual_ <= 1e-6
    assert model.n_iter_ > 1
    whole = model.outputs(X)
    monkeypatch.setattr(base, "PREDICT_BLOCK_BYTES", 8 * 12 * 7)
    np.testing.assert_array_equal(model.top_k(X, 3), np.argsort(-whole.scores, axis=1, kind="stable")[:, :3])
    np.testing.assert_array_equal(model.predict(X).toarray(), whole.decisions)
    save(model, tmp_path / "m.skcamel")
    back = load(tmp_path / "m.skcamel")
    np.testing.assert_array_equal(back.predict(X).toarray(), whole.decisions)
    np.testing.assert_array_equal(back.collaboration_.toarray(), model.collaboration_.toarray())
    assert "Collaboration" not in back._repr_html_inner()
    for ask in (lambda: back.deviations(X), lambda: back.explain(X), lambda: plot_collaboration(back)):
        with pytest.raises(ValueError, match="more than 1,000 labels by sums over rows and parts of scores by label"):
            ask()


def test_dense_labels_give_dense_answers_however_many_they_are(rng, monkeypatch, tmp_path):
    X, Y = texts(rng)
    monkeypatch.setattr(correlation, "MANY", 5)
    model = CamelClassifier(0.4, solver="landmark", n_landmarks=40).fit(X, Y)
    P = model.predict(X)
    assert isinstance(P, np.ndarray)
    np.testing.assert_array_equal(
        P, CamelClassifier(0.4, solver="landmark", n_landmarks=40).fit(X, sparse.csr_array(Y)).predict(X).toarray()
    )
    save(model, tmp_path / "m.skcamel")
    np.testing.assert_array_equal(load(tmp_path / "m.skcamel").predict(X), P)


def test_the_exact_solver_takes_sparse_labels_as_before(rng, monkeypatch):
    X, Y = texts(rng, n=100)
    for many in (1_000, 5):
        monkeypatch.setattr(correlation, "MANY", many)
        one, other = (CamelClassifier(0.4, solver="spectral").fit(X, labels) for labels in (Y, sparse.csr_array(Y)))
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
        assert isinstance(one.label_correlation_, np.ndarray)
        assert isinstance(other.predict(X), np.ndarray)


def test_conjugate_gradients_that_stop_early_are_told(rng, monkeypatch):
    X, Y = texts(rng)
    monkeypatch.setattr(correlation, "MANY", 5)
    monkeypatch.setattr(krylov, "MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="Conjugate gradients stopped after 2 steps with a residual of"):
        CamelClassifier(0.6, solver="landmark", n_landmarks=40).fit(X, sparse.csr_array(Y))


def test_a_permutation_of_many_labels_permutes_their_scores(rng, monkeypatch):
    X, Y = texts(rng)
    monkeypatch.setattr(correlation, "MANY", 5)
    order = rng.permutation(12)
    options = {"solver": "primal", "kernel": "linear", "alpha": 0.4}
    one, other = (CamelClassifier(**options).fit(X, sparse.csr_array(labels)).decision_function(X) for labels in (Y, Y[:, order]))
    np.testing.assert_allclose(other, one[:, order], atol=1e-6)


def test_what_a_binarizer_gives_is_taken_as_it_is(rng):
    X, Y = texts(rng)
    sets = [tuple(np.flatnonzero(row)) for row in Y]
    labels = MultiLabelBinarizer(classes=np.arange(12), sparse_output=True).fit_transform(sets)
    one, other = (CamelClassifier(solver="landmark", n_landmarks=40).fit(X, given).decision_function(X) for given in (labels, Y))
    np.testing.assert_allclose(one, other, atol=1e-8)
    assert labels.format == "csr"


def test_the_sample_of_sparse_labels_is_that_of_dense_ones(rng):
    X, Y = rng.integers(0, 5, (500, 3)).astype(float), np.where(rng.random((500, 6)) < rng.uniform(0.01, 0.99, 6), 1, -1).astype(np.int8)
    one = sampling.Sample(0, 60).add(X[:200], Y[:200]).add(X[200:], Y[200:])
    present = sparse.csr_array((Y > 0).astype(np.int8))
    other = sampling.Sample(0, 60).add(X[:200], present[:200]).add(X[200:], present[200:])
    assert sparse.issparse(other.rows().Y)
    for first, second in zip(one.rows(), other.rows()._replace(Y=signed(other.rows().Y)), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most", [5, 1_000])
def test_a_survey_of_sparse_labels_counts_and_samples_as_that_of_dense_ones(rng, monkeypatch, weighted, most):
    monkeypatch.setattr(correlation, "MANY", most)
    X, Y = texts(rng)
    w = rng.integers(1, 4, len(Y)).astype(float) if weighted else None
    by = Streaming(primal=False, count=20)
    kinds = np.where(Y > 0, 1, -1).astype(np.int8), sparse.csr_array(Y.astype(np.int8))
    dense, present = (InMemory(Batch(X, labels, w), by) for labels in kinds)
    for found, total in (dense.counts, present.counts):
        assert sparse.issparse(found) == (most == 5)
        np.testing.assert_array_equal(sparse.csr_array(found).toarray(), Y.T.astype(float) @ (Y if w is None else Y * w[:, None]))
        assert total == (len(Y) if w is None else w.sum())
    halves = (Batch(X[rows], kinds[1][rows], None if w is None else w[rows]) for rows in (slice(100), slice(100, None)))
    np.testing.assert_array_equal(added(halves, surveyed, (0, 20)).labels.toarray(), present.survey.labels.toarray())
    np.testing.assert_array_equal(signed(present.sample.Y), dense.sample.Y)
    np.testing.assert_array_equal(present.prepared[0].toarray(), dense.prepared[0].toarray())
    assert sparse.issparse(present.survey.prepared.rows().Y)


def test_every_label_bound_is_that_of_a_literal_loop(rng):
    Y = np.where(rng.random((80, 9)) < np.linspace(0, 1, 9), 1, -1).astype(np.int8)
    units = sampling.Units(np.zeros((80, 1)), Y, np.ones(80), np.ones(80), rng.random(80))
    for quota in (1, 4, 30):
        for found, sign in zip(sampling._label_bounds(units, quota), (1, -1), strict=True):
            for j in range(9):
                numbers = sorted(units.numbers[Y[:, j] == sign])
                assert found[j] == (numbers[quota] if len(numbers) > quota else np.inf)


def test_a_share_as_penalty_of_many_labels_gives_the_S_of_few(rng, monkeypatch):
    X, Y = texts(rng)
    for kind in correlation.KINDS:
        options = {"alpha": 0.4, "sparsity": 0.05, "correlation": kind, "solver": "spectral", "tol": 1e-10}
        monkeypatch.setattr(correlation, "MANY", 1_000)
        wanted = CamelClassifier(**options).fit(X, Y).label_correlation_
        monkeypatch.setattr(correlation, "MANY", 5)
        np.testing.assert_allclose(CamelClassifier(**options).fit(X, Y).label_correlation_, wanted, atol=1e-8)


def test_noise_takes_unknown_labels(rng):
    X, Y = texts(rng)
    gaps = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
    S = CamelClassifier(0.4, sparsity="noise").fit(X, gaps).label_correlation_
    C = active_set.gram_of_matrix(correlation.known_gram(2 * gaps - 1, centred=True))
    np.testing.assert_allclose(S, active_set.learn(C, float(len(Y)), complete=False).S.toarray(), atol=1e-12)


def test_labels_that_differ_from_0_and_1_are_refused_as_before(rng):
    X, Y = texts(rng)
    with pytest.raises(ValueError, match="only 0 and 1"):
        CamelClassifier(solver="landmark").fit(X, sparse.csr_array(2 * Y))
    with pytest.raises(ValueError, match="Y has 239 rows but X has 240"):
        CamelClassifier(solver="landmark").fit(X, sparse.csr_array(Y[1:]))
    with pytest.raises(ValueError, match="sparsity must be a number > 0 or 'auto' or 'noise', got 'much'"):
        CamelClassifier(sparsity="much").fit(X, Y)


@pytest.mark.parametrize("many", [1_000, 5])
def test_a_device_gives_the_same_for_sparse_labels(rng, monkeypatch, many):
    pytest.importorskip("torch")
    X, Y = texts(rng)
    monkeypatch.setattr(correlation, "MANY", many)
    options = {"alpha": 0.4, "solver": "landmark", "n_landmarks": 40, "threshold": "common"}
    one, other = (CamelClassifier(**options, device=device).fit(X, sparse.csr_array(Y)) for device in (None, "cpu"))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(one.thresholds_, other.thresholds_, atol=1e-3)


def test_wrong_labels_are_found_in_sparse_ones(rng):
    X, Y = texts(rng)
    one, other = (
        find_label_errors(X, labels, CamelClassifier(solver="landmark", n_landmarks=40), limit=9) for labels in (Y, sparse.csr_array(Y))
    )
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_one_pass_serves_every_criterion_for_many_labels(rng, monkeypatch):
    X, Y = texts(rng)
    monkeypatch.setattr(correlation, "MANY", 5)
    search = CamelClassifierCV((0.0, 0.4), solver="landmark", n_landmarks=40, lambda2s=(0.1, 1.0))
    each = search.fit_each(X, sparse.csr_array(Y))
    alone = search.set_params(scoring="micro_f1").fit(X, sparse.csr_array(Y))
    assert each["micro_f1"].best_params_ == alone.best_params_
    np.testing.assert_array_equal(each["micro_f1"].predict(X).toarray(), alone.predict(X).toarray())


def test_a_combination_of_models_of_many_labels_survives_a_file(rng, monkeypatch, tmp_path):
    X, Y = texts(rng)
    monkeypatch.setattr(correlation, "MANY", 5)
    model = FITS["combination"]().fit(X, sparse.csr_array(Y))
    save(model, tmp_path / "m.skcamel")
    back = load(tmp_path / "m.skcamel")
    np.testing.assert_array_equal(back.predict(X).toarray(), model.predict(X).toarray())
    np.testing.assert_array_equal(back.top_k(X, 2), model.top_k(X, 2))


def test_a_model_file_must_hold_pairs_of_labels_in_one_form_and_the_papers_variables_where_they_are_few(rng):
    X, Y = texts(rng)
    model = CamelClassifier(0.4, solver="landmark", n_landmarks=40).fit(X, Y)
    state = {key: value for key, value in vars(model).items() if key not in model.get_params() and key != "_sklearn_output_config"}
    schema.check(clone(model), state)
    with pytest.raises(ValueError, match="A_, b_ missing"):
        schema.check(clone(model), {key: value for key, value in state.items() if key != "A_"})
    with pytest.raises(ValueError, match="must be sparse together or not at all"):
        schema.check(clone(model), state | {"label_correlation_": sparse.csr_array(model.label_correlation_)})


def test_sparse_labels_ask_for_memory_by_their_entries_and_dense_ones_by_all(rng):
    X, few = rng.normal(size=(60, 2)), np.eye(60, 900, dtype=np.int8)
    started = begin("none", "rbf", X, None, Streaming(primal=False, count=5, budget=2**40), lambda2=1.0)
    asked = []
    watched = replace(started, by=replace(started.by, threads=1))
    for labels in (few, sparse.csr_array(few)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Stream, "_require", lambda _, needed: asked.append(needed))
            watched.add(X, labels, None)
    assert asked[0] - asked[1] == 17 * 60 * 900 - 40 * (60 + 60)


@pytest.mark.parametrize("preset", ["quick", "paper", "best"])
def test_presets_leave_out_what_takes_a_decomposition(preset, monkeypatch):
    monkeypatch.setattr(correlation, "MANY", 5)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    Y = sparse.csr_array((X @ rng.normal(size=(4, 8)) + rng.normal(size=(80, 8)) > 1.5).astype(int))
    model = CamelClassifierCV.from_preset(preset, solver="landmark", n_landmarks=30).fit(X, Y)
    assert max(model.cv_results_["param_alpha"]) < 1
    assert model.top_k(X, 3).shape == (80, 3)

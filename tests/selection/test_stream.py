"""Fits by sums over rows: equal to the exact ones where they can be, and within the memory that they are allowed."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import skcamel.camel.base
from skcamel import (
    CamelClassifier,
    CamelClassifierCV,
    find_label_errors,
    inspect,
    load,
    memory,
    save,
)
from skcamel.camel import kernel, landmark, stream
from skcamel.camel.base import SolverWarning

RNG = np.random.default_rng(0)
N, D, Q = 70, 5, 3
X = RNG.normal(size=(N, D))
X[40:50] = X[30:40]  # rows that repeat, some with equal labels
X[:, 4] = RNG.integers(0, 3, N)
Y = (X[:, :Q] + 0.7 * RNG.normal(size=(N, Q)) > 0.3).astype(int)
Y[40:45] = Y[30:35]
NEW = RNG.normal(size=(15, D))
THIN, THIN_NEW = sparse.csr_array(X * (abs(X) > 0.5)), sparse.csr_array(NEW * (abs(NEW) > 0.5))
WEIGHTS = RNG.integers(0, 4, N).astype(np.float64)  # some are 0
ALL = {"solver": "landmark", "n_landmarks": 200}
FEW = {"solver": "landmark", "n_landmarks": 12}
GRID = {"alphas": (0.0, 0.4), "lambda2s": (0.05, 0.5)}


def assert_same(model, other, new=NEW, atol=1e-8):
    mine, theirs = model.outputs(new), other.outputs(new)
    np.testing.assert_allclose(mine.scores, theirs.scores, atol=atol)
    np.testing.assert_array_equal(mine.decisions, theirs.decisions)
    np.testing.assert_allclose(model.thresholds_, other.thresholds_, atol=atol)
    np.testing.assert_allclose(model.predict_proba(new), other.predict_proba(new), atol=10 * atol)
    np.testing.assert_array_equal(model.predict_sets(new, 0.9), other.predict_sets(new, 0.9))
    np.testing.assert_allclose(model.explain(new).parts, other.explain(new).parts, atol=atol)
    np.testing.assert_allclose(model.label_correlation_, other.label_correlation_, atol=atol)


@pytest.mark.parametrize(
    "weights", [None, WEIGHTS, WEIGHTS / 3], ids=["", "whole weights", "weights"]
)
@pytest.mark.parametrize("scaling", ["none", "standard", "minmax", "unit", "rank"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "exponential", "linear"])
def test_all_rows_as_landmarks_give_the_exact_solution(kernel, scaling, weights):
    parameters = {"kernel": kernel, "scaling": scaling, "threshold": "label", "alpha": 0.3}
    for rows, new in ((X, NEW),) if scaling == "rank" else ((X, NEW), (THIN, THIN_NEW)):
        exact = CamelClassifier(**parameters).fit(rows, Y, weights)
        assert_same(CamelClassifier(**parameters, **ALL).fit(rows, Y, weights), exact, new)


@pytest.mark.parametrize("weights", [None, WEIGHTS / 3], ids=["", "weights"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"scores": "log_odds", "bandwidths": (0.5, 1.0)},
        {"threshold": "common", "scoring": "micro_f1", "kernels": ("linear", "laplacian")},
        {"cv": 3},
        {"cv": 3, "kernels": ("linear",), "scalings": ("standard",)},
        {"combine": True, "scalings": ("none", "standard"), "kernels": ("rbf", "linear")},
    ],
    ids=["log-odds", "common", "folds", "folds, linear", "combined"],
)
def test_a_search_with_all_rows_as_landmarks_finds_the_same(parameters, weights):
    exact = CamelClassifierCV(**GRID, **parameters).fit(X, Y, weights)
    found = CamelClassifierCV(**GRID, **parameters, **ALL).fit(X, Y, weights)
    assert_same(found, exact)
    assert hasattr(found, "members_") or found.best_params_ == pytest.approx(exact.best_params_)
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], exact.cv_results_["mean_test_score"], atol=1e-9
    )
    assert getattr(found, "estimate_", None) == pytest.approx(getattr(exact, "estimate_", None))


@pytest.mark.parametrize("preset", ["quick", "best"])
def test_a_preset_with_all_rows_as_landmarks_finds_the_same(preset):
    assert_same(
        CamelClassifierCV.from_preset(preset, **ALL).fit(X, Y),
        CamelClassifierCV.from_preset(preset).fit(X, Y),
    )


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("scaling", ["none", "standard", "unit"])
@pytest.mark.parametrize("solver", ["primal", "landmark"])
def test_the_features_themselves_are_the_exact_linear_kernel(solver, scaling, weights):
    for rows, new in ((X + 3, NEW + 3), (THIN, THIN_NEW)):
        parameters = {"kernel": "linear", "scaling": scaling, "threshold": "common"}
        exact = CamelClassifier(**parameters).fit(rows, Y, weights)
        found = CamelClassifier(solver=solver, n_landmarks=3, **parameters).fit(rows, Y, weights)
        assert found.solver_ == "primal"
        assert found.dual_coef_.shape == (D, Q)
        assert_same(found, exact, new)
        np.testing.assert_allclose(found.intercept_, exact.intercept_, atol=1e-9)
        np.testing.assert_allclose(found.b_, exact.b_, atol=1e-8)


@pytest.mark.parametrize("more", [{}, {"cv": 3}, {"combine": True}])
def test_a_search_in_the_features_takes_the_unit_of_the_exact_one(more):
    parameters = GRID | {"kernels": ("linear",), "scalings": ("none", "unit")} | more
    exact, found = (
        CamelClassifierCV(**parameters, solver=solver).fit(7 * X + 3, Y)
        for solver in ("spectral", "primal")
    )
    assert_same(found, exact, 7 * NEW + 3)
    assert hasattr(found, "members_") or found.best_params_ == pytest.approx(exact.best_params_)


@pytest.mark.parametrize(
    "parameters", [{}, {"kernel": "linear"}, {"alpha": 0.0, "threshold": "label"}]
)
def test_suspects_are_those_of_the_exact_solver(parameters):
    different = np.r_[:40, 50:N]  # others tie
    exact, found = (
        find_label_errors(X[different], Y[different], CamelClassifier(**parameters, **more))
        for more in ({}, ALL)
    )
    np.testing.assert_array_equal(found.rows, exact.rows)
    for name in ("scores", "chance", "base", "own"):
        np.testing.assert_allclose(getattr(found, name), getattr(exact, name), atol=1e-8)
    searched = [
        find_label_errors(X, Y, CamelClassifierCV(**GRID, **more), limit=9) for more in ({}, ALL)
    ]
    np.testing.assert_allclose(searched[0].scores, searched[1].scores, atol=1e-8)


@pytest.fixture
def small(monkeypatch):
    """More than 50 rows are too many for the exact solver."""
    monkeypatch.setattr(skcamel.camel.base, "EXACT_ROWS", 50)
    monkeypatch.setattr(skcamel.camel.base, "EXACT_ROWS_ON_GPU", 60)


@pytest.mark.parametrize(
    ("model", "solver"),
    [
        (CamelClassifier(), "landmark"),
        (CamelClassifier(kernel="linear"), "primal"),
        (CamelClassifierCV(**GRID), "landmark"),
        (CamelClassifierCV(**GRID, cv=3, kernels=("linear",)), "primal"),
        (CamelClassifierCV(**GRID, bandwidths=(0.5, 1.0, 2.0), threshold="micro_f1"), "landmark"),
    ],
)
def test_auto_leaves_the_exact_solver_with_one_warning(model, solver, small):
    with pytest.warns(
        SolverWarning, match=r"works with 1,000 landmarks.*would take long for 70 rows"
    ) as warned:
        assert clone(model).fit(X, Y).solver_ == solver
    assert len(warned) == 1
    assert clone(model).fit(X[:50], Y[:50]).solver_ == "spectral"


def test_auto_counts_the_bytes_that_are_allowed():
    with (
        pytest.warns(SolverWarning, match=r"needs \d MiB, and max_memory allows \d MiB") as warned,
        pytest.raises(MemoryError),
    ):
        CamelClassifier(max_memory=2**18).fit(X, Y)
    assert len(warned) == 1
    assert CamelClassifier(max_memory="1GiB").fit(X, Y).solver_ == "spectral"


def test_what_is_free_does_not_choose_the_model(monkeypatch):
    with (
        memory.allowance(2**18),
        pytest.raises(MemoryError, match=r"A fit on 70 rows and 3 labels.* solver='landmark'"),
    ):
        CamelClassifier().fit(X, Y)


def test_auto_takes_the_exact_solver_where_no_other_can_serve(small):
    gaps = np.where(RNG.random(Y.shape) < 0.1, np.nan, Y)
    assert CamelClassifier().fit(X, gaps).solver_ == "spectral"
    assert CamelClassifier(kernel="precomputed").fit(X @ X.T, Y).solver_ == "spectral"


def test_label_errors_warn_once_too(small):
    with pytest.warns(SolverWarning) as warned:
        find_label_errors(X, Y, CamelClassifier())
    assert len(warned) == 1


@pytest.mark.parametrize("model", [CamelClassifier(**FEW), CamelClassifierCV(**GRID, **FEW)])
def test_results_repeat_to_the_last_bit_and_the_seed_chooses_the_landmarks(model):
    first, again = (clone(model).fit(X, Y) for _ in range(2))
    for name in ("dual_coef_", "intercept_", "thresholds_", "X_fit_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    other = clone(model).set_params(random_state=1).fit(X, Y)
    assert not np.array_equal(np.sort(other.X_fit_[:, 0]), np.sort(first.X_fit_[:, 0]))


def distinct(rows):
    return {tuple(row) for row in np.round(rows.toarray() if sparse.issparse(rows) else rows, 9)}


@pytest.mark.parametrize("rows", [X, THIN])
def test_uniform_landmarks_are_rows(rows):
    model = CamelClassifier(**FEW).fit(rows, Y)
    assert model.X_fit_.shape == (12, D)
    assert (model.solver_, len(model.dual_coef_)) == ("landmark", 12)
    assert distinct(model.X_fit_) <= distinct(rows)


def test_uniform_landmarks_do_not_depend_on_the_labels_and_larger_sets_of_them_hold_the_smaller():
    few, more = (
        distinct(CamelClassifier(solver="landmark", n_landmarks=m).fit(X, Y).X_fit_)
        for m in (12, 40)
    )
    other = CamelClassifier(**FEW).fit(X, 1 - Y)
    assert few < more
    assert distinct(other.X_fit_) == few


@given(st.integers(2, 60), st.integers(1, 4), st.integers(1, 70), st.integers(0, 99), st.booleans())
def test_a_centre_is_the_mean_of_different_rows_and_none_of_them(n, d, count, seed, coarse):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, d)).astype(float) if coarse else rng.normal(size=(n, d))
    try:
        found = stream.centres(rows, count, seed)
    except ValueError as error:
        assert coarse
        assert "take landmarks='uniform'" in str(error)  # noqa: PT017
        return
    assert 1 <= len(found) <= count
    assert not distinct(found) & distinct(rows)
    assert (found >= rows.min(axis=0) - 1e-12).all()
    assert (found <= rows.max(axis=0) + 1e-12).all()
    np.testing.assert_array_equal(stream.centres(sparse.csr_array(rows), count, seed), found)


def test_a_model_of_centres_holds_no_training_row(tmp_path):
    model = CamelClassifier(**FEW | {"landmarks": "kmeans"}, scaling="standard").fit(X, Y)
    assert not distinct(model.X_fit_) & distinct(model._scaling(X))
    save(model, tmp_path / "m.skcamel")
    told = {own["what"]: own for own in inspect(tmp_path / "m.skcamel").reveals}
    assert told["training rows"]["held"] == "no"
    assert (
        "centres of clusters, each the mean of at least two different rows"
        in told["training rows"]["detail"]
    )


@pytest.mark.parametrize(
    "given",
    [X[:9], X[:9].tolist(), sparse.csr_array(X[:9]), pd.DataFrame(X[:9])],
    ids=["array", "list", "sparse", "frame"],
)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_given_landmarks_are_scaled_with_the_rows(given, kernel):
    model = CamelClassifier(
        solver="landmark", landmarks=given, scaling="standard", kernel=kernel
    ).fit(X, Y)
    np.testing.assert_allclose(model.X_fit_, model._scaling(X[:9]))
    np.testing.assert_allclose(
        CamelClassifier(solver="landmark", landmarks=X, scaling="standard", kernel=kernel)
        .fit(X, Y)
        .decision_function(NEW),
        CamelClassifier(scaling="standard", kernel=kernel).fit(X, Y).decision_function(NEW),
        atol=1e-8,
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"landmarks": "grid"}, "landmarks='grid' is not known; choose one of 'uniform', 'kmeans'"),
        (
            {"landmarks": X[:, :2]},
            r"landmarks has shape \(70, 2\); give finite rows of the 5 columns of X",
        ),
        ({"landmarks": X[0]}, r"landmarks has shape \(5,\)"),
        ({"landmarks": np.full((2, D), np.nan)}, "give finite rows"),
        ({"landmarks": np.zeros((0, D))}, "at least one"),
        ({"n_landmarks": 0}, "n_landmarks must be an integer >= 1, got 0"),
        ({"n_landmarks": 2.5}, "n_landmarks must be an integer >= 1, got 2.5"),
        (
            {"max_memory": "lots"},
            "max_memory: a number of bytes, or text such as '1GiB', is needed, got 'lots'",
        ),
        ({"max_memory": -1}, "max_memory: a number of bytes"),
        ({"max_memory": True}, "max_memory: a number of bytes"),
        ({"kernel": lambda A, B: -(A @ B.T)}, "not positive semi-definite"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        CamelClassifier(**{"solver": "landmark"} | parameters).fit(X, Y)


@pytest.mark.parametrize("how", ["uniform", "kmeans"])
def test_features_that_are_too_large_or_too_small_are_refused(how):
    model = CamelClassifier(**FEW | {"landmarks": how})
    with pytest.raises(ValueError, match="holds NaN or infinity"):
        model.fit(X * 1e200, Y)
    with pytest.raises(ValueError, match="The features are too small"):
        model.fit(X * 1e-200, Y)


def test_a_kernel_function_may_keep_what_it_returns_and_may_return_integers():
    held = {}

    def of(A, B):
        return held.setdefault(
            (A.tobytes(), B.tobytes()),
            np.sign(A[:, :1]).astype(int) @ np.sign(B[:, :1]).T.astype(int),
        )

    found = (
        CamelClassifier(solver="landmark", n_landmarks=N, kernel=of)
        .fit(X, Y)
        .decision_function(NEW)
    )
    assert all(set(np.unique(K)) <= {-1, 0, 1} for K in held.values())
    held.clear()
    np.testing.assert_allclose(
        found, CamelClassifier(kernel=of).fit(X, Y).decision_function(NEW), atol=1e-8
    )


KINDS = {
    "landmarks": {"solver": "landmark", "n_landmarks": 100},
    "columns": {"solver": "primal", "kernel": "linear"},
}
ODD = {
    "one row": (X[:1], Y[:1]),
    "two rows": (X[:2], Y[:2]),
    "constant features": (np.full((N, D), 7.0), Y),
    "nothing but zeros": (np.zeros((N, D)), Y),
    "one row again and again": (np.repeat(X[:1], N, axis=0), Y),
    "constant labels": (X, np.column_stack([np.ones(N), np.zeros(N), Y[:, 0]]).astype(int)),
    "one label": (X, Y[:, :1]),
    "binary y": (X, np.where(Y[:, 0], "yes", "no")),
    "one column": (X[:, :1], Y),
}


@pytest.mark.filterwarnings("ignore::skcamel.checks.ConstantLabelWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("odd", ODD)
def test_odd_data_give_what_the_exact_solver_gives(odd, kind):
    rows, labels = ODD[odd]
    exact = CamelClassifier(kernel=KINDS[kind].get("kernel", "rbf")).fit(rows, labels)
    found = CamelClassifier(**KINDS[kind]).fit(rows, labels)
    new = NEW[:, : rows.shape[1]]
    np.testing.assert_allclose(
        found.decision_function(new), exact.decision_function(new), atol=1e-8
    )
    np.testing.assert_allclose(found.predict_proba(new), exact.predict_proba(new), atol=1e-8)


def test_rows_of_weight_0_have_no_say():
    weights = (np.arange(N) >= 20).astype(float)
    for kind in KINDS.values():
        with_zeros, without = (
            CamelClassifier(**kind).fit(X, Y, weights),
            CamelClassifier(**kind).fit(X[20:], Y[20:]),
        )
        np.testing.assert_array_equal(
            with_zeros.decision_function(NEW), without.decision_function(NEW)
        )


def test_wide_sparse_rows_get_landmarks_of_the_linear_kernel():
    wide = sparse.random_array(
        (60, stream.WIDE + 1), density=0.02, rng=np.random.default_rng(0), format="csr"
    )
    labels = (wide @ np.random.default_rng(1).normal(size=(wide.shape[1], 2)) > 0).astype(int)
    found = CamelClassifier(solver="landmark", kernel="linear").fit(wide, labels)
    assert found.solver_ == "landmark"
    assert sparse.issparse(found.X_fit_)
    np.testing.assert_allclose(
        found.decision_function(wide),
        CamelClassifier(kernel="linear").fit(wide, labels).decision_function(wide),
        atol=1e-8,
    )


def test_float32_rows_count_as_the_numbers_they_are():
    narrow = X.astype(np.float32)
    for kind in KINDS.values():
        found, expected = (
            CamelClassifier(**kind).fit(narrow, Y),
            CamelClassifier(**kind).fit(narrow.astype(np.float64), Y),
        )
        np.testing.assert_array_equal(found.dual_coef_, expected.dual_coef_)
        assert found.decision_function(narrow).dtype == np.float32


MODELS = {
    "landmark": CamelClassifier(**FEW, scaling="standard", threshold="label"),
    "primal": CamelClassifier(solver="primal", kernel="linear", scaling="minmax"),
    "search": CamelClassifierCV(**GRID, **FEW, threshold="micro_f1"),
    "primal search": CamelClassifierCV(**GRID, solver="primal", kernels=("linear",)),
    "combined": CamelClassifierCV(
        **GRID,
        **FEW,
        combine=True,
        kernels=("rbf", "linear", "laplacian"),
        scalings=("none", "standard"),
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    return clone(MODELS[request.param]).fit(
        pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y, columns=["sea", "sun", "sky"])
    )


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_model_answers_whatever_it_is_asked(fitted):
    scores = fitted.decision_function(NEW)
    shared = fitted.explain(NEW, features=True)
    np.testing.assert_allclose(shared.feature_base + shared.features.sum(axis=1), scores, atol=1e-9)
    np.testing.assert_allclose(shared.base + shared.parts.sum(axis=1), scores, atol=1e-9)
    if not hasattr(fitted, "members_"):
        np.testing.assert_allclose(
            fitted.base_scores_ + fitted.deviations(NEW) @ fitted.collaboration_, scores, atol=1e-9
        )
        assert not hasattr(fitted, "Z_")
    together = fitted.outputs(NEW)
    np.testing.assert_array_equal(together.scores, scores)
    assert fitted.label_sets(NEW) == [
        tuple(np.array(["sea", "sun", "sky"])[row == 1]) for row in fitted.predict(NEW)
    ]
    np.testing.assert_array_equal(fitted.top_k(NEW, 1)[:, 0], scores.argmax(axis=1))
    assert fitted.predict_sets(NEW, 0.9).shape[0] == len(NEW)


def test_a_model_survives_pickle_copy_clone_and_its_file(fitted, tmp_path):
    new = pd.DataFrame(NEW, columns=list("abcde"))
    save(fitted, tmp_path / "m.skcamel")
    loaded = load(tmp_path / "m.skcamel")
    save(loaded, tmp_path / "again.skcamel")
    for other in (
        pickle.loads(pickle.dumps(fitted)),  # noqa: S301 (our own bytes)
        copy.deepcopy(fitted),
        loaded,
        copy.deepcopy(loaded),
        load(tmp_path / "again.skcamel"),
    ):
        np.testing.assert_array_equal(other.decision_function(new), fitted.decision_function(new))
        np.testing.assert_array_equal(other.predict_proba(new), fitted.predict_proba(new))
        np.testing.assert_array_equal(other.predict(new), fitted.predict(new))
        np.testing.assert_array_equal(other.predict_sets(new, 0.8), fitted.predict_sets(new, 0.8))
    labels = pd.DataFrame(Y, columns=["sea", "sun", "sky"])
    refitted = clone(fitted).fit(pd.DataFrame(X, columns=list("abcde")), labels)
    np.testing.assert_array_equal(refitted.decision_function(new), fitted.decision_function(new))


def test_a_file_tells_briefly_that_given_landmarks_are_not_in_it(tmp_path):
    model = CamelClassifier(solver="landmark", landmarks=X[:30]).fit(X, Y)
    with pytest.warns(UserWarning, match="landmarks=array.*is not stored with the model") as warned:
        save(model, tmp_path / "m.skcamel")
    assert len(str(warned[0].message)) < 200
    loaded = load(tmp_path / "m.skcamel")
    np.testing.assert_array_equal(loaded.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_array_equal(loaded.X_fit_, X[:30])


def test_members_of_a_combination_know_how_their_landmarks_were_chosen():
    parameters = GRID | {"combine": True, "kernels": ("rbf", "laplacian")}
    model = CamelClassifierCV(**parameters, **FEW, landmarks="kmeans", random_state=3).fit(X, Y)
    for member in model.members_:
        again = clone(member).fit(X, Y)
        np.testing.assert_allclose(again.dual_coef_, member.dual_coef_, atol=1e-8)


def test_what_a_refit_does_not_find_out_is_gone():
    model = CamelClassifier(solver="alternating", alpha=0.1).fit(
        X, np.where(RNG.random(Y.shape) < 0, np.nan, Y)
    )
    assert {"Z_", "convergence_"} <= vars(model).keys()
    model.set_params(solver="landmark").fit(X, Y)
    assert not {"Z_", "convergence_"} & vars(model).keys()
    model.set_params(solver="spectral").fit(X, np.where(RNG.random(Y.shape) < 0.1, np.nan, Y))
    assert hasattr(model, "known_together_")
    assert not hasattr(model.fit(X, Y), "known_together_")


def test_commands_take_models_of_sums(tmp_path, monkeypatch):
    pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
    from click.testing import CliRunner

    from skcamel.cli.root import root

    monkeypatch.chdir(tmp_path)
    names = ["sea", "sun", "sky"]
    pd.DataFrame(X, columns=list("abcde")).assign(**dict(zip(names, Y.T, strict=True))).to_csv(
        "rows.csv", index=False
    )
    for solver, name in (("landmark", "rbf"), ("primal", "linear")):
        model = CamelClassifier(**FEW | {"solver": solver}, kernel=name)
        save(
            model.fit(pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y, columns=names)),
            "m.skcamel",
        )
        for arguments in (
            ["explain", "m.skcamel", "rows.csv", "--row", "1", "--json"],
            ["evaluate", "m.skcamel", "rows.csv", "--json"],
            ["predict", "m.skcamel", "rows.csv", "-o", f"{solver}.csv"],
        ):
            result = CliRunner().invoke(root, arguments, prog_name="skcamel")
            assert result.exit_code == 0, result.output + str(result.stderr)
            if "--json" in arguments:
                assert json.loads(result.stdout)
        assert (tmp_path / f"{solver}.csv").read_text().count("\n") >= N


def test_plots_take_models_of_sums():
    pytest.importorskip(
        "matplotlib", reason="matplotlib is not installed: pip install skcamel[plot]"
    )
    from matplotlib import pyplot as plt

    from skcamel.plots import plot_collaboration, plot_explanation

    for model in (CamelClassifier(**FEW), CamelClassifier(solver="primal", kernel="linear")):
        model.fit(X, Y)
        plot_collaboration(model)
        assert len(plot_explanation(model.explain(NEW), 0).lines)
    plt.close("all")


@given(
    st.integers(1, 40),
    st.booleans(),
    st.sampled_from(["rbf", "laplacian", "exponential"]),
    st.sampled_from([8, 80, 2**26]),
)
def test_the_mean_distance_in_blocks_is_that_of_the_whole_matrix(n, weighted, name, block):
    rng = np.random.default_rng(n)
    rows, weights = rng.normal(size=(n, 2)), rng.random(n) * 3 if weighted else None
    before, kernel.BLOCK_BYTES = kernel.BLOCK_BYTES, block
    try:
        found = kernel.mean_distance(name, rows, weights=weights)
    finally:
        kernel.BLOCK_BYTES = before
    expected = next(kernel.fitted_many(name, rows, weights=weights))[0].bandwidth
    assert found == pytest.approx(expected, rel=1e-12)


def test_cuts_of_a_large_set_come_from_a_sample_and_are_close_to_those_of_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 3))
    labels = (rows[:, :2] + rng.normal(size=(4000, 2)) > (0.5, 2.0)).astype(int)
    model = CamelClassifier(**FEW, threshold="label")
    whole = clone(model).fit(rows, labels)
    monkeypatch.setattr(landmark, "JUDGED_ROWS", 1000)
    part = clone(model).fit(rows, labels)
    assert part.n_judged_ == 1000
    np.testing.assert_allclose(
        part.decision_function(rows), whole.decision_function(rows), atol=1e-10
    )
    np.testing.assert_allclose(part.thresholds_, whole.thresholds_, atol=0.3)
    np.testing.assert_allclose(part.predict_proba(rows), whole.predict_proba(rows), atol=0.07)

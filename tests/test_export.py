"""ONNX models score, decide and give probabilities like ours, on every kernel, scaling and shape; what they cannot do is refused."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skcamel import CamelClassifier, CamelClassifierCV, load, memory, outputs, save
from skcamel.baselines import LLSF
from skcamel.camel.kernel import RADIAL
from skcamel.camel.scaling import NAMES as SCALINGS
from skcamel.camel.scaling import ranked
from skcamel.data import TablePreparer
from skcamel.data.pipeline import LabelPipeline, final
from skcamel.export import scores as scores_module
from skcamel.export import to_onnx
from skcamel.export.graph import Graph

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install skcamel[export]")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

KERNELS = (*RADIAL, "linear")
TOLERANCES = {"float32": 1e-5, "float64": 1e-10}  # of the scale of the scores
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * [1, 10, 0.1, 1, 1] + [0, 3, 0, 100, 0]
Y = (X[:, :3] + RNG.normal(size=(60, 3)) > [0, 3, 0]).astype(int)
NEW = np.vstack(
    [RNG.normal(size=(7, 5)) * 3 + [0, 3, 0, 100, 0], X[:3], X[:3] + 1e-9, np.zeros((1, 5))]
)  # equal, nearly equal, empty


def session_of(made):
    onnx.checker.check_model(made, full_check=True)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(
        made.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def check_answers(found, expected, dtype, scale=None):
    """The outputs of a session against those of a model."""
    scale = max(abs(expected.scores).max(), 0.1) if scale is None else scale
    tolerance = TOLERANCES[dtype] * scale
    assert found[0].dtype == np.dtype(dtype)
    np.testing.assert_allclose(found[0], expected.scores, rtol=0, atol=tolerance)
    apart = abs(expected.scores - expected.thresholds) > 2 * tolerance
    assert found[1].dtype == np.int64
    np.testing.assert_array_equal(found[1][apart], expected.decisions[apart])
    assert len(found) == 2 + (expected.link is not None)
    if expected.link is not None:
        np.testing.assert_allclose(
            found[2], expected.probabilities, rtol=0, atol=10 * TOLERANCES[dtype]
        )


def check_agreement(model, rows):
    """Batches and single rows, in both precisions."""
    for dtype in TOLERANCES:
        session, given_rows = session_of(to_onnx(model, dtype=dtype)), rows.astype(dtype)
        whole = outputs(model, given_rows)
        found = session.run(None, {"X": given_rows})
        check_answers(found, whole, dtype)
        if final(model).scores == "log_odds" and whole.link is not None:
            np.testing.assert_array_equal(found[2] > 0.5, found[0] > 0)
        scale = max(abs(whole.scores).max(), 0.1)
        check_answers(
            session.run(None, {"X": given_rows[:1]}), outputs(model, given_rows[:1]), dtype, scale
        )


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_and_every_scaling_agree(kernel, scaling):
    check_agreement(
        CamelClassifier(kernel=kernel, scaling=scaling, threshold="macro_f1").fit(X, Y), NEW
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "alternating"},
        {"solver": "landmark", "n_landmarks": 20},
        {"solver": "primal", "kernel": "linear"},
    ],
    ids=str,
)
def test_every_solver_agrees(parameters):
    check_agreement(CamelClassifier(scaling="standard", **parameters).fit(X, Y), NEW)


@pytest.mark.parametrize("scores", ["paper", "log_odds"])
@pytest.mark.parametrize(
    "parameters",
    [{"threshold": "macro_f1"}, {"miss_cost": {"label2": 5}}, {"threshold": [0.1, -0.2, 0.3]}],
    ids=str,
)
def test_both_kinds_of_scores_agree(scores, parameters):
    check_agreement(CamelClassifier(scaling="standard", scores=scores, **parameters).fit(X, Y), NEW)


@pytest.fixture(scope="module")
def combined():
    """A model of several representations, two bandwidths of one kernel and two linear ones among them."""
    tried = [
        ("rank", "laplacian", 0.5),
        ("rank", "laplacian", 1.0),
        ("standard", "linear", 1.0),
        ("unit", "rbf", 0.5),
        ("unit", "linear", 1.0),
    ]
    model = CamelClassifierCV(
        alphas=(0.2,), lambda2s=(0.1, 1.0), representations=tried, combine=True, scores="log_odds"
    )
    model.fit(X, Y)
    members = [
        CamelClassifier(scaling=scaling, kernel=kernel).fit(X, Y) for scaling, kernel, _ in tried
    ]
    members[1] = CamelClassifier(
        scaling="rank", kernel="laplacian", bandwidth=members[0].bandwidth_ / 2
    ).fit(X, Y)
    model.members_, model.weights_ = (
        members,
        np.array([0.3, 0.1, 0.2, 0.25, 0.15]),
    )  # all of them, whatever the weights came to
    model.link_slopes_ = np.array([1.0, 3.0, 0.2])
    return model


def test_combined_models_agree_and_share_what_their_members_share(combined):
    check_agreement(combined, NEW)
    made = to_onnx(combined)
    assert sum(node.op_type == "Scan" for node in made.graph.node) == 1
    shapes = [tuple(own.dims) for own in made.graph.initializer]
    assert (shapes.count((5, 60)), shapes.count((60, 5))) == (
        1,
        1,
    )  # of the ranks, and of the rows of length 1


def test_a_search_agrees():
    check_agreement(
        CamelClassifierCV(alphas=(0.2,), lambda2s=(0.1, 1.0), kernels=KERNELS).fit(X, Y), NEW
    )


def test_a_kernel_matrix_agrees():
    model = CamelClassifier(kernel="precomputed").fit(
        X @ X.T, Y, sample_weight=1 + np.arange(60) % 5
    )
    check_agreement(model, NEW @ X.T)


@pytest.mark.parametrize("classes", [2, 4])
def test_classes_of_a_column_agree_and_are_named(classes):
    model = CamelClassifier(scaling="standard").fit(
        X, np.array(["a", "b", "c", "d"])[np.arange(60) % classes]
    )
    check_agreement(model, NEW)
    told = {own.key: json.loads(own.value) for own in to_onnx(model).metadata_props}
    assert told["classes"] == ["a", "b", "c", "d"][:classes]


def test_unknown_labels_and_sparse_rows_agree():
    gaps = np.where(RNG.random(Y.shape) < 0.3, np.nan, Y)
    rows = sparse.csr_array(np.where(RNG.random(X.shape) < 0.5, X, 0.0))
    check_agreement(CamelClassifier(scaling="standard", kernel="exponential").fit(rows, gaps), NEW)


@st.composite
def problems(draw):
    """A small model, however odd its shape, and rows for it."""
    n, d, q, seed = (
        draw(st.integers(1, 12)),
        draw(st.integers(1, 7)),
        draw(st.integers(1, 3)),
        draw(st.integers(0, 99)),
    )
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n + 4, d))
    kind = draw(st.sampled_from(["plain", "binary", "constant", "equal", "heavy"]))
    if kind == "binary":
        rows = (rows > 0) * 1.0
    elif kind == "constant":
        rows[:, : (d + 1) // 2] = 2.5
    elif kind == "equal":
        rows = rows[rng.integers(0, 2, size=len(rows))]
    elif kind == "heavy":
        rows = rng.standard_t(2, size=rows.shape)
    how = {
        "kernel": draw(st.sampled_from(KERNELS)),
        "scaling": draw(st.sampled_from(SCALINGS)),
        "lambda2": draw(st.sampled_from([0.01, 1.0])),
    }
    labels = rng.integers(2, size=(n, q))
    times = draw(st.sampled_from([None, 1e-3, 0.3, 30.0]))
    if times is not None:
        how["bandwidth"] = times * CamelClassifier(**how).fit(rows[:n], labels).bandwidth_
    return CamelClassifier(**how).fit(rows[:n], labels), rows


@settings(max_examples=30)
@given(problems())
def test_models_of_any_shape_agree(problem):
    check_agreement(*problem)


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_far_from_the_origin_agree(kernel):
    check_agreement(
        CamelClassifier(kernel=kernel, scaling="standard").fit(X + 1e7, Y), NEW[:-1] + 1e7
    )


def test_rows_are_moved_around_their_mean_so_that_few_narrow_kernels_need_differences():
    rows = RNG.uniform(
        1, 4, size=(60, 5)
    )  # not so far from the origin that the model itself moves them
    for times, needed in ((0.02, 0), (0.002, 1)):
        model = CamelClassifier(bandwidth=times * CamelClassifier().fit(rows, Y).bandwidth_).fit(
            rows, Y
        )
        assert not model._scaling.shift.any()
        assert sum(node.op_type == "If" for node in to_onnx(model).graph.node) == needed
        check_agreement(model, rows[:5])


def test_a_gap_in_a_row_is_no_score_whatever_the_scaling():
    rows = NEW[:3].copy()
    rows[1, 2] = np.nan
    for scaling in SCALINGS:
        for kernel in KERNELS:
            session = session_of(
                to_onnx(CamelClassifier(kernel=kernel, scaling=scaling).fit(X, Y), dtype="float64")
            )
            found, labels, _ = session.run(None, {"X": rows})
            assert np.isnan(found).any(axis=1).tolist() == [False, True, False], (scaling, kernel)
            assert not labels[1].any()


def test_scores_too_large_for_single_precision_are_its_largest_number():
    model = CamelClassifier(kernel="linear").fit(X, Y)
    model.dual_coef_ = model.dual_coef_ * 1e37
    rows = NEW.astype(np.float32)
    found, *_ = session_of(to_onnx(model)).run(None, {"X": rows * np.float32(100)})
    np.testing.assert_allclose(found, model.decision_function(rows * np.float32(100)), rtol=1e-5)
    assert np.isfinite(found).all()


def test_levels_are_those_of_numpy():
    ranks = ranked(np.column_stack([np.arange(9) // 2, np.ones(9), RNG.normal(size=9)]))
    rows = np.vstack(
        [
            RNG.normal(size=(20, 3)) * 5,
            np.column_stack([np.arange(9) // 2, np.ones(9), np.zeros(9)]),
        ]
    )
    graph = Graph()
    graph.output(
        "found", scores_module.levels(graph, graph.input("X", "double", 3), ranks), "double", 3
    )
    (found,) = session_of(graph.finished("levels", {}, "")).run(None, {"X": rows})
    np.testing.assert_allclose(found, ranks(rows), rtol=0, atol=1e-15)


@pytest.mark.parametrize("bandwidth", [1e-6, 5.0])
def test_the_laplacian_kernel_takes_blocks_of_rows(monkeypatch, bandwidth):
    monkeypatch.setattr(scores_module, "BLOCK", 40)
    model = CamelClassifier(kernel="laplacian", bandwidth=bandwidth).fit(X, Y)
    check_agreement(model, NEW)
    assert (
        max(
            own.dims[1]
            for own in to_onnx(model).graph.initializer
            if own.dims[:1] == [5] and len(own.dims) == 2
        )
        == 8
    )


def test_the_same_model_gives_the_same_bytes_also_from_a_file(combined, tmp_path):
    save(combined, tmp_path / "model.skcamel")
    made = to_onnx(combined).SerializeToString()
    assert (
        made
        == to_onnx(combined).SerializeToString()
        == to_onnx(load(tmp_path / "model.skcamel")).SerializeToString()
    )


def test_a_graph_holds_nothing_that_it_does_not_use(combined):
    def used(graph):
        for node in graph.node:
            yield from node.input
            for attribute in node.attribute:
                yield from used(attribute.g)
        yield from (own.name for own in graph.output)

    graph = to_onnx(combined).graph
    assert {own.name for own in graph.initializer} <= set(used(graph))
    assert {name for node in graph.node for name in node.output} <= set(used(graph))


def test_what_would_exceed_the_format_is_refused_before_it_is_built():
    model = CamelClassifier().fit(X, Y)
    model.n_features_in_ = 5000
    model.X_fit_, model.dual_coef_ = np.broadcast_to(0.0, (60_000, 5000)), np.zeros((60_000, 3))
    with pytest.raises(
        ValueError,
        match=(
            r"about 2\.2 GiB, and the format allows 2 GiB\. Fit a smaller model: solver='landmark'"
        ),
    ):
        to_onnx(model)


def test_an_export_that_does_not_fit_into_memory_is_refused():
    model = CamelClassifier().fit(X, Y)
    with (
        memory.allowance(1000),
        pytest.raises(MemoryError, match=r"The export needs about .* Fit a smaller model"),
    ):
        to_onnx(model)


def test_names_of_labels_and_features_are_told():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    model = CamelClassifier().fit(
        pd.DataFrame(X, columns=list("abcdé")), pd.DataFrame(Y, columns=["sea", "sun", "☃"])
    )
    told = {own.key: json.loads(own.value) for own in to_onnx(model).metadata_props}
    assert told == {
        "bytes_per_row": 16 * 60,
        "feature_names": list("abcdé"),
        "label_names": ["sea", "sun", "☃"],
    }


def made_table(n=80):
    rng = np.random.default_rng(1)
    number = rng.normal(40, 12, n).round(1)
    number[rng.random(n) < 0.2] = np.nan
    words = rng.choice(["Rome", "Paris", "x y", ""], n).astype(object)
    rare = np.array([*["often"] * (n - 6), *"abcdef"], dtype=object)
    table = {
        "age": number,
        "scores": rng.normal(size=n),
        "smoker": rng.choice([0.0, 1.0, np.nan], n),
        "city": words,
        "rare": rare,
        "same": ["x"] * n,
    }
    return table, np.column_stack(
        [np.nan_to_num(number) > 40, words == "", table["smoker"] == 1]
    ).astype(int)


def feeds(made, table, dtype):
    """What a session is given for a table, by what the file tells of its inputs."""
    told = json.loads(next(own.value for own in made.metadata_props if own.key == "columns"))
    types = {"number": dtype, "flag": dtype, "category": object}
    return {
        own["input"]: np.array(table[own["column"]], dtype=types[own["kind"]])[:, None]
        for own in told
    }


@pytest.mark.filterwarnings("ignore:.*not readable")
@pytest.mark.parametrize("scaling", ["rank", "none"])
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_a_prepared_table_agrees_with_gaps_rare_and_unseen_values(dtype, scaling):
    table, labels = made_table()
    model = LabelPipeline(
        [("prepare", TablePreparer(scaling=scaling)), ("classify", CamelClassifier())]
    ).fit(table, labels)
    assert any(column.indicator for column in model[0].columns_ if column.kind == "category")
    new = {
        name: np.array(own, dtype=object if name in ("city", "rare", "same") else dtype)
        for name, own in made_table()[0].items()
    }
    new["city"][:8] = ["Nowhere", "NaN", "nAn", "?", "N/A", "rome", "", "NULL"]
    new["age"][:3] = [np.inf, -1e30, 1e30]
    new["smoker"][:2] = [2, 0.5]
    made = to_onnx(model, dtype=dtype)
    check_answers(session_of(made).run(None, feeds(made, new, dtype)), outputs(model, new), dtype)
    assert [own.name for own in made.graph.input] == ["age", "scores_", "smoker", "city", "rare"]


def test_columns_tell_their_unit_and_what_yes_is():
    table = {
        "weight": ["3 kg", "4 kg", "5.5 kg", "1 kg"],
        "fits": ["ja", "nein", "ja", "ja"],
        "": [3, 1, 4, 1],
    }
    model = LabelPipeline([("prepare", TablePreparer()), ("classify", CamelClassifier())]).fit(
        table, np.eye(4, 2, dtype=int)
    )
    told = json.loads(to_onnx(model).metadata_props[1].value)
    assert told[:2] == [
        {"column": "weight", "input": "weight", "kind": "number", "unit": "kg"},
        {"column": "fits", "input": "fits", "kind": "flag", "yes": "ja", "no": "nein"},
    ]
    session_of(to_onnx(model))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["2024-01-03", "2024-02-05", "2023-05-09"] * 10, "date"),
        (
            [f"the {a} sea and the {b} sun over there, far away" for a in "abcde" for b in "vwxyz"]
            + ["some rain again"] * 5,
            "text",
        ),
        (["red|large", "blue", "red|small"] * 10, "tags"),
    ],
)
def test_columns_that_onnx_cannot_read_are_refused_by_name(cells, kind):
    table, labels = {"what": cells, "size": np.arange(30.0)}, np.arange(30)[:, None] % [2, 3] == 0
    options = {"text": ["what"]} if kind == "text" else {}
    model = LabelPipeline(
        [("prepare", TablePreparer(**options)), ("classify", CamelClassifier())]
    ).fit(table, labels)
    assert model[0].kinds_["what"] == kind
    with pytest.raises(
        ValueError,
        match=(
            rf"The column 'what' holds {kind}, and ONNX .* Fit without it .*; or export the"
            r" estimator alone"
        ),
    ):
        to_onnx(model)
    prepared = model[0].transform(table)
    dense = prepared.toarray() if sparse.issparse(prepared) else prepared
    check_answers(
        session_of(to_onnx(model[-1], dtype="float64")).run(None, {"X": dense}),
        outputs(model, table),
        "float64",
    )


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler(),
    ],
    ids=str,
)
def test_scalers_before_the_estimator_agree(step, columns):
    for kernel in ("rbf", "linear"):
        check_agreement(
            make_pipeline(step, "passthrough", CamelClassifier(kernel=kernel)).fit(
                X[:, :columns], Y
            ),
            NEW[:, :columns],
        )


@pytest.mark.parametrize("step", [PCA(2), MinMaxScaler(clip=True)], ids=str)
def test_other_steps_are_refused_by_name(step):
    with pytest.raises(
        ValueError,
        match=(
            rf"The step {type(step).__name__} has no counterpart here; export the estimator alone"
        ),
    ):
        to_onnx(make_pipeline(step, CamelClassifier()).fit(X, Y))


def test_what_is_no_model_of_ours_is_refused():
    with pytest.raises(TypeError, match="A LLSF cannot be exported; fit a CamelClassifier"):
        to_onnx(LLSF().fit(X, Y))
    with pytest.raises(NotFittedError):
        to_onnx(CamelClassifier())
    with pytest.raises(ValueError, match="float16"):
        to_onnx(CamelClassifier().fit(X, Y), dtype="float16")


def test_without_onnx_the_package_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'skcamel\[export\]'"):
        to_onnx(CamelClassifier().fit(X, Y))

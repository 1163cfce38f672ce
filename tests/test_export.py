"""ONNX models answer like ours; what they cannot do is refused."""

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
from skcamel.data import TablePreparer
from skcamel.data.pipeline import LabelPipeline, final
from skcamel.export import graph as graph_module
from skcamel.export import to_onnx

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install skcamel[export]")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

KERNELS = (*RADIAL, "linear")
TOLERANCES = {"float32": 1e-5, "float64": 1e-10}  # of the scale of the scores
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * [1, 10, 0.1, 1, 1] + [0, 3, 0, 100, 0]
Y = (X[:, :3] + RNG.normal(size=(60, 3)) > [0, 3, 0]).astype(int)
NEW = RNG.normal(size=(7, 5)) * 3 + [0, 3, 0, 100, 0]
NEW = np.vstack([NEW, X[:3], X[:3] + 1e-9, np.zeros((1, 5))])  # equal, nearly equal, empty


def session_of(made):
    onnx.checker.check_model(made, full_check=True)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    content = made.SerializeToString()
    return ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def told(made):
    """What the file says of itself."""
    return {own.key: json.loads(own.value) for own in made.metadata_props}


def check_answers(found, expected, dtype, scale=None):
    """The outputs of a session against those of a model."""
    scale = max(abs(expected.scores).max(), 0.1) if scale is None else scale
    tolerance = TOLERANCES[dtype] * scale
    assert (found[0].dtype, found[1].dtype) == (np.dtype(dtype), np.int64)
    np.testing.assert_allclose(found[0], expected.scores, rtol=0, atol=tolerance)
    apart = abs(expected.scores - expected.thresholds) > 2 * tolerance
    np.testing.assert_array_equal(found[1][apart], expected.decisions[apart])
    assert len(found) == 2 + (expected.link is not None)
    if expected.link is not None:
        tolerance = 10 * TOLERANCES[dtype]
        np.testing.assert_allclose(found[2], expected.probabilities, rtol=0, atol=tolerance)


def check_agreement(model, rows):
    """Batches and single rows, in both precisions."""
    for dtype in TOLERANCES:
        session, sent = session_of(to_onnx(model, dtype=dtype)), rows.astype(dtype)
        whole = outputs(model, sent)
        found = session.run(None, {"X": sent})
        check_answers(found, whole, dtype)
        if final(model).scores == "log_odds" and whole.link is not None:
            np.testing.assert_array_equal(found[2] > 0.5, found[0] > 0)
        scale = max(abs(whole.scores).max(), 0.1)
        check_answers(session.run(None, {"X": sent[:1]}), outputs(model, sent[:1]), dtype, scale)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_and_every_scaling_agree(kernel, scaling):
    model = CamelClassifier(kernel=kernel, scaling=scaling, threshold="macro_f1").fit(X, Y)
    check_agreement(model, NEW)


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "alternating"},
        {"solver": "landmark", "n_landmarks": 20},
        {"solver": "primal", "kernel": "linear"},
        {"threshold": "macro_f1", "scores": "log_odds"},
        {"threshold": [0.1, -0.2, 0.3], "scores": "log_odds"},
        {"miss_cost": {"label2": 5}},
    ],
    ids=str,
)
def test_every_solver_and_threshold_agrees(parameters):
    check_agreement(CamelClassifier(scaling="standard", **parameters).fit(X, Y), NEW)


@pytest.fixture(scope="module")
def combined():
    """A model of several representations, two bandwidths of one kernel among them."""
    tried = [
        ("rank", "laplacian", 0.5),
        ("rank", "laplacian", 1.0),
        ("standard", "linear", 1.0),
        ("unit", "rbf", 0.5),
        ("unit", "linear", 1.0),
    ]
    model = CamelClassifierCV(
        alphas=(0.2,), lambda2s=(0.1, 1.0), representations=tried, combine=True, scores="log_odds"
    ).fit(X, Y)
    members = [CamelClassifier(scaling=scaling, kernel=kernel) for scaling, kernel, _ in tried]
    members = [member.fit(X, Y) for member in members]
    members[1] = members[1].set_params(bandwidth=members[0].bandwidth_ / 2).fit(X, Y)
    model.members_ = members  # all of them, whatever the weights came to
    model.weights_ = np.array([0.3, 0.1, 0.2, 0.25, 0.15])
    model.link_slopes_ = np.array([1.0, 3.0, 0.2])
    return model


def test_combined_models_agree_and_share_what_their_members_share(combined):
    check_agreement(combined, NEW)
    made = to_onnx(combined)
    assert sum(node.op_type == "Scan" for node in made.graph.node) == 1
    shapes = [tuple(own.dims) for own in made.graph.initializer]
    assert shapes.count((5, 60)) == 2  # ranks, and rows of length 1


def test_searches_kernel_matrices_unknown_labels_and_sparse_rows_agree():
    search = CamelClassifierCV(alphas=(0.2,), lambda2s=(0.1, 1.0), kernels=KERNELS)
    check_agreement(search.fit(X, Y), NEW)
    weights = 1 + np.arange(60) % 5
    pairs = CamelClassifier(kernel="precomputed").fit(X @ X.T, Y, sample_weight=weights)
    check_agreement(pairs, NEW @ X.T)
    unknown = np.where(RNG.random(Y.shape) < 0.3, np.nan, Y)
    rows = sparse.csr_array(np.where(RNG.random(X.shape) < 0.5, X, 0.0))
    model = CamelClassifier(scaling="standard", kernel="exponential")
    check_agreement(model.fit(rows, unknown), NEW)


@pytest.mark.parametrize("classes", [2, 4])
def test_classes_of_a_column_agree_and_are_named(classes):
    y = np.array(["a", "b", "c", "d"])[np.arange(60) % classes]
    model = CamelClassifier(scaling="standard").fit(X, y)
    check_agreement(model, NEW)
    assert told(to_onnx(model))["classes"] == ["a", "b", "c", "d"][:classes]


@st.composite
def problems(draw):
    """A small model, however odd its shape, and rows for it."""
    n, d, q = draw(st.integers(1, 12)), draw(st.integers(1, 7)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
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
    model = CamelClassifier(kernel=kernel, scaling="standard").fit(X + 1e7, Y)
    check_agreement(model, NEW[:-1] + 1e7)


def test_few_narrow_kernels_need_differences():
    rows = RNG.uniform(1, 4, size=(60, 5))  # not so far away that the model itself moves them
    bandwidth = CamelClassifier().fit(rows, Y).bandwidth_
    for times, needed in ((0.3, 0), (0.002, 1)):
        model = CamelClassifier(bandwidth=times * bandwidth).fit(rows, Y)
        assert sum(node.op_type == "If" for node in to_onnx(model).graph.node) == needed
        check_agreement(model, rows[:5])


def test_a_missing_value_in_a_row_is_no_score_whatever_the_scaling():
    rows = NEW[:3].copy()
    rows[1, 2] = np.nan
    for scaling in SCALINGS:
        for kernel in KERNELS:
            model = CamelClassifier(kernel=kernel, scaling=scaling).fit(X, Y)
            found, labels, _ = session_of(to_onnx(model, dtype="float64")).run(None, {"X": rows})
            assert np.isnan(found).any(axis=1).tolist() == [False, True, False], (scaling, kernel)
            assert not labels[1].any()


@pytest.mark.parametrize("bandwidth", [1e-6, 5.0])
def test_the_laplacian_kernel_takes_blocks_of_rows(monkeypatch, bandwidth):
    monkeypatch.setattr(graph_module, "BLOCK", 40)
    model = CamelClassifier(kernel="laplacian", bandwidth=bandwidth).fit(X, Y)
    check_agreement(model, NEW)
    shapes = [tuple(own.dims) for own in to_onnx(model).graph.initializer]
    assert max(shape[1] for shape in shapes if len(shape) == 2 and shape[0] == 5) == 8


def test_the_same_model_gives_the_same_bytes_also_from_a_file(combined, tmp_path):
    save(combined, tmp_path / "model.skcamel")
    made = to_onnx(combined).SerializeToString()
    again = to_onnx(load(tmp_path / "model.skcamel")).SerializeToString()
    assert made == to_onnx(combined).SerializeToString() == again


def test_what_would_exceed_the_format_or_the_memory_is_refused_before_it_is_built(monkeypatch):
    model = CamelClassifier().fit(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "available", lambda device=None: 1000)
        with pytest.raises(MemoryError, match="The export needs about"):
            to_onnx(model)
    model.n_features_in_ = 5000
    model.X_fit_, model.dual_coef_ = np.broadcast_to(0.0, (60_000, 5000)), np.zeros((60_000, 3))
    with pytest.raises(ValueError, match=r"about 2\.2 GiB, and the format allows 2 GiB\. Fit a sm"):
        to_onnx(model)


# ---- tables


def made_table(n=120, seed=1):
    """Columns of all kinds that ONNX can read, with missing values."""
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(n) < 0.2, np.nan, rng.normal(40, 12, n).round(1))
    cities = rng.choice(["Rome", "Paris", "x y", ""], n).astype(object)
    days = np.datetime64("1968-01-01T00:00:00") + rng.integers(0, 2 * 10**9, n)
    days[rng.random(n) < 0.1] = np.datetime64("NaT")
    topics = ["|".join(rng.choice(["red", "blue", "NA x", "big"], k, False)) for k in range(4)] * n
    table = {
        "age": age,
        "when": days,
        "scores": rng.normal(size=n),
        "smoker": rng.choice([0.0, 1.0, np.nan], n),
        "city": cities,
        "topics": np.array(topics[:n], dtype=object),
        "rare": np.array([*["often"] * (n - 6), *"abcdef"], dtype=object),
        "same": np.array(["x"] * n, dtype=object),
    }
    Y = [np.nan_to_num(age) > 40, cities == "", table["smoker"] == 1, days.astype(str) > "2000"]
    return table, np.column_stack(Y).astype(int)


def feeds(made, table, dtype):
    """What a session is given for a table, by what the file says of its inputs."""
    given = {}
    for own in told(made)["columns"]:
        cells = table[own["column"]]
        if own["kind"] == "date":
            given[own["input"]] = cells.astype("datetime64[s]").astype(np.int64)[:, None]
            assert (np.isnat(cells) == (given[own["input"]][:, 0] == own["missing"])).all()
        elif own["kind"] == "tags":
            items = [cell.split("|") for cell in cells]
            width = max(map(len, items))
            padded = [row + [""] * (width - len(row)) for row in items]
            given[own["input"]] = np.array(padded, dtype=object)
        else:
            kind = object if own["kind"] == "category" else dtype
            given[own["input"]] = np.array(cells, dtype=kind)[:, None]
    return given


def fitted(table, labels, **options):
    steps = [("prepare", TablePreparer(**options)), ("classify", CamelClassifier())]
    return LabelPipeline(steps).fit(table, labels)


@pytest.mark.filterwarnings("ignore:.*not readable")
@pytest.mark.parametrize("scaling", ["rank", "none"])
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_a_prepared_table_agrees_with_missing_rare_and_unseen_values(dtype, scaling):
    table, labels = made_table()
    model = fitted(table, labels, scaling=scaling)
    kinds = {"number", "date", "flag", "category", "tags", "constant"}
    assert set(model[0].kinds_.values()) == kinds
    assert {column.kind for column in model[0].columns_ if column.indicator} >= {"category", "date"}
    new, _ = made_table(seed=2)
    for name in ("age", "scores", "smoker"):
        new[name] = new[name].astype(dtype)
    new["city"][:8] = ["Nowhere", "NaN", "nAn", "?", "N/A", "rome", "", "NULL"]
    new["age"][:3] = [np.inf, -1e30, 1e30]
    new["smoker"][:2] = [2, 0.5]
    new["topics"][:3] = ["new", "red|new", "NA"]
    years = ["0001-01-01", "1600-02-29", "1900-03-01", "1969-12-31", "2000-02-29", "9999-12-31"]
    new["when"][:6] = np.array(years, dtype="datetime64[s]") + np.timedelta64(86_399, "s")
    made = to_onnx(model, dtype=dtype)
    check_answers(session_of(made).run(None, feeds(made, new, dtype)), outputs(model, new), dtype)
    inputs = [own.name for own in made.graph.input]
    assert inputs == ["age", "when", "scores_", "smoker", "city", "topics", "rare"]


def test_columns_tell_their_unit_and_what_yes_is():
    table = {"weight": ["3 kg", "4 kg", "5.5 kg", "1 kg"], "fits": ["ja", "nein", "ja", "ja"]}
    made = to_onnx(fitted(table | {"": [3, 1, 4, 1]}, np.eye(4, 2, dtype=int)))
    assert told(made)["columns"][:2] == [
        {"column": "weight", "input": "weight", "kind": "number", "unit": "kg"},
        {"column": "fits", "input": "fits", "kind": "flag", "yes": "ja", "no": "nein"},
    ]
    session_of(made)


def test_columns_of_free_text_are_refused_by_name_in_one_error():
    said = [f"the {a} sea and the {b} sun over there" for a in "abcdef" for b in "vwxyz"]
    table = {"said": said, "size": np.arange(30.0), "heard": said[::-1]}
    labels = np.arange(30)[:, None] % [2, 3] == 0
    model = fitted(table, labels.astype(int), text=["said", "heard"])
    with pytest.raises(ValueError, match=r"no operators for free text: 'said', 'heard'\. Fit with"):
        to_onnx(model)
    rows = model[0].transform(table).toarray()
    found = session_of(to_onnx(model[-1], dtype="float64")).run(None, {"X": rows})
    check_answers(found, outputs(model, table), "float64")


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize(
    "step",
    [StandardScaler(), StandardScaler(with_mean=False), MinMaxScaler()],
    ids=str,
)
def test_scalers_before_the_estimator_agree(step, columns):
    for kernel in ("rbf", "linear"):
        model = make_pipeline(step, "passthrough", CamelClassifier(kernel=kernel))
        check_agreement(model.fit(X[:, :columns], Y), NEW[:, :columns])


def test_what_cannot_be_exported_is_refused(monkeypatch):
    for step in (PCA(2), MinMaxScaler(clip=True)):
        with pytest.raises(ValueError, match=rf"The step {type(step).__name__} has no counterpart"):
            to_onnx(make_pipeline(step, CamelClassifier()).fit(X, Y))
    with pytest.raises(TypeError, match="A LLSF cannot be exported; fit a CamelClassifier"):
        to_onnx(LLSF().fit(X, Y))
    with pytest.raises(NotFittedError):
        to_onnx(CamelClassifier())
    with pytest.raises(ValueError, match="float16"):
        to_onnx(CamelClassifier().fit(X, Y), dtype="float16")
    with pytest.raises(ValueError, match="a kernel that is a function"):
        to_onnx(CamelClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'skcamel\[export\]'"):
        to_onnx(CamelClassifier().fit(X, Y))

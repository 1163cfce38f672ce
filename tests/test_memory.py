"""What this process may still use, and the peak memory of a fit, counted in n x n matrices of doubles."""

import resource
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skcamel import CamelClassifier, CamelClassifierCV, memory
from skcamel.memory import Alive

N = 700


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / (8 * N**2)
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 20))
    return X, (X[:, :8] + rng.normal(size=(N, 8)) > 1).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        CamelClassifier(),
        CamelClassifier(kernel="laplacian", scaling="standard", threshold="label"),
        CamelClassifierCV(),
        CamelClassifierCV(lambda1s=(0.5, 1.0, 2.0), threshold="label"),
        CamelClassifierCV(kernels=("rbf", "laplacian"), bandwidths=(0.5, 1.0)),
    ],
    ids=["plain", "laplacian", "search", "large search", "kernels"],
)
def test_a_fit_keeps_within_five_matrices(model, data):
    assert peak_of(lambda: model.fit(*data)) <= Alive().kernels


@pytest.mark.parametrize(
    "model",
    [
        CamelClassifier(threshold="label"),
        CamelClassifierCV(),
        CamelClassifierCV(cv=2, threshold="label"),
    ],
)
@pytest.mark.parametrize(("n", "d", "q"), [(300, 5, 80), (200, 900, 3)])
def test_a_fit_needs_no_more_than_it_asks_for(model, n, d, q, monkeypatch):
    rng = np.random.default_rng(0)
    X, asked = rng.normal(size=(n, d)), []
    monkeypatch.setattr(memory, "require", lambda needed, *_, **__: asked.append(needed))
    needed = (
        peak_of(lambda: model.fit(X, (X[:, :1] + rng.normal(size=(n, q)) > 1).astype(int)))
        * 8
        * N**2
    )
    assert needed <= asked[0]


@pytest.mark.parametrize(
    "model",
    [
        CamelClassifier(solver="landmark", n_landmarks=30),
        CamelClassifier(solver="primal", kernel="linear"),
    ],
)
def test_rows_in_a_mapped_file_are_not_copied_whole(model, tmp_path, monkeypatch):
    monkeypatch.setattr("skcamel.camel.landmark.SAMPLE_ROWS", 2000)
    monkeypatch.setattr("skcamel.camel.stream.allowed_threads", lambda: 1)
    monkeypatch.setattr("skcamel.camel.stream.BANDWIDTH_ROWS", 500)
    n, d, rng = 120_000, 100, np.random.default_rng(0)
    X = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(n, d))
    X[:] = rng.standard_normal((n, d), dtype=np.float32)
    X.flush()
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="r", shape=(n, d))
    Y = (X[:, :2] > 0.5).astype(np.int8)
    fitted = clone(model)
    assert peak_of(lambda: fitted.fit(mapped, Y)) * 8 * N**2 < X.nbytes
    assert_array_equal(fitted.dual_coef_, clone(model).fit(np.array(X), Y).dual_coef_)
    streamed = clone(model)
    assert peak_of(lambda: streamed.partial_fit(mapped, Y)) * 8 * N**2 < X.nbytes
    assert_allclose(streamed.decision_function(X[:9]), fitted.decision_function(X[:9]), atol=1e-5)


@pytest.mark.parametrize(
    ("m", "n", "d", "q"), [(30, 3000, 5, 4), (400, 3000, 40, 3), (100, 9000, 8, 60)]
)
@pytest.mark.parametrize("how", ["uniform", "columns"])
def test_sums_over_rows_need_no_more_than_they_ask_for(how, m, n, d, q, monkeypatch):
    rng = np.random.default_rng(0)
    X, asked = rng.normal(size=(n, d if how == "uniform" else m)), []
    Y = (X[:, :1] + rng.normal(size=(n, q)) > 1).astype(np.int8)
    model = CamelClassifier(
        solver="landmark",
        n_landmarks=m,
        kernel="rbf" if how == "uniform" else "linear",
        threshold="label",
    )
    monkeypatch.setattr(memory, "require", lambda needed, *_, **__: asked.append(needed))
    assert peak_of(lambda: model.fit(X, Y)) * 8 * N**2 <= max(asked)


def test_allowed_memory_changes_blocks_and_not_results(data):
    X, Y = data
    least = "needs about"
    model = CamelClassifier(solver="landmark", n_landmarks=50)
    expected = clone(model).fit(X, Y).decision_function(X)
    with pytest.raises(
        MemoryError,
        match=(
            rf"A fit by 50 landmarks {least} \d+ MiB and max_memory allows 9 MiB. Take fewer"
            r" landmarks"
        ),
    ) as refused:
        clone(model).set_params(max_memory="9MiB").fit(X, Y)
    least = str(refused.value).rsplit("'", 2)[1]
    for allowed in (least, "1GiB", 2**30, 2.0**31, None):
        found = clone(model).set_params(max_memory=allowed).fit(X, Y).decision_function(X)
        assert_allclose(found, expected, atol=1e-10)
    with pytest.raises(MemoryError, match="max_memory='"):
        CamelClassifierCV(solver="landmark", max_memory=1000).fit(X, Y)


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system of files: what ``/proc`` and ``/sys/fs/cgroup`` would say."""
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(
        "resource.getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    )

    def write(**files):
        for name, text in (
            {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n"} | files
        ).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


@pytest.mark.parametrize("group", ["/", "/jobs/7"])
def test_control_groups_of_version_2_limit_what_is_free(system, group):
    own = f"groups{group.rstrip('/')}"
    system(
        **{
            "proc/self/cgroup": f"0::{group}\n",
            f"{own}/memory.max": "1000000\n",
            f"{own}/memory.current": "700000\n",
            f"{own}/memory.stat": "anon 5\ninactive_file 200000\n",
        }
    )
    assert memory.available() == 500_000


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v is a limit of Linux")
def test_the_limits_of_the_process_itself_count():
    code = (
        "import resource\nfrom skcamel import memory\nresource.setrlimit(resource.RLIMIT_AS,"
        " (2**34, 2**34))\nprint(memory.available())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert 0 < int(answer.stdout) < 2**34


def test_the_refusal_names_what_needs_the_memory_and_the_cure(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda device: 3 * 2**20)
    memory.require(3 * 2**20, "This", "")
    with pytest.raises(
        MemoryError, match=r"^This needs about 2.0 GiB of memory and 3 MiB are free. Do that.$"
    ):
        memory.require(2**31, "This", "Do that.")

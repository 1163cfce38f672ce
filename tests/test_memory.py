"""What this process may still use, and the peak memory of a fit, in matrices of n x n doubles."""

import resource
import subprocess
import sys
import tracemalloc
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skcamel import CamelClassifier, CamelClassifierCV, memory
from skcamel.memory import Alive

N = 700


def peak_of(work):
    """Bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def made(n, d, q):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, :1] + rng.normal(size=(n, q)) > 1).astype(np.int8)


@pytest.fixture
def asked(monkeypatch):
    """Bytes that fits asked for; all are allowed."""
    asked = []
    monkeypatch.setattr(memory, "require", lambda needed, *_, **__: asked.append(needed))
    return asked


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
def test_a_fit_keeps_within_five_matrices(model):
    data = made(N, 20, 8)
    assert peak_of(lambda: model.fit(*data)) <= Alive().kernels * 8 * N**2


def landmarks(m):
    return CamelClassifier(solver="landmark", n_landmarks=m, threshold="label")


COLUMNS = CamelClassifier(solver="primal", kernel="linear", threshold="label")
EXACT = [
    CamelClassifier(threshold="label"),
    CamelClassifierCV(),
    CamelClassifierCV(cv=2, threshold="label"),
]


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        *product(EXACT, [(300, 5, 80), (200, 900, 3)]),
        (landmarks(30), (3000, 5, 4)),
        (landmarks(400), (3000, 40, 3)),
        (landmarks(100), (9000, 8, 60)),
        *product([COLUMNS], [(3000, 30, 4), (3000, 400, 3), (9000, 100, 60)]),
    ],
)
def test_a_fit_needs_no_more_than_it_asks_for(model, shape, asked):
    data = made(*shape)
    assert peak_of(lambda: clone(model).fit(*data)) <= max(asked)


@pytest.mark.parametrize("model", [landmarks(30), COLUMNS])
def test_rows_in_a_mapped_file_are_not_copied_whole(model, tmp_path, monkeypatch):
    monkeypatch.setattr("skcamel.camel.landmark.SAMPLE_ROWS", 2000)
    monkeypatch.setattr("skcamel.camel.stream.allowed_threads", lambda: 1)
    monkeypatch.setattr("skcamel.camel.stream.BANDWIDTH_ROWS", 500)
    n, d, rng = 60_000, 100, np.random.default_rng(0)
    X = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(n, d))
    X[:] = rng.standard_normal((n, d), dtype=np.float32)
    X.flush()
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="r", shape=(n, d))
    Y = (X[:, :2] > 0.5).astype(np.int8)
    fitted, streamed = clone(model), clone(model)
    assert peak_of(lambda: fitted.fit(mapped, Y)) < X.nbytes
    assert_array_equal(fitted.dual_coef_, clone(model).fit(np.array(X), Y).dual_coef_)
    assert peak_of(lambda: streamed.partial_fit(mapped, Y)) < X.nbytes
    expected = fitted.decision_function(X[:9])
    assert_allclose(streamed.decision_function(X[:9]), expected, atol=1e-5)


def test_allowed_memory_changes_blocks_and_not_results():
    X, Y = made(N, 20, 8)
    model = CamelClassifier(solver="landmark", n_landmarks=50)
    expected = clone(model).fit(X, Y).decision_function(X)
    message = r"A fit by 50 landmarks needs about \d+ MiB and max_memory allows 9 MiB. Take fewer"
    with pytest.raises(MemoryError, match=f"{message} landmarks") as refused:
        clone(model).set_params(max_memory="9MiB").fit(X, Y)
    least = str(refused.value).rsplit("'", 2)[1]
    for allowed in (least, "1GiB", 2**30, 2.0**31):
        found = clone(model).set_params(max_memory=allowed).fit(X, Y).decision_function(X)
        assert_allclose(found, expected, atol=1e-10)
    with pytest.raises(MemoryError, match="max_memory='"):
        CamelClassifierCV(solver="landmark", max_memory=1000).fit(X, Y)


@pytest.mark.parametrize("group", ["/", "/jobs/7"])
def test_control_groups_of_version_2_limit_what_is_free(group, tmp_path, monkeypatch):
    own = f"groups{group.rstrip('/')}"
    files = {
        "proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n",
        "proc/self/cgroup": f"0::{group}\n",
        f"{own}/memory.max": "1000000\n",
        f"{own}/memory.current": "700000\n",
        f"{own}/memory.stat": "anon 5\ninactive_file 200000\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr("resource.getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert memory.available() == 500_000


LIMITED = """
import resource
from skcamel import memory
resource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))
print(memory.available())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v is a limit of Linux")
def test_the_limits_of_the_process_itself_count():
    answer = subprocess.check_output([sys.executable, "-c", LIMITED], text=True)
    assert 0 < int(answer) < 2**34

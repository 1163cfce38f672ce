"""Dask collections: the fit of all rows, to the last bit however many workers there are."""

from contextlib import contextmanager
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import doomed
from skcamel import CamelClassifier, CamelClassifierCV

dask = pytest.importorskip("dask", reason="dask is not installed: pip install skcamel[distributed]")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 5))
Y = (X[:, :3] + 0.5 * RNG.normal(size=(900, 3)) > 0.4).astype(int)
UNEVEN = (1, 300, 0, 99, 400, 0, 100)
LANDMARK = {"solver": "landmark", "n_landmarks": 40, "scaling": "standard", "threshold": "label"}
PRIMAL = {"solver": "primal", "kernel": "linear"}


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@contextmanager
def cluster(n_workers, *, processes=False):
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=n_workers, processes=processes, **options) as local,
        distributed.Client(local) as client,
        dask.config.set(scheduler=client),
    ):
        yield client


def lazy(array, chunks=200):
    return da.from_array(array, chunks=(chunks, *array.shape[1:]))


def assert_same(model, other, atol=1e-9):
    assert_allclose(model.decision_function(X), other.decision_function(X), atol=atol)
    assert_allclose(model.thresholds_, other.thresholds_, atol=atol)
    assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=atol)
    assert_array_equal(model.predict_sets(X), other.predict_sets(X))
    assert_allclose(model.cooccurrence_, other.cooccurrence_)


CHUNKS = {"even": 200, "many": 35, "one": 900, "uneven, some empty": UNEVEN}
AUTO = {"n_landmarks": 40, "kernel": "laplacian"}


@pytest.mark.parametrize("options", [LANDMARK, PRIMAL, AUTO], ids=["landmark", "primal", "auto"])
@pytest.mark.parametrize("chunks", CHUNKS)
def test_partitions_give_the_fit_of_all_rows(options, chunks):
    here = CamelClassifier(**{"solver": "landmark"} | options).fit(X, Y)
    rows, labels = (lazy(array, CHUNKS[chunks]) for array in (X, Y))
    assert_same(CamelClassifier(**options).fit(rows, labels), here)


def test_partitions_may_be_sparse():
    rows = sparse.random_array((900, 5), density=0.4, rng=1, format="csr")
    like = {"dtype": float, "meta": sparse.csr_array((0, 5))}
    thin = lazy(rows.toarray()).map_blocks(sparse.csr_array, **like)
    here, there = CamelClassifier(**PRIMAL).fit(rows, Y), CamelClassifier(**PRIMAL)
    assert_same(there.fit(thin, lazy(Y)), here)


def test_partitions_of_unknown_size_are_as_good():
    keep = np.arange(900) % 7 > 0
    mask = da.from_array(keep, chunks=200)
    rows, labels = lazy(X)[mask], lazy(Y)[mask]
    assert np.isnan(rows.shape[0])
    model = CamelClassifier(**LANDMARK).fit(rows, labels)
    assert_same(model, CamelClassifier(**LANDMARK).fit(X[keep], Y[keep]))
    assert_array_equal(model.predict(rows).compute(), model.predict(X[keep]))


@pytest.mark.parametrize(
    "options",
    [{"preset": "quick"}, {"preset": "best", "alphas": (0.0, 0.5), "lambda2s": (0.1, 1.0)}],
)
def test_a_search_and_a_combination_take_partitions(options):
    here = CamelClassifierCV.from_preset(**options, solver="landmark", n_landmarks=30).fit(X, Y)
    there = clone(here).fit(lazy(X), lazy(Y))
    pairs = zip(here.weighted_members(), there.weighted_members(), strict=True)
    for (weight, member), (other_weight, other) in pairs:
        assert weight == pytest.approx(other_weight)
        assert member.bandwidth_ == pytest.approx(other.bandwidth_)
    assert here.estimate_ == pytest.approx(there.estimate_)
    assert_same(there, here)


def test_frames_bring_their_names():
    dd = pytest.importorskip("dask.dataframe")
    frame, labels = pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y, columns=["x", "y", "z"])
    there = dd.from_pandas(frame, npartitions=4)
    model = CamelClassifier(**LANDMARK).fit(there, dd.from_pandas(labels, npartitions=4))
    assert model.label_names_.tolist() == ["x", "y", "z"]
    assert model.feature_names_in_.tolist() == list("abcde")
    assert_array_equal(model.predict(there).compute(), model.predict(frame))
    expected = CamelClassifier(**LANDMARK).fit(frame, labels).decision_function(frame)
    assert_allclose(model.decision_function(frame), expected, atol=1e-9)


@pytest.mark.parametrize("ask", ["decision_function", "predict", "predict_proba", "predict_sets"])
def test_answers_are_lazy_and_those_of_all_rows(ask):
    model = CamelClassifier(**LANDMARK).fit(X, Y)
    answer = getattr(model, ask)(lazy(X, UNEVEN))
    assert isinstance(answer, da.Array)
    assert answer.chunks == (UNEVEN, (3,))
    expected = getattr(model, ask)(X)
    assert answer.dtype == expected.dtype
    assert_allclose(answer.compute(), expected, atol=1e-12)


def test_classes_of_a_1d_y_are_answered_for_partitions():
    model = CamelClassifier().fit(X[:100], np.where(Y[:100, 0], "yes", "no") == "yes")
    assert model.predict(lazy(X)).compute().tolist() == model.predict(X).astype(int).tolist()
    assert model.predict_proba(lazy(X)).shape == (900, 2)
    words = CamelClassifier().fit(
        X[:100], np.array(["no", "maybe", "yes"])[Y[:100].sum(axis=1).clip(0, 2)]
    )
    answers = words.predict(lazy(X, UNEVEN))
    assert answers.shape == (900,)
    assert_array_equal(answers.compute(), words.predict(X))


def test_results_do_not_depend_on_the_number_of_workers():
    found = []
    for n_workers in (1, 2, 5):
        with cluster(n_workers):
            found.append(CamelClassifier(**LANDMARK).fit(lazy(X, 50), lazy(Y, 50)))
    for other in found[1:]:
        for name in ("dual_coef_", "intercept_", "thresholds_", "X_fit_"):
            assert_array_equal(getattr(other, name), getattr(found[0], name))


def test_a_worker_killed_while_it_computes_costs_nothing_but_time(tmp_path):
    marker, give_up = tmp_path / "worker", Event()
    rows = lazy(X, 90).map_blocks(
        doomed.first_time_wait, marker=str(marker), dtype=float, meta=X[:0]
    )
    killer = Thread(target=doomed.kill_when_told, args=(marker, give_up))
    killer.start()
    try:
        with cluster(2, processes=True):
            found = CamelClassifier(**LANDMARK).fit(rows, lazy(Y, 90))
    finally:
        give_up.set()
        killer.join()
    assert marker.read_text()  # a worker was killed
    undisturbed = CamelClassifier(**LANDMARK).fit(lazy(X, 90), lazy(Y, 90))
    assert_array_equal(found.dual_coef_, undisturbed.dual_coef_)


def with_value(value, array):
    return da.where(da.arange(900, chunks=200)[:, None] == 207, value, array)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (with_value(np.nan, x), y), r"Partition 1: .*NaN.*row 7, column 0"),
        (lambda x, y: (x, with_value(np.nan, y)), "Partition 1: .*complete labels"),
        (lambda x, y: (x, with_value(3, y)), "Partition 1: Y must hold only 0 and 1"),
        (lambda x, y: (x, y[:-200]), "5, 4 partitions"),
        (lambda x, y: (x[:0], y[:0]), "no rows"),
        (lambda x, y: (x, y[:, 0]), "1-d y of a Dask"),
        (lambda x, y: (x, Y), "y is a ndarray; where X is a Dask array"),
    ],
    ids=["NaN", "unknown label", "no label", "fewer partitions", "no rows", "1-d", "no partitions"],
)
def test_what_is_wrong_is_named_with_the_partition(change, message):
    model = CamelClassifier(**LANDMARK).fit(X, Y)
    before = model.dual_coef_
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(*change(lazy(X), lazy(Y)))
    assert model.dual_coef_ is before  # a failed fit leaves the model as it was


def test_batches_of_partitions_are_refused():
    model = CamelClassifier(**LANDMARK).fit(lazy(X), lazy(Y))
    with pytest.raises(ValueError, match="arrays"):
        model.partial_fit(lazy(X), lazy(Y))

"""Scores that a study keeps: what is stored, how exactly, and metrics that are computed from them without a fit."""

import io
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from skcamel import metrics
from skcamel.baselines import BinaryRelevance
from skcamel.experiment import Outcome, Records, RecordsError, run_study
from skcamel.experiment.folds import splits
from skcamel.experiment.measures import BUILT_IN, get_measures, measures_of
from skcamel.experiment.scores import packed, unpacked
from study_methods import Mean, comparable, fits, made
from study_metrics import breaks, wrong_share


def again(outcome):
    """An outcome, kept and read again."""
    return unpacked(io.BytesIO(packed(np.arange(len(outcome.scores)), {"": outcome})), "here").outcomes[""]


def orders(scores):
    """How any two scores of a row or a column compare."""
    return [[np.greater.outer(part, part).tolist() for part in lines] for lines in (scores, scores.T)]


close = st.sampled_from([0.0, -0.0, 1.0, 1 + 2**-30, 1 - 2**-40, 1 + 2**-20, 1e300, 2e300, 1e-50, -3.5, math.inf, -math.inf])


@given(st.data())
def test_kept_scores_order_rows_and_columns_as_before_and_decisions_are_the_same(data):
    n, q = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 10))
    scores = np.reshape(data.draw(st.lists(close, min_size=n * q, max_size=n * q)), (n, q))
    decisions = np.reshape(data.draw(st.lists(st.integers(0, 1), min_size=n * q, max_size=n * q)), (n, q))
    found = again(Outcome(scores, decisions, {}))
    assert found.decisions.tolist() == decisions.tolist()
    assert orders(found.scores) == orders(scores)


def test_scores_take_half_the_room_where_that_changes_no_order(rng):
    F = rng.normal(size=(20, 5))
    D = (F > 0).astype(int)
    assert np.array_equal(again(Outcome(F, D, {})).scores, F.astype(np.float32))
    near = np.array([[1.0, 1 + 2**-40]])
    assert np.array_equal(again(Outcome(near, [[1, 1]], {})).scores, near)


def test_probabilities_lose_no_digit_and_may_be_the_scores(rng):
    P = rng.random((20, 5))
    found = again(Outcome(P - 0.5, (P > 0.5).astype(int), {}, lambda: P))
    assert np.array_equal(found.probabilities, P)
    same = again(Outcome(P, (P > 0.5).astype(int), {}, P))
    assert np.array_equal(same.scores, P)
    assert np.array_equal(same.probabilities, P)
    assert again(Outcome(P, (P > 0.5).astype(int), {})).probabilities is None


def test_a_new_metric_needs_no_fit_and_is_what_a_fit_would_have_given(tmp_path, log):
    data = made(30)
    methods = [Mean(), ("br", BinaryRelevance(LogisticRegression()))]
    first = run_study([data], methods, n_folds=2, out=tmp_path / "study", keep="scores")
    count = len(fits(log))
    Records(tmp_path / "study").compact()
    second = run_study([data], methods, n_folds=2, out=tmp_path / "study", metrics=["all", ("mine", wrong_share, "smallest")])
    assert len(fits(log)) == count
    at_once = run_study([data], methods, n_folds=2, out=tmp_path / "other", metrics=["all", ("mine", wrong_share, "smallest")])
    for record, before, wanted in zip(second, first, at_once, strict=True):
        assert record["more"] == pytest.approx(wanted["more"], nan_ok=True, abs=1e-15)
        assert {**before, "more": None} == {**record, "more": None}  # also the time at which it was computed
        rows, outcomes = second.kept(record)
        assert rows.tolist() == splits(data.Y, "plain", 2, 0)[record["fold"]][1].tolist()
        found = metrics.evaluate(data.Y[rows], outcomes[""].scores, outcomes[""].decisions)
        assert found == pytest.approx({name: record[name] for name in metrics.NAMES})
    cut = run_study(
        [data], methods, n_folds=2, out=tmp_path / "study", metrics=[("half", lambda Y, scores: np.mean(scores > 0.5), "largest")]
    )
    assert len(fits(log)) == count + 2
    assert [set(record["more"]) for record in cut] == [{*BUILT_IN, "mine", "half"}] * 4


def test_all_outcomes_of_a_unit_are_kept(tmp_path):
    records = run_study([made(30)], ["camel"], preset="quick", per_metric=True, n_folds=2, out=tmp_path, keep="scores", n_jobs=1)
    for record in records:
        rows, outcomes = records.kept(record)
        assert set(outcomes) == set(metrics.NAMES)
        for name, outcome in outcomes.items():
            found = metrics.evaluate(made(30).Y[rows], outcome.scores, outcome.decisions)
            assert found == pytest.approx({metric: record[f"{metric}_by_{name}"] for metric in metrics.NAMES})
    (measured, _) = run_study([made(30)], ["camel"], preset="quick", per_metric=True, n_folds=2, out=tmp_path, metrics=["jaccard"])
    rows, outcomes = records.kept(measured)
    assert measured["more"] == measures_of(made(30).Y[rows], outcomes, get_measures(["jaccard"]))


def test_units_without_kept_scores_are_refused_or_computed_again(tmp_path, log):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path)
    with pytest.raises(RecordsError, match=r"holds 2 of the 2 units without scores, and did not keep their scores; give rerun=True"):
        run_study([made()], [Mean()], n_folds=2, out=tmp_path, keep="scores")
    with pytest.raises(RecordsError, match=r"npz is not there: the unit was computed without keep='scores'"):
        Records(tmp_path).kept(Records(tmp_path)[0])
    before = comparable(Records(tmp_path))
    assert comparable(run_study([made()], [Mean()], n_folds=2, out=tmp_path, keep="scores", rerun=True)) == before
    assert len(fits(log)) == 4
    run_study([made()], [Mean()], n_folds=2, out=tmp_path, keep="scores", metrics=["jaccard"])
    assert len(fits(log)) == 4


def test_a_metric_that_raises_on_kept_scores_fails_its_units_without_a_fit(tmp_path, log):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path, keep="scores")
    with pytest.warns(UserWarning, match="2 of 2 units failed, the first with RuntimeError: no such metric"):
        run_study([made()], [Mean()], n_folds=2, out=tmp_path, metrics=[("own", breaks, "largest")])
    assert len(fits(log)) == 2
    assert len(Records(tmp_path).failures) == 2
    records = run_study([made()], [Mean()], n_folds=2, out=tmp_path, metrics=["jaccard"])
    assert (records.failures, len(fits(log))) == ([], 2)


@pytest.mark.parametrize("content", [b"", b"PK", b"nonsense", None])
def test_a_damaged_file_of_scores_is_named(tmp_path, content):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path, keep="scores")
    for path in (tmp_path / "scores").iterdir():
        if content is None:
            np.savez(path, format=2)
        else:
            path.write_bytes(content)
    with pytest.raises(RecordsError, match=r"scores.*npz is damaged .*; delete it, and compute its unit again by rerun=True"):
        Records(tmp_path).kept(Records(tmp_path)[0])
    with pytest.warns(UserWarning, match="2 of 2 units failed, the first with RecordsError"):
        run_study([made()], [Mean()], n_folds=2, out=tmp_path, metrics=["jaccard"])


def test_scores_own_metrics_and_groups_travel_to_worker_processes_and_wrong_kinds_are_refused(tmp_path):
    mine = ("mine", wrong_share, "smallest")
    groups = np.repeat(np.arange(8), 3)
    records = run_study([made()], [Mean()], n_folds=2, out=tmp_path, keep="scores", metrics=[mine], groups=groups, time_limit=60)
    assert [record["more"]["mine"] for record in records] == [pytest.approx(record["hamming_loss"]) for record in records]
    tested = [set(groups[records.kept(record).rows]) for record in records]
    assert (len(tested[0]), tested[0] & tested[1]) == (4, set())
    assert "keep" not in json.loads((tmp_path / "study.json").read_text())["runs"][0]
    with pytest.raises(ValueError, match="keep='models' is not known; choose one of 'scores'"):
        run_study([made()], [Mean()], n_folds=2, keep="models")

"""Metrics beside the seven: how they are named, what they are handed, and what records and folders say of them."""

import json
import math

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from skcamel import metrics
from skcamel.baselines import BinaryRelevance
from skcamel.experiment import Measure, Outcome, Records, RecordsError, get_measure, run_study
from skcamel.experiment.compute import measured
from skcamel.experiment.folds import splits
from skcamel.experiment.measures import BUILT_IN, get_measures
from skcamel.experiment.units import METRIC_NAME, RECORD, read_metrics, read_runs, study_command
from skcamel.metrics import NAMES
from study_methods import Mean, fits, made
from study_metrics import breaks, of_probabilities, wrong_share

NAN = math.nan
INDEX = "average_precision_ties_by_index"


def test_built_in_metrics_are_those_of_the_package_and_have_free_names(rng):
    Y = rng.integers(0, 2, (30, 6))
    F = np.round(rng.random(Y.shape), 1)
    outcome = Outcome(F, (F > 0.5).astype(int), {}, F)
    wanted = {}
    for name in metrics.RANKING:
        wanted[f"{name}_ties_by_index"] = getattr(metrics, name)(Y, F, ties="index")
    assert {name: measure.value(Y, outcome) for name, measure in BUILT_IN.items()} == wanted
    assert {name for name, measure in BUILT_IN.items() if measure.best == "smallest"} == {
        *("one_error_ties_by_index", "coverage_ties_by_index", "ranking_loss_ties_by_index")
    }
    assert all(METRIC_NAME.fits(name) for name in BUILT_IN)
    assert not {*BUILT_IN} & {*NAMES, *(part.removesuffix("?") for part in RECORD)}
    assert metrics.one_error(Y, F, ties="index") != metrics.one_error(Y, F)  # the data have ties


def test_what_a_data_set_or_a_method_cannot_give_is_undefined():
    Y = np.array([[1, 0, 1], [0, 1, 0]])
    outcome = Outcome(Y - 0.5, Y, {})
    p = get_measure("p=study_metrics:of_probabilities:largest")
    assert math.isnan(p.value(Y, outcome))
    assert p.value(Y, Outcome(Y - 0.5, Y, {}, lambda: Y * 1.0)) == 0.5
    assert math.isnan(Measure("far", "Far", "largest", lambda Y: math.inf).value(Y, outcome))


def test_own_functions_are_handed_what_their_parameters_name():
    Y, scores = np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.8], [0.1, 0.7]])
    outcome = Outcome(scores, (scores > 0.5).astype(int), {}, scores)
    mine = get_measure("study_metrics:wrong_share")
    assert (mine.name, mine.title, mine.best, mine.function) == (
        "wrong_share",
        "wrong share",
        "smallest",
        "study_metrics:wrong_share",
    )
    assert mine.value(Y, outcome) == 0.25
    assert get_measure("p=study_metrics:of_probabilities:largest").value(
        Y, outcome
    ) == pytest.approx(0.4)
    assert (
        get_measure(("p", of_probabilities, "largest")).spec
        == "p=study_metrics:of_probabilities:largest"
    )
    lrap = get_measure("lrap=sklearn.metrics:label_ranking_average_precision_score:largest")
    assert lrap.value(Y, outcome) == metrics.average_precision(Y, scores, rows="sklearn")
    assert (
        get_measure("wrong=study_metrics:wrong_share:largest").best == "largest"
    )  # what is said goes first


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "jacard",
            (
                "'jacard' is not known; choose of one_error_ties_by_index, .* or give"
                " name=package.module:function:largest"
            ),
        ),
        ("jaccard", r"metrics='jaccard' is no longer there: use a function of your own"),
        (
            "p=study_metrics:of_probabilities",
            (
                r"does not say which values are best; write"
                r" p=study_metrics:of_probabilities:largest or"
            ),
        ),
        ("p=study_metrics:of_probabilities:high", "'high' is no direction"),
        ("coverage=study_metrics:wrong_share", "cannot be named 'coverage'"),
        (
            "coverage_ties_by_index=study_metrics:wrong_share",
            "cannot be named 'coverage_ties_by_index'",
        ),
        ("seed=study_metrics:wrong_share", "cannot be named 'seed'"),
        ("my metric=study_metrics:wrong_share", "letters, digits and _"),
        (
            "p=math:dist:largest",
            (
                "has the parameter 'p'; a metric is handed Y, scores, decisions and probabilities"
                " by these names"
            ),
        ),
        (
            "p=nowhere:function:largest",
            "No module named 'nowhere'; write package.module:function:largest",
        ),
        ("p=math:nothing:largest", "no attribute 'nothing'"),
        ("p=math:pi:largest", "math:pi is no function"),
        (("p", wrong_share), "A metric is a name"),
        (3, "A metric is a name"),
    ],
)
def test_a_metric_that_cannot_be_used_is_refused_before_any_work(spec, message):
    with pytest.raises((ValueError, TypeError, ImportError), match=message):
        run_study([made()], [Mean()], metrics=[spec], n_folds=2)


def test_lists_of_metrics_are_read_once_each():
    assert get_measures(["coverage", INDEX, INDEX]) == (BUILT_IN[INDEX],)
    assert get_measures(["all"]) == tuple(BUILT_IN.values())
    with pytest.raises(ValueError, match="has 'mine' twice"):
        get_measures([("mine", wrong_share, "largest"), ("mine", of_probabilities, "largest")])
    with pytest.raises(TypeError, match="give a list of names, as in metrics="):
        get_measures("all")


def test_a_metric_that_gives_no_number_is_named():
    with pytest.raises(TypeError, match=r"The metric odd gave \[1\]; it must give one number"):
        Measure("odd", "Odd", "largest", lambda Y: [1]).value(
            np.ones((1, 1)), Outcome(np.ones((1, 1)), np.ones((1, 1)), {})
        )


def test_of_several_outcomes_a_tie_rule_follows_its_metric_and_others_average_precision(rng):
    Y = rng.integers(0, 2, (12, 4))
    outcomes = {
        name: Outcome(F := rng.normal(size=Y.shape), (F > 0).astype(int), {}) for name in NAMES
    }
    more = measured(
        Y, outcomes, get_measures([("mine", wrong_share, "smallest"), "coverage_ties_by_index"])
    )["more"]
    assert more["mine"] == wrong_share(Y, outcomes["average_precision"].decisions)
    assert more["coverage_ties_by_index"] == metrics.coverage(
        Y, outcomes["coverage"].scores, ties="index"
    )


def test_records_keep_further_metrics_of_estimators_with_and_without_probabilities(tmp_path):
    data = made(30, q=3)
    methods = [
        ("trees", ExtraTreesClassifier(5)),
        ("br", BinaryRelevance(LogisticRegression())),
        ("svc", BinaryRelevance(SVC())),
        "llsf",
    ]
    records = run_study(
        [data],
        methods,
        preset="quick",
        metrics=["p=study_metrics:of_probabilities:largest"],
        out=tmp_path,
        n_folds=2,
    )
    train, test = splits(data.Y, "plain", 2, 0)[0]
    for record in records:
        assert {"p"} == set(record["more"])
        if (record["method"], record["fold"]) in (("trees", 0), ("br", 0)):
            model = dict(methods[:2])[record["method"]]
            model = (
                model.set_params(random_state=0) if record["method"] == "trees" else model
            ).fit(data.X[train], data.Y[train])
            P = model.predict_proba(data.X[test])
            P = np.column_stack([column[:, 1] for column in P]) if isinstance(P, list) else P
            assert record["more"]["p"] == pytest.approx(of_probabilities(data.Y[test], P))
    assert all(math.isnan(record["more"]["p"]) for record in records if record["method"] == "llsf")


def test_without_metrics_records_units_and_requests_are_what_they_were(tmp_path):
    records = run_study([made()], [Mean()], n_folds=2, out=tmp_path)
    assert "more" not in records[0]
    study = json.loads((tmp_path / "study.json").read_text())
    assert set(study) == {"runs"}
    assert "metrics" not in study["runs"][0]
    more = run_study([made()], [Mean()], n_folds=2, out=tmp_path / "more", metrics=[INDEX])
    assert more.asked == records.asked


def test_a_folder_says_what_its_metrics_are_and_refuses_another_of_the_same_name(tmp_path):
    run_study(
        [made()],
        [Mean()],
        n_folds=2,
        out=tmp_path,
        metrics=[INDEX, ("mine", wrong_share, "smallest")],
    )
    known = read_metrics(tmp_path)
    assert known[INDEX] == {
        "title": "Average precision, ties by index",
        "best": "largest",
        "function": None,
    }
    assert (known["mine"]["best"], known["mine"]["function"]) == (
        "smallest",
        "study_metrics:wrong_share",
    )
    (run,) = read_runs(tmp_path)
    assert f"--metrics {INDEX},mine=study_metrics:wrong_share:smallest" in study_command(run)
    for function, best in ((wrong_share, "largest"), (of_probabilities, "smallest")):
        with pytest.raises(
            RecordsError, match="holds a metric mine that is another one; give it another name"
        ):
            run_study(
                [made()], [Mean()], n_folds=2, out=tmp_path, metrics=[("mine", function, best)]
            )


def test_a_folder_whose_units_lack_a_metric_is_refused(tmp_path, log):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path)
    with pytest.raises(
        RecordsError,
        match=(
            r"holds 2 of the 4 units without average_precision_ties_by_index; choose another folder"
        ),
    ):
        run_study([made()], [Mean(), Mean("other")], n_folds=2, out=tmp_path, metrics=[INDEX])
    assert "metrics" not in json.loads((tmp_path / "study.json").read_text())
    assert len(fits(log)) == 2


def test_a_metric_that_raises_fails_its_units(tmp_path):
    with pytest.warns(
        UserWarning, match="2 of 2 units failed, the first with RuntimeError: no such metric"
    ):
        records = run_study(
            [made()], [Mean()], n_folds=2, out=tmp_path, metrics=[("own", breaks, "largest")]
        )
    assert (len(records), len(records.failures)) == (0, 2)


def test_a_frame_has_a_column_for_each_metric():
    pytest.importorskip("pandas")
    frame = run_study(
        [made()], [Mean()], n_folds=2, metrics=[INDEX, ("p", of_probabilities, "largest")]
    ).to_frame()
    assert "more" not in frame
    assert {INDEX, "p"} < set(frame)
    assert frame["p"].isna().all()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"more": []}, r"more is \[\], not a mapping"),
        ({"more": {"a": "1"}}, "more.a is '1', not a number, or null"),
    ],
)
def test_a_wrong_further_metric_of_a_record_is_named(tmp_path, change, reason):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path)
    path = tmp_path / "records.jsonl"
    first, second = path.read_text().splitlines()
    path.write_text(json.dumps(json.loads(first) | change) + "\n" + second)
    with pytest.raises(RecordsError, match=reason):
        Records(tmp_path)


def test_a_wrong_description_of_a_metric_is_named(tmp_path):
    run_study([made()], [Mean()], n_folds=2, out=tmp_path, metrics=[INDEX])
    text = (tmp_path / "study.json").read_text()
    (tmp_path / "study.json").write_text(text.replace('"largest"', '"most"'))
    with pytest.raises(
        RecordsError,
        match=(
            r"metrics\.average_precision_ties_by_index\.best is 'most', not one of largest,"
            r" smallest"
        ),
    ):
        read_metrics(tmp_path)

"""Folds that keep groups whole, or are given; and what they change in the identity of a unit: nothing where not used."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skcamel.data import DataError, Dataset, write_dataset
from skcamel.experiment import Records, run_study
from skcamel.experiment.folds import Division, paired, splits, with_groups, with_parts
from skcamel.experiment.units import Unit, read_runs, study_command
from study_methods import Mean, comparable, made


def with_column(values, name="patient"):
    """The small data set with a further column."""
    data = made()
    return Dataset(
        np.column_stack([data.X, values]),
        data.Y,
        (*data.feature_names, name),
        data.label_names,
        name="made",
    )


GROUPS = np.repeat(np.arange(8), 3)


class Seen(Mean):
    """Notes the rows of `made` that each unit trains on."""

    rows = []  # noqa: RUF012 (of this process)

    def fit(self, X, Y, *, seed):
        self.rows.append(np.flatnonzero(np.isin(made().X[:, 0], X[:, 0])))
        return super().fit(X, Y, seed=seed)


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr(Seen, "rows", [])
    return Seen


@given(
    st.lists(st.integers(0, 6), min_size=12, max_size=20),
    st.sampled_from(["grouped", "grouped-stratified"]),
    st.integers(0, 3),
)
def test_no_group_is_divided_and_every_row_is_tested_once(groups, kind, seed):
    names = sorted(set(groups))
    if len(names) < 3:
        return
    groups = np.array(groups)
    Y = np.column_stack([groups % 2, np.arange(len(groups)) % 2])
    found = splits(Y, kind, 3, seed, Division(groups))
    assert sorted(np.concatenate([test for _, test in found]).tolist()) == list(range(len(groups)))
    for train, test in found:
        assert not set(groups[train]) & set(groups[test])
        assert len(test)
        assert sorted([*train, *test]) == list(range(len(groups)))


def test_folds_are_what_they_were_without_groups_and_differ_with_them(tmp_path):
    keys = {}
    for name, options in {
        "plain": {},
        "groups": {"groups": GROUPS},
        "other": {"groups": GROUPS[::-1] // 2},
    }.items():
        records = run_study([made()], [Mean()], n_folds=2, out=tmp_path / name, **options)
        keys[name] = {Unit.of(record).key for record in records}
        assert {record["folds"] for record in records} == {
            "plain" if name == "plain" else "grouped"
        }
    assert keys["plain"] == {
        Unit("made", "mean", "paper", fold, 2, "plain", 0, {}, made().sha256).key
        for fold in range(2)
    }
    assert not keys["plain"] & keys["groups"]
    assert not keys["groups"] & keys["other"]


def test_a_column_of_groups_is_no_feature(tmp_path, seen):
    records = run_study(
        [with_column(GROUPS)],
        [seen()],
        n_folds=2,
        groups="patient",
        folds="stratified",
        out=tmp_path,
    )
    groups = [set(GROUPS[rows]) for rows in seen.rows]
    assert not groups[0] & groups[1]
    seen.rows.clear()
    wanted = run_study(
        [made()],
        [seen()],
        n_folds=2,
        groups={"made": [f"p{group}" for group in GROUPS]},
        folds="stratified",
    )
    assert comparable(records) == comparable(wanted)  # names of groups do not matter
    assert (records[0]["n_features"], records[0]["folds"]) == (4, "grouped-stratified")
    (run,) = read_runs(tmp_path)
    assert "--folds stratified --n-folds 2 --groups patient --seed 0" in study_command(run)


def test_groups_of_sparse_rows_come_from_their_column_too():
    dense = with_column(GROUPS)
    thin = Dataset(
        sparse.csr_array(dense.X), dense.Y, dense.feature_names, dense.label_names, name="made"
    )
    rest, division = with_groups(thin, "patient")
    assert (rest.d, division.groups.tolist()) == (4, GROUPS.tolist())
    assert division.sha256 == with_groups(dense, "patient")[1].sha256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": "nurse"}, r"made has no column 'nurse' to take the groups from; it has f1, f2"),
        (
            {"groups": [1, 2]},
            r"groups has shape \(2,\); made needs one group for each of its 24 rows",
        ),
        ({"groups": [None] + [1] * 23}, "made has rows without a group"),
        ({"groups": [0, 1] * 12, "n_folds": 3}, "made has 2 groups, too few for n_folds=3"),
        (
            {"groups": {"yeast": [1] * 24}},
            "groups has 'yeast', which is no data set of this study; these are made",
        ),
        (
            {"datasets": [made(), made(name="b")], "groups": [1] * 24},
            "groups is for one data set, and there are 2; give {name of a data set",
        ),
        (
            {"folds": "given", "n_folds": None},
            "made brings no training and test part; give a file by split=",
        ),
        ({"split": ([0, 1], [2]), "folds": "stratified"}, "leave one of them out"),
        ({"split": ([0, 1], [2])}, "n_folds=2 decides about folds that are made; these are given"),
        ({"split": ([0, 1], [1, 2]), "n_folds": None}, "fold 1 of made trains and tests on row 1"),
        ({"split": ([0, 1], []), "n_folds": None}, "fold 1 of made has an empty part"),
        (
            {"split": ([0, 1], [24]), "n_folds": None},
            "test of fold 1 of made must hold row numbers from 0 to 23",
        ),
        ({"split": [3], "n_folds": None}, r"fold 1 of made is 3; give \(train, test\)"),
        (
            {"split": "nowhere.txt", "n_folds": None},
            "nowhere.txt: there is no such file; it holds one word for each row",
        ),
    ],
)
def test_what_cannot_be_divided_so_is_refused_before_any_work(change, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        run_study(**{"datasets": [made()], "methods": [Mean()], "n_folds": 2} | change)


def test_a_column_that_names_every_row_gives_no_groups():
    with pytest.raises(
        ValueError,
        match="'id' of made has another value in every row; groups of one row are plain folds",
    ):
        with_groups(Dataset(made().X, made().Y, name="made", dropped=("id",)), "id")


def test_given_folds_are_those_of_the_caller(tmp_path, seen):
    pairs = [(range(12), range(12, 24)), (np.arange(24) > 5, np.arange(24) <= 5)]
    records = run_study([made()], [seen()], split=pairs, out=tmp_path)
    assert [
        (record["folds"], record["n_folds"], record["n_train"], record["n_test"])
        for record in records
    ] == [("given", 2, 12, 12), ("given", 2, 18, 6)]
    assert [rows.tolist() for rows in seen.rows] == [list(range(12)), list(range(6, 24))]
    data = Dataset(made().X, made().Y, name="made", train=range(12), test=range(12, 24))
    (one,) = run_study([data], [Mean()], folds="given")
    assert (one["n_folds"], one["coverage"]) == (1, records[0]["coverage"])
    assert "--folds given --seed 0" in study_command(read_runs(tmp_path)[0])


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("train\n" * 20 + "test\n" * 4, [range(20, 24)]),
        ("part\n" + "train\n" * 20 + "TEST\n" * 4, [range(20, 24)]),
        ("\n".join(["0", "1", "-1"] * 8), [range(0, 24, 3), range(1, 24, 3)]),
        (json.dumps({"train": list(range(5)), "test": [7, 9]}), [[7, 9]]),
        (json.dumps([{"train": [0], "test": [1]}, {"train": [1], "test": [0]}]), [[1], [0]]),
    ],
)
def test_given_folds_may_come_from_a_file(tmp_path, text, tests):
    (tmp_path / "split.txt").write_text(text)
    division = with_parts(made(), tmp_path / "split.txt")
    assert [test.tolist() for _, test in division.given] == [list(test) for test in tests]


@pytest.mark.parametrize(
    "text",
    [
        "train\ntest\n",
        "train\n" * 23 + "later\n",
        '{"train": [0]}',
        '{"train": [0], "test": ["a"]}',
        "[1",
    ],
)
def test_a_file_of_folds_that_cannot_be_read_says_what_it_must_hold(tmp_path, text):
    (tmp_path / "split.txt").write_text(text)
    with pytest.raises(
        DataError,
        match=(
            r"split.txt.*it holds one word for each row of the data set, 'train' or 'test' or the"
            r" number"
        ),
    ):
        with_parts(made(), tmp_path / "split.txt")


def test_a_pair_of_files_is_one_data_set_with_its_parts(tmp_path):
    data = made()
    for part, rows in (("train", slice(0, 16)), ("test", slice(16, 24))):
        write_dataset(
            Dataset(data.X[rows], data.Y[rows], label_names=data.label_names, name="made"),
            tmp_path / f"pair-{part}.arff",
        )
    assert paired(tmp_path / "pair-train.arff") == ("pair", tmp_path / "pair-test.arff")
    assert paired(tmp_path / "pair-test.arff") is None
    (record,) = run_study(
        [tmp_path / "pair-train.arff"], [Mean()], folds="given", out=tmp_path / "out"
    )
    assert (record["dataset"], record["n_train"], record["n_test"]) == ("pair", 16, 8)
    plain, _ = run_study([("half", tmp_path / "pair-train.arff")], [Mean()], n_folds=2)
    assert (plain["dataset"], plain["n_train"]) == ("half", 8)
    (named,) = run_study([f"mine={tmp_path / 'pair-train.arff'}"], [Mean()], folds="given")
    assert (named["dataset"], named["coverage"]) == ("mine", record["coverage"])
    assert len(Records(tmp_path / "out")) == 1

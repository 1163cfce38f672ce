"""Data sets and outer folds of a study."""

import numpy as np
import pytest

from skcamel.data import Dataset, read_dataset, write_dataset
from skcamel.experiment import run_study
from skcamel.experiment.folds import source_of, splits
from study_methods import made


@pytest.mark.parametrize("kind", ["plain", "stratified"])
def test_folds_are_the_same_for_the_same_seed_and_test_every_row_once(kind):
    Y = made(40).Y
    first, again = splits(Y, kind, 4, seed=3), splits(Y, kind, 4, seed=3)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert sorted(np.concatenate([test for _, test in first])) == list(range(40))
    assert all(len(np.intersect1d(*split)) == 0 for split in first)


@pytest.mark.parametrize("kind", ["plain", "stratified"])
def test_groups_stay_in_one_fold(kind):
    groups = np.arange(40) // 4
    for train, test in splits(made(40).Y, kind, 4, 0, groups):
        assert not set(groups[train]) & set(groups[test])


def test_a_column_of_groups_is_no_feature(tmp_path):
    data = made(24)
    X = np.column_stack([data.X, np.arange(24) // 4])
    named = Dataset(X, data.Y, feature_names=("a", "b", "c", "d", "ward"), name="made")
    source = source_of(named, n_folds=3, groups="ward")
    assert source.dataset.feature_names == ("a", "b", "c", "d")
    assert source.groups.tolist() == (np.arange(24) // 4).tolist()
    assert source.division
    for missing in (None, np.nan, "", "n/a"):
        groups = np.array([*source.groups[1:], missing], dtype=object)
        with pytest.raises(ValueError, match="groups of made lacks some; give each row a group"):
            source_of(named, n_folds=3, groups=groups)


def test_parts_are_given_as_rows_or_masks_or_by_the_data_set():
    data, mask = made(6), np.arange(6) < 4
    rows = source_of(data, n_folds=2, folds=[([0, 1, 2, 3], [4, 5])])
    masks = source_of(data, n_folds=2, folds=[(mask, ~mask)])
    brought = Dataset(data.X, data.Y, name="made", train=mask, test=~mask)
    given = source_of(brought, n_folds=2, folds="given")
    assert rows.division == masks.division == given.division != ""
    assert [split.tolist() for split in given.splits[0]] == [[0, 1, 2, 3], [4, 5]]


def test_a_pair_of_files_brings_its_parts(tmp_path):
    data = made(12)
    for name, rows in (("train", slice(0, 8)), ("test", slice(8, 12))):
        part = Dataset(data.X[rows], data.Y[rows], name="made")
        write_dataset(part, tmp_path / f"made-{name}.arff")
    records = run_study([tmp_path / "made-train.arff"], ["br"], folds="given")
    assert [(r["dataset"], r["n_train"], r["n_test"]) for r in records] == [("made", 8, 4)]


def test_names_of_data_sets_are_ones_own_where_given(tmp_path):
    write_dataset(made(12), tmp_path / "made.arff")
    path = tmp_path / "made.arff"
    for origin in (f"mine={path}", ("mine", path), ("mine", made(12))):
        assert source_of(origin, n_folds=2).dataset.name == "mine"
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        source_of(str(tmp_path / "nothing.arff"), n_folds=2)
    with pytest.raises(TypeError, match="A data set is a catalogue name"):
        source_of(3, n_folds=2)


@pytest.mark.filterwarnings("ignore:.*is numbered in the order")
def test_a_table_is_prepared_in_each_fold_by_its_training_rows(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["size,colour,sea"]
    for row in range(30):
        size = "" if row % 7 == 0 else f"{rng.normal():.3f}"
        lines.append(f"{size},{['red', 'blue', 'green'][row % 3]},{row % 2}")
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(lines) + "\n")
    dataset = read_dataset(path, labels=["sea"])
    records = run_study([dataset], ["br", "camel"], preset="quick", n_folds=2)
    assert len(records) == 4
    assert set(records[0]["settings"]) == {"method", "prepared"}
    representations = records[2]["settings"]["method"]["params"]["representations"]
    assert {scaling for scaling, *_ in representations} == {"none"}

"""Splitters: partitions of the right sizes, repeatable, balanced; groups stay whole."""

import hashlib

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import config_context
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from skcamel import CamelClassifierCV
from skcamel.data import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit

shapes = st.tuples(st.integers(2, 30), st.integers(1, 6))
matrices = shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1)))


def simulated(rng, n=1000, q=12, most=0.4, least=0.01):
    return (rng.random((n, q)) < np.geomspace(most, least, q)).astype(int)


def held_out(splitter, Y, groups=None):
    return [test.tolist() for _, test in splitter.split(np.zeros((Y.shape[0], 1)), Y, groups)]


@given(Y=matrices, k=st.integers(2, 8), shuffle=st.booleans())
def test_every_row_is_tested_once_and_sizes_are_those_of_kfold(Y, k, shuffle):
    k = min(k, len(Y))
    splitter = MultilabelStratifiedKFold(k, shuffle=shuffle, random_state=0 if shuffle else None)
    splits = list(splitter.split(Y, Y))
    assert len(splits) == k == splitter.get_n_splits()
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(Y)))
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(Y)))
    assert [len(test) for _, test in splits] == [len(test) for _, test in KFold(k).split(Y)]
    assert held_out(splitter, Y) == [test.tolist() for _, test in splits]


def test_folds_of_a_seed_stay_as_they_are():
    """On every machine: records of studies stand for these very folds."""
    rng = np.random.default_rng(0)
    Y = (rng.random((300, 9)) < np.geomspace(0.5, 0.02, 9)).astype(int)
    groups = rng.integers(0, 60, 300)
    found = [
        *held_out(MultilabelStratifiedKFold(10, shuffle=True, random_state=3), Y),
        *held_out(MultilabelStratifiedKFold(4), Y),
        *held_out(MultilabelStratifiedKFold(5, shuffle=True, random_state=3), Y, groups),
        *held_out(MultilabelStratifiedShuffleSplit(2, test_size=0.3, random_state=3), Y),
    ]
    assert hashlib.sha256(str(found).encode()).hexdigest()[:16] == "04c4a4f66227a7f4"


@given(Y=matrices, k=st.integers(2, 5), data=st.data())
def test_groups_stay_whole_and_no_fold_is_empty(Y, k, data):
    groups = data.draw(arrays(np.int64, len(Y), elements=st.integers(0, 9)))
    k = min(k, len(np.unique(groups)))
    if k < 2:
        return
    shuffle = data.draw(st.booleans())
    splitter = MultilabelStratifiedKFold(k, shuffle=shuffle, random_state=1 if shuffle else None)
    folds = np.full(len(Y), -1)
    for fold, test in enumerate(held_out(splitter, Y, groups)):
        folds[test] = fold
    assert (folds >= 0).all()
    assert all(len(np.unique(folds[groups == g])) == 1 for g in np.unique(groups))
    sizes = np.bincount(folds, minlength=k)
    assert sizes.min() > 0
    assert sizes.max() < -(-len(Y) // k) + np.bincount(groups).max()


@given(Y=matrices, share=st.floats(0.1, 0.9))
def test_shuffle_split_keeps_the_sizes_asked_for(Y, share):
    n = len(Y)
    assume(share * n <= n - 1)  # else no row is left for training, and that is refused
    splitter = MultilabelStratifiedShuffleSplit(3, test_size=share, random_state=0)
    for train, test in splitter.split(Y, Y):
        assert len(test) == np.ceil(share * n)
        assert len(train) == n - len(test)
        assert not set(train) & set(test)


def test_larger_folds_do_not_draw_the_rare_labels(rng):
    Y = np.eye(45, dtype=int)[np.minimum(rng.geometric(0.12, 978) - 1, 44)]  # folds of 98 and 97
    Y[np.arange(978), rng.integers(0, 45, 978)] |= rng.random(978) < 0.2
    tests = held_out(MultilabelStratifiedKFold(10, shuffle=True, random_state=0), Y)
    per_fold = np.array([Y[test].sum(axis=0) for test in tests])
    assert np.ptp(per_fold, axis=0).max() <= 3  # 7 if one more row counted as a larger share


def test_shuffle_split_is_balanced(rng):
    Y = simulated(rng)
    splitter = MultilabelStratifiedShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0)
    splits = list(splitter.split(Y, Y))
    assert len({tuple(test) for _, test in splits}) == 3
    for train, test in splits:
        assert (len(train), len(test)) == (500, 200)
        assert abs(Y[test].sum(axis=0) - 0.2 * Y.sum(axis=0)).max() < 4
        assert abs(Y[train].sum(axis=0) - 0.5 * Y.sum(axis=0)).max() < 4


def test_labels_and_groups_that_do_not_fit_are_refused():
    splitter, X = MultilabelStratifiedKFold(2), np.zeros((4, 1))
    for Y, groups, message in (
        (None, None, "y has 0 dimension"),
        (np.eye(3), None, "inconsistent numbers of samples"),
        (2 * np.eye(4), None, "only 0 and 1"),
        (np.eye(4), [0, 0, 0, 0], "1 groups cannot fill 2 parts"),
        (np.eye(4), [0, 1], "one group for each of the 4 rows"),
        (np.eye(4), [0, 1, 2, None], "groups holds missing values: 1"),
    ):
        with pytest.raises(ValueError, match=message):
            list(splitter.split(X, Y, groups))


def test_scikit_learn_takes_the_splitters(rng):
    Y = simulated(rng, n=120, q=4)
    X = rng.normal(size=(120, 3)) + Y[:, :3]
    groups = np.arange(120) // 4
    for cv in (MultilabelStratifiedKFold(3), MultilabelStratifiedShuffleSplit(2)):
        result = cross_validate(RidgeClassifier(), X, Y, cv=cv, groups=groups)
        assert len(result["test_score"]) == cv.get_n_splits()
        assert np.isfinite(result["test_score"]).all()
        with config_context(enable_metadata_routing=True):
            options = {"cv": cv, "params": {"groups": groups}, "return_indices": True}
            routed = cross_validate(RidgeClassifier(), X, Y, **options)
        for train, test in zip(*routed["indices"].values(), strict=True):
            assert not set(groups[train]) & set(groups[test])
    cv = MultilabelStratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=cv)
    assert search.fit(X, Y).n_splits_ == 3
    model = CamelClassifierCV(alphas=(0, 0.5), lambda2s=(0.1,), cv=cv).fit(X, Y)
    assert "split2_test_score" in model.cv_results_

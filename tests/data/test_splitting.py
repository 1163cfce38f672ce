"""Splitters: partitions of the right sizes, repeatable, balanced, whole groups; and scikit-learn accepts them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from skcamel import CamelClassifierCV
from skcamel.data import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    RepeatedMultilabelStratifiedKFold,
    fold_quality,
)
from skcamel.data.splitting import _turns
from skcamel.data.statistics import with_pairs

shapes = st.tuples(st.integers(2, 30), st.integers(1, 6))
matrices = shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1)))


def simulated(rng, n=1000, q=12, most=0.4, least=0.01):
    return (rng.random((n, q)) < np.geomspace(most, least, q)).astype(int)


def held_out(splitter, Y, groups=None):
    return [test.tolist() for _, test in splitter.split(np.zeros((Y.shape[0], 1)), Y, groups)]


def literal_quality(Y, tests):
    """LD and ED by loops over labels and folds."""
    n, q = Y.shape
    differences = []
    for j in range(q):
        D = sum(Y[:, j])
        if not 0 < D < n:
            continue
        for test in tests:
            S = sum(Y[i, j] for i in test)
            differences.append(abs(S / (max(len(test) - S, 0.5)) - D / (n - D)))
    mean = sum(map(len, tests)) / len(tests)
    return (sum(differences) / len(differences) if differences else 0.0), sum(
        abs(len(t) - mean) for t in tests
    ) / len(tests)


# Laws


@given(Y=matrices, k=st.integers(2, 8), shuffle=st.booleans(), order=st.sampled_from([1, 2]))
def test_every_row_is_tested_once_and_sizes_are_those_of_kfold(Y, k, shuffle, order):
    k = min(k, len(Y))
    splitter = MultilabelStratifiedKFold(
        k, shuffle=shuffle, random_state=0 if shuffle else None, order=order
    )
    splits = list(splitter.split(Y, Y))
    assert len(splits) == k == splitter.get_n_splits()
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(Y)))
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(Y)))
    assert [len(test) for _, test in splits] == [len(test) for _, test in KFold(k).split(Y)]


@given(Y=matrices, seed=st.integers(0, 99), order=st.sampled_from([1, 2]))
def test_the_same_seed_gives_the_same_folds(Y, seed, order):
    for splitter in (
        MultilabelStratifiedKFold(2, order=order),
        MultilabelStratifiedKFold(2, shuffle=True, random_state=seed, order=order),
        RepeatedMultilabelStratifiedKFold(2, n_repeats=2, random_state=seed, order=order),
        MultilabelStratifiedShuffleSplit(2, random_state=seed, order=order),
    ):
        assert held_out(splitter, Y) == held_out(splitter, Y)


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
    for train, test in MultilabelStratifiedShuffleSplit(3, test_size=share, random_state=0).split(
        Y, Y
    ):
        assert len(test) == np.ceil(share * n)
        assert len(train) == n - len(test)
        assert not set(train) & set(test)


@given(Y=matrices, k=st.integers(2, 5))
def test_label_sets_that_divide_evenly_are_dealt_evenly(Y, k):
    Y = np.repeat(Y, k, axis=0)
    for test in held_out(MultilabelStratifiedKFold(k, shuffle=True, random_state=0), Y):
        assert (k * Y[test].sum(axis=0) == Y.sum(axis=0)).all()


@given(Y=matrices, k=st.integers(2, 4))
def test_the_rarest_label_is_spread_to_within_one_row(Y, k):
    k = min(k, len(Y))
    counts = np.where(Y.any(axis=0), Y.sum(axis=0), len(Y) + 1)
    rarest = int(counts.argmin())
    if (counts == counts[rarest]).sum() > 1 or counts[rarest] > len(Y) // k:
        return
    Y = Y[
        np.unique(Y, axis=0, return_index=True)[1]
    ]  # no rows to deal, so that the rule alone decides
    if len(Y) < k:
        return
    counts = np.where(Y.any(axis=0), Y.sum(axis=0), len(Y) + 1)
    rarest = int(counts.argmin())
    if counts[rarest] > len(Y) // k:
        return
    per_fold = [Y[test, rarest].sum() for test in held_out(MultilabelStratifiedKFold(k), Y)]
    assert max(per_fold) - min(per_fold) <= 1


@given(lacking=st.lists(st.integers(-20, 60), min_size=1, max_size=5), data=st.data())
def test_turns_follow_the_rule_of_the_paper_one_row_at_a_time(lacking, data):
    lacking = [value / 10 for value in lacking]
    room = data.draw(
        st.lists(st.integers(0, 6), min_size=len(lacking), max_size=len(lacking)).filter(any)
    )
    n_rows = data.draw(st.integers(1, sum(room)))
    need, left = list(lacking), list(room)
    for fold in _turns(np.array(lacking), np.array(room), np.array(room), n_rows).tolist():
        assert left[fold] > 0
        assert (
            need[fold]
            >= max(value for value, space in zip(need, left, strict=True) if space) - 1e-3 - 1e-9
        )  # up to the weight of sizes
        need[fold] -= 1
        left[fold] -= 1


# Balance


def test_folds_are_far_more_even_than_chance(rng):
    Y = simulated(rng)
    ours = fold_quality(Y, MultilabelStratifiedKFold(10, shuffle=True, random_state=0).split(Y, Y))
    plain = fold_quality(Y, KFold(10, shuffle=True, random_state=0).split(Y))
    assert ours.label_distribution < plain.label_distribution / 5
    assert ours.pair_distribution < plain.pair_distribution
    assert (ours.folds_without_positives == 0).all()
    per_fold = np.array(
        [Y[test].sum(axis=0) for test in held_out(MultilabelStratifiedKFold(10), Y)]
    )
    assert np.ptp(per_fold, axis=0).max() <= 3


def test_larger_folds_do_not_draw_the_rare_labels(rng):
    Y = np.eye(45, dtype=int)[
        np.minimum(rng.geometric(0.12, 978) - 1, 44)
    ]  # eight folds of 98 rows, two of 97
    Y[np.arange(978), rng.integers(0, 45, 978)] |= rng.random(978) < 0.2
    per_fold = np.array(
        [
            Y[test].sum(axis=0)
            for test in held_out(MultilabelStratifiedKFold(10, shuffle=True, random_state=0), Y)
        ]
    )
    assert (
        np.ptp(per_fold, axis=0).max() <= 2
    )  # 7 if a row more in a fold counted as a larger share


def test_order_2_spreads_pairs_better(rng):
    Y = simulated(rng, most=0.5, least=0.1)
    first, second = (
        fold_quality(Y, MultilabelStratifiedKFold(5, order=order).split(Y, Y)) for order in (1, 2)
    )
    assert second.pair_distribution < first.pair_distribution


def test_shuffle_split_is_balanced(rng):
    Y = simulated(rng)
    for train, test in MultilabelStratifiedShuffleSplit(
        3, test_size=0.2, train_size=0.5, random_state=0
    ).split(Y, Y):
        assert (len(train), len(test)) == (500, 200)
        assert abs(Y[test].sum(axis=0) - 0.2 * Y.sum(axis=0)).max() < 4
        assert abs(Y[train].sum(axis=0) - 0.5 * Y.sum(axis=0)).max() < 4


def test_groups_are_balanced_as_well(rng):
    Y = simulated(rng)
    groups = rng.integers(0, 200, size=1000)
    tests = held_out(MultilabelStratifiedKFold(5), Y, groups)
    assert np.ptp([len(test) for test in tests]) <= 12
    quality = fold_quality(Y, MultilabelStratifiedKFold(5).split(Y, Y, groups))
    relabelled = rng.permutation(200)[groups]
    plain = fold_quality(Y, [(None, np.flatnonzero(relabelled % 5 == f)) for f in range(5)])
    assert quality.label_distribution < plain.label_distribution / 2


def test_classes_in_one_dimension_are_stratified_like_scikit_learns(rng):
    y = rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1], size=200)
    for (_, ours), (_, theirs) in zip(
        MultilabelStratifiedKFold(4).split(y, y), StratifiedKFold(4).split(y, y), strict=True
    ):
        for kind in "abc":
            assert abs((y[ours] == kind).sum() - (y[theirs] == kind).sum()) <= 1


def test_repeats_and_seeds_differ(rng):
    Y = simulated(rng, n=100)
    tests = held_out(RepeatedMultilabelStratifiedKFold(5, n_repeats=3, random_state=0), Y)
    assert len(tests) == 15
    assert len({tuple(test) for test in tests}) == 15
    assert all(sorted(np.concatenate(tests[r : r + 5])) == list(range(100)) for r in (0, 5, 10))
    assert tests != held_out(RepeatedMultilabelStratifiedKFold(5, n_repeats=3, random_state=1), Y)
    shuffled = MultilabelStratifiedShuffleSplit(3, random_state=0)
    assert len({tuple(test) for test in held_out(shuffled, Y)}) == 3


# Figures


@given(Y=matrices, k=st.integers(2, 4))
def test_quality_is_that_of_literal_loops(Y, k):
    k = min(k, len(Y))
    splits = list(KFold(k).split(Y))
    quality = fold_quality(Y, splits)
    tests = [test.tolist() for _, test in splits]
    label_distribution, examples_distribution = literal_quality(Y, tests)
    assert quality.label_distribution == pytest.approx(label_distribution, abs=1e-12)
    assert quality.examples_distribution == pytest.approx(examples_distribution, abs=1e-12)
    pairs = np.array([Y[:, a] * Y[:, b] for a in range(Y.shape[1]) for b in range(a)]).T
    expected = literal_quality(pairs, tests)[0] if pairs.size else 0.0
    assert quality.pair_distribution == pytest.approx(expected, abs=1e-12)
    assert quality.folds_without_positives.tolist() == [
        sum(not Y[test, j].any() for test in tests) for j in range(Y.shape[1])
    ]


def test_quality_by_hand():
    Y = np.array([[1], [1], [0], [0]])
    quality = fold_quality(Y, [([], [0]), ([], [1, 2, 3])])  # odds 1 / 0.5 and 1 / 2 against 1
    assert quality.label_distribution == pytest.approx((1 + 0.5) / 2)
    assert quality.examples_distribution == 1
    assert quality.sizes.tolist() == [1, 3]
    masks = [([], np.array([True, False, False, False])), ([], np.array([False, True, True, True]))]
    assert str(fold_quality(Y, masks)) == str(quality)


def test_pairs_of_labels(rng):
    Y = simulated(rng, n=50, q=5)
    items = with_pairs(sparse.csr_array(Y)).toarray()
    expected = [Y[:, a] * Y[:, b] for a in range(5) for b in range(a + 1, 5)]
    assert items[:, :5].tolist() == Y.tolist()
    assert items[:, 5:].T.tolist() == [pair.tolist() for pair in expected if pair.any()]


# Forms and refusals


def test_labels_in_every_form_give_the_same_folds(rng):
    Y = simulated(rng, n=60, q=5)
    splitter = MultilabelStratifiedKFold(3, shuffle=True, random_state=0)
    expected = held_out(splitter, Y)
    for form in (
        2 * Y - 1,
        Y == 1,
        Y.astype(float),
        sparse.csr_matrix(Y),
        sparse.coo_array(Y),
        sparse.csr_array(2 * Y - 1),
        pd.DataFrame(Y),
    ):
        assert held_out(splitter, form) == expected
    assert [test.tolist() for _, test in splitter.split(Y.tolist(), Y.tolist())] == expected


def test_empty_and_full_labels_and_no_label_at_all():
    Y = np.zeros((10, 3), dtype=int)
    assert [len(test) for test in held_out(MultilabelStratifiedKFold(3), Y)] == [4, 3, 3]
    Y[:, 1] = 1
    assert [len(test) for test in held_out(MultilabelStratifiedKFold(3, order=2), Y)] == [4, 3, 3]


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (
            MultilabelStratifiedKFold(5),
            r"n_splits=5 folds cannot be made of 4 rows; choose at most 4",
        ),
        (MultilabelStratifiedKFold(1), r"n_splits=1 must be a whole number of at least 2"),
        (MultilabelStratifiedKFold(2.0), r"n_splits=2.0 must be a whole number"),
        (
            MultilabelStratifiedKFold(2, random_state=0),
            r"random_state=0 has no effect with shuffle=False",
        ),
        (MultilabelStratifiedKFold(2, order=3), r"order=3 is not known"),
        (RepeatedMultilabelStratifiedKFold(2, n_repeats=0), r"n_repeats=0 must be"),
        (MultilabelStratifiedShuffleSplit(2, test_size=1.5), r"test_size=1.5 must be a share"),
        (MultilabelStratifiedShuffleSplit(2, test_size=4), r"ask for 0 \+ 4 of 4 rows"),
        (
            MultilabelStratifiedShuffleSplit(2, test_size=2, train_size=3),
            r"ask for 3 \+ 2 of 4 rows",
        ),
    ],
)
def test_what_cannot_be_split_is_refused(splitter, message):
    with pytest.raises(ValueError, match=message):
        list(splitter.split(np.zeros((4, 1)), np.eye(4, dtype=int)))


def test_labels_and_groups_that_do_not_fit_are_refused():
    splitter, X = MultilabelStratifiedKFold(2), np.zeros((4, 1))
    for Y, groups, message in (
        (None, None, "needs the labels"),
        (np.eye(3), None, "y has 3 rows but X has 4"),
        (2 * np.eye(4), None, "only 0 and 1"),
        (sparse.csr_array(-np.eye(4)), None, "is sparse and must hold only 0 and 1"),
        (np.tile([[np.nan, 2.0]], (4, 1)), None, "found 2.0, nan"),
        (np.array([["x"]] * 4, dtype=object), None, "found x"),
        (np.zeros((4, 1, 1)), None, "3 dimension"),
        (np.eye(4), [0, 0, 0, 0], "1 groups cannot fill 2 parts"),
        (np.eye(4), [0, 1], "groups has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            list(splitter.split(X, Y, groups))
    with pytest.raises(ValueError, match="splits is empty"):
        fold_quality(np.eye(4), [])


# Where scikit-learn takes a cv


def test_scikit_learn_takes_the_splitters(rng):
    Y = simulated(rng, n=120, q=4)
    X = rng.normal(size=(120, 3)) + Y[:, :3]
    groups = rng.integers(0, 30, size=120)
    for cv in (
        MultilabelStratifiedKFold(3),
        RepeatedMultilabelStratifiedKFold(3, n_repeats=2),
        MultilabelStratifiedShuffleSplit(2),
    ):
        result = cross_validate(RidgeClassifier(), X, Y, cv=cv, groups=groups)
        assert len(result["test_score"]) == cv.get_n_splits()
        assert np.isfinite(result["test_score"]).all()
        assert repr(cv).startswith(type(cv).__name__)
    search = GridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 3]},
        cv=MultilabelStratifiedKFold(3, shuffle=True, random_state=0),
    )
    assert clone(search).fit(X, Y).n_splits_ == 3


def test_groups_are_routed_to_the_splitters(rng):
    Y = simulated(rng, n=40, q=2)
    X, groups = rng.normal(size=(40, 2)), np.arange(40) // 4
    with config_context(enable_metadata_routing=True):
        result = cross_validate(
            RidgeClassifier(),
            X,
            Y,
            cv=MultilabelStratifiedKFold(2),
            params={"groups": groups},
            return_indices=True,
        )
    assert all(
        not set(groups[train]) & set(groups[test])
        for train, test in zip(*result["indices"].values(), strict=True)
    )


def test_camel_takes_the_splitters(rng):
    Y = simulated(rng, n=60, q=4, least=0.2)
    X = rng.normal(size=(60, 3)) + Y[:, :3]
    model = CamelClassifierCV(
        alphas=(0, 0.5), lambda2s=(0.1,), cv=MultilabelStratifiedKFold(3)
    ).fit(X, Y)
    assert "split2_test_score" in model.cv_results_

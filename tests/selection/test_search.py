"""One pass over the candidates: the best of each criterion is kept with its scores and its solution."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skcamel import CamelClassifier
from skcamel.camel import correlation
from skcamel.camel.representation import Data, Grid, represent
from skcamel.camel.search import search
from skcamel.metrics import LOSSES, NAMES, evaluate

GRID = Grid(
    (0.0, 0.4, 0.8),
    (1.0,),
    (0.01, 0.1, 1.0),
    tuple(product(("none", "standard"), ("rbf", "laplacian"), (0.5, 1.0))),
)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(60, 5)) > 0.8).astype(int)
    Y[:3] = np.eye(3, 5)
    return Data(X, np.where(Y > 0, 1.0, -1.0), np.ones(60))


def searched(data, grid, criterion, **options):
    return search(
        represent(data, grid, None), grid, correlation.learn(data.Y).S, criterion, **options
    )


@pytest.mark.parametrize("criterion", NAMES)
def test_the_winner_leads_the_table_and_keeps_its_scores_and_solution(data, criterion):
    found = searched(data, GRID, criterion)
    (best,) = found.models
    sign = -1 if criterion in LOSSES else 1
    place = np.argmax([sign * values[criterion] for values in found.metrics])
    assert best.params == found.params[place]
    values = evaluate(data.Y, best.scores, best.scores > 0)
    assert values == pytest.approx(found.metrics[place], abs=1e-12)
    model = CamelClassifier(**best.params).fit(data.X, data.Y)
    assert_allclose(best.solution.dual_coef, model.dual_coef_, atol=1e-9)


def test_members_have_the_least_squared_error_of_each_representation(data):
    found = searched(data, GRID, "average_precision", combine=True)
    assert len(found.models) == len(GRID.places) == 8
    width = len(found.params) // len(GRID.places)
    for k, member in enumerate(found.models):
        errors = {}
        for index in range(k * width, (k + 1) * width):
            if found.params[index]["alpha"] <= 0.5:
                (one,) = searched(data, GRID.only(index), "average_precision").models
                errors[index] = ((one.scores - data.Y) ** 2).sum()
        assert member.params == found.params[min(errors, key=errors.__getitem__)]

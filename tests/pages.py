"""Models and data for tests of pages, made up: some with names that would be dangerous as markup."""

from functools import cache

import numpy as np

from skcamel import CamelClassifier
from skcamel.data import Dataset

NASTY = (
    "<script>window.ran = true</script>",
    '"><img src=x onerror="window.ran = true">',
    "</script><!-- ' & \\",
    "=1+1",
    "日本 «labels», a comma and a rather long name that must be cut",
    "{{ 7 * 7 }}",
)


@cache
def data(q: int, n: int, d: int = 12, names: tuple[str, ...] = ()) -> Dataset:
    """Rows whose labels depend on features and on each other."""
    rng = np.random.default_rng(q)
    X = rng.normal(size=(n, d))
    hidden = X @ rng.normal(size=(d, q)) + rng.normal(size=(n, q))
    hidden[:, 1:] += 0.8 * hidden[:, :-1]
    cuts = np.quantile(hidden, rng.uniform(0.6, 0.9, q), axis=0).diagonal()
    return Dataset(X, hidden > cuts, label_names=names or tuple(f"label {j + 1}" for j in range(q)), name="made up")


@cache
def model(q: int, n: int, d: int = 12, names: tuple[str, ...] = (), **parameters: object) -> CamelClassifier:
    """A model of the first n of the rows."""
    given = data(q, 2 * n, d, names)
    settings = {"scaling": "standard", "threshold": "label"} | parameters
    return CamelClassifier(**settings).fit(given.X[:n], given.labels[:n])


@cache
def new_rows(q: int, n: int, d: int = 12, names: tuple[str, ...] = ()) -> Dataset:
    """The other n rows."""
    given = data(q, 2 * n, d, names)
    return Dataset(given.X[n:], given.Y[n:], label_names=given.label_names, name=given.name)


def gaps(q: int, n: int, d: int = 12, names: tuple[str, ...] = ()) -> Dataset:
    """The same; nobody knows the labels of the first of them."""
    rows = new_rows(q, n, d, names)
    Y = rows.Y.astype(float)
    Y[0] = np.nan
    return Dataset(rows.X, Y, label_names=rows.label_names, name=rows.name)

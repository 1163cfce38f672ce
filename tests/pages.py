"""Models and data for tests of pages: some with names that would be dangerous as markup."""

import html
import re
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


def sections(text: str) -> list[str]:
    """Names of the sections of a page."""
    return re.findall(r'<section id="(\w+)"', text)


def option(text: str, name: str) -> str:
    """One of the things of which a reader of a page chooses."""
    found = re.search(rf'id="{re.escape(name)}">(.*?)(<div class="option"|</section>)', text, re.S)
    assert found
    return found[1]


def cells(text: str, title: str) -> list[list[tuple[str, bool]]]:
    """Rows of the first table of this title: the text of each cell, and whether it is bold."""
    part = text.partition(f'<table class="sortable" aria-label="{title}"')[2]
    body = part.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", row) for row in body.split("</tr>")[:-1]]
    return [
        [(html.unescape(re.sub("<[^>]*>", "", cell)), "best" in kind) for kind, cell in row]
        for row in rows
    ]


@cache
def data(q: int, n: int, d: int = 12, names: tuple[str, ...] = ()) -> Dataset:
    """Rows whose labels depend on features and on each other."""
    rng = np.random.default_rng(q)
    X = rng.normal(size=(n, d))
    hidden = X @ rng.normal(size=(d, q)) + rng.normal(size=(n, q))
    hidden[:, 1:] += 0.8 * hidden[:, :-1]
    cuts = np.quantile(hidden, rng.uniform(0.6, 0.9, q), axis=0).diagonal()
    return Dataset(
        X,
        hidden > cuts,
        label_names=names or tuple(f"label {j + 1}" for j in range(q)),
        name="made up",
    )


@cache
def model(
    q: int, n: int, d: int = 12, names: tuple[str, ...] = (), **parameters: object
) -> CamelClassifier:
    """A model of the first n of the rows."""
    given = data(q, 2 * n, d, names)
    settings = {"scaling": "standard", "threshold": "label"} | parameters
    return CamelClassifier(**settings).fit(given.X[:n], given.labels[:n])


@cache
def new_rows(q: int, n: int, d: int = 12, names: tuple[str, ...] = ()) -> Dataset:
    """The other n rows."""
    given = data(q, 2 * n, d, names)
    return Dataset(given.X[n:], given.Y[n:], label_names=given.label_names, name=given.name)


def table() -> tuple[object, tuple[object, object]]:
    """A model of a table of 40 columns, with text and money, and the rows and labels of its fit."""
    import pandas as pd

    from skcamel.data import TablePreparer
    from skcamel.data.pipeline import LabelPipeline

    given = data(4, 80)
    columns = {f"column_number_{j}_with_a_name": given.X[:, j % given.d] + j for j in range(38)}
    said = np.where(given.X[:, 0] > 0, "sun and sea", "rain in the mountains")
    frame = pd.DataFrame(
        columns | {"said": said, "paid": [f"${abs(x):,.2f}" for x in 900 * given.X[:, 1]]}
    )
    steps = [("prepare", TablePreparer()), ("classify", CamelClassifier(threshold="macro_f1"))]
    return LabelPipeline(steps).fit(frame, given.labels), (frame, given.labels)

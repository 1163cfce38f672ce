"""Pieces of a preparation as people build it by hand with scikit-learn."""

import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)

Part = tuple[str, TransformerMixin]  # the kind of some columns, and their preparation


def prepared(*parts: tuple[Part, str | list[str]]) -> ColumnTransformer:
    """The parts side by side, dense, named by their kinds; other columns are left out."""
    steps = [(f"{kind} {k}", step, names) for k, ((kind, step), names) in enumerate(parts)]
    return ColumnTransformer(steps, sparse_threshold=0)


def number(parse: Callable[[object], float] | None = None, *, skewed: bool = False) -> Part:
    """Numbers: parsed, of variance 1, then gaps filled by the median and marked."""
    ranks = QuantileTransformer(n_quantiles=50, output_distribution="normal")
    steps = [] if parse is None else [FunctionTransformer(partial(_each, parse))]
    steps += [ranks if skewed else StandardScaler()]
    return "number", make_pipeline(*steps, SimpleImputer(strategy="median", add_indicator=True))


def category() -> Part:
    """A 0/1 column for each value that is not rare, gaps too."""
    return "category", OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=4)


def flag(yes: Sequence[object] = ("yes", "True", True, "ja", "Y")) -> Part:
    """1 for yes, 0 for no; gaps marked."""
    return "flag", number(lambda cell: np.nan if pd.isna(cell) else float(cell in yes))[1]


def text(word: str = r"(?u)\b\w\w+\b") -> Part:
    """Words that come twice or more, weighted by their rarity; `word` is their pattern."""
    weights = TfidfVectorizer(token_pattern=word, sublinear_tf=True, min_df=2, stop_words="english")
    filled, larger = FunctionTransformer(_filled), FunctionTransformer(_times_two)
    return "text", make_pipeline(filled, weights, larger)


def tags(separator: str) -> Part:
    """A 0/1 column for each value in a cell of several."""
    split = re.compile(rf"\s*{re.escape(separator)}\s*").split
    items = CountVectorizer(tokenizer=split, token_pattern=None, binary=True)
    return "tags", make_pipeline(FunctionTransformer(_filled), items)


def date(form: str | None = None) -> Part:
    """Time since the first, and where a day stands in its year and week and an hour in its day."""
    parts = FunctionTransformer(partial(_parts_of_dates, form=form))
    return "date", make_pipeline(parts, StandardScaler(), SimpleImputer())


def amount(cell: object, *, thousands: str = ",", decimal: str = ".") -> float:
    """A number with whatever people write around it.

    Examples
    --------
    >>> amount("$1,234.50"), amount("(1,234)"), amount("1'234.50", thousands="'")
    (1234.5, -1234.0, 1234.5)
    >>> amount("unknown"), amount("-"), amount(None), amount(3)
    (nan, nan, nan, 3.0)
    """
    if not isinstance(cell, str):
        return np.nan if pd.isna(cell) else float(cell)
    found = re.search(r"-?\d+(\.\d+)?", cell.replace(thousands, "").replace(decimal, "."))
    return np.nan if found is None else float(found[0]) * (-1 if cell.startswith("(") else 1)


def _each(parse: Callable[[object], float], frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(object).map(parse).astype(float)


def _filled(column: pd.Series) -> pd.Series:
    return column.fillna("")


def _times_two(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """Rows of length 2: beside numbers of variance 1, a text of length 1 would hardly count."""
    return 2 * X


def _parts_of_dates(frame: pd.DataFrame, form: str | None) -> np.ndarray:
    """Columns (n, 7) of the one date in `frame`."""
    when = pd.to_datetime(frame.iloc[:, 0], format=form)
    seconds = (when - pd.Timestamp("2000-01-01")).dt.total_seconds()
    parts = [seconds]
    for position in (when.dt.day_of_year / 365.25, when.dt.day_of_week / 7, when.dt.hour / 24):
        parts += [np.sin(2 * np.pi * position), np.cos(2 * np.pi * position)]
    return np.column_stack(parts)

"""Seeded cells: words, gaps, and labels that follow from scores."""

import zlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

FILLER = (
    "the a of with and for this that very our some please when from about into more each "
    "new old small thing part day way made used found needs good case point number week place"
)


def generator(name: str) -> np.random.Generator:
    """A generator that depends on the name of the table alone."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def truth(
    rng: np.random.Generator, *scores: np.ndarray, share: float = 0.35, noise: float = 0.4
) -> np.ndarray:
    """Labels (n, q): the share of rows with the highest scores (n,), under some noise."""
    Z = np.column_stack([(score - np.mean(score)) / np.std(score) for score in scores])
    Z += noise * rng.normal(size=Z.shape)
    return (np.quantile(Z, 1 - share, axis=0) < Z).astype(np.int64)


def topics(rng: np.random.Generator, n: int, k: int, share: float = 0.35) -> np.ndarray:
    """Which of k topics (n, k) each text is about, as 0.0 and 1.0."""
    return (rng.random((n, k)) < share).astype(float)


def sentences(
    rng: np.random.Generator,
    about: np.ndarray,
    words: Sequence[str],
    *,
    filler: str = FILLER,
    length: tuple[int, int] = (4, 10),
) -> list[str]:
    """A text for each row of `about` (n, k): some words of each of its topics among others."""
    vocabularies = [own.split() for own in words]
    texts = []
    for row in about:
        own = list(rng.choice(filler.split(), rng.integers(*length)))
        for topic in np.flatnonzero(row):
            own += list(rng.choice(vocabularies[topic], rng.integers(1, 4)))
        texts.append(" ".join(rng.permutation(own)).capitalize())
    return texts


def gaps(rng: np.random.Generator, cells: Iterable, share: float) -> list:
    """The cells, some of them missing."""
    return [None if rng.random() < share else cell for cell in cells]


def written(template: str, numbers: Iterable[float]) -> list[str]:
    """Numbers as text."""
    return [template.format(number) for number in numbers]


def days(
    rng: np.random.Generator, n: int, start: str = "2021-01-01", span: int = 1200
) -> pd.DatetimeIndex:
    """Days within `span` days from `start`."""
    return pd.Timestamp(start) + pd.to_timedelta(rng.integers(0, span, n), unit="D")


def minutes(rng: np.random.Generator, n: int) -> pd.TimedeltaIndex:
    """Times of day."""
    return pd.to_timedelta(rng.integers(0, 24 * 60, n), unit="min")


def spoiling(
    unseen: dict[str, str], gappy: Sequence[str]
) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """A function that puts unseen values into every tenth row, and gaps into every eighth."""

    def spoil(cells: pd.DataFrame) -> pd.DataFrame:
        for column, value in unseen.items():
            cells.loc[cells.index[::10], column] = value
        for column in gappy:
            cells.loc[cells.index[::8], column] = None
        return cells

    return spoil

"""Rules that turn the leave-one-out scores of many candidates into one model: what they gain, and whether they follow noise.

Every candidate (representation, α, λ2) of a training part is scored once, by exact leave-one-out and on the held-out rows, and all rules
read the same numbers. Small sets are 60, 110 and 220 rows of public and made sets, large ones three folds of the public sets.
``python -m benchmarks.combination --repeats 20 --seeds 2 --jobs 16`` prints such tables as those of benchmarks/combination.md.

The rule that holds is `RULE`. Of each representation it takes the candidate with the least leave-one-out squared error among those with
α ≤ ½, and forms ȳ + Σ_r w_r (f_r(x) - ȳ), where w ≥ 0 minimises the leave-one-out squared error of that sum. Where weights learned on
other rows leave it a standard error below the faithful candidate in average precision, that candidate stays. Leave-one-out holds S and
the scaling, and refits show where this flatters (60 rows; held, learned anew): α = 1 on medical, average precision .706 and .621, for
S knows a label of few rows from the row itself; "standard" on sparse business, .842 and .627, for a column that few rows fill varies
far less without the row. Hence the two limits: α ≤ ½, and no "standard" on sparse rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from benchmarks.machine import Row, at_least, at_most
from benchmarks.small_sets import SIZES, jobs, load
from skcamel import PAPER_ALPHAS, PAPER_LAMBDA2S, correlation
from skcamel.metrics.ranking import ranking_metrics, ranking_rows
from skcamel.selection.combination import Judge
from skcamel.selection.representation import Data, Grid, label_bases, represent
from skcamel.solve import spectral

REPRESENTATIONS = (
    "none rbf 1, none laplacian .5, standard rbf 1, standard laplacian .5, standard laplacian 1, standard linear 1, minmax laplacian .5, "
    "unit rbf .5, unit laplacian .5, unit linear 1, rank laplacian .5, rank laplacian 1"
)
LAMBDA2S = (*PAPER_LAMBDA2S, 10.0)
PRINTED = np.tile(np.array(LAMBDA2S) <= 1, len(PAPER_ALPHAS))  # candidates of the paper's grid
ALPHAS = np.repeat(PAPER_ALPHAS, len(LAMBDA2S))  # of the candidates of a representation
LARGE = {"emotions": 0.833, "scene": 0.911, "yeast": 0.777, "image": 0.859, "medical": 0.900, "enron": 0.719}  # references
RULE, LINKED, PLAIN, SINGLE = "combined", "combined, log-odds where better", "faithful", "single best, average precision"


class Part(NamedTuple):
    """A training part with R representations of C candidates each, and its test part."""

    Y: np.ndarray  # (n, q) in {-1, +1}
    loo: np.ndarray  # (R, C, n, q)
    held: np.ndarray  # (R, C, m, q)
    precision: np.ndarray  # (R, C) leave-one-out average precision
    error: np.ndarray  # (R, C) leave-one-out squared error
    trusted: np.ndarray  # (R,) bool: not "standard" on sparse rows

    @property
    def means(self) -> np.ndarray:
        """Label means without the row itself, (n, q): the leave-one-out scores of the model that knows no features."""
        return (self.Y.sum(axis=0) - self.Y) / (len(self.Y) - 1)


class Members(NamedTuple):
    """One candidate of each representation, (R, n, q) and (R, m, q); or one alone, (n, q) and (m, q)."""

    loo: np.ndarray
    held: np.ndarray


def score(name: str, train: np.ndarray, test: np.ndarray) -> Part:
    """Every candidate of every representation, on the training part left out one by one and on the test part."""
    X, labels = load(name)
    Y = 2.0 * labels[train] - 1
    bases = label_bases(correlation.learn(Y).S, PAPER_ALPHAS)
    loo, held, trusted = [], [], []
    for scaling, kernel, multiple in map(str.split, REPRESENTATIONS.split(",")):
        if scaling == "rank" and sparse.issparse(X):
            continue
        grid = Grid(PAPER_ALPHAS, (1.0,), LAMBDA2S, ((scaling, kernel, float(multiple)),))
        ((representation, spectrum),) = represent(Data(X[train], Y, None), grid, None)
        unit = float(spectrum.values.sum()) / len(Y) if kernel == "linear" else 1.0
        penalties = [(1.0, unit * lambda2) for lambda2 in LAMBDA2S]
        targets = spectral.project(spectrum, Y)
        loo.append([F for _, _, F in spectral.leave_one_out(spectrum, targets, bases, penalties)])
        trusted.append(scaling != "standard" or not sparse.issparse(X))
        K = representation.kernel_rows(X[test], None)
        held.append([F for _, _, F in spectral.held_out(spectrum, targets, bases, penalties, K)])
    F = np.array(loo)
    precision = [[precisions(Y > 0, scores).mean() for scores in own] for own in F]
    error = [[np.mean((scores - Y) ** 2) for scores in own] for own in F]
    return Part(Y, F, np.array(held), np.array(precision), np.array(error), np.array(trusted))


def precisions(relevant: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Average precision of each row that has some but not all labels."""
    counted = relevant.any(axis=1) & ~relevant.all(axis=1)
    return ranking_rows(relevant[counted], scores[counted])["average_precision"]


def best(part: Part, badness: np.ndarray, most: float = 0.5, *, how_many: int = 1, trusted: bool = True) -> Members:
    """Of each representation the candidate with the least badness (R, C) and α ≤ `most`, or the mean of a few."""
    order = np.argsort(np.where(most >= ALPHAS, badness, np.inf), axis=1, kind="stable")[:, :how_many]
    used = np.flatnonzero(part.trusted) if trusted else range(len(order))
    return Members(*(np.array([F[r][order[r]].mean(axis=0) for r in used]) for F in (part.loo, part.held)))


def single(part: Part, badness: np.ndarray) -> Members:
    """The one candidate with the least badness."""
    r, k = np.unravel_index(np.argmin(badness), badness.shape)
    return Members(part.loo[r, k], part.held[r, k])


def faithful(part: Part) -> Members:
    """The paper's representation and grid, chosen by average precision."""
    return single(part, np.where(PRINTED, -part.precision[:1], np.inf))


def weights(F: np.ndarray, Y: np.ndarray, towards: float = 0.0) -> np.ndarray:
    """Weights w ≥ 0 that minimise ||Y - Σ w_r F_r||², F (R, n, q); drawn to equal ones as if by more rows."""
    R, rows = len(F), F.reshape(len(F), -1)
    gram, target = rows @ rows.T, rows @ Y.ravel()
    scale = float(np.trace(gram)) / R
    if scale == 0:
        return np.zeros(R)
    ridge = scale * towards / len(Y)
    root = np.linalg.cholesky(gram + (ridge + 1e-10 * scale) * np.eye(R))  # members that are equal share their weight
    return nnls(root.T, solve_triangular(root, target + ridge / R, lower=True))[0]


def plain(part: Part, members: Members) -> np.ndarray:
    return np.tensordot(weights(members.loo, part.Y), members.held, 1)


def deviations(part: Part, members: Members, towards: float = 0.0) -> np.ndarray:
    mean = part.Y.mean(axis=0)
    w = weights(members.loo - part.means, part.Y - part.means, towards)
    return mean + np.tensordot(w, members.held - mean, 1)


def judged(part: Part, rival: Members, errors: float) -> Members:
    """The rival where its leave-one-out average precision exceeds the faithful one by some standard errors, else that one."""
    known = faithful(part)
    gain = precisions(part.Y > 0, rival.loo) - precisions(part.Y > 0, known.loo)
    return rival if gain.mean() > errors * gain.std(ddof=1) / len(gain) ** 0.5 else known


def linked(part: Part, chosen: Members) -> np.ndarray:
    """Log-odds in place of scores where these rank labels better, on training rows that did not set them."""
    link = Judge(part.Y).link(chosen.loo)
    return chosen.held if link is None else link[0] * chosen.held + link[1]


def cross_fitted(part: Part, members: Members) -> Members:
    """`deviations`, on the training rows with weights that other rows set, in five groups."""
    group = np.random.default_rng(0).permutation(len(part.Y)) % 5
    combined, F, Y = np.empty_like(part.Y), members.loo - part.means, part.Y - part.means
    for g in range(5):
        here = group == g
        combined[here] = part.means[here] + np.tensordot(weights(F[:, ~here], Y[~here]), F[:, here], 1)
    return Members(combined, deviations(part, members))


RULES: dict[str, Callable[[Part], np.ndarray]] = {
    PLAIN: lambda p: faithful(p).held,
    SINGLE: lambda p: single(p, -p.precision).held,
    "single best, squared error": lambda p: single(p, p.error).held,
    "single best, limits": lambda p: single(p, np.where(p.trusted[:, None] & (ALPHAS <= 0.5), -p.precision, 1)).held,
    "single best if a standard error above faithful": lambda p: judged(p, single(p, -p.precision), 1).held,
    "mean, squared error, limits": lambda p: best(p, p.error).held.mean(axis=0),
    "Σ w f, average precision": lambda p: plain(p, best(p, -p.precision, 1, trusted=False)),
    "Σ w f, squared error": lambda p: plain(p, best(p, p.error, 1, trusted=False)),
    "Σ w f, squared error, limits": lambda p: plain(p, best(p, p.error)),
    "ȳ + Σ w (f - ȳ), squared error": lambda p: deviations(p, best(p, p.error, 1, trusted=False)),
    "… with α ≤ ½ alone": lambda p: deviations(p, best(p, p.error, trusted=False)),
    "… without standard on sparse rows alone": lambda p: deviations(p, best(p, p.error, 1)),
    "… with both limits": lambda p: deviations(p, best(p, p.error)),
    "… and α = 0": lambda p: deviations(p, best(p, p.error, 0)),
    "… and average precision in place of squared error": lambda p: deviations(p, best(p, -p.precision)),
    "… and means of the 5 best": lambda p: deviations(p, best(p, p.error, how_many=5)),
    "… and drawn to equal weights by 30 rows": lambda p: deviations(p, best(p, p.error), 30),
    "… unless two standard errors below faithful": lambda p: judged(p, cross_fitted(p, best(p, p.error)), -2).held,
    RULE: lambda p: judged(p, cross_fitted(p, best(p, p.error)), -1).held,
    LINKED: lambda p: linked(p, judged(p, cross_fitted(p, best(p, p.error)), -1)),
}


def measured(job: tuple[str, str, np.ndarray, np.ndarray]) -> list[tuple[float, ...]]:
    """Average precision, Hamming loss with the cut 0, and one-error on the test part, of every rule."""
    name, _, train, test = job
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # defects of the public files are known
        part, relevant = score(name, train, test), load(name)[1][test] > 0
    results = []
    for scores in (rule(part) for rule in RULES.values()):
        ranked = ranking_metrics(relevant, scores)
        results.append((ranked["average_precision"], float(np.mean((scores > 0) != relevant)), ranked["one_error"]))
    return results


def measure(repeats: int, seeds: int, n_jobs: int) -> dict[tuple[str, str], np.ndarray]:
    """The metrics of each set and kind, (repeats, rules, 3)."""
    todo = list(jobs(LARGE, repeats, seeds))
    found: dict[tuple[str, str], list[list[tuple[float, ...]]]] = defaultdict(list)
    with ProcessPoolExecutor(n_jobs) as pool:
        for (name, kind, _, _), results in zip(todo, pool.map(measured, todo), strict=True):
            found[name, kind].append(results)
    return {key: np.array(results) for key, results in found.items()}


def table(found: Sequence[np.ndarray]) -> Iterator[str]:
    """A line for each rule: means over the sets, and on how many it differs from the faithful and the single best candidate."""
    yield "| rule | average precision | Hamming loss | one-error | worse than faithful by .002 | worst | better by .002 | : single best |"
    yield "|---|---|---|---|---|---|---|---|"
    means = np.array([values.mean(axis=0) for values in found])  # (sets, rules, 3)
    for k, rule in enumerate(RULES):
        gain, against = (means[:, k, 0] - means[:, list(RULES).index(other), 0] for other in (PLAIN, SINGLE))
        shown = " | ".join(f"{value:.4f}" for value in means[:, k].mean(axis=0))
        wins = f"{(against > 0.001).sum()} : {(against < -0.001).sum()}"
        yield f"| {rule} | {shown} | {(gain < -0.002).sum()} of {len(gain)} | {gain.min():+.4f} | {(gain > 0.002).sum()} | {wins} |"


def run() -> list[Row]:
    found, names = measure(repeats=5, seeds=1, n_jobs=2), list(RULES)
    precision = {key: values[:, names.index(RULE), 0] for key, values in found.items()}
    gains = [precision[key] - values[:, names.index(PLAIN), 0] for key, values in found.items() if "rows" in key[1]]
    worse = sum(gain.mean() + 2 * gain.std(ddof=1) / len(gain) ** 0.5 < -0.002 for gain in gains)
    large = [at_least(name, own.mean(), LARGE[name] - 0.001, "") for (name, kind), own in precision.items() if "folds" in kind]
    return [*large, at_most(f"small sets of {len(gains)}: combined worse than faithful by .002 and 2 standard errors", worse, 0, "")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Rules of combination, compared on the same candidates.")
    for option, default in (("repeats", 5), ("seeds", 1), ("jobs", 2)):
        parser.add_argument(f"--{option}", type=int, default=default)
    asked = parser.parse_args()
    everything = measure(asked.repeats, asked.seeds, asked.jobs)
    for word in (*(f"{n} rows" for n in SIZES), "rows", "folds"):
        chosen = [values for (_, kind), values in everything.items() if word in kind]
        print("\n".join([f"## {word}", "", *(table(chosen) if chosen else ()), ""]))

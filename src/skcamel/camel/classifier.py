""":class:`CamelClassifier`: a scikit-learn shell that checks, calls the core, and stores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from skcamel.arrays import Array, MaybeArray, Params
from skcamel.camel import alternating, distributed, kernel, landmark, link, stream, thresholds
from skcamel.camel.base import (
    BY_LEAVE_ONE_OUT,
    OF_EVERY_MODEL,
    OF_ONE_MODEL,
    BaseCamel,
    learn_correlation,
)
from skcamel.camel.representation import (
    Data,
    Grid,
    Problem,
    check_place,
    label_bases,
    represent,
    summed_up,
)
from skcamel.checks import Labels, check_number, unchanged_on_error

# by the first batch
FIXED = (
    "kernel",
    "bandwidth",
    "scaling",
    "solver",
    "n_landmarks",
    "landmarks",
    "device",
    "random_state",
)


def _keeps_sums(estimator: Any) -> bool:
    """Whether rows can be added; if not, why."""
    if estimator._is_pairwise():
        raise AttributeError(
            "partial_fit sums up features, and a kernel matrix has none; use fit with"
            " solver='spectral'."
        )
    if estimator.solver in ("alternating", "spectral"):
        raise AttributeError(
            f"solver={estimator.solver!r} keeps no sums to which partial_fit could add; use"
            " solver='landmark' or 'primal'."
        )
    return True


class CamelClassifier(BaseCamel):
    """Collaboration based multi-label learning: kernel ridge regression with related labels.

    The final score of a label is (1 - α) times its first score plus α times a sparse combination of
    those of other labels, learned from the labels (problem 3 of the paper). The training problem
    (equation 7) is solved for the final scores.

    Parameters
    ----------
    alpha : float in [0, 1], default=0.5
        Degree of collaboration; 0 makes labels independent.
    lambda1 : float > 0, default=1.0
        Weight of fitting the final predictions.
    lambda2 : float > 0, default=0.1
        Weight of the ridge penalty.
    kernel : {"rbf", "laplacian", "exponential", "linear", "precomputed"} or callable, default="rbf"
        A callable takes two row matrices and returns their kernel matrix.
    bandwidth : "mean" or float > 0, default="mean"
        σ of the radial kernels; "mean" is the mean distance between training rows, as in the paper.
    scaling : {"none", "standard", "minmax", "unit", "rank"}, default="none"
        Scaling of the features (of the rows for "unit"), learned in fit and stored with the model.
        "rank" replaces each value by the share of training rows below it (ties count half), linear
        in between, so that only the order within a column counts; it needs dense rows.
    sparsity : float > 0, default=0.01
        Penalty of the label correlation, as a share of the one that makes it vanish; the paper
        takes 0.01.
    correlation : {"paper", "centred"}, default="paper"
        Whether the label correlation is learned from labels in {-1, +1}, or from these minus their
        means. Centred labels push each other up where they go together and down where they avoid
        each other; scores are about as good.
    solver : {"auto", "spectral", "landmark", "primal", "alternating"}, default="auto"
        "spectral" is the exact closed form, with a matrix of n x n numbers, and alone takes unknown
        labels. "landmark" solves the same problem in the kernels with `n_landmarks` rows, "primal"
        for the linear kernel in the features themselves, which is exact; both take one pass over
        blocks of rows. For the linear kernel "landmark" is "primal" if there are no more features
        than landmarks, or 2,000. "auto" is "spectral" for at most 10,000 rows (40,000 on a GPU)
        whose matrices `max_memory` allows, else "landmark", with a warning; it does not depend on
        free memory. "alternating" is the paper's Algorithm 1.
    n_landmarks : int, default=1000
        Number of landmarks; time grows with its square. As many as rows give the exact solution.
    landmarks : {"uniform", "kmeans"} or array of shape (m, d), default="uniform"
        Rows drawn at random, centres of clusters, or the rows of an array. A sample of 20,000 rows
        gives landmarks, scaling and bandwidth. A centre is the mean of at least two different rows
        and equals none, so that the model holds no training row; there may be fewer centres than
        `n_landmarks`.
    max_memory : int or str, default=None
        Bytes that "landmark" and "primal" may take beside X and y, as a number or as "1GiB"; None:
        what is free.
    max_iter : int, default=10_000
        Most iterations of the label correlation and of the alternating solver.
    tol : float, default=1e-6
        Tolerance of both: KKT violation in units of the penalty, and ||ΔZ|| / ||Z||.
    scores : {"paper", "log_odds"}, default="paper"
        What `decision_function` returns: f(x)G as printed, or log-odds a_j f(x)G_j + b_j, whose
        slopes and offsets are fitted to leave-one-out scores, for each label and drawn to those of
        all. Log-odds rank labels better. Their sigmoid is `predict_proba` in both cases.
    threshold : str, float or array of shape (q,), default="zero"
        A label is predicted where its score exceeds its threshold: 0 ("zero", as in the paper);
        that which is best for "micro_f1", "macro_f1" or "hamming_loss" on leave-one-out scores,
        drawn for rare labels to the best one for all; or numbers.
    miss_cost : float > 0 or mapping from labels to such, default=None
        Cost of a missed label in false predictions: it is predicted from the probability 1 / (1 +
        cost) on. Labels that a mapping does not name follow `threshold`.
    device : str, default=None
        "cuda" computes on a GPU by torch; None on the CPU by numpy.
    random_state : int or RandomState, default=None
        Seed of landmarks, and of the sample that sets thresholds and probabilities where rows are
        summed up. None: 0, so that fits repeat.

    Attributes
    ----------
    label_correlation_ : array of shape (q, q)
        S; column j holds the labels that reconstruct label j.
    cooccurrence_, total_weight_ : array of shape (q, q) and float
        Number of training rows that have both labels, on the diagonal that have the label, and of
        all; weights count.
    known_together_ : array of shape (q, q)
        Number of training rows in which both labels are known; only where some are unknown.
    collaboration_ : array of shape (q, q)
        G = (1 - α) I + α S.
    dual_coef_, intercept_ : arrays of shape (n, q) and (q,)
        Scores are k(x) @ dual_coef_ + intercept_. There are m landmarks in place of n rows with
        solver="landmark", and d columns with solver="primal", where k(x) is the scaled row itself.
    A_, b_, Z_ : arrays of shape (n, q), (q,), (n, q)
        The paper's variables; Z_ only where there is a row for each training row.
    solver_ : {"spectral", "landmark", "primal", "alternating"}
        The solver that was used.
    bandwidth_ : float
        σ; 1 for kernels without one.
    scores_ : {"paper", "log_odds"}
        What `decision_function` gives: "paper" for more than two classes.
    thresholds_ : array of shape (q,)
        On the scale of `decision_function`.
    probability_thresholds_ : array of shape (q,)
        The same as probabilities.
    link_slopes_, link_offsets_ : arrays of shape (q,)
        Log-odds are ``link_slopes_ * scores + link_offsets_`` with the printed scores.
    set_thresholds_ : SetThresholds
        Thresholds on probabilities for `predict_sets`.
    estimate_ : dict
        The seven metrics by leave-one-out.
    label_estimates_ : dict of arrays of shape (q,)
        The same for each label: rows, positives, precision, recall and f1.
    n_judged_ : int
        Rows whose leave-one-out scores set thresholds and probabilities: all, or a sample with
        solver="landmark" or "primal".
    n_iter_ : int
        Alternations; 1 for the direct solver, or its rounds where labels are unknown.
    convergence_ : array of shape (n_iter_,)
        ||ΔZ|| of each alternation; only with the alternating solver.
    label_names_ : array of shape (q,)
    classes_ : array
        ``arange(q)`` for label matrices, the classes of a 1-d y.
    X_fit_ : array or CSR matrix of shape (n, d)
        Training rows, or landmarks, scaled; None for a precomputed kernel and for solver="primal".
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where labels are unknown, the term of λ1 counts known entries alone, and the model is the exact
    minimum of that. S comes from the rows in which both labels are known. Thresholds and
    probabilities count known entries; the leave-one-out scores behind them are exact but for the
    effect of a row on what the unknown entries of other rows are filled with, which is accounted
    for on average.

    A row without any known label helps to scale the features, and sets σ and the average row; else
    nothing depends on it. A label without any known row has the score 0 and the probability ½, is
    not predicted, and takes no part in the collaboration.

    See Also
    --------
    skcamel.CamelClassifierCV : chooses alpha, lambda2 and more by exact leave-one-out.

    References
    ----------
    L. Feng, B. An, S. He: Collaboration based Multi-Label Learning. AAAI 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=3, random_state=0)
    >>> model = CamelClassifier(alpha=0.3, scaling="standard").fit(X[:80], Y[:80])
    >>> model.predict(X[80:]).shape, model.label_sets(X[80:82])
    ((20, 3), [('label1', 'label2', 'label3'), ('label2',)])
    >>> unknown = np.random.default_rng(0).random(Y.shape) < 0.4
    >>> partly = np.where(unknown, np.nan, Y)  # 40 % of the labels are missing
    >>> model.fit(X[:80], partly[:80]).label_sets(X[80:82])
    [('label1', 'label2', 'label3'), ('label2', 'label3')]
    """

    stored: ClassVar[Params] = OF_EVERY_MODEL | OF_ONE_MODEL

    def __init__(
        self,
        alpha: float = 0.5,
        lambda1: float = 1.0,
        lambda2: float = 0.1,
        *,
        kernel: kernel.Name = "rbf",
        bandwidth: float | str = "mean",
        scaling: str = "none",
        sparsity: float = 0.01,
        correlation: str = "paper",
        solver: str = "auto",
        n_landmarks: int = 1000,
        landmarks: str | Array = "uniform",
        max_memory: int | str | None = None,
        max_iter: int = 10_000,
        tol: float = 1e-6,
        scores: str = "paper",
        threshold: float | str | Array = "zero",
        miss_cost: float | dict[str, float] | None = None,
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.scaling = scaling
        self.sparsity = sparsity
        self.correlation = correlation
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.max_memory = max_memory
        self.max_iter = max_iter
        self.tol = tol
        self.scores = scores
        self.threshold = threshold
        self.miss_cost = miss_cost
        self.device = device
        self.random_state = random_state

    def _is_pairwise(self) -> bool:
        return self.kernel == "precomputed"

    def fit(
        self, X: Array, y: Array, sample_weight: MaybeArray = None, groups: MaybeArray = None
    ) -> Self:
        """Learn label correlations and the classifier.

        Parameters
        ----------
        X : array, CSR matrix, frame or tensor of shape (n, d)
            The kernel matrix (n, n) for kernel="precomputed".
        y : array, sparse matrix, frame or tensor of shape (n, q)
            Labels Y in {0, 1} or {-1, +1}, NaN where unknown; column names of a frame become label
            names. A 1-d y of classes is accepted too.
        sample_weight : array of shape (n,), default=None
            An integer weight equals that many copies of the row.
        groups : array of shape (n,), default=None
            Rows that belong together, such as those of one person: they are left out together
            wherever rows are left out, which decides about thresholds, probabilities, prediction
            sets and estimates, and not about the scores. A group leaves with all its weight.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            self._reset()
            data, labels = self._checked(X, y, sample_weight, groups)
            data = data.with_weight()
            S = learn_correlation(self, data)
            if self.solver == "alternating":
                model = alternating.fit(self, data, S)
                at = thresholds.thresholds(self.threshold, data.Y > 0, data.Y)
                self._store(model, S, {"thresholds_": at}, labels)
            else:
                (problem,) = represent(data, self._grid(), self.device)
                self._solve(problem, S, labels)
        return self

    def _solve(self, problem: Problem, S: Array, labels: Labels) -> None:
        """Store the solution for the only candidate."""
        model = problem.solve(label_bases(S, (self.alpha,), self.device))
        decisions = link.learn_decisions(self, problem.data, labels, model.scores)
        self._store(model, S, decisions, labels)

    def _grid(self) -> Grid:
        """The one candidate."""
        bandwidth = None
        if not isinstance(self.bandwidth, str):
            bandwidth = float(self.bandwidth)
        place = (self.scaling, self.kernel, 1.0)
        return Grid((self.alpha,), (self.lambda1,), (self.lambda2,), (place,), bandwidth, False)

    @available_if(_keeps_sums)
    def partial_fit(
        self,
        X: Array,
        y: Array,
        classes: MaybeArray = None,
        sample_weight: MaybeArray = None,
        *,
        solve: bool = True,
    ) -> Self:
        """Learn from some rows in addition to those of earlier calls, by sums over rows.

        It needs solver="landmark" or "primal".

        The first call fixes landmarks, bandwidth and scaling by its rows, so it should have
        thousands of typical ones; landmarks and bandwidth may also be parameters. From then on
        these parameters must stay as they are, while others such as `lambda2` may change, and it
        does not matter in which batches rows come: all give the model of one fit on all of them,
        thresholds and probabilities included, but for rounding. If a call fails, it changes
        nothing.

        Parameters
        ----------
        X : array, CSR matrix, frame or tensor of shape (n, d)
        y : array, sparse matrix, frame or tensor of shape (n, q), or a 1-d y of classes
            All labels known.
        classes : array, default=None
            All classes of a 1-d y, if the first batch may lack some.
        sample_weight : array of shape (n,), default=None
        solve : bool, default=True
            Whether to update the model. To solve takes as long as to add thousands of rows, so for
            small batches give False for all but the last.

        Returns
        -------
        self

        Notes
        -----
        The sums hold m x m numbers for m landmarks, and the model a sample of 10,000 rows beside
        them. Neither goes into a model file: a model that was loaded predicts, and a call of
        partial_fit starts anew, as it does after `fit`.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> X, Y = make_multilabel_classification(300, n_classes=3, random_state=0)
        >>> model = CamelClassifier(solver="landmark", n_landmarks=50, scaling="standard")
        >>> for batch in range(0, 300, 100):
        ...     model = model.partial_fit(X[batch : batch + 100], Y[batch : batch + 100])
        >>> model.total_weight_, model.predict(X[:5]).shape
        (300.0, (5, 3))
        """
        with unchanged_on_error(self):
            self._check_parameters()
            before: _Partial | None = getattr(self, "_stream", None)
            known = None
            if before is None:
                self._reset()
            else:
                known = before.labels
            batch, labels = distributed.batch(self, known, X, y, sample_weight, classes)
            by = distributed.streaming(self, batch.X.shape[1])
            fixed = {key: getattr(self, key) for key in FIXED}
            grid = self._grid()
            if before is not None:
                seen = before.under(by, fixed).add(batch)
            elif batch.Y.shape[0]:
                survey = by.survey(batch)
                started = stream.begin(
                    grid.places[0],
                    survey.sample,
                    by,
                    bandwidth=grid.bandwidth,
                    lambda2=self.lambda2,
                )
                seen = _Partial(started.add(batch), survey, labels, fixed)
            else:
                raise ValueError(
                    "All weights in sample_weight are zero, and no row came before; at least one"
                    " row must count."
                )
            if solve:
                data = Data(batch.X, batch.Y, np.empty(0), source=seen)
                self.cooccurrence_, self.total_weight_ = data.counts
                S = learn_correlation(self, data)
                self._solve(summed_up(seen.stream, data, grid), S, labels)
            self._stream = seen
        return self

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, 0, 1)
        check_number("lambda1", self.lambda1, above=True)
        check_number("lambda2", self.lambda2, above=True)
        bandwidth = self.bandwidth
        if isinstance(bandwidth, str) and bandwidth == "mean":
            bandwidth = 1.0
        check_place("bandwidth", (self.scaling, self.kernel, bandwidth), "or 'mean'")
        self._check_shared_parameters([self.kernel])
        if self.solver == "alternating":
            refused = {
                "threshold": thresholds.is_tuned(self.threshold),
                "scores": self.scores != "paper",
                "miss_cost": self.miss_cost is not None,
            }
            for name in refused:
                if refused[name]:
                    raise ValueError(f"{name}={getattr(self, name)!r} needs {BY_LEAVE_ONE_OUT}")


class _Partial(NamedTuple):
    """What partial_fit has seen."""

    stream: stream.Stream
    survey: stream.Survey
    labels: Labels  # of the first batch: names and classes
    fixed: Params  # parameters that cannot change any more

    def under(self, by: stream.Streaming, fixed: Params) -> _Partial:
        """The same with the memory that is allowed now; no parameter may change that is fixed."""
        for key, value in fixed.items():
            if not np.array_equal(value, self.fixed[key]):
                raise ValueError(
                    f"{key} has changed since the first batch, which fixed it; set it back, or take"
                    " a clone to start anew."
                )
        return self._replace(stream=replace(self.stream, by=replace(by, seed=self.stream.by.seed)))

    def add(self, batch: landmark.Block) -> _Partial:
        """With another batch; this one stays as it is."""
        if not batch.Y.shape[0]:
            return self
        numbered = batch._replace(first=self.survey.n_rows)
        survey = self.survey.plus(self.stream.by.survey(numbered))
        return self._replace(survey=survey, stream=self.stream.add(batch))

"""What runs in a study: CAMEL, the five methods of the paper's comparison, four of scikit-learn, and any estimator of one's own."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from skcamel.arrays import Array
from skcamel.baselines.base import class_one
from skcamel.camel.classifier import CamelClassifier
from skcamel.camel.classifier_cv import CamelClassifierCV
from skcamel.camel.outputs import MultiLabelClassifier, Outputs
from skcamel.camel.thresholds import METRICS as DECISION
from skcamel.checks import choice
from skcamel.experiment.identity import described, jsonable
from skcamel.experiment.paper import METHOD_TITLES, PAPER_METHODS, PRESETS
from skcamel.metrics.conventions import NAMES

FOLDS = {"quick": 3, "paper": 10, "best": 10}  # outer folds of each preset
THRESHOLDS = {
    "quick": "zero",
    "paper": "zero",
    "best": "micro_f1",
}  # threshold of all methods but CAMEL, whose presets have it
TREES = 500
VERSION = 2  # of what CAMEL computes from the same parameters: to be raised when its results change
FORM = "name=package.module:Class(arg=1)"  # how the command line names a method to import
ONE_LABEL = re.compile(
    "1d array|[Mm]ulti-?label"
)  # what estimators of a single label say of a matrix
# what a text names: package.module:Class(arg=1), where arguments are Python literals; nothing is
# executed but the import and the one call
SPEC = re.compile(
    r"(?:(?P<name>[^=:()]+)=)?(?P<place>.+?):(?P<attribute>[^\W\d]\w*)(?P<call>\(.*\))?", re.DOTALL
)
WHERE_NOT_WHAT = (
    "device",
    "callback",
    "random_state",
)  # parameters of CAMEL that decide about no result, or that the seed sets


class Outcome(NamedTuple):
    """Scores and decisions for the test rows, and the hyper-parameters that gave them; probabilities where a method has some."""

    scores: np.ndarray  # (m, q)
    decisions: np.ndarray  # (m, q) of 0 and 1
    params: dict[str, Any]
    probabilities: np.ndarray | Callable[[], np.ndarray] | None = (
        None  # (m, q); a function is called only if a metric needs them
    )

    def given_probabilities(self) -> np.ndarray | None:
        """The probabilities, computed now if need be."""
        return self.probabilities() if callable(self.probabilities) else self.probabilities


class Fitted(Protocol):
    """A method that has learned."""

    def outcomes(self, X: Array) -> Mapping[str, Outcome]:
        """Outcome for each selection criterion; ``{"": outcome}`` where nothing is selected."""
        ...


@runtime_checkable
class Method(Protocol):
    """A method of a study; anything with these three can be given to `run_study`.

    `settings` holds what distinguishes this method from others of its name, ready for JSON: it is
    part of the identity of a unit.
    """

    name: str
    settings: dict[str, Any]

    def fit(self, X: Array, Y: np.ndarray, *, seed: int) -> Fitted:
        """Learn from rows X (n, d) with labels Y (n, q) in {0, 1}; all that is random comes from `seed`."""
        ...


class EstimatorMethod:
    """An estimator under a name; each unit fits a clone, whose unset ``random_state`` parameters get the seed.

    Parameters
    ----------
    name : str
    estimator : estimator
        With `fit`, `predict`, and `decision_function` or `predict_proba` for scores; without these
        two, decisions are the
        scores. All forms of scikit-learn are understood, also lists with an array for each label.
        One that learns a single label
        is wrapped by ``BinaryRelevance``, which fits a clone for each label; a warning says so, and
        records keep it.
    settings : dict, default=None
        What decides beside the class and all its parameters, which are always part of the settings
        of a method.
    device : str, default=None
        Where it computes, for an estimator with such a parameter; it decides about no result.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> settings = EstimatorMethod("knn", KNeighborsClassifier(3)).settings
    >>> settings["class"], settings["params"]["n_neighbors"], settings["params"]["weights"]
    ('sklearn.neighbors._classification:KNeighborsClassifier', 3, 'uniform')
    """

    def __init__(
        self,
        name: str,
        estimator: Any,
        settings: dict[str, Any] | None = None,
        device: str | None = None,
    ) -> None:
        if isinstance(estimator, type) or not all(
            hasattr(estimator, part) for part in ("fit", "predict", "get_params")
        ):
            needs = "needs fit, predict and get_params, as scikit-learn's estimators have them"
            raise TypeError(
                f"The method {name!r} {needs}, got {estimator!r}; pass an instance, as in"
                " MyMethod()."
            )
        self.name, self.device = name, device
        self.spec: str | None = None  # how the command line names it
        self.estimator = estimator
        self.settings = described(estimator) | (settings or {})

    def fit(self, X: Array, Y: np.ndarray, *, seed: int) -> Fitted:
        """Fit a clone; a single label is given as a 1-d y, unless the estimator takes matrices only."""
        model = self._model(seed)
        try:
            fitted = model.fit(X, _target(model, Y))
        except (ValueError, NotImplementedError) as error:
            if ONE_LABEL.search(str(error)) and Y.shape[1] > 1:
                return _FittedEstimator(self._label_by_label(model, X, Y), Y.shape[1])
            if not (np.isnan(Y).any() and "contains NaN" in str(error)):
                raise
            raise ValueError(
                f"{self.name} does not take unknown labels, of which Y has {int(np.isnan(Y).sum())}"
                " (NaN); give BinaryRelevance(estimator), which fits a clone for each label on the"
                " rows that know it, or complete rows."
            ) from error
        return _FittedEstimator(fitted, Y.shape[1])

    def _label_by_label(self, model: Any, X: Array, Y: np.ndarray) -> Any:
        """Fit a clone for each label; tags do not tell which estimators need it: several that take matrices lack the tag."""
        from skcamel.baselines import BinaryRelevance

        warnings.warn(
            f"{self.name} learns a single label; BinaryRelevance fits a clone of it for each"
            " label.",
            UserWarning,
            stacklevel=3,
        )
        return BinaryRelevance(model).fit(X, Y)

    def _model(self, seed: int) -> Any:
        model = _seeded(self.estimator, seed)
        return model if self.device is None else model.set_params(device=self.device)


class CamelMethod(EstimatorMethod):
    """``CamelClassifierCV.from_preset(preset)``; records hold its outcome, or under each criterion that of its own model.

    Parameters
    ----------
    preset : {"quick", "paper", "best"}
    per_metric : bool, default=False
        Whether each metric is the outcome of a model selected for it, and with thresholds tuned for
        it if the preset tunes any.
    device : str, default=None
        "cuda" computes on a GPU.
    prepared : bool, default=False
        Whether the rows come out of a TablePreparer with words; see ``from_preset``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(30, 3)), rng.integers(2, size=(30, 2))
    >>> fitted = CamelMethod("quick", per_metric=True).fit(X, Y, seed=0)
    >>> outcome = fitted.outcomes(X[:5])["one_error"]
    >>> outcome.scores.shape, sorted(outcome.params)
    ((5, 2), ['alpha', 'bandwidth', 'kernel', 'lambda1', 'lambda2', 'scaling'])
    """

    def __init__(
        self,
        preset: str,
        *,
        per_metric: bool = False,
        device: str | None = None,
        prepared: bool = False,
    ) -> None:
        super().__init__(
            "camel", CamelClassifierCV.from_preset(preset, prepared=prepared), device=device
        )
        self.preset, self.per_metric = preset, per_metric
        self.settings["params"] = {
            key: value
            for key, value in self.settings["params"].items()
            if key not in WHERE_NOT_WHAT
        }
        self.settings |= {"per_metric": per_metric, "version": VERSION}

    def on_words(self) -> CamelMethod:
        """The same for rows of a TablePreparer with words, as ``skcamel fit`` has it."""
        return CamelMethod(
            self.preset, per_metric=self.per_metric, device=self.device, prepared=True
        )

    def fit(self, X: Array, Y: np.ndarray, *, seed: int) -> Fitted:
        """Fit one model, or one for each metric: selected by it, and with thresholds tuned for it where it is one of decisions."""
        if not self.per_metric:
            return super().fit(X, Y, seed=seed)
        first = self._model(seed)
        first.fit(X, _target(first, Y))
        fitted = {}
        for metric in NAMES:
            if metric in DECISION and first.threshold != "zero":
                search = self._model(seed).set_params(threshold=metric, scoring=metric)
                fitted[metric] = _FittedEstimator(search.fit(X, _target(search, Y)), Y.shape[1])
            else:
                fitted[metric] = _selected(first, metric, X, Y)
        return _FittedEach(fitted)

    def _model(self, seed: int) -> Any:
        """The exact solver: a result must not depend on how much memory a machine has."""
        return super()._model(seed).set_params(solver="spectral")


def _selected(search: CamelClassifierCV, metric: str, X: Array, Y: np.ndarray) -> _FittedEstimator:
    """The model that a fitted search would select by another metric; a combination does not depend on the metric."""
    scores = search.cv_results_[f"mean_test_{metric}"]
    is_defined = not np.isnan(scores).all()
    params: dict[str, Any] = (
        search.cv_results_["params"][int(np.nanargmax(scores))]
        if is_defined
        else search.best_params_
    )
    if search.combine or params == search.best_params_:
        return _FittedEstimator(search, Y.shape[1])
    shared = {
        key: value
        for key, value in search.get_params().items()
        if key in CamelClassifier().get_params()
    }
    model = CamelClassifier().set_params(**shared, **params).fit(X, _target(search, Y))
    return _FittedEstimator(model, Y.shape[1], params)


def get_method(
    spec: Any, preset: str = "paper", *, per_metric: bool = False, device: str | None = None
) -> Method:
    """The method that a user named or gave.

    Parameters
    ----------
    spec : str, estimator, (name, estimator) or Method
        A name of `METHOD_TITLES`; ``"name=package.module:Class(arg=1)"`` for an estimator to
        import, where the name and the
        arguments, which are Python literals, may be missing, and a function that makes one may
        stand for the class, or a file
        ``folder/file.py`` for the module; an estimator of scikit-learn, alone or with a name for
        its records.
    preset : {"quick", "paper", "best"}, default="paper"
        CAMEL: that of :meth:`skcamel.CamelClassifierCV.from_preset`. Others: "quick": coarse grids,
        3 inner folds; "paper":
        features and thresholds as the authors of each method have them; "best": features scaled if
        the method has such an option,
        and thresholds tuned for micro-F1 inside the training part.
    per_metric : bool, default=False
        CAMEL selects a model for each of the seven metrics, and each metric is that of its own
        model.
    device : str, default=None
        "cuda": CAMEL computes on a GPU, and LLSF and JFSC search there.

    Examples
    --------
    >>> get_method("llsf").settings["params"]["cv"], get_method("llsf", "quick").settings["params"]["cv"]
    (5, 3)
    >>> get_method("nn=sklearn.neighbors:KNeighborsClassifier(n_neighbors=1)").name
    'nn'
    """
    choice(preset, PRESETS, "preset")
    if isinstance(spec, str) and ":" in spec:
        return _imported(spec)
    if isinstance(spec, str):
        if choice(spec, tuple(METHOD_TITLES), "method") == "camel":
            return CamelMethod(preset, per_metric=per_metric, device=device)
        return _of_ours(spec, preset, device) if spec in PAPER_METHODS else _of_scikit(spec, preset)
    if isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[0], str):
        return EstimatorMethod(*spec)
    return spec if isinstance(spec, Method) else EstimatorMethod(type(spec).__name__, spec)


def _of_ours(name: str, preset: str, device: str | None) -> Method:
    """LLSF and JFSC get a coarse grid: the authors' has 1 323 or 3 993 candidates; for it give ``("llsf", LLSFCV(grid="paper"))``."""
    from skcamel.baselines import JFSCCV, LLSFCV, BinaryRelevance, EnsembleOfClassifierChains, RAkEL

    kinds: dict[str, Any] = {
        "br": BinaryRelevance,
        "ecc": EnsembleOfClassifierChains,
        "rakel": RAkEL,
        "llsf": LLSFCV,
        "jfsc": JFSCCV,
    }
    kind = kinds[name]
    if name not in ("llsf", "jfsc"):
        return EstimatorMethod(name, kind(threshold=THRESHOLDS[preset]))
    features = "fair" if preset == "best" else "faithful"
    search = kind(
        grid="coarse",
        cv=3 if preset == "quick" else 5,
        threshold=THRESHOLDS[preset],
        preset=features,
    )
    return EstimatorMethod(name, search, {"grid": jsonable(kind.GRIDS["coarse"])}, device)


def _of_scikit(name: str, preset: str) -> Method:
    """Columns are scaled but not centred, so that sparse rows stay sparse.

    A shift changes neither an intercept that is not penalised nor a distance. For the RBF kernel
    "auto", 1/d, is what "scale"
    would be on centred columns of variance 1.
    """
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from skcamel.baselines import BinaryRelevance
    from skcamel.baselines.base import WithCuts

    threshold = THRESHOLDS[preset]
    if name in ("extra-trees", "random-forest"):
        forest = (ExtraTreesClassifier if name == "extra-trees" else RandomForestClassifier)(TREES)
        return EstimatorMethod(
            name, forest if threshold == "zero" else WithCuts(forest, threshold=threshold)
        )
    learner = LogisticRegression(max_iter=1000) if name == "logistic" else SVC(gamma="auto")
    return EstimatorMethod(
        name,
        make_pipeline(
            StandardScaler(with_mean=False), BinaryRelevance(learner, threshold=threshold)
        ),
    )


def _imported(text: str) -> Method:
    """The method that a text names: an estimator of that class, an instance, or what a function makes."""
    spec = parsed(text, FORM)
    found, attribute = imported(spec.place, FORM), spec.place.rpartition(":")[2]
    try:
        made = found(*spec.args, **spec.kwargs) if callable(found) else found
    except (Exception, SystemExit) as error:
        raise TypeError(
            f"{text}: {error}; write its arguments as in {attribute}(alpha=0.5, kernel='rbf')."
        ) from error
    method: Any = (
        copy(made) if isinstance(made, Method) else EstimatorMethod(type(made).__name__, made)
    )
    method.name, method.spec = spec.name or method.name, text
    return method


class Spec(NamedTuple):
    """The parts of ``name=package.module:Class(arg=1)``; instead of a module, a file ``folder/file.py``."""

    name: str | None
    place: str  # package.module:Class
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def parsed(text: str, form: str) -> Spec:
    """The parts of a text; `form` says how it is to be written, for errors.

    >>> parsed("mine=sklearn.svm:SVC(C=10.0, kernel='linear')", "package.module:Class")
    Spec(name='mine', place='sklearn.svm:SVC', args=(), kwargs={'C': 10.0, 'kernel': 'linear'})
    """
    found = SPEC.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text} is not understood; write {form}.")
    name, call = found["name"], found["call"]
    args, kwargs = _arguments(call or "()", text)
    return Spec(
        None if name is None else name.strip(),
        f"{found['place'].strip()}:{found['attribute']}",
        args,
        kwargs,
    )


def _arguments(call: str, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        tree = ast.parse(f"f{call}", mode="eval").body
        if (
            isinstance(tree, ast.Call)
            and isinstance(tree.func, ast.Name)
            and all(word.arg for word in tree.keywords)
        ):
            return tuple(map(ast.literal_eval, tree.args)), {
                str(word.arg): ast.literal_eval(word.value) for word in tree.keywords
            }
        raise ValueError("it is not one pair of parentheses with arguments")
    except (SyntaxError, ValueError) as error:
        cure = (
            "arguments are Python literals: numbers, 'text', True, None, lists; for others write a"
            " function without arguments"
        )
        raise ValueError(f"{text}: {call} cannot be read ({error}); {cure}.") from error


def imported(place: str, form: str) -> Any:
    """The object that ``package.module:name`` or ``folder/file.py:name`` names; `form` says how it is to be written, for errors.

    >>> imported("math:sqrt", "package.module:function")(9)
    3.0
    """
    module, _, attribute = place.rpartition(":")
    try:
        return getattr(
            _from_file(Path(module)) if module.endswith(".py") else import_module(module), attribute
        )
    except (Exception, SystemExit) as error:  # a module of one's own may raise anything
        cure = (
            f"write {form}, importable from here (PYTHONPATH names further folders), or"
            " folder/file.py:name"
        )
        told = (
            str(error)
            if isinstance(error, (ImportError, AttributeError))
            else f"{type(error).__name__} in its module: {error}"
        )
        raise ImportError(f"{place}: {told}; {cure}.") from error


def _from_file(path: Path) -> ModuleType:
    """The module of a file, by its name, so that other processes find it in the same way."""
    path = path.resolve()
    if not path.is_file():
        raise ImportError("there is no such file")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = import_module(path.stem)
    if Path(module.__file__ or "").resolve() != path:
        raise ImportError(
            f"another module is named {path.stem} ({module.__file__ or 'part of Python'}); rename"
            " the file"
        )
    return module


def between_commas(text: str) -> list[str]:
    """Parts of a list; commas inside brackets and quotes part nothing.

    >>> between_commas("br, mine=sklearn.svm:SVC(C=1, kernel='a,b'), camel")
    ['br', "mine=sklearn.svm:SVC(C=1, kernel='a,b')", 'camel']
    """
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif depth and sign in "'\"":  # a quote outside brackets is part of a name
            quote = sign
        else:
            depth = max(0, depth + (sign in "([{") - (sign in ")]}"))
        if sign == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _seeded(estimator: Any, seed: int) -> Any:
    """A clone whose unset ``random_state`` parameters are the seed."""
    model = clone(estimator)
    unset = [
        key
        for key, value in model.get_params().items()
        if key.rpartition("__")[2] == "random_state" and value is None
    ]
    return model.set_params(**dict.fromkeys(unset, seed))


def _target(model: Any, Y: np.ndarray) -> np.ndarray:
    """Labels Y (n, q) as the estimator wants them: a single one 1-d, unless it takes matrices only or some entries are unknown."""
    return (
        Y[:, 0]
        if Y.shape[1] == 1 and get_tags(model).target_tags.single_output and not np.isnan(Y).any()
        else Y
    )


@dataclass(frozen=True)
class _FittedEstimator:
    """A fitted clone, and parameters that were chosen; a search has them in `best_params_`, and one of ours its criterion in `scoring_`."""

    model: Any
    q: int
    params: Mapping[str, Any] | None = None

    def outcomes(self, X: Array) -> dict[str, Outcome]:
        ours = (
            self.model.outputs(X) if isinstance(self.model, MultiLabelClassifier) else None
        )  # one evaluation gives both
        return {getattr(self.model, "scoring_", ""): self.outcome(X, ours)}

    def outcome(self, X: Array, ours: Outputs | None = None) -> Outcome:
        """Scores and decisions, from the outputs of the model if they are known."""
        decisions = self._columns(
            _dense(self.model.predict(X) if ours is None else ours.predictions),
            "predict",
            X.shape[0],
        )
        if strange := set(np.unique(decisions).tolist()) - {-1, 0, 1}:
            raise ValueError(
                f"predict of {type(self.model).__name__} gave {min(strange)!r}; decisions are 0"
                " and 1."
            )
        chosen = dict(
            getattr(self.model, "best_params_", {}) if self.params is None else self.params
        )
        scores, probabilities = self._scores(X, decisions) if ours is None else _scores_of(ours)
        return Outcome(scores, (decisions == 1).astype(np.int64), jsonable(chosen), probabilities)

    def _scores(
        self, X: Array, decisions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | Callable[[], np.ndarray] | None]:
        """Scores, and probabilities where the model has some."""
        has_probabilities = hasattr(self.model, "predict_proba")
        if hasattr(self.model, "decision_function"):
            return self._answer("decision_function", X), (
                partial(self._answer, "predict_proba", X) if has_probabilities else None
            )
        scores = (
            self._answer("predict_proba", X) if has_probabilities else decisions.astype(np.float64)
        )
        return scores, scores if has_probabilities else None

    def _answer(self, name: str, X: Array) -> np.ndarray:
        """What a method of the model says of class 1 of each label, (m, q)."""
        given = getattr(self.model, name)(X)
        if isinstance(given, list):  # of scikit-learn: for each label an array (m, its classes)
            return np.column_stack(
                [
                    class_one(P, classes)
                    for P, classes in zip(given, self.model.classes_, strict=True)
                ]
            )
        columns = _dense(given).astype(np.float64)
        if self.q == 1 and columns.ndim == 2:  # one column for each class of the only label
            columns = class_one(columns, self.model.classes_)
        return self._columns(columns, name, X.shape[0])

    def _columns(self, given: np.ndarray, answer: str, rows: int) -> np.ndarray:
        """An answer as (m, q); only that of a single label may be 1-d."""
        if given.shape not in ((rows, self.q), (rows,) * (self.q == 1)):
            name = f"{answer} of {type(self.model).__name__}"
            raise ValueError(
                f"{name} gave shape {given.shape} for {rows} rows and {self.q} labels; it must be"
                f" {(rows, self.q)}."
            )
        return given.reshape(rows, self.q)


@dataclass(frozen=True)
class _FittedEach:
    """A model for each criterion."""

    fitted: dict[str, _FittedEstimator]

    def outcomes(self, X: Array) -> dict[str, Outcome]:
        return {name: own.outcome(X, own.model.outputs(X)) for name, own in self.fitted.items()}


def _scores_of(ours: Outputs) -> tuple[np.ndarray, Callable[[], np.ndarray] | None]:
    """Scores, and probabilities where the model has some."""
    return ours.scores, None if ours.link is None else lambda: ours.probabilities


def _dense(given: Any) -> np.ndarray:
    return np.asarray(given.toarray() if hasattr(given, "toarray") else given)

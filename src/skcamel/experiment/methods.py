"""What runs in a study: the methods of the library by name, and any estimator of one's own."""

from __future__ import annotations

import ast
import copy
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from skcamel.arrays import Array, MaybeArray, dense
from skcamel.baselines import JFSCCV, LLSFCV, BinaryRelevance, EnsembleOfClassifierChains, RAkEL
from skcamel.baselines.base import WithThresholds, class_one
from skcamel.camel.classifier import CamelClassifier
from skcamel.camel.classifier_cv import CamelClassifierCV
from skcamel.checks import choice
from skcamel.experiment.records import jsonable, version_of
from skcamel.metrics import NAMES, RANKING
from skcamel.presets import PREPARED, PRESETS

FOLDS = {"quick": 3, "paper": 10, "best": 10}  # outer folds of each preset
# Thresholds of all methods but CAMEL, whose presets have the same
THRESHOLDS = {"quick": "micro_f1", "paper": "zero", "best": "micro_f1"}
FORM = "name=package.module:Class(arg=1)"
SPEC = re.compile(r"(?:(?P<name>[^=:()]+)=)?(?P<place>.+?:[^\W\d]\w*)(?P<call>\(.*\))?", re.DOTALL)
# A comma that no closing bracket follows before its opening one, up to brackets inside brackets
COMMA = re.compile(r",(?![^()]*(?:\([^()]*\)[^()]*)*\))")
ONE_LABEL = re.compile("1d array|[Mm]ulti-?label")  # what estimators of one label say of a matrix


class Outcome(NamedTuple):
    """Scores and decisions for the test rows, and what was chosen to get them."""

    scores: Array  # (m, q)
    decisions: Array  # (m, q) of 0 and 1
    params: dict[str, Any]
    criterion: str  # the metric that selected them; "" where nothing was selected
    probabilities: MaybeArray = None  # (m, q)


class PerMetric(BaseEstimator):
    """CAMEL with a model for each metric: selected, and its thresholds tuned, for that metric.

    Parameters
    ----------
    search : CamelClassifierCV

    Notes
    -----
    Metrics of the order of scores do not depend on thresholds, so all metrics with the same
    thresholds share a search: its table names the best candidate of each.
    """

    def __init__(self, search: CamelClassifierCV) -> None:
        self.search = search

    def fit(self, X: Any, Y: Array, groups: MaybeArray = None) -> PerMetric:
        """Run a search for each kind of thresholds, and fit the choice of each metric."""
        own = self.search.threshold
        by_threshold: dict[str, list[str]] = {}
        for metric in NAMES:
            is_tuned = own != "zero" and metric not in RANKING
            by_threshold.setdefault(metric if is_tuned else own, []).append(metric)
        self.models_by_metric_ = {}
        for threshold, metrics in by_threshold.items():
            search = clone(self.search).set_params(scoring=metrics[-1], threshold=threshold)
            search.fit(X, Y, groups=groups)
            models: dict[Any, Any] = {getattr(search, "best_index_", None): search}
            for metric in metrics:
                best = _best_candidate(search, metric)
                if best not in models:
                    models[best] = _candidate(search, best).fit(X, Y, groups=groups)
                self.models_by_metric_[metric] = models[best]
        return self


def _best_candidate(search: CamelClassifierCV, metric: str) -> int | None:
    """The first of the best by a metric, or by Hamming loss where no row defines it."""
    if search.combine:  # least squares choose the members, whatever the metric is
        return None
    scores = search.cv_results_[f"mean_test_{metric}"]
    if np.isnan(scores).all():
        scores = search.cv_results_["mean_test_hamming_loss"]
    return int(np.nanargmax(scores))


def _candidate(search: CamelClassifierCV, index: int | None) -> CamelClassifier:
    """An estimator with the parameters of a candidate and the other settings of its search."""
    model = CamelClassifier()
    params = search.cv_results_["params"][index]
    settings = search.get_params(deep=False) | params
    model.set_params(**{name: settings[name] for name in model.get_params()})
    model.best_params_ = params
    return model


@dataclass(frozen=True)
class Method:
    """An estimator under a name; each unit fits a copy, whose unset ``random_state`` is the seed.

    Attributes
    ----------
    name : str
    estimator : object
        With `fit`, `predict`, and `decision_function` or `predict_proba` for scores; without these
        two, decisions are the scores. One that learns a single label is wrapped by
        ``BinaryRelevance``. An attribute `study_version` is raised when its results change.
    device : str, default=None
        Where it computes, for an estimator with such a parameter.
    on_words : object, default=None
        In place of the estimator for rows that come out of a ``TablePreparer`` with words.
    """

    name: str
    estimator: Any
    device: str | None = None
    on_words: Any = None

    def version(self, preset: str) -> int:
        """The version of its results."""
        return int(getattr(self.estimator, "study_version", version_of(self.name, preset)))

    def fit(
        self, X: Any, Y: Array, *, seed: int, groups: MaybeArray = None
    ) -> dict[str, FittedMethod]:
        """Fitted models by metric; one under "" where a single model gives all metrics."""
        model = _seeded(self.estimator, seed)
        if self.device is not None:
            names = [name for name in model.get_params() if name.endswith("device")]
            model.set_params(**dict.fromkeys(names, self.device))
        more = _grouped(model, X, Y, groups)
        try:
            model.fit(X, _target(model, Y), **more)
        except ValueError as error:
            if Y.shape[1] == 1 or not ONE_LABEL.search(str(error)):
                raise
            warnings.warn(
                f"{self.name} learns a single label; BinaryRelevance fits a copy for each label.",
                stacklevel=2,
            )
            model = BinaryRelevance(model).fit(X, Y)
        models = getattr(model, "models_by_metric_", {"": model})
        return {name: FittedMethod(one, Y.shape[1]) for name, one in models.items()}


def _grouped(model: Any, X: Any, Y: Array, groups: MaybeArray) -> dict[str, Array]:
    """Let the inner folds of a search leave groups whole; what its fit is to be given for that."""
    if groups is None:
        return {}
    n_folds = getattr(model, "cv", None)
    if isinstance(n_folds, int):
        splitter = GroupKFold(min(n_folds, len(np.unique(groups))))
        model.set_params(cv=list(splitter.split(X, groups=groups)))
        if np.isnan(Y).any():  # folds leave them whole; to leave by themselves they need all labels
            return {}
    step, last = model.steps[-1] if isinstance(model, Pipeline) else ("", model)
    name = f"{step}__groups" if step else "groups"
    return {name: groups} if has_fit_parameter(last, "groups") else {}


def _seeded(estimator: Any, seed: int) -> Any:
    """A copy whose unset ``random_state`` parameters are the seed."""
    if not hasattr(estimator, "get_params"):
        return copy.deepcopy(estimator)
    model = clone(estimator)
    for name, value in model.get_params().items():
        if name.rpartition("__")[2] == "random_state" and value is None:
            model.set_params(**{name: seed})
    return model


def _target(model: Any, Y: Array) -> Array:
    """Labels Y (n, q); a single known one is 1-d for an estimator that takes no matrix."""
    is_single = Y.shape[1] == 1 and not np.isnan(Y).any() and hasattr(model, "__sklearn_tags__")
    if is_single and get_tags(model).target_tags.single_output:
        return Y[:, 0]
    return Y


@dataclass(frozen=True)
class FittedMethod:
    """A fitted model of q labels."""

    model: Any
    q: int

    def outcome(self, X: Any) -> Outcome:
        """Scores and decisions for rows X (m, d)."""
        params = jsonable(dict(getattr(self.model, "best_params_", {})))
        criterion = getattr(self.model, "scoring_", "")
        if hasattr(self.model, "outputs"):  # of the library: one evaluation gives all
            found = self.model.outputs(X)
            scores = found.scores
            decisions = self._columns(found.predictions, X)
            probabilities = None if found.link is None else found.probabilities
        else:
            decisions = self._columns(self.model.predict(X), X)
            if not np.isin(decisions, (-1, 0, 1)).all():
                raise ValueError(f"predict of {self.model!r:.60} gave more than 0 and 1.")
            probabilities = self._answer("predict_proba", X)
            scores = self._answer("decision_function", X)
            if scores is None:
                scores = decisions if probabilities is None else probabilities
        return Outcome(scores, 1 * (decisions == 1), params, criterion, probabilities)

    def _answer(self, name: str, X: Any) -> Any:
        """What the model says of class 1 of each label, (m, q); None without such a method."""
        if not hasattr(self.model, name):
            return None
        given = getattr(self.model, name)(X)
        if isinstance(given, list):  # of scikit-learn: for each label an array (m, its classes)
            given = np.column_stack(list(map(class_one, given, self.model.classes_)))
        elif self.q == 1 and np.ndim(given) == 2:
            given = class_one(np.asarray(given), self.model.classes_)
        return self._columns(given, X).astype(float)

    def _columns(self, given: Any, X: Any) -> Array:
        """An answer as (m, q); only that of a single label may be 1-d."""
        if hasattr(given, "toarray"):
            given = given.toarray()
        columns = np.asarray(given)
        shape = (X.shape[0], self.q)
        is_single = self.q == 1 and columns.shape == shape[:1]
        if columns.shape != shape and not is_single:
            name = type(self.model).__name__
            raise ValueError(f"{name} gave shape {columns.shape}; it must be {shape}.")
        return columns.reshape(shape)


def _camel(preset: str) -> Any:
    """With the exact solver: a result must not depend on the memory of a machine."""
    return CamelClassifierCV.from_preset(preset, solver="spectral")


def _transforming(kind: Any) -> Callable[[str], Any]:
    return lambda preset: kind(threshold=THRESHOLDS[preset])


def _linear(kind: Any, threshold: str | None = None) -> Callable[[str], Any]:
    """LLSF or JFSC by its coarse grid; that of the authors has 1 323 or 3 993 candidates."""
    return lambda preset: kind(
        cv=3 if preset == "quick" else 5,
        threshold=threshold or THRESHOLDS[preset],
        preset="fair" if preset == "best" else "faithful",
    )


def _installed(text: str) -> Any:
    """The estimator that a text names, of a package that need not be there."""
    package = text.partition(":")[0]
    if find_spec(package) is None:
        raise ImportError(f"This method needs {package}: pip install {package}")
    return _from_text(text)[1]


def _foreign(text: str, step: Any = None, *, each_label: bool = False) -> Callable[[str], Any]:
    """A model for all labels, or one for each, perhaps after another step."""

    def make(preset: str) -> Any:
        learner = _installed(text)
        threshold = THRESHOLDS[preset]
        if each_label:
            learner = BinaryRelevance(learner, threshold=threshold)
        elif threshold != "zero":
            learner = WithThresholds(learner, threshold=threshold)
        return learner if step is None else make_pipeline(clone(step), learner)

    return make


DENSE_ROWS = FunctionTransformer(dense, accept_sparse=True)
UNIT_VARIANCE = StandardScaler(with_mean=False)  # not centred, columns stay sparse
METHODS: dict[str, Callable[[str], Any]] = {
    "camel": _camel,
    "camel-per-metric": lambda preset: PerMetric(_camel(preset)),
    "br": _transforming(BinaryRelevance),
    "ecc": _transforming(EnsembleOfClassifierChains),
    "rakel": _transforming(RAkEL),
    "llsf": _linear(LLSFCV),
    "jfsc": _linear(JFSCCV),
    "jfsc-tuned": _linear(JFSCCV, "tuned"),
    "extra-trees": _foreign("sklearn.ensemble:ExtraTreesClassifier(500)"),
    "random-forest": _foreign("sklearn.ensemble:RandomForestClassifier(500)"),
    "logistic": _foreign(
        "sklearn.linear_model:LogisticRegression(max_iter=1000)", UNIT_VARIANCE, each_label=True
    ),
    "svc": _foreign("sklearn.svm:SVC(gamma='auto')", UNIT_VARIANCE, each_label=True),
    "catboost": _foreign(
        "catboost:CatBoostClassifier(loss_function='MultiLogloss', thread_count=1, verbose=False,"
        " allow_writing_files=False)",
        DENSE_ROWS,
    ),
    "xgboost": _foreign(
        "xgboost:XGBClassifier(multi_strategy='multi_output_tree', n_jobs=1)", DENSE_ROWS
    ),
}


def get_method(spec: Any, preset: str = "paper", *, device: str | None = None) -> Method:
    """The method that a user named or gave.

    Parameters
    ----------
    spec : str, estimator, (name, estimator) or Method
        A name of `METHODS`; ``"name=package.module:Class(arg=1)"`` for an estimator to import,
        where name and arguments, which are Python literals, may be missing, a function that makes
        one may stand for the class, and a file ``folder/file.py`` for the module.
    preset : {"quick", "paper", "best"}, default="paper"
        CAMEL: that of :meth:`skcamel.CamelClassifierCV.from_preset`. Others: "paper": features and
        thresholds as the authors of each method have them; "quick" and "best": thresholds tuned for
        micro-F1 inside the training part, in "best" also scaled features for LLSF and JFSC.
    device : str, default=None
        "cuda": CAMEL computes on a GPU, and LLSF and JFSC search there.

    Examples
    --------
    >>> get_method("llsf").estimator.cv, get_method("llsf", "quick").estimator.cv
    (5, 3)
    >>> get_method("nn=sklearn.neighbors:KNeighborsClassifier(n_neighbors=1)").name
    'nn'
    """
    choice(preset, tuple(PRESETS), "preset")
    if isinstance(spec, Method):
        return spec
    if isinstance(spec, str) and ":" not in spec:
        return _own_method(spec, preset, device)
    name = type(spec).__name__
    if isinstance(spec, str):
        spec = _from_text(spec)
    if isinstance(spec, tuple):
        name, spec = spec
    if isinstance(spec, type) or not hasattr(spec, "predict"):
        raise TypeError(
            f"The method {name!r} needs an object with fit and predict, got {spec!r}; pass an"
            " instance, as in MyMethod()."
        )
    return Method(name, spec)


def _own_method(name: str, preset: str, device: str | None) -> Method:
    """A method of `METHODS`."""
    make = METHODS[choice(name, tuple(METHODS), "method")]
    estimator = make(preset)
    names = estimator.get_params()
    if not any(parameter.endswith("device") for parameter in names):
        device = None
    on_words = None
    for parameter in names:
        if parameter.endswith("representations"):
            on_words = make(preset).set_params(**{parameter: PREPARED[preset]})
    return Method(name, estimator, device, on_words)


def _from_text(text: str) -> tuple[str, Any]:
    """Name and object that a text names: an instance, or what a class or a function makes."""
    parsed = SPEC.fullmatch(text.strip())
    if parsed is None:
        raise ValueError(f"{text} is not understood; write {FORM}.")
    found = imported(parsed["place"].strip())
    try:
        call: Any = ast.parse(f"f{parsed['call'] or '()'}", mode="eval").body
        arguments = [ast.literal_eval(one) for one in call.args]
        words = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise ValueError(
            f"{text} cannot be read ({error}); arguments are Python literals: numbers, 'text',"
            " True, None, lists; for others write a function without arguments."
        ) from error
    if callable(found):
        try:
            found = found(*arguments, **words)
        except (Exception, SystemExit) as error:
            raise TypeError(f"{text}: {error}; write its arguments as in {FORM}.") from error
    name = parsed["name"] or type(found).__name__
    return name.strip(), found


def imported(place: str) -> Any:
    """The object that ``package.module:name`` or ``folder/file.py:name`` names.

    >>> imported("math:sqrt")(9)
    3.0
    """
    module, _, attribute = place.rpartition(":")
    try:
        if module.endswith(".py"):
            path = Path(module).resolve(strict=True)
            if str(path.parent) not in sys.path:
                sys.path.append(str(path.parent))
            found = import_module(path.stem)
            if Path(found.__file__ or "").resolve() != path:
                raise ImportError(f"another module is named {path.stem}; rename the file")
        else:
            found = import_module(module)
        return getattr(found, attribute)
    except (Exception, SystemExit) as error:  # a module of one's own may raise anything
        raise ImportError(
            f"{place}: {type(error).__name__}: {error}; write package.module:name, importable from"
            " here (PYTHONPATH names further folders), or folder/file.py:name."
        ) from error


def between_commas(text: str) -> list[str]:
    """Parts of a list; commas inside brackets part nothing.

    >>> between_commas("br, mine=sklearn.svm:SVC(C=1, kernel='rbf'), camel")
    ['br', "mine=sklearn.svm:SVC(C=1, kernel='rbf')", 'camel']
    """
    return [part.strip() for part in COMMA.split(text) if part.strip()]

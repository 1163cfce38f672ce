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
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from skcamel.arrays import dense
from skcamel.baselines import (
    JFSCCV,
    LLSFCV,
    BinaryRelevance,
    EnsembleOfClassifierChains,
    RAkEL,
)
from skcamel.baselines.base import WithThresholds, class_one
from skcamel.camel.classifier_cv import CamelClassifierCV
from skcamel.checks import choice
from skcamel.experiment.records import jsonable, version_of
from skcamel.metrics import NAMES, RANKING
from skcamel.presets import PRESETS

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

    scores: np.ndarray  # (m, q)
    decisions: np.ndarray  # (m, q) of 0 and 1
    params: dict[str, Any]
    criterion: str  # the metric that selected them; "" where nothing was selected
    probabilities: np.ndarray | None = None  # (m, q)


class PerMetric(BaseEstimator):
    """CAMEL with a model for each of the seven metrics: selected, and its thresholds tuned, for that metric.

    Parameters
    ----------
    search : CamelClassifierCV
    """

    def __init__(self, search: CamelClassifierCV) -> None:
        self.search = search

    def fit(self, X: Any, Y: np.ndarray, groups: np.ndarray | None = None) -> PerMetric:
        """Run a search for each metric."""
        self.models_by_metric_ = {}
        for metric in NAMES:
            search = clone(self.search).set_params(scoring=metric)
            if search.threshold != "zero" and metric not in RANKING:
                search.set_params(threshold=metric)
            self.models_by_metric_[metric] = search.fit(X, Y, groups=groups)
        return self


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
        self, X: Any, Y: np.ndarray, *, seed: int, groups: np.ndarray | None = None
    ) -> dict[str, FittedMethod]:
        """Fitted models by metric; one under "" where a single model gives all metrics."""
        model = _seeded(self.estimator, seed)
        if self.device is not None:
            names = [name for name in model.get_params() if name.endswith("device")]
            model.set_params(**dict.fromkeys(names, self.device))
        more = _grouped(model, X, groups)
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


def _grouped(model: Any, X: Any, groups: np.ndarray | None) -> dict[str, np.ndarray]:
    """Let the inner folds of a search leave groups whole; what its fit is to be given for that."""
    if groups is None:
        return {}
    n_folds = getattr(model, "cv", None)
    if isinstance(n_folds, int):
        splitter = GroupKFold(min(n_folds, len(np.unique(groups))))
        model.set_params(cv=list(splitter.split(X, groups=groups)))
        return {}
    return {"groups": groups} if has_fit_parameter(model, "groups") else {}


def _seeded(estimator: Any, seed: int) -> Any:
    """A copy whose unset ``random_state`` parameters are the seed."""
    if not hasattr(estimator, "get_params"):
        return copy.deepcopy(estimator)
    model = clone(estimator)
    unset = {}
    for name, value in model.get_params().items():
        if name.rpartition("__")[2] == "random_state" and value is None:
            unset[name] = seed
    return model.set_params(**unset)


def _target(model: Any, Y: np.ndarray) -> np.ndarray:
    """Labels Y (n, q); a single one is 1-d, unless the estimator takes matrices or some are unknown."""
    if Y.shape[1] > 1 or np.isnan(Y).any() or not hasattr(model, "__sklearn_tags__"):
        return Y
    return Y[:, 0] if get_tags(model).target_tags.single_output else Y


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
            probabilities = None if found.link is None else found.probabilities
            decisions = self._columns(found.predictions, X)
            return Outcome(found.scores, 1 * (decisions == 1), params, criterion, probabilities)
        decisions = self._columns(self.model.predict(X), X)
        if not np.isin(decisions, (-1, 0, 1)).all():
            raise ValueError(f"predict of {self.model!r:.60} gave more than 0 and 1.")
        probabilities = self._answer("predict_proba", X)
        scores = self._answer("decision_function", X)
        for known in (probabilities, decisions):
            scores = known if scores is None else scores
        return Outcome(scores, 1 * (decisions == 1), params, criterion, probabilities)

    def _answer(self, name: str, X: Any) -> Any:
        """What the model says of class 1 of each label, (m, q); None where it has no such method."""
        if not hasattr(self.model, name):
            return None
        given = getattr(self.model, name)(X)
        if isinstance(given, list):  # of scikit-learn: for each label an array (m, its classes)
            given = np.column_stack(list(map(class_one, given, self.model.classes_)))
        elif self.q == 1 and np.ndim(given) == 2:
            given = class_one(np.asarray(given), self.model.classes_)
        return self._columns(given, X).astype(float)

    def _columns(self, given: Any, X: Any) -> np.ndarray:
        """An answer as (m, q); only that of a single label may be 1-d."""
        columns = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
        shape = X.shape[0], self.q
        if columns.shape != shape and (columns.shape, self.q) != (shape[:1], 1):
            name = type(self.model).__name__
            raise ValueError(f"{name} gave shape {columns.shape}; it must be {shape}.")
        return columns.reshape(shape)


def _camel(preset: str, *, prepared: bool = False) -> Any:
    """With the exact solver: a result must not depend on the memory of a machine."""
    return CamelClassifierCV.from_preset(preset, prepared=prepared, solver="spectral")


def _linear(kind: type[LLSFCV | JFSCCV], preset: str, threshold: str | None = None) -> Any:
    """LLSF or JFSC by its coarse grid; that of the authors has 1 323 or 3 993 candidates."""
    return kind(
        grid="coarse",
        cv=3 if preset == "quick" else 5,
        threshold=threshold or THRESHOLDS[preset],
        preset="fair" if preset == "best" else "faithful",
    )


def _forest(name: str, preset: str) -> Any:
    from sklearn import ensemble

    forest, threshold = getattr(ensemble, name)(500), THRESHOLDS[preset]
    return forest if threshold == "zero" else WithThresholds(forest, threshold=threshold)


def _boosted(package: str, name: str, preset: str, **params: Any) -> Any:
    """Boosted trees for all labels together, on dense rows, where their package is installed."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    if find_spec(package) is None:
        raise ImportError(f"This method needs {package}: pip install {package}")
    learner, threshold = getattr(import_module(package), name)(**params), THRESHOLDS[preset]
    learner = learner if threshold == "zero" else WithThresholds(learner, threshold=threshold)
    return make_pipeline(FunctionTransformer(dense, accept_sparse=True), learner)


def _for_each_label(module: str, name: str, preset: str, **params: Any) -> Any:
    """A model for each label, on columns of unit variance; not centred, so sparse rows stay sparse."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learner = getattr(import_module(module), name)(**params)
    labels = BinaryRelevance(learner, threshold=THRESHOLDS[preset])
    return make_pipeline(StandardScaler(with_mean=False), labels)


METHODS: dict[str, Callable[[str], Any]] = {
    "camel": _camel,
    "camel-per-metric": lambda preset: PerMetric(_camel(preset)),
    "br": lambda preset: BinaryRelevance(threshold=THRESHOLDS[preset]),
    "ecc": lambda preset: EnsembleOfClassifierChains(threshold=THRESHOLDS[preset]),
    "rakel": lambda preset: RAkEL(threshold=THRESHOLDS[preset]),
    "llsf": lambda preset: _linear(LLSFCV, preset),
    "jfsc": lambda preset: _linear(JFSCCV, preset),
    "jfsc-tuned": lambda preset: _linear(JFSCCV, preset, "tuned"),
    "extra-trees": lambda preset: _forest("ExtraTreesClassifier", preset),
    "random-forest": lambda preset: _forest("RandomForestClassifier", preset),
    "logistic": lambda preset: _for_each_label(
        "sklearn.linear_model", "LogisticRegression", preset, max_iter=1000
    ),
    "svc": lambda preset: _for_each_label("sklearn.svm", "SVC", preset, gamma="auto"),
    "catboost": lambda preset: _boosted(
        "catboost",
        "CatBoostClassifier",
        preset,
        loss_function="MultiLogloss",
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    ),
    "xgboost": lambda preset: _boosted(
        "xgboost", "XGBClassifier", preset, multi_strategy="multi_output_tree", n_jobs=1
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
    if isinstance(spec, str) and ":" in spec:
        return _imported_method(spec)
    if isinstance(spec, str):
        estimator = METHODS[choice(spec, tuple(METHODS), "method")](preset)
        on_words: Any = _camel(preset, prepared=True) if spec.startswith("camel") else None
        if spec == "camel-per-metric":
            on_words = PerMetric(on_words)
        has_device = any(name.endswith("device") for name in estimator.get_params())
        return Method(spec, estimator, device if has_device else None, on_words)
    name, estimator = spec if isinstance(spec, tuple) else (type(spec).__name__, spec)
    if isinstance(estimator, type) or not hasattr(estimator, "predict"):
        raise TypeError(
            f"The method {name!r} needs an object with fit and predict, got {estimator!r}; pass an"
            " instance, as in MyMethod()."
        )
    return Method(name, estimator)


def _imported_method(text: str) -> Method:
    """The method that a text names: an estimator of that class, an instance, or what a function makes."""
    parsed = SPEC.fullmatch(text.strip())
    if parsed is None:
        raise ValueError(f"{text} is not understood; write {FORM}.")
    found = imported(parsed["place"].strip())
    try:
        call = ast.parse(f"f{parsed['call'] or '()'}", mode="eval").body
        arguments = [ast.literal_eval(one) for one in getattr(call, "args", ())]
        words = {str(one.arg): ast.literal_eval(one.value) for one in getattr(call, "keywords", ())}
    except (SyntaxError, ValueError) as error:
        raise ValueError(
            f"{text} cannot be read ({error}); arguments are Python literals: numbers, 'text',"
            " True, None, lists; for others write a function without arguments."
        ) from error
    try:
        made = found(*arguments, **words) if callable(found) else found
    except (Exception, SystemExit) as error:
        raise TypeError(f"{text}: {error}; write its arguments as in {FORM}.") from error
    name = (parsed["name"] or type(made).__name__).strip()
    return get_method((name, made))


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

"""Names ► methods: CAMEL, the five methods of the paper's comparison, and what a user of scikit-learn would pick instead."""

from __future__ import annotations

from typing import Any

from skcamel.experiment.estimators import EstimatorMethod, imported
from skcamel.experiment.jsonable import jsonable
from skcamel.experiment.outcome import Fitted, Method, Outcome
from skcamel.experiment.paper import METHOD_TITLES, PRESETS
from skcamel.metrics.conventions import choice

__all__ = ["FOLDS", "METHOD_TITLES", "PRESETS", "EstimatorMethod", "Fitted", "Method", "Outcome", "get_method"]

FOLDS = {"quick": 3, "paper": 10, "best": 10}  # outer folds of each preset
CUTS = {"quick": "zero", "paper": "zero", "best": "auto"}  # threshold of all methods but CAMEL, whose presets have it
TREES = 500


def get_method(spec: Any, preset: str = "paper", *, per_metric: bool = False, device: str | None = None) -> Method:
    """The method that a user named or gave.

    Parameters
    ----------
    spec : str, estimator, (name, estimator) or Method
        A name of `METHOD_TITLES`; ``"package.module:Class"`` for an estimator to import; an estimator of scikit-learn, alone or
        with the name that its records shall bear.
    preset : {"quick", "paper", "best"}, default="paper"
        CAMEL: that of :meth:`skcamel.CamelClassifierCV.from_preset`. Others: "quick": coarse grids, 3 inner folds; "paper":
        features and cuts as the authors of each method have them; "best": features scaled where the method has such an option,
        and cuts tuned inside the training part by the rule that CAMEL has there, too.
    per_metric : bool, default=False
        CAMEL selects a model for each of the seven metrics, and each metric is that of its own model.
    device : str, default=None
        "cuda": CAMEL computes on a GPU.

    Examples
    --------
    >>> get_method("llsf").settings["params"]["cv"], get_method("llsf", "quick").settings["params"]["cv"]
    (5, 3)
    >>> get_method("sklearn.neighbors:KNeighborsClassifier").name
    'KNeighborsClassifier'
    """
    choice(preset, PRESETS, "preset")
    if isinstance(spec, str):
        if ":" in spec:
            return get_method(imported(spec), preset, per_metric=per_metric, device=device)
        return _named(choice(spec, tuple(METHOD_TITLES), "method"), preset, per_metric, device)
    if isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[0], str):
        return EstimatorMethod(*spec)
    if isinstance(spec, Method):
        return spec
    return EstimatorMethod(type(spec).__name__, spec)


def _named(name: str, preset: str, per_metric: bool, device: str | None) -> Method:
    if name == "camel":
        from skcamel.experiment.camel import CamelMethod

        return CamelMethod(preset, per_metric=per_metric, device=device)
    if name in ("llsf", "jfsc"):
        return _grid_search(name, preset)
    if name in ("br", "ecc", "rakel"):
        from skcamel.baselines import BinaryRelevance, EnsembleOfClassifierChains, RAkEL

        kinds: dict[str, Any] = {"br": BinaryRelevance, "ecc": EnsembleOfClassifierChains, "rakel": RAkEL}
        return EstimatorMethod(name, kinds[name](threshold=CUTS[preset]))
    return EstimatorMethod(name, _scikit(name, CUTS[preset]))


def _grid_search(name: str, preset: str) -> Method:
    """LLSF or JFSC with a coarse grid: the authors' own has 1 323 or 3 993 candidates; give ``("llsf", LLSFCV(grid="paper"))`` for it."""
    from skcamel.baselines import JFSCCV, LLSFCV

    told: dict[str, Any] = {"grid": "coarse", "cv": 3 if preset == "quick" else 5, "threshold": CUTS[preset]}
    told["preset"] = "fair" if preset == "best" else "faithful"
    search = LLSFCV if name == "llsf" else JFSCCV
    return EstimatorMethod(name, search(**told), {"grid": jsonable(search.GRIDS["coarse"])})


def _scikit(name: str, cuts: str) -> Any:
    """Methods of scikit-learn.

    Columns are scaled but not centred, so that sparse rows stay sparse: a shift changes neither an intercept that is not
    penalised nor a distance. For the RBF kernel "auto", 1/d, is what "scale" would be on centred columns of variance 1.
    """
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from skcamel.baselines import BinaryRelevance
    from skcamel.baselines.base import WithCuts

    if name in ("extra-trees", "random-forest"):
        forest = (ExtraTreesClassifier if name == "extra-trees" else RandomForestClassifier)(TREES)
        return forest if cuts == "zero" else WithCuts(forest, threshold=cuts)
    learner = LogisticRegression(max_iter=1000) if name == "logistic" else SVC(gamma="auto")
    return make_pipeline(StandardScaler(with_mean=False), BinaryRelevance(learner, threshold=cuts))

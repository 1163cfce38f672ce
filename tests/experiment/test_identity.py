"""What tells the units of two methods apart: every parameter with its default, and all code that is not installed."""

import copy
import functools
import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import skcamel
from skcamel.experiment import METHOD_TITLES, EstimatorMethod, Method, Outcome, Records, get_method, run_study, summarise
from skcamel.experiment.identity import described, settings_of
from skcamel.experiment.methods import CamelMethod
from skcamel.experiment.paper import PRESETS
from skcamel.presets import PRESETS as PRESETS_OF_CAMEL
from study_methods import Mean, made

MODULE = """
import functools
from sklearn.base import BaseEstimator, ClassifierMixin
import numpy as np

FACTOR = 2
GRID = [0.1, 1.0]

def helper(Y):
    return Y.mean(axis=0) * FACTOR

def deep(Y):
    return helper(Y)

def factory(shift):
    def inner(Y):
        return deep(Y) + shift
    return inner

class Base(ClassifierMixin, BaseEstimator):
    rate = 1

    def predict(self, X):  # a comment
        return np.tile(self.mean_ > 0.5, (len(X), 1)).astype(int)

class Mine(Base):
    def __init__(self, strength=1.0, base=None):
        self.strength = strength
        self.base = base

    @staticmethod
    def learn(Y):
        return factory(0)(Y)

    @functools.cached_property
    def lazy(self):
        import sidekick
        return sidekick.VALUE

    def fit(self, X, Y):
        self.mean_ = self.learn(Y) * self.strength * GRID[1]
        return self
"""
SIDEKICK = "VALUE = 1\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """`module(old, new)` ► the module, written with `new` in the place of `old` and loaded afresh."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def load(old="", new=""):
        text = MODULE.replace(old, new) if old else MODULE
        assert (text != MODULE) == (old != new)
        (tmp_path / "mine_for_a_test.py").write_text(text)
        (tmp_path / "sidekick.py").write_text(SIDEKICK if old != "SIDEKICK" else new)
        sys.modules.pop("mine_for_a_test", None)
        sys.modules.pop("sidekick", None)
        importlib.invalidate_caches()
        for cached in tmp_path.rglob("*.pyc"):
            cached.unlink()
        return importlib.import_module("mine_for_a_test")

    return load


CHANGES = {
    "a default": ("strength=1.0", "strength=2.0"),
    "the body of a method": ("* self.strength", "+ self.strength"),
    "a constant in a method": ("GRID[1]", "GRID[0]"),
    "a method of the base class": ("> 0.5", ">= 0.5"),
    "an attribute of the base class": ("rate = 1", "rate = 3"),
    "a function called by a method": ("return factory(0)(Y)", "return factory(1)(Y)"),
    "a function inside a function": ("deep(Y) + shift", "deep(Y) - shift"),
    "a function that another one calls": ("Y.mean(axis=0)", "Y.max(axis=0)"),
    "a global number": ("FACTOR = 2", "FACTOR = 3"),
    "a global list": ("[0.1, 1.0]", "[0.1, 2.0]"),
    "a cached property": ("return sidekick.VALUE", "return -sidekick.VALUE"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_code_that_is_not_installed_counts(module, change):
    before = described(module().Mine())
    assert described(module().Mine()) == before
    assert described(module(*CHANGES[change]).Mine()) != before


def test_what_a_function_imports_when_it_runs_counts_whether_it_is_loaded_or_not(module, tmp_path):
    before = described(module().Mine())
    importlib.import_module("sidekick")
    assert described(sys.modules["mine_for_a_test"].Mine()) == before
    (tmp_path / "sidekick.py").write_text("VALUE = 2\n")
    assert described(sys.modules["mine_for_a_test"].Mine()) != before


def test_comments_and_lines_do_not_count_but_a_file_edited_after_the_import_does_not_either(module, tmp_path):
    loaded = module()
    before = described(loaded.Mine())
    assert described(module("# a comment", "# another\n\n").Mine()) == before
    (tmp_path / "mine_for_a_test.py").write_text(MODULE.replace("GRID[1]", "GRID[0]"))  # the old code runs on
    assert described(loaded.Mine()) == before


def test_a_class_without_source_is_told_by_its_code():
    def made_of(text):
        space = {"__name__": "__main__"}
        exec(f"class Typed:\n    def get_params(self, deep=True): return {{}}\n    def fit(self, X, Y): return {text}", space)  # noqa: S102
        return space["Typed"]()

    assert described(made_of("1")) == described(made_of("1"))
    assert described(made_of("1")) != described(made_of("2"))


def times(k):
    return FunctionTransformer(lambda x: k * x)


def test_a_parameter_of_a_later_version_counts_only_where_it_is_set():
    """Units of studies that were computed before it keep their identity."""
    for make in (skcamel.CamelClassifier, skcamel.CamelClassifierCV):
        assert "correlation" not in described(make())["params"]
        assert described(make(correlation="paper")) == described(make())
        assert described(make(correlation="centred"))["params"]["correlation"] == "centred"
    assert "correlation" not in get_method("camel", "paper").settings["params"]
    assert get_method("camel", "quick").settings["params"]["correlation"] == "centred"


PAIRS = {
    "a parameter": (KNeighborsClassifier(3), KNeighborsClassifier(4)),
    "a nested parameter": (make_pipeline(StandardScaler(), SVC(C=1)), make_pipeline(StandardScaler(), SVC(C=2))),
    "a nested default": (make_pipeline(StandardScaler(), SVC()), make_pipeline(StandardScaler(with_mean=False), SVC())),
    "the class around one estimator": (OneVsRestClassifier(SVC()), MultiOutputClassifier(SVC())),
    "an estimator in a list": (VotingClassifier([("a", SVC())]), VotingClassifier([("a", SVC(C=3))])),
    "a random state": (
        RandomForestClassifier(random_state=np.random.RandomState(0)),
        RandomForestClassifier(random_state=np.random.RandomState(1)),
    ),
    "an array": (KNeighborsClassifier(metric_params={"V": np.eye(40)}), KNeighborsClassifier(metric_params={"V": 2 * np.eye(40)})),
    "the type of an array": (
        FunctionTransformer(kw_args={"a": np.eye(2)}),
        FunctionTransformer(kw_args={"a": np.eye(2, dtype=np.float32)}),
    ),
    "a sparse matrix": (
        FunctionTransformer(kw_args={"a": sparse.eye_array(3).tocsr()}),
        FunctionTransformer(kw_args={"a": 2 * sparse.eye_array(3).tocsr()}),
    ),
    "a splitter": (FunctionTransformer(kw_args={"cv": KFold(3)}), FunctionTransformer(kw_args={"cv": KFold(4)})),
    "a lambda": (FunctionTransformer(lambda x: x), FunctionTransformer(lambda x: 2 * x)),
    "what a partial holds": tuple(FunctionTransformer(functools.partial(lambda k, x: k * x, k)) for k in (1, 2)),
    "a default of a lambda": tuple(FunctionTransformer(lambda x, k=k: k * x) for k in (1, 2)),
    "a closure": (times(1), times(2)),
    "a key that is a number": (LogisticRegression(class_weight={0: 1, 1: 2}), LogisticRegression(class_weight={"0": 1, "1": 2})),
    "a number and its text": (FunctionTransformer(kw_args={"a": 1}), FunctionTransformer(kw_args={"a": "1"})),
    "a function": (FunctionTransformer(np.log1p), FunctionTransformer(np.exp)),
    "infinity": (FunctionTransformer(kw_args={"a": np.inf}), FunctionTransformer(kw_args={"a": -np.inf})),
}


@pytest.mark.parametrize("what", PAIRS)
def test_settings_tell_estimators_apart(what):
    one, two = map(described, PAIRS[what])
    assert one != two
    assert described(PAIRS[what][0]) == one
    json.dumps(one, allow_nan=False)


CLASSES = {
    "camel": "skcamel.classifier_cv:CamelClassifierCV",
    "br": "skcamel.baselines.binary_relevance:BinaryRelevance",
    "ecc": "skcamel.baselines.classifier_chains:EnsembleOfClassifierChains",
    "rakel": "skcamel.baselines.rakel:RAkEL",
    "llsf": "skcamel.baselines.grid_search:LLSFCV",
    "jfsc": "skcamel.baselines.grid_search:JFSCCV",
    "extra-trees": "skcamel.baselines.with_cuts:WithCuts",
}


def test_a_class_that_moves_keeps_its_name_so_that_older_studies_resume():
    """Units of older folders are found again only by the names that their settings and their code have there."""
    assert {name: get_method(name, "best").settings["class"] for name in CLASSES} == CLASSES
    names = [described({"kind": kind})["kind"]["class"] for kind in (Outcome, Method, EstimatorMethod, CamelMethod)]
    homes = ("outcome:Outcome", "outcome:Method", "estimators:EstimatorMethod", "camel:CamelMethod")
    assert names == [f"skcamel.experiment.{home}" for home in homes]


@pytest.mark.parametrize("name", ["llsf", "jfsc"])
def test_searches_in_single_precision_are_new_units_and_those_in_double_the_older_ones(name):
    params = get_method(name).settings["params"]
    assert params.pop("precision") == "single"
    search = get_method(name).estimator
    assert described(type(search)(**search.get_params() | {"precision": "double"}))["params"] == params


def test_pickling_a_method_changes_nothing():
    class Own(Mean):
        pass

    before = settings_of(Own())
    copy.copy(Own())  # writes __slotnames__ into the class, as pickling does
    assert settings_of(Own()) == before


def test_circles_end():
    ring = []
    ring.append(ring)
    model = KNeighborsClassifier(metric_params={"ring": ring})
    assert described(model) == described(model)


def test_settings_are_the_same_in_another_process_with_other_hashes():
    code = (
        "import json\nfrom skcamel.experiment.identity import settings_of\nfrom study_methods import Mean\nimport test_identity as t\n"
        "print(json.dumps([settings_of(Mean()), *(t.described(pair[0]) for pair in t.PAIRS.values())]))"
    )
    path = [str(Path(skcamel.__file__).parents[1]), *(str(Path(__file__).parents[up]) for up in (0, 1))]
    answers = {
        subprocess.run(  # noqa: S603
            [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{code}"],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


@pytest.mark.parametrize("name", METHOD_TITLES)
def test_built_in_methods_tell_all_that_decides_and_no_code(name):
    settings = {preset: settings_of(get_method(name, preset)) for preset in PRESETS}
    assert all("code_sha256" not in told for told in settings.values())
    if name in ("camel", "llsf", "jfsc"):
        assert len({json.dumps(told) for told in settings.values()}) == 3
    if name != "camel":
        assert all(told["params"] for told in settings.values())


def test_camel_tells_its_parameters_but_not_where_it_computes(monkeypatch):
    before = get_method("camel").settings
    assert before["params"]["alphas"] == list(skcamel.PAPER_ALPHAS)
    assert get_method("camel", device="cuda").settings == before
    assert get_method("camel", per_metric=True).settings != before
    monkeypatch.setitem(PRESETS_OF_CAMEL, "paper", {"lambda2s": (0.5,)})
    assert get_method("camel").settings != before
    best = get_method("camel", "best").settings
    monkeypatch.setattr("skcamel.experiment.methods.SHORTLIST", 5)
    assert get_method("camel", "best").settings != best


def test_the_settings_of_a_method_are_a_mapping():
    wrong = Mean("wrong")
    wrong.settings = [1]
    with pytest.raises(TypeError, match=r"settings of the method 'wrong' must be a mapping, got \[1\]"):
        run_study([made()], [wrong], n_folds=2)


def test_a_resumed_study_computes_anew_what_changed_and_keeps_both(module, tmp_path):
    out = tmp_path / "study"
    run_study([made()], [("mine", module().Mine()), "br"], n_folds=2, out=out)
    events = []
    records = run_study(
        [made()], [("mine", module("strength=1.0", "strength=0.1").Mine()), "br"], n_folds=2, out=out, progress=events.append
    )
    assert [event.unit.method for event in events] == ["mine", "mine"]
    assert len(records) == 6
    newest = [record for record in records if record["method"] == "mine" and record["settings"]["params"]["strength"] == 0.1]
    found = summarise(records)
    assert found.figures["made", "hamming_loss", "mine"].mean == np.mean([record["hamming_loss"] for record in newest])
    assert "mine: 2 records of earlier settings are left out." in found.notes()
    Records(out).compact()
    assert summarise(Records(out)).figures == found.figures
    events.clear()
    run_study([made()], [("mine", module().Mine())], n_folds=2, out=out, progress=events.append)
    assert events == []  # the first settings are still there


def test_a_failure_is_forgotten_when_the_mended_method_succeeds(module, tmp_path):
    broken = ("        self.mean_ =", "        raise RuntimeError('no luck')\n        self.mean_ =")
    with pytest.warns(UserWarning, match="2 of 2 units failed"):
        run_study([made()], [("mine", module(*broken).Mine())], n_folds=2, out=tmp_path / "study")
    records = run_study([made()], [("mine", module().Mine())], n_folds=2, out=tmp_path / "study")
    assert (len(records), records.failures) == (2, [])
    with pytest.warns(UserWarning, match="2 of 2 units failed"):
        records = run_study([made()], [("mine", module(*broken).Mine())], n_folds=2, out=tmp_path / "study")
    assert (len(records), len(records.failures)) == (2, 2)  # a later try counts


def test_two_settings_of_one_class_need_two_names():
    with pytest.raises(ValueError, match="methods has 'KNeighborsClassifier' 2 times; records are told apart by name"):
        run_study([made()], [KNeighborsClassifier(3), KNeighborsClassifier(4)], n_folds=2)


@pytest.mark.parametrize("name", ["", "half a \ud800"])
def test_names_that_no_file_could_hold_are_refused_before_any_work(name):
    with pytest.raises(ValueError, match=r"methods has the name .*; records are told apart by name, give one of whole characters"):
        run_study([made()], [(name, KNeighborsClassifier())], n_folds=2)


IMPORTS = {
    "a submodule by its full name": ("import pk.sub", "return pk.sub.value()"),
    "relative, inside": ("", "from .sub import value; return value()"),
    "a submodule from its package, inside": ("", "from pk import sub; return sub.value()"),
    "relative from the package, inside": ("", "from . import sub; return sub.value()"),
    "by way of another module, inside": ("", "from pk.mid import value; return value()"),
}


@pytest.mark.parametrize("form", IMPORTS)
def test_code_of_submodules_counts_however_it_is_imported(form, tmp_path):
    above, inside = IMPORTS[form]
    package = tmp_path / "pk"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "mid.py").write_text("from pk.sub import value")
    (package / "mm.py").write_text(f"{above}\ndef f():\n    {inside}\n")
    program = "from skcamel.experiment.identity import described\nimport pk.mm\nprint(described({'f': pk.mm.f})['code_sha256'])"

    def digest(source):
        (package / "sub.py").write_text(source)
        run = subprocess.run([sys.executable, "-B", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603
        return run.stdout

    first = digest("def value(): return 1")
    assert digest("def value(): return 1  # a comment") == first
    assert digest("def value(): return 20") != first


def test_the_new_default_of_sparsity_counts_as_the_old_one():
    def told(**options):
        return described(skcamel.CamelClassifierCV(**options))

    assert told() == told(sparsity=0.01) != told(sparsity="noise")

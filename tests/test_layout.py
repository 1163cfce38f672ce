"""Sizes have limits, imports point one way, public names are pinned, and imports stay cheap."""

import ast
import importlib
import re
import subprocess
import sys
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import pytest

import skcamel
from entered import entered

SOURCE = Path(skcamel.__file__).parent
# Each stage may import from the stages before it and from its own.
ORDER = (
    ("arrays", "files", "names", "presets", "text"),
    ("memory",),
    ("checks",),
    ("metrics",),
    ("camel",),
    ("data",),
    ("baselines",),
    ("model_file",),
    ("export",),
    ("experiment",),
    ("display", "plots"),
    ("report",),
    ("serve",),
    ("cli", "__main__"),
)
OF_CAMEL = (
    ("correlation", "explanation", "kernel", "scaling", "thresholds"),
    ("attribution", "spectral"),
    ("landmark", "unknown"),
    ("stream",),
    ("representation",),
    ("alternating", "distributed", "search"),
    ("link",),
    ("outputs",),
    ("base",),
    ("classifier",),
    ("classifier_cv",),
    ("label_errors",),
)


class Size(NamedTuple):
    """Of one or several modules; docstrings are no statements."""

    modules: int
    nodes: int  # of the syntax tree, so that the length of lines does not matter
    functions: int
    nodes_per_statement: float
    imports_per_module: float  # of modules of skcamel


# Limits. Lower them when the code gets smaller.
LIMITS = {
    "core": Size(30, 52_050, 370, 12.8, 3.3),
    "data": Size(19, 37_500, 309, 12.6, 4.2),
    "model_file": Size(4, 7_950, 63, 12.0, 4.5),
    "export": Size(3, 5_850, 47, 12.4, 5.7),
    "baselines": Size(9, 14_750, 122, 12.6, 4.2),
    "experiment": Size(11, 17_750, 130, 11.8, 4.5),
    "report": Size(12, 11_650, 71, 12.4, 4.7),
    "serve": Size(3, 3_500, 36, 10.9, 3.8),
    "cli": Size(13, 11_700, 94, 12.1, 5.3),
    "all": Size(104, 162_500, 1_236, 12.4, 4.2),
}
PACKAGES = {
    "core": (
        *("__init__", "arrays", "camel", "checks", "memory", "metrics", "names"),
        *("presets", "text"),
    ),
    "data": ("data", "files"),
    "report": ("display", "plots", "report"),
    "cli": ("cli", "__main__"),
}
# Modules and functions that a call by preset "quick" enters.
ENTERED = {"fit": (16, 120), "predict": (10, 35)}
STAGE = {name: rank for rank, names in enumerate(ORDER) for name in names}
# Of the numeric modules: the others know nothing of scikit-learn.
WITH_SKLEARN = (
    *("alternating", "base", "classifier", "classifier_cv", "kernel"),
    *("label_errors", "outputs", "scaling", "unknown"),
)


def imports(path):
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "skcamel":
                yield from (f"skcamel.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def modules():
    return [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_to_earlier_stages_only(path):
    own = path.relative_to(SOURCE).with_suffix("").parts[0]
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "skcamel" and len(parts) > 1:
            assert STAGE[parts[1]] <= STAGE[own], f"{own} imports {parts[1]}"


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "camel").glob("*.py")), ids=lambda path: path.stem
)
def test_imports_inside_camel_point_to_earlier_stages_only(path):
    stage = {name: rank for rank, names in enumerate(OF_CAMEL) for name in names} | {"__init__": -1}
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module == "skcamel.camel":
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skcamel.camel."):
            names = [node.module.split(".")[2]]
        else:
            continue
        assert all(stage[name] < stage[path.stem] for name in names), f"{path.stem} imports {names}"


@pytest.mark.parametrize(
    "path",
    [SOURCE / "arrays.py", *sorted((SOURCE / "camel").glob("*.py"))],
    ids=lambda path: path.stem,
)
def test_the_numeric_modules_know_nothing_of_scikit_learn(path):
    if path.stem not in WITH_SKLEARN:
        assert not any(name.split(".")[0] == "sklearn" for name in imports(path))


def test_reports_use_public_names_of_models_only():
    for path in (SOURCE / "report").rglob("*.py"):
        for node in ast.walk(parsed(path)):
            if (
                isinstance(node, ast.Attribute)
                and node.attr.startswith("_")
                and not node.attr.startswith("__")
            ):
                assert isinstance(node.value, ast.Name), path
                assert node.value.id == "self", f"{path.name} uses {node.attr}"


def test_only_arrays_names_torch():
    for path in modules():
        names = {name.split(".")[0] for name in imports(path)}
        assert "torch" not in names
        if path.name != "arrays.py":
            tree = parsed(path)
            assert not any(
                isinstance(node, ast.Name) and node.id == "torch" for node in ast.walk(tree)
            ), path


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def of_package(name):
    """Modules of a package, or of several that share a limit."""
    if name == "all":
        return list(SOURCE.rglob("*.py"))
    parts = PACKAGES.get(name, (name,))
    return [
        path
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).with_suffix("").parts[0] in parts
    ]


def docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            yield node.body[0]


def measured(paths):
    """Size of some modules."""
    nodes = statements = functions = imported = 0
    for path in paths:
        tree = parsed(path)
        left_out = set(docstrings(tree))
        names = set()
        for node in ast.walk(tree):
            if node in left_out:
                continue
            nodes += 1
            statements += isinstance(node, ast.stmt)
            functions += isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if isinstance(node, ast.ImportFrom):
                names.add(node.module)
            elif isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
        imported += sum(name.split(".")[0] == "skcamel" for name in names)
    n = len(paths)
    return Size(n, nodes, functions, round(nodes / statements, 1), round(imported / n, 1))


@pytest.mark.parametrize("name", LIMITS)
def test_sizes_stay_within_their_limits(name):
    size = measured(of_package(name))
    too_large = [
        f"{what} {value} > {limit}"
        for what, value, limit in zip(Size._fields, size, LIMITS[name], strict=True)
        if value > limit
    ]
    assert not too_large, f"{name}: {size}"


def test_every_module_has_a_limit():
    counted = [path for name in LIMITS if name != "all" for path in of_package(name)]
    assert sorted(counted) == sorted(SOURCE.rglob("*.py"))


def test_a_fit_and_a_prediction_enter_few_modules_and_functions(rng):
    X = rng.normal(size=(200, 20))
    Y = (X @ rng.normal(size=(20, 6)) + rng.normal(size=(200, 6)) > 0.5).astype(int)
    model = skcamel.CamelClassifierCV.from_preset("quick")
    for name, call in (("fit", lambda: model.fit(X, Y)), ("predict", lambda: model.predict(X))):
        modules, n_functions = entered(call)
        assert len(modules) <= ENTERED[name][0]
        assert n_functions <= ENTERED[name][1]


def test_the_architecture_names_each_package():
    text = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)/`", text))
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} <= named | {"display"}


def test_walks_through_the_code_name_what_is_there():
    text = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walks = re.findall(r"`([\w.]+)`\s+\(`(\w+/\w+)`", text)
    assert len(walks) > 3
    for name, module in walks:
        path = ".".join(["skcamel", *module.split("/")])
        attrgetter(name)(importlib.import_module(path))


def test_public_names_are_pinned():
    assert " ".join(sorted(skcamel.__all__)) == (
        "CamelClassifier CamelClassifierCV ModelFileError PAPER_ALPHAS PAPER_LAMBDA2S"
        " baselines data experiment explain export find_label_errors inspect label_sets"
        " load make_pipeline metrics outputs plots predict_sets report save top_k"
    )
    for name in skcamel.__all__:
        assert getattr(skcamel, name) is not None
    assert set(skcamel.__all__) < set(dir(skcamel))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = skcamel.nothing
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = skcamel.metrics.nothing


def test_importing_the_package_loads_no_heavy_library():
    code = (
        "import sys, skcamel; print(sorted({'numpy', 'scipy', 'sklearn', 'torch'} &"
        " set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_the_papers_grid():
    assert skcamel.PAPER_ALPHAS == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    assert skcamel.PAPER_LAMBDA2S == (0.001, 0.002, 0.01, 0.02, 0.1, 0.2, 1)

"""Imports point one way, the public names are pinned, and importing the package stays cheap."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import skcamel

SOURCE = Path(skcamel.__file__).parent
# Each stage may import from the stages before it and from its own.
ORDER = (
    ("arrays", "files", "gone", "lazy", "presets", "text"),
    ("memory", "rows"),
    ("checks",),
    ("metrics",),
    ("camel",),
    ("data",),
    ("baselines",),
    ("pipeline",),
    ("matching", "predictions"),
    ("model_file",),
    ("export",),
    ("experiment",),
    ("display",),
    ("report",),
    ("serve",),
    ("cli", "__main__"),
)
OF_CAMEL = (
    ("correlation", "explanation", "kernel", "scaling", "thresholds"),
    ("attribution", "spectral"),
    ("alternating", "landmark", "unknown"),
    ("stream",),
    ("distributed", "representation"),
    ("combination", "search", "sums"),
    ("link",),
    ("outputs",),
    ("base",),
    ("classifier",),
    ("classifier_cv",),
    ("label_errors",),
)
STAGE = {name: rank for rank, names in enumerate(ORDER) for name in names}
# Of the numeric modules: the others know nothing of scikit-learn.
WITH_SKLEARN = (
    "base",
    "classifier",
    "classifier_cv",
    "kernel",
    "label_errors",
    "outputs",
    "rows",
    "unknown",
)


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
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
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "skcamel.camel":
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skcamel.camel."):
            names = [node.module.split(".")[2]]
        else:
            continue
        assert all(stage[name] < stage[path.stem] for name in names), f"{path.stem} imports {names}"


@pytest.mark.parametrize(
    "path",
    [SOURCE / "arrays.py", SOURCE / "rows.py", *sorted((SOURCE / "camel").glob("*.py"))],
    ids=lambda path: path.stem,
)
def test_the_numeric_modules_know_nothing_of_scikit_learn(path):
    if path.stem not in WITH_SKLEARN:
        assert not any(name.split(".")[0] == "sklearn" for name in imports(path))


def test_reports_use_public_names_of_models_only():
    for path in (SOURCE / "report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
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
            tree = ast.parse(path.read_text())
            assert not any(
                isinstance(node, ast.Name) and node.id == "torch" for node in ast.walk(tree)
            ), path


def test_rooms_are_few_and_the_architecture_names_each():
    text = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)/?`", text))
    rooms = {path.parent.name if path.name == "__init__.py" else path.stem for path in modules()}
    assert len(modules()) + 1 <= 140
    assert rooms - named == set()


def test_public_names_are_pinned():
    assert sorted(skcamel.__all__) == [
        "CamelClassifier",
        "CamelClassifierCV",
        "ModelFileError",
        "PAPER_ALPHAS",
        "PAPER_LAMBDA2S",
        "baselines",
        "data",
        "display",
        "experiment",
        "explain",
        "export",
        "find_label_errors",
        "inspect",
        "label_sets",
        "load",
        "metrics",
        "outputs",
        "report",
        "save",
    ]
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

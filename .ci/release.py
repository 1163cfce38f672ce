"""``python .ci/release.py FOLDER``: a wheel and an sdist in FOLDER.

Built twice with one digest, checked, and tried in bare environments.

The oldest and the newest Python that this machine has, from 3.11 on, install the wheel without
extras and use it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEAST = (3, 11)
SMOKE = """
import importlib.util, pathlib, sys
import numpy as np
import skcamel
from skcamel import CamelClassifierCV, load, metrics, save
extras = ("click", "pandas", "matplotlib", "pyarrow", "torch")
assert not any(map(importlib.util.find_spec, extras)), "an extra was installed"
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
Y = (X[:, :3] > 0).astype(int)
model = CamelClassifierCV.from_preset("quick").fit(X[:60], Y[:60])
save(model, "model.skcamel")
again = load("model.skcamel")
assert (again.predict(X[60:]) == model.predict(X[60:])).all()
assert metrics.average_precision(Y[60:], again.decision_function(X[60:])) > 0.8
assert pathlib.Path(skcamel.__file__).with_name("py.typed").exists()
print(f"skcamel {skcamel.__version__} works on Python {sys.version.split()[0]} without extras")
"""


def run(*words: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """A command that must succeed."""
    return subprocess.run([str(word) for word in words], check=True, text=True, **options)


def build(folder: Path) -> dict[str, str]:
    """Digests of what a build writes, by file; its time is that of the last commit."""
    told = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    environment = os.environ | {"SOURCE_DATE_EPOCH": told.stdout.strip() or "1700000000"}
    run(
        sys.executable,
        "-m",
        "build",
        "--outdir",
        folder,
        ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def check_contents(folder: Path) -> None:
    """A wheel holds the package; an sdist also tests and documentation, and no build artefacts."""
    wheel, source = next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))
    inside = zipfile.ZipFile(wheel).namelist()
    assert all(name.startswith(("skcamel/", "skcamel-")) for name in inside), inside
    assert "skcamel/py.typed" in inside
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "pyproject.toml",
        "docs/conf.py",
        "tests/test_documents.py",
    } <= names
    left = [
        name
        for name in names
        if re.search(r"__pycache__|_build/|^docs/(gallery|generated)/|\.skcamel$", name)
    ]
    assert left == [], left


def works(python: Path) -> bool:
    """Whether it can make environments: some systems leave ensurepip out."""
    return (
        subprocess.run(
            [python, "-c", "import ensurepip, venv"], capture_output=True, check=False
        ).returncode
        == 0
    )


def pythons() -> list[Path]:
    """Interpreters of this machine from `LEAST` on, oldest first, one of each minor version."""
    found = {sys.version_info[:2]: Path(sys.executable)}
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)] + sorted(
        versions.glob("*/bin")
    )
    for path in (path for place in places for path in place.glob("python3.*")):
        match = re.fullmatch(r"python3\.(\d+)", path.name)
        if match and (3, int(match[1])) not in found and works(path):
            found[3, int(match[1])] = path
    return [found[version] for version in sorted(found) if version >= LEAST]


def try_bare(python: Path, wheel: Path, folder: Path) -> None:
    """Install the wheel alone, and use it."""
    run(python, "-m", "venv", folder)
    inside = folder / "bin" / "python"
    run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    run(inside, "-c", SMOKE, cwd=folder)
    told = subprocess.run([folder / "bin" / "skcamel"], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (
        2,
        "The skcamel command needs: pip install 'skcamel[cli]'\n",
    ), told


def main(target: Path) -> None:
    """Build, compare, check, try."""
    with tempfile.TemporaryDirectory() as name:
        first, second = (Path(name) / place for place in ("first", "second"))
        digests = build(first)
        assert digests == build(second), "two builds of one commit differ"
        run(
            sys.executable,
            "-m",
            "twine",
            "check",
            "--strict",
            *first.iterdir(),
            stdout=subprocess.DEVNULL,
        )
        check_contents(first)
        known = pythons()
        for python in dict.fromkeys((known[0], known[-1])):
            try_bare(python, next(first.glob("*.whl")), Path(name) / f"bare-{python.name}")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(first, target)
    for file, digest in digests.items():
        sys.stdout.write(f"{digest}  {target / file}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

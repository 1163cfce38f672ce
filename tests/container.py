"""The steps of the Dockerfile in a folder of their own, without docker: ``make test-long``.

COPY and RUN are done below a fresh folder, which stands for the root of the image; then CMD is
started, HEALTHCHECK is run, one row is predicted, and the server is stopped.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HOME = Path(__file__).parents[1]


def steps(text: str) -> list[tuple[str, str]]:
    """Instructions and their arguments, lines that end in a backslash joined."""
    lines = [
        line
        for line in text.replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def inside(root: Path, text: str) -> str:
    """The same with the absolute paths of the image below a folder of this machine."""
    for place in ("/opt/skcamel", "/srv"):
        text = text.replace(place, f"{root}{place}")
    return text


def all_said() -> dict[str, str]:
    """What each kind of instruction says, one after the other."""
    found: dict[str, str] = {}
    for word, rest in steps((HOME / "Dockerfile").read_text(encoding="utf-8")):
        found[word] = f"{found[word]}\n{rest}" if word in found else rest
    return found


def build(root: Path, model: Path) -> None:
    """Do what the stages do."""
    here = root / "build"
    here.mkdir(parents=True)
    for word, rest in steps((HOME / "Dockerfile").read_text(encoding="utf-8")):
        if word == "RUN":
            line = inside(root, rest).replace("python -m venv", f"{sys.executable} -m venv")
            subprocess.run(line, shell=True, check=True, cwd=here)
        elif word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            for source in sources:
                path = model if source == "${MODEL}" else HOME / source
                place = here / (path.name if target == "./" else target)
                if target[0] == "/":
                    place = root / target[1:]
                place.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if path.is_dir() else shutil.copy)(path, place)


def served(root: Path, said: dict[str, str]) -> None:
    """Start it as the image does, ask for its health and for one prediction, and stop it."""
    environment = {
        "PATH": f"{root}/opt/skcamel/bin:{os.environ['PATH']}",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    command = [inside(root, word) for word in json.loads(said["CMD"])]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, cwd=root
    ) as server:
        try:
            assert server.stderr is not None
            assert "Serving" in (first := server.stderr.readline()), first
            health = json.loads(said["HEALTHCHECK"].partition("CMD")[2])
            for _ in range(50):
                if not subprocess.run(
                    health, env=environment, stderr=subprocess.DEVNULL, check=False
                ).returncode:
                    break
                time.sleep(0.1)
            else:
                raise AssertionError(f"never healthy: {shlex.join(health)}")
            with urllib.request.urlopen("http://127.0.0.1:8000/model", timeout=10) as answer:
                example = json.load(answer)["example"]
            body = json.dumps({"rows": [example]}).encode()
            request = urllib.request.Request(
                "http://127.0.0.1:8000/predict", body, {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                assert json.load(answer)["predictions"][0]["probabilities"]
        finally:
            server.send_signal(signal.SIGTERM)
            _, rest = server.communicate(timeout=60)
        assert "Stopped; " in rest, rest


def main() -> None:
    """Build and serve a made-up model."""
    from serving import mixed
    from skcamel import save

    with tempfile.TemporaryDirectory() as name:
        root, model = Path(name, "root"), Path(name, "model.skcamel")
        save(mixed(), model)
        build(root, model)
        served(root, all_said())
    sys.stdout.write("The steps of the Dockerfile work: built, healthy, predicted, stopped.\n")


if __name__ == "__main__":
    main()

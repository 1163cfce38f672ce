"""What the Dockerfile says, without docker; ``tests/container.py`` does its steps."""

import json

from container import HOME, all_said, steps


def test_the_image_has_two_stages_no_root_and_a_health_check_by_python():
    said = all_said()
    stages = said["FROM"].splitlines()
    assert len(stages) == 2
    assert all(name.startswith("python:") for name in stages)
    assert not said["USER"].startswith(("0", "root"))
    command = json.loads(said["HEALTHCHECK"].partition("CMD")[2])
    assert command[:2] == ["python", "-c"]
    compile(command[2], "health", "exec")
    assert "://" not in said["RUN"] + said["FROM"]  # no address of a registry


def test_what_is_copied_is_there_and_not_ignored():
    lines = (HOME / ".dockerignore").read_text().splitlines()
    kept = {line[1:] for line in lines if line.startswith("!")}
    copies = [rest for word, rest in steps((HOME / "Dockerfile").read_text()) if word == "COPY"]
    copied = {source for rest in copies if "--from" not in rest for source in rest.split()[:-1]}
    assert copied - {"${MODEL}"} == {"pyproject.toml", "README.md", "LICENSE", "src"}
    assert copied - {"${MODEL}"} <= kept
    assert all((HOME / source).exists() for source in copied - {"${MODEL}"})

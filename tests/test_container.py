"""What the Dockerfile says, without docker; ``tests/container.py`` does its steps."""

import json

from container import HOME, checked, steps


def said():
    found = {}
    for word, rest in steps((HOME / "Dockerfile").read_text(encoding="utf-8")):
        found[word] = f"{found[word]}\n{rest}" if word in found else rest
    return found


def test_the_image_has_two_stages_no_root_and_a_health_check_by_python():
    found = said()
    checked(found)
    command = json.loads(found["HEALTHCHECK"].partition("CMD")[2])
    assert command[:2] == ["python", "-c"]
    compile(command[2], "health", "exec")
    assert "://" not in found["RUN"] + found["FROM"]  # no address of a registry


def test_the_command_of_the_image_is_one_that_skcamel_has():
    import click.testing

    from skcamel.cli.app import root

    program, *arguments = json.loads(said()["CMD"])
    assert program == "skcamel"
    result = click.testing.CliRunner().invoke(root, arguments)
    assert "/srv/model.skcamel" in result.stderr  # the file is not here, and nothing else is wrong


def test_what_is_copied_is_there_and_not_ignored():
    kept = {
        line[1:]
        for line in (HOME / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copied = [
        source
        for word, rest in steps((HOME / "Dockerfile").read_text())
        if word == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    ]
    assert {"pyproject.toml", "README.md", "LICENSE", "src"} <= set(copied)
    assert all(
        source == "${MODEL}" or (source in kept and (HOME / source).exists()) for source in copied
    )

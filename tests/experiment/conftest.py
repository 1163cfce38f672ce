"""What tests of studies share."""

import pytest

import study_methods


@pytest.fixture
def log(tmp_path, monkeypatch):
    """File that gets a line for each fit of the methods of `study_methods`."""
    monkeypatch.setenv(study_methods.LOG, str(tmp_path / "log"))
    return tmp_path / "log"

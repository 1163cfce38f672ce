"""Fixtures of all tests: a backend, a seeded generator, and Hypothesis that repeats itself."""

import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

# The same examples on every run and machine, however slow it is: a failure can be repeated by
# anyone.
settings.register_profile("skcamel", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("skcamel")

# A shell may start its background jobs deaf to Ctrl-C, and processes that tests start would inherit
# that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `data` need the benchmark sets, which are no part of a clone."""
    if item.get_closest_marker("data") and not os.environ.get("SKCAMEL_DATA"):
        pytest.skip("SKCAMEL_DATA does not name the folder of the benchmark sets")


@pytest.fixture(
    scope="session", params=["numpy", "readonly", pytest.param("torch", marks=pytest.mark.torch)]
)
def xp(request: pytest.FixtureRequest) -> Callable[[np.ndarray], Any]:
    """A copy of an array as numpy, as numpy that must not be written to, or as a torch tensor."""
    if request.param == "torch":
        torch = pytest.importorskip(
            "torch", reason="torch is not installed: pip install skcamel[gpu]"
        )

    def as_backend(array: np.ndarray) -> Any:
        if request.param == "torch":
            return torch.tensor(array)
        copy = np.array(array)
        copy.setflags(write=request.param == "numpy")
        return copy

    return as_backend


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that starts anew, with seed 0, in every test."""
    return np.random.default_rng(0)

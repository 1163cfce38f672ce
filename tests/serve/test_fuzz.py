"""The first odd requests of the fuzzer; ``make fuzz`` sends more."""

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed: pip install skcamel[serve]")
pytest.importorskip("httpx", reason="httpx is not installed: pip install --group test")

from fuzzing.requests import attack

TESTS = 5


@pytest.mark.parametrize("part", range(TESTS))
def test_odd_requests_are_answered_without_an_error_inside(part, tmp_path):
    for seed in range(part, 500, TESTS):
        attack(seed, tmp_path)

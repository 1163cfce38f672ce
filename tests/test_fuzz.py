"""The first seeds of the fuzzers of commands, requests and model files; ``make fuzz`` goes on."""

from importlib import import_module

import pytest

SEEDS = {"commands": 60, "requests": 500, "model_files": 1000}
NEEDED = {"commands": ("click", "rich"), "requests": ("fastapi", "httpx"), "model_files": ()}
TESTS = 5
FOUND = 20017723  # by model_files: names of columns that were a number


@pytest.mark.parametrize("part", range(TESTS))
@pytest.mark.parametrize("target", SEEDS)
def test_what_is_odd_ends_in_a_sound_answer_or_one_clear_refusal(target, part, tmp_path):
    for name in NEEDED[target]:
        pytest.importorskip(name, reason=f"{name} is not installed: pip install --group test")
    attack = import_module(f"fuzzing.{target}").attack
    for seed in (*range(part, SEEDS[target], TESTS), FOUND):
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            attack(seed, folder)
        except Exception as error:
            error.add_note(f"seed {seed} of {target}")
            raise

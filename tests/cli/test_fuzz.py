"""The first command lines of the fuzzer; ``make fuzz`` tries more."""

import pytest

from fuzzing.commands import attack


@pytest.mark.parametrize("seed", range(60))
def test_random_command_lines_end_in_an_answer_or_one_clear_sentence(seed, tmp_path):
    attack(seed, tmp_path)

"""What earlier versions had gives one error that says what to do instead."""

import pytest

import skcamel
from skcamel.cli.app import run
from skcamel.names import INSTEAD

USES = sorted(INSTEAD)


@pytest.mark.parametrize("name", [use for use in USES if use.startswith("skcamel.")])
def test_a_name_that_went_says_what_to_import_instead(name):
    package, _, last = name.rpartition(".")
    module = getattr(skcamel, package.partition(".")[2], skcamel)
    with pytest.raises(ImportError, match="no longer there"):
        getattr(module, last)


@pytest.mark.parametrize("words", [use for use in USES if use.startswith("skcamel ")])
def test_a_command_or_option_that_went_says_what_to_use_instead(words, capsys):
    assert run(words.split()[1:]) == 2
    assert INSTEAD[words] in capsys.readouterr().err

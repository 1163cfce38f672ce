"""With --json standard output is JSON alone."""

import json
import shlex

import pytest

from tables import table


@pytest.mark.parametrize(
    "command",
    [
        "datasets list",
        "datasets check mine.csv --labels 2",
        "fit mine.csv --labels 2 -o n.skcamel",
        "evaluate m.skcamel mine.csv --per-label",
        "explain m.skcamel mine.csv",
        "study --datasets mine.csv --labels 2 --methods br,nothing:Known --preset quick -o out",
        "study --datasets mine.csv --labels 2 --methods br --preset quick --n-folds 2 -o out",
    ],
)
def test_standard_output_is_json_alone(cli, tmp_path, command):
    table(tmp_path / "mine.csv", range(40))
    assert cli("fit", "mine.csv", "--labels", "2", "-o", "m.skcamel").exit_code == 0
    result = cli(*shlex.split(command), "--json")
    if result.exit_code == 2:  # wrong use: nothing but a sentence on stderr
        assert result.stdout == ""
    else:
        json.loads(result.stdout)

"""With --json standard output is JSON alone."""

import json
import shlex

import pytest

from tables import table


@pytest.mark.parametrize(
    "command",
    [
        "datasets check mine.csv --labels sea,sun",
        "fit mine.csv --labels sea,sun -o n.skcamel",
        "evaluate m.skcamel mine.csv --per-label",
        "explain m.skcamel mine.csv",
        "study --datasets mine.csv --labels sea,sun --methods br,nothing:Known --preset quick -o out",
        "study --datasets mine.csv --labels sea,sun --methods br --preset quick --n-folds 2 -o out",
    ],
)
def test_standard_output_is_json_alone(cli, tmp_path, command):
    table(tmp_path / "mine.csv", range(40))
    assert cli("fit", "mine.csv", "--labels", "sea,sun", "-o", "m.skcamel").exit_code == 0
    result = cli(*shlex.split(command), "--json")
    if result.exit_code == 2:  # wrong use: nothing but a sentence on stderr
        assert result.stdout == ""
    else:
        json.loads(result.stdout)

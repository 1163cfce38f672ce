"""What lies beside the records of a study folder: requests, and the commands that repeat them."""

import json
import shlex

import made_studies
from skcamel.experiment.units import (
    methods_from_python,
    planned_units,
    read_cards,
    read_runs,
    study_command,
)


def test_units_asked_for_twice_count_once():
    both = [
        made_studies.run(["a", "b"], ["br"]),
        made_studies.run(["b", "c"], ["br"]),
        made_studies.run(["a"], ["br"], seed=1),
    ]
    assert planned_units(both) == 40


def test_a_name_with_blanks_is_quoted_in_a_command():
    assert (
        shlex.split(study_command(made_studies.run(["my set", "b;c"], ["br"])))[3] == "my set,b;c"
    )


def test_a_run_that_another_includes_is_left_out(tmp_path):
    whole, part, other = (
        made_studies.run(["a", "b"], ["br"]),
        made_studies.run(["b"], ["br"]),
        made_studies.run(["b"], ["br"], seed=1),
    )
    (tmp_path / "study.json").write_text(json.dumps({"runs": [part, whole, other]}))
    assert read_runs(tmp_path) == [whole, other]


def test_a_folder_without_these_files_holds_nothing(tmp_path):
    assert (read_runs(tmp_path), read_cards(tmp_path)) == ([], {})


def test_a_device_is_part_of_the_command_unless_it_is_the_processor():
    run = made_studies.run(["a"], ["camel"])
    assert "--device cuda" in study_command(run, device="cuda")
    assert "--device" not in study_command(run)


def test_methods_that_no_command_knows():
    assert methods_from_python(made_studies.run(["a"], ["camel", "mine", "svc"])) == ["mine"]

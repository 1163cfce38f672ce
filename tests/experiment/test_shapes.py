"""Study folders of any shape: every reader ends in a result, or in a RecordsError that names the file and the cure."""

import json
import random

import pytest

import made_records
import made_studies
from skcamel.experiment import (
    Records,
    RecordsError,
    compare_with_paper,
    run_study,
    summarise,
    write_tables,
)
from skcamel.experiment.published import paper_table
from skcamel.experiment.summary import costs
from skcamel.experiment.tables import result_tables, sizes_table
from skcamel.experiment.units import planned_units, read_cards, read_runs
from skcamel.report import build_report
from study_methods import Mean, made

FILES = ("records.jsonl", "study.json", "cards.json", "failures")
VALUES = (
    None,
    True,
    -1,
    0,
    7,
    10**6,
    2**70,
    10**400,
    0.5,
    -1e300,
    1e999,
    float("nan"),
    "",
    "0",
    "x" * 200,
    "\ud800",
    "=1+1",
    [],
    [[]],
    {},
    [None],
)
VALUES += ({"a": 1}, [1, "2"], "paper", "plain", "2026-11-15T20:52:37.123456Z")


@pytest.fixture
def folder(tmp_path):
    """A small study with something of everything: records, a failure, and cards."""
    records = made_studies.costly(
        made_records.study(["yeast"], ["camel", "br"], n_folds=2)
        + made_records.study(["mine"], ["br"], n_folds=2)
    )
    return made_studies.write(
        tmp_path / "study",
        records,
        runs=[made_studies.run(["yeast", "mine"], ["camel", "br"], n_folds=2)],
        cards=["yeast", "mine"],
        failures=[made_studies.failure()],
    )


def read_everything(folder):
    """What the library makes of a study folder."""
    records = Records(folder)
    for form in ("markdown", "csv", "latex"):
        write_tables(
            [
                *result_tables(summarise(records), against=paper_table()).values(),
                sizes_table(read_cards(folder)),
            ],
            form,
        )
    compare_with_paper(records)
    costs(records)
    planned_units(read_runs(folder))
    build_report(folder, folder.parent / "page.html")


def places(value, path=()):
    """Paths of all parts of a JSON value."""
    yield path
    for key, item in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from places(item, (*path, key))


def mutated(value, rng):
    """The value with a part replaced, removed, renamed or doubled."""
    path = rng.choice(
        [path for path in places(value) if len(path) < 4 or rng.random() < 0.1] or [()]
    )
    if not path:
        return rng.choice(VALUES)
    *parents, last = path
    part = value
    for key in parents:
        part = part[key]
    way = rng.randrange(6)
    if way == 0:
        del part[last]
    elif way == 1 and isinstance(part, dict):
        part[rng.choice(("", "a", "seed", "fit_seconds", "__proto__"))] = part.pop(last)
    elif way == 2 and isinstance(part, list):
        part.append(part[last])
    else:
        part[last] = rng.choice(VALUES)
    return value


def damage(folder, name, rng):
    """Change one file."""
    path = folder / name
    if path.is_dir():
        path = next(path.iterdir())
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    which = rng.randrange(len(lines))
    lines[which] = json.dumps(mutated(json.loads(lines[which]), rng))
    if rng.random() < 0.1:
        lines.append(lines[which])
    path.write_text("\n".join(lines))
    return path


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("seed", range(120))
def test_every_reader_ends_in_a_result_or_names_the_damaged_file(folder, seed):
    rng = random.Random(seed)  # noqa: S311 (nothing secret)
    path = damage(folder, FILES[seed % len(FILES)], rng)
    try:
        read_everything(folder)
    except RecordsError as error:
        assert path.name in str(error) or "more than once" in str(error), error  # noqa: PT017 (a result is right too)


WRONG = {
    "study.json": [
        [],
        {},
        {"runs": None},
        {"runs": [1]},
        {"runs": [{"datasets": ["a"]}]},
        {"runs": [{"datasets": "a", "methods": []}]},
        "x",
    ],
    "cards.json": [
        [],
        None,
        {"yeast": []},
        {"yeast": {"n": 1}},
        {"yeast": {"n": "1"}},
        {"yeast": made_studies.card("yeast") | {"label_known": [200]}},
        3,
    ],
}


@pytest.mark.parametrize(
    ("name", "content"),
    [(name, content) for name, contents in WRONG.items() for content in contents],
)
def test_a_description_of_the_wrong_shape_is_named_with_its_cure(folder, name, content):
    (folder / name).write_text(json.dumps(content))
    for use in (
        lambda: read_everything(folder),
        lambda: run_study([made()], [Mean()], n_folds=2, out=folder),
    ):
        with pytest.raises(
            RecordsError,
            match=rf"{name} is damaged \(.*\); delete it, and the next run writes it again",
        ):
            use()


@pytest.mark.parametrize("name", ["study.json", "cards.json", "records.jsonl"])
def test_a_folder_in_the_place_of_a_file_is_named(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    with pytest.raises(RecordsError, match=name):
        read_everything(folder)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": "0"}, "seed is '0', not an integer from 0 to 4294967295"),
        ({"fold": 2}, "fold is 2, and folds are counted from 0 to 1"),
        ({"coverage": "0.5"}, "coverage is '0.5', not a number from 0 to 1"),
        ({"coverage": 2.5}, "coverage is 2.5, not a number from 0 to 1"),
        ({"coverage_by_one_error": []}, r"coverage_by_one_error is \[\], not a number"),
        ({"settings": []}, r"settings is \[\], not a mapping"),
        ({"fit_seconds": "1"}, "fit_seconds is '1', not a number from 0 on"),
        ({"warnings": "late"}, "warnings is 'late', not a list"),
        ({"n_folds": 10**30}, "it holds 10{30}, which is not finite or too large"),
        ({"micro_f1": float("nan")}, "it holds NaN, which is not finite"),
        ({"finished_at": "yesterday"}, "finished_at is 'yesterday', not a time"),
        ({"preset": "fast"}, "preset is 'fast', not one of quick, paper, best"),
    ],
)
def test_a_wrong_value_of_a_record_is_named(folder, change, reason):
    lines = (folder / "records.jsonl").read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | change)
    (folder / "records.jsonl").write_text("\n".join(lines))
    with pytest.raises(
        RecordsError, match=rf"records.jsonl, line 2: damaged \(.*{reason}.*\); delete this line"
    ):
        Records(folder)


def test_settings_nested_beyond_reason_are_damage(folder):
    path = folder / "records.jsonl"
    path.write_text(
        path.read_text().replace(
            '"settings":{}', '"settings":' + '{"a":' * 700 + "1" + "}" * 700, 1
        )
    )
    with pytest.raises(RecordsError, match="line 1: damaged"):
        Records(folder)

"""``skcamel datasets``: list the benchmark sets, and check a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from skcamel.cli import options
from skcamel.cli.io import open_labelled, say, say_json
from skcamel.text import one_line


@click.group(cls=options.Group, invoke_without_command=True)
@options.examples("skcamel datasets list", "skcamel datasets check mine.csv --labels 'topic_*'")
@click.pass_context
def datasets(ctx: click.Context) -> None:
    """List the benchmark sets, and check data sets."""
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())


@datasets.command("list")
@options.examples("skcamel datasets list")
def list_command() -> None:
    """List the benchmark sets, their sizes, and where each is found.

    Sets are looked for in the folder that SKCAMEL_DATA names; skcamel.data.fetch_dataset downloads.
    """
    from skcamel.data.catalogue import dataset_facts, list_datasets, whereabouts

    say(f"{'name':<18}{'rows':>6}{'features':>10}{'labels':>8}{'cardinality':>13}  found in")
    for name in list_datasets():
        facts = dataset_facts(name)
        place = whereabouts(name)
        sizes = f"{facts.n:>6}{facts.d:>10}{facts.q:>8}{facts.cardinality:>13.3f}"
        found = "-" if place is None else one_line(str(place.parent))
        say(f"{name:<18}{sizes}  {found}")


@datasets.command()
@click.argument("data", metavar="FILE")
@options.labels
@options.columns
@options.as_json
@options.examples(
    "skcamel datasets check mine.csv --labels 'topic_*'", "skcamel datasets check yeast"
)
@click.pass_context
def check(ctx: click.Context, data: str, *, as_json: bool, **choices: Any) -> None:
    """Look for defects, and show what a fit makes of each column.

    Defects are labels among the features, copies of rows, test rows in the training part, constant
    or duplicate labels, unreadable cells and more. Exit code 1 where an error or a warning is
    found, else 0.
    """
    from skcamel.data.checks import check_dataset

    source = open_labelled(data, choices)
    findings = check_dataset(source.dataset_of_numbers())
    columns = source.columns()
    if as_json:
        say_json({"columns": columns, "findings": [asdict(finding) for finding in findings]})
    else:
        print_columns(columns)
        for finding in findings:
            say(one_line(str(finding)))
        if not columns and not findings:
            say("Nothing found.")
    ctx.exit(int(any(finding.severity != "info" for finding in findings)))


def print_columns(columns: Sequence[Mapping[str, str]], most: int | None = None) -> None:
    """Write what becomes of each column of a table: its name, its kind, and details."""
    for each in columns[:most]:
        name = one_line(each["column"])
        line = f"  {name:<20}  {each['kind']:<8}  {one_line(each['detail'])}"
        say(line.rstrip())
    if most is not None and len(columns) > most:
        say(f"  … {len(columns) - most} more; 'skcamel datasets check' lists all.")

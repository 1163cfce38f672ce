"""``skcamel datasets``: list, fetch, check; each calls one public function of ``skcamel.data``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli import options
from skcamel.cli.inputs import is_table, open_dataset, open_table, preparer_with, sizes
from skcamel.cli.options import examples
from skcamel.cli.output import print_columns, say, say_json
from skcamel.data import DataError
from skcamel.text import one_line

if TYPE_CHECKING:
    from skcamel.data.catalogue import DatasetFacts, Place
    from skcamel.data.checks import Finding
    from skcamel.data.dataset import Dataset

SHOWN = ("name", "n", "d", "q", "cardinality", "sparse", "in_paper", "digest", "repaired")
CREDITS = ("reference", "licence", "terms", "defects", "sources")


@click.group(cls=options.Group, epilog=examples("skcamel datasets list"))
def datasets() -> None:
    """List, fetch and check data sets.

    A data set is named by its name in the catalogue, or by a file: .arff (with its XML, or of
    MEKA), .csv, .tsv, .xlsx,
    .parquet, .jsonl, .mat, .svm, .svmlight, .txt.
    """


@datasets.command("list", epilog=examples("skcamel datasets list", "skcamel datasets list --json"))
@options.data_home
@options.as_json
def list_command(data_home: str | None, *, as_json: bool) -> None:
    """List the benchmark sets, their sizes, and where each is found."""
    from skcamel.data.catalogue import dataset_facts, list_datasets, whereabouts

    found = [(dataset_facts(name), whereabouts(name, data_home)) for name in list_datasets()]
    if as_json:
        say_json([_described(*each) for each in found])
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "n", "d", "q", "cardinality", "available"):
        table.add_column(
            column, justify="left" if column in ("name", "available") else "right", no_wrap=True
        )
    for facts, place in found:
        figures = (str(facts.n), str(facts.d), str(facts.q), f"{facts.cardinality:.3f}")
        table.add_row(one_line(facts.name), *figures, one_line(_available(facts, place)))
    Console(highlight=False, markup=False, emoji=False).print(table)


def _described(facts: DatasetFacts, place: Place | None) -> dict[str, Any]:
    where = None if place is None else str(place.folder)
    return {key: getattr(facts, key) for key in (*SHOWN, *CREDITS)} | {
        "found_in": where,
        "fetchable": facts.download is not None,
    }


def _available(facts: DatasetFacts, place: Place | None) -> str:
    if place is not None:
        return f"yes: {place.reason}"
    if facts.download is None:
        return "no: bring a copy"
    return f"no: fetch {facts.name}{' --yes' if facts.terms else ''}"


@datasets.command(
    epilog=examples("skcamel datasets fetch emotions", "skcamel datasets fetch rcv1-s1 --yes")
)
@click.argument("name")
@click.option("--yes", is_flag=True, help="Accept the terms of use, where some apply (rcv1).")
@click.option(
    "--cache",
    type=options.OutputFolder(),
    help="Folder to fill; default: SKCAMEL_CACHE, or the cache folder of this platform.",
)
@click.option("--base-url", metavar="URL", help="A mirror of raw.githubusercontent.com, https.")
def fetch(name: str, cache: str | None, base_url: str | None, *, yes: bool) -> None:
    """Download a benchmark set into the cache; source, licence status and reference are shown first."""
    from skcamel.data.catalogue import GITHUB, TermsError, dataset_facts, fetch_dataset

    say(dataset_facts(name).notice, err=True)
    try:
        dataset = fetch_dataset(name, yes=yes, cache=cache, base_url=base_url or GITHUB)
    except TermsError as error:
        raise click.UsageError(
            f"Terms apply to {name}; if you accept them, run: skcamel datasets fetch {name} --yes"
        ) from error
    say(f"{dataset.name}: {sizes(dataset)}; in {one_line(str(Path(dataset.source).parent))}")


@datasets.command(
    epilog=examples(
        "skcamel datasets check yeast", "skcamel datasets check mine.csv --labels 'topic_*'"
    )
)
@click.argument("name_or_file")
@options.dataset_options
@options.table_options
@options.as_json
@click.pass_context
def check(ctx: click.Context, name_or_file: str, *, as_json: bool, **how: Any) -> None:
    """Look for defects: labels among the features, test rows that are in the training part, constant or duplicate labels, and more.

    Of a table it also tells what a fit would make of each column; without --labels that alone.

    Exit code 1 where an error or a warning is found, else 0.
    """
    from skcamel.data.checks import check_dataset

    of_table = {key: how.pop(key) for key in (*options.OF_TABLES, "labels_file")}
    told: list[tuple[str, str, str]] = []
    if is_table(name_or_file):
        told, dataset = _prepared(name_or_file, how["labels"], of_table)
    else:
        dataset = open_dataset(name_or_file, **how)
    findings: list[Finding] = [] if dataset is None else check_dataset(dataset)
    if as_json:
        columns = [dict(zip(("column", "kind", "detail"), words, strict=True)) for words in told]
        found = [asdict(finding) for finding in findings]
        say_json({"columns": columns, "findings": found} if told else found)
    else:
        if told:
            print_columns(told)
        if dataset is not None:
            say(
                "\n".join(one_line(str(finding)) for finding in findings)
                or f"Nothing found in {sizes(dataset)}."
            )
    ctx.exit(int(any(finding.severity != "info" for finding in findings)))


def _prepared(
    source: str, labels: str | None, of_table: dict[str, Any]
) -> tuple[list[tuple[str, str, str]], Dataset | None]:
    """What a fit would make of each column of a table; and with labels its rows."""
    from skcamel.data.dataset import Dataset
    from skcamel.data.tables import read_columns

    labels_file = of_table.pop("labels_file")
    preparer = preparer_with(of_table).set_params(scaling="none")
    try:
        if labels is None and labels_file is None:
            return (
                preparer.fit(read_columns(source)).describe(),
                None,
            )
        table = open_table(source, preparer, labels=labels, labels_file=labels_file)
        X = preparer.fit(table.columns, table.Y).transform(table.columns)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(str(error), path=source) from error
    return preparer.describe(), Dataset(
        X, table.Y, preparer.get_feature_names_out(), table.labels.names, name=table.name
    )

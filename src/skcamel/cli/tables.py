"""``skcamel tables`` and ``skcamel records``: what a study folder holds, in the paper's form and for other programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.options import METRICS, OutputFile, examples, output_file, study_folder
from skcamel.cli.output import hand_over, note, say, words_beside

if TYPE_CHECKING:
    from skcamel.experiment.summary import Summary
    from skcamel.experiment.tables import Table

# As in skcamel.experiment.tables and .summary, which are imported only on use; a test compares them
FORMS = ("terminal", "markdown", "latex", "csv", "json")
SELECTIONS = (*METRICS, "each", "nearest")
EXPORTS = {".csv": "to_csv", ".json": "to_json", ".parquet": "to_parquet"}
EXPORT = OutputFile(*EXPORTS)


@click.command(
    epilog=examples(
        "skcamel tables DIR", "skcamel tables DIR --table 2 --form latex", "skcamel tables DIR --against-paper --selected-by nearest"
    )
)
@study_folder
@click.option("--table", "which", type=click.Choice(["1", "2", "3", "all"]), default="all", show_default=True, help="One table alone.")
@click.option("--form", type=click.Choice(FORMS), default="terminal", show_default=True, help="csv and json hold unrounded figures.")
@click.option(
    "--selected-by",
    type=click.Choice(SELECTIONS),
    help="Selection criterion to show, where records keep several: a metric, each metric by itself, or per set the one nearest the "
    "paper's row (a diagnosis made afterwards). Default: that of the records.",
)
@click.option("--preset", help="Records of one preset alone.")
@click.option(
    "--folds", type=click.Choice(["plain", "stratified", "grouped", "grouped-stratified", "given"]), help="Records of such folds alone."
)
@click.option("--n-folds", type=int, help="Records of so many folds alone.")
@click.option("--seed", type=int, help="Records of one seed alone.")
@click.option("--against-paper", is_flag=True, help="The paper's figures beside ours, and how many cells keep up.")
@click.option(
    "--std",
    type=click.Choice(["paper", "larger"]),
    default="paper",
    show_default=True,
    help="Unit of differences: the paper's std, or the larger of both.",
)
@click.option("--significance", is_flag=True, help="Average ranks, Friedman, Nemenyi, Bonferroni–Dunn, Wilcoxon–Holm.")
def tables(
    folder: str, which: str, form: str, selected_by: str | None, std: str, *, against_paper: bool, significance: bool, **alone: Any
) -> None:
    """Print the tables of a study folder, as `skcamel study` filled it, in the form of the paper's."""
    from skcamel.experiment.tables import write_tables

    summary = _summary(folder, selected_by, alone)
    chosen = _results(summary, which, against_paper=against_paper, std=std)
    if which in ("1", "all"):
        chosen = [*_sizes(Path(folder), summary.datasets), *chosen]
    if against_paper:
        chosen += _against_paper(summary, std)
    if significance:
        chosen += _significance(summary)
    width = shutil.get_terminal_size().columns if form == "terminal" and sys.stdout.isatty() else None
    text = write_tables(chosen, form, width=width) + "\n"
    sys.stdout.write(text) if form == "terminal" else hand_over(text)  # the first is styled, and its names are safe already
    for text in summary.left_out_notes() if form == "csv" else ():  # the other forms have notes of their own
        note(text)


def _summary(folder: str, selected_by: str | None, alone: Mapping[str, Any]) -> Summary:
    """Means of the records that have all these values; None allows any."""
    from skcamel.experiment.records import Records
    from skcamel.experiment.summary import summarise

    records = list(Records(folder))
    if not records:
        raise click.ClickException(f"{folder} holds no finished unit; run: skcamel study -o {folder}")
    for field, value in alone.items():
        there = sorted({record[field] for record in records})
        if value is not None and value not in there:
            raise click.UsageError(f"No record has the {field} {value!r}; there are {', '.join(map(str, there))}.")
        records = [record for record in records if value in (None, record[field])]
    return summarise(records, selected_by=selected_by)


def _results(summary: Summary, which: str, *, against_paper: bool, std: str) -> list[Table]:
    from skcamel.experiment.tables import result_tables

    found = result_tables(summary, against_paper=against_paper, std=std)
    if which in ("2", "3") and which not in found:
        raise click.ClickException(f"No result belongs to Table {which}; the records hold {', '.join(summary.datasets)}.")
    return [table for name, table in found.items() if which in (name, "all")]


def _sizes(folder: Path, datasets: Sequence[str]) -> list[Table]:
    """Table 1, from the cards of the study; sets of the catalogue need none."""
    from skcamel.experiment.tables import sizes_table
    from skcamel.experiment.units import read_cards

    cards = read_cards(folder)
    known = {name: cards[name] if name in cards else _catalogued(name) for name in datasets}
    if missing := [name for name, card in known.items() if card is None]:
        note(f"{folder / 'cards.json'} has no card of {', '.join(missing)}; Table 1 leaves that out.")
    return [sizes_table({name: card for name, card in known.items() if card is not None})]


def _catalogued(name: str) -> dict[str, Any] | None:
    from skcamel.data.catalogue import dataset_facts, list_datasets

    if name not in list_datasets():
        return None
    facts = dataset_facts(name)
    return {"n": facts.n, "d": facts.d, "q": facts.q, "cardinality": facts.cardinality, "density": facts.cardinality / facts.q}


def _against_paper(summary: Summary, std: str) -> list[Table]:
    """Counts and missed cells of CAMEL, under each of its presets."""
    from skcamel.experiment.comparison import compare_summary
    from skcamel.experiment.paper import LARGE, REGULAR
    from skcamel.experiment.summary import base_of
    from skcamel.experiment.tables import claims_table, comparison_tables

    if not set(summary.datasets) & {*REGULAR, *LARGE}:
        raise click.UsageError(f"--against-paper: the paper has none of the data sets of this study, {', '.join(summary.datasets)}.")
    ours = [method for method in summary.methods if base_of(method) == "camel"]
    return [
        table
        for method in ours
        for table in (*comparison_tables(compare_summary(summary, method, std=std), method), claims_table(summary, method))
    ]


def _significance(summary: Summary) -> list[Table]:
    """Tests of all methods; the first one, CAMEL if it is there, is the control."""
    from skcamel.experiment.tables import significance_tables

    if len(summary.methods) < 2:
        raise click.ClickException(f"Tests compare methods, but the records hold only {summary.methods[0]}; run skcamel study with more.")
    return significance_tables(summary, summary.methods[0])


@click.command(
    epilog=examples("skcamel records DIR", "skcamel records DIR -o records.csv", "skcamel records DIR -o records.parquet --compact")
)
@study_folder
@output_file(EXPORT, "File to write, .csv, .json or .parquet: one row for each unit.")
@click.option("--compact", is_flag=True, help="Move the units of DIR into one sorted file, records.jsonl, for version control.")
def records(folder: str, output: str | None, *, compact: bool) -> None:
    """Count the records of a study folder, and export them with every figure, parameter, time and version."""
    from skcamel.experiment.records import Records
    from skcamel.experiment.summary import newest

    found = Records(folder)
    if output is not None:
        getattr(found, EXPORTS[EXPORT.suffix(output)])(output)
    if compact:
        found.compact()
    sets, methods = ({record[field] for record in found} for field in ("dataset", "method"))
    with words_beside(output):
        say(f"{len(found)} finished units: data sets {len(sets)}, methods {len(methods)}; failed {len(found.failures)}.")
    if earlier := len(newest(found)[1]):
        note(f"{earlier} of the finished units have earlier settings; the export holds them, tables and pages leave them out.")

"""``skcamel tables``: what a study folder holds, in the paper's form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.options import METRICS, Number, OutputFolder, examples, study_folder
from skcamel.cli.output import hand_over, note, say

if TYPE_CHECKING:
    from skcamel.experiment.paper import Metric
    from skcamel.experiment.published import Published
    from skcamel.experiment.summary import Record, Summary
    from skcamel.experiment.tables import Table

# As in skcamel.experiment.forms and .summary, which are imported only on use; a test compares them
FORMS = ("markdown", "latex", "csv")
SELECTIONS = (*METRICS, "each", "nearest")


@click.command(
    epilog=examples(
        "skcamel tables DIR",
        "skcamel tables DIR --table 2 --form latex",
        "skcamel tables DIR --form csv -o FOLDER",
        "skcamel tables DIR --preset best --against paper --selected-by average_precision",
        "skcamel tables DIR --against mine.csv",
    )
)
@study_folder
@click.option(
    "--table",
    "which",
    type=click.Choice(["1", "2", "3", "all"]),
    default="all",
    show_default=True,
    help="One table alone.",
)
@click.option(
    "--form",
    type=click.Choice(FORMS),
    default="markdown",
    show_default=True,
    help="csv holds unrounded figures.",
)
@click.option(
    "-o",
    "--output",
    "out",
    type=OutputFolder(),
    help="With --form csv: folder to write into, one file for each table.",
)
@click.option(
    "--metrics",
    help=(
        "Metrics to show, separated by commas, of the seven and those that the study recorded."
        " Default: all."
    ),
)
@click.option(
    "--selected-by",
    type=click.Choice(SELECTIONS),
    help=(
        "Selection criterion to show, where records keep several: a metric, each metric by itself,"
        " or per set the one nearest the paper's row (a diagnosis made afterwards). Default: that"
        " of the records."
    ),
)
@click.option("--preset", help="Records of one preset alone.")
@click.option(
    "--folds",
    type=click.Choice(["plain", "stratified", "grouped", "grouped-stratified", "given"]),
    help="Records of such folds alone.",
)
@click.option("--n-folds", type=int, help="Records of so many folds alone.")
@click.option("--seed", type=int, help="Records of one seed alone.")
@click.option(
    "--against",
    metavar="FILE",
    help=(
        "Published figures beside ours, and how many cells keep up: a CSV file with the columns"
        " method, dataset, metric, mean and std (which may be missing), or the word paper."
    ),
)
@click.option(
    "--std",
    type=click.Choice(["paper", "larger"]),
    default="paper",
    show_default=True,
    help="Unit of differences: the printed std, or the larger of both.",
)
@click.option(
    "--significance",
    is_flag=True,
    help="Average ranks, Friedman, Nemenyi, Bonferroni–Dunn, Wilcoxon–Holm, effect sizes.",
)
@click.option(
    "--level",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of these tests.",
)
def tables(
    folder: str,
    which: str,
    form: str,
    out: str | None,
    metrics: str | None,
    selected_by: str | None,
    against: str | None,
    std: str,
    level: float,
    *,
    significance: bool,
    **alone: Any,
) -> None:
    """Print the tables of a study folder, as `skcamel study` filled it, in the form of the paper's."""
    if out is not None and form != "csv":
        raise click.UsageError(
            f"-o is for --form csv, which makes a file for each table; write --form {form} to a"
            " file with > FILE."
        )
    records, measures = _records(folder, alone)
    summarised = partial(_summary, records, measures, metrics)
    summary = summarised(selected_by)
    published = _published(against, summary)
    chosen = _results(summary, which, form, published, std)
    if which in ("1", "all"):
        chosen = [*_sizes(Path(folder), summary.datasets), *chosen]
    if published is not None:
        chosen += _against(summary, published, std)
        if selected_by is None:
            chosen += _by_selection(records, summarised, published)
    if significance:
        chosen += _significance(summary, level)
    _write(chosen, form, out)
    for text in (
        summary.left_out_notes() if form == "csv" else ()
    ):  # the other forms have notes of their own
        note(text)


def _write(chosen: list[Table], form: str, out: str | None) -> None:
    from skcamel.experiment.forms import csv_files, write_tables
    from skcamel.files import whole_file

    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        files = csv_files(chosen)
        for name, content in files.items():
            with whole_file(Path(out) / name) as file:
                file.write(
                    content.encode(errors="replace")
                )  # half a character in a name must not lose the file
        say(f"wrote {', '.join(files)} into {out}")
        return
    hand_over(write_tables(chosen, form) + "\n")


def _records(folder: str, alone: Mapping[str, Any]) -> tuple[Sequence[Record], dict[str, Metric]]:
    """Records that have all these values, where None allows any, and the metrics beside the seven that the folder describes."""
    from skcamel.experiment.records import Records
    from skcamel.experiment.summary import further_measures

    found = Records(folder)
    if not found:
        raise click.ClickException(
            f"{folder} holds no finished unit; run: skcamel study -o {folder}"
        )
    records = list(found)
    for field, value in alone.items():
        there = sorted({record[field] for record in records})
        if value is not None and value not in there:
            raise click.UsageError(
                f"No record has the {field} {value!r}; there are {', '.join(map(str, there))}."
            )
        records = [record for record in records if value in (None, record[field])]
    return records, further_measures(found)


def _summary(
    records: Sequence[Record],
    measures: dict[str, Metric],
    metrics: str | None,
    selected_by: str | None,
) -> Summary:
    """Means of the metrics to show."""
    from skcamel.experiment.summary import summarise

    summary = summarise(records, selected_by=selected_by, measures=measures)
    if metrics is None:
        return summary
    try:
        return summary.showing([name.strip() for name in metrics.split(",") if name.strip()])
    except ValueError as error:
        raise click.UsageError(f"--metrics: {error}") from error


def _published(against: str | None, summary: Summary) -> Published | None:
    """The table to compare with; None without one."""
    from skcamel.experiment.published import paper_table, read_published

    if against is None:
        return None
    if against != "paper" and not Path(against).is_file():
        raise click.UsageError(
            f"--against: there is no file {against}; give a CSV file, or the word paper."
        )
    try:
        published = (
            paper_table()
            if against == "paper"
            else read_published(against, {**summary.measures, **summary.hidden})
        )
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--against: {error}") from error
    named = (
        ("data sets", published.datasets, summary.datasets),
        ("metrics", {key[1] for key in published.figures}, summary.measures),
    )
    for what, theirs, ours in named:
        if not set(theirs) & set(ours):
            raise click.UsageError(
                f"--against: the {published.name} has none of the {what} of this study,"
                f" {', '.join(ours)}."
            )
    return published


def _results(
    summary: Summary, which: str, form: str, published: Published | None, std: str
) -> list[Table]:
    """Tables 2 and 3 and that of other sets; in LaTeX one table for each metric, which fits a page."""
    from skcamel.experiment.paper import LARGE, REGULAR
    from skcamel.experiment.tables import metric_tables, result_tables

    if which == "1":
        return []
    found = result_tables(summary, against=published, std=std)
    if which in ("2", "3") and which not in found:
        raise click.ClickException(
            f"No result belongs to Table {which}; the records hold {', '.join(summary.datasets)}."
        )
    if form == "latex":
        return metric_tables(
            summary,
            {"2": REGULAR, "3": LARGE}.get(which, summary.datasets),
            against=published,
            std=std,
        )
    return [table for name, table in found.items() if which in (name, "all")]


def _sizes(folder: Path, datasets: Sequence[str]) -> list[Table]:
    """Table 1, from the cards of the study; sets of the catalogue need none."""
    from skcamel.experiment.tables import sizes_table
    from skcamel.experiment.units import read_cards

    cards = read_cards(folder)
    known = {name: cards[name] if name in cards else _catalogued(name) for name in datasets}
    if missing := [name for name, card in known.items() if card is None]:
        note(
            f"{folder / 'cards.json'} has no card of {', '.join(missing)}; Table 1 leaves that out."
        )
    return [sizes_table({name: card for name, card in known.items() if card is not None})]


def _catalogued(name: str) -> dict[str, Any] | None:
    from skcamel.data.catalogue import dataset_facts, list_datasets

    if name not in list_datasets():
        return None
    facts = dataset_facts(name)
    return {
        "n": facts.n,
        "d": facts.d,
        "q": facts.q,
        "cardinality": facts.cardinality,
        "density": facts.cardinality / facts.q,
    }


def _compared(summary: Summary) -> list[str]:
    """Methods to count for: CAMEL under each of its presets; without it, all."""
    from skcamel.experiment.summary import base_of

    return [method for method in summary.methods if base_of(method) == "camel"] or list(
        summary.methods
    )


def _against(summary: Summary, published: Published, std: str) -> list[Table]:
    """Counts, missed cells and, of the paper, the counts that it states itself."""
    from skcamel.experiment.comparison import compare_summary
    from skcamel.experiment.verdicts import claims_table, comparison_tables

    found: list[Table] = []
    for method in _compared(summary):
        found += comparison_tables(
            compare_summary(summary, method, std=std, published=published), method, published
        )
        claims = claims_table(summary, method)
        found += (
            [claims]
            if published.name == "paper" and any(row["ours_cases"] for row in claims.data)
            else []
        )
    return found


def _by_selection(
    records: Sequence[Record], summarised: Callable[[str], Summary], published: Published
) -> list[Table]:
    """The counts under every criterion whose outcomes the records keep."""
    from skcamel.experiment.comparison import compare_summary
    from skcamel.experiment.verdicts import selection_table

    kept = [name for name in METRICS if any(f"{name}_by_{name}" in record for record in records)]
    summaries = {name: summarised(name) for name in (["each", *kept] if kept else [])}
    found: list[Table] = []
    for method in _compared(next(iter(summaries.values()))) if summaries else ():
        of_it = {
            name: compare_summary(summary, method, published=published)
            for name, summary in summaries.items()
            if all(
                criterion == name
                for (_, other), criterion in summary.criteria.items()
                if other == method
            )
        }
        found += [selection_table(of_it, method, published)] if of_it else []
    return found


def _significance(summary: Summary, level: float) -> list[Table]:
    """Tests of all methods; the first one, CAMEL if it is there, is the control."""
    from skcamel.experiment.verdicts import significance_tables

    if len(summary.methods) < 2:
        raise click.ClickException(
            f"Tests compare methods, but the records hold only {summary.methods[0]}; run skcamel"
            " study with more."
        )
    return significance_tables(summary, summary.methods[0], level=level)

"""``skcamel tables``: what a study folder holds, in the paper's form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli import options, output

if TYPE_CHECKING:
    from skcamel.experiment.published import Published
    from skcamel.experiment.summary import Summary
    from skcamel.experiment.tables import Table


@click.command()
@options.study_folder
@click.option(
    "--table",
    "which",
    type=click.Choice(["1", "2", "3", "other", "all"]),
    default="all",
    show_default=True,
    help="One table alone.",
)
@click.option(
    "--form",
    type=click.Choice(["markdown", "latex", "csv"]),
    default="markdown",
    show_default=True,
    help="csv holds unrounded figures.",
)
@click.option("--methods", metavar="A,B,…", help="Records of these methods alone.")
@click.option("--preset", help="Records of one preset alone.")
@click.option(
    "--metrics",
    metavar="A,B,…",
    help="Metrics to show, of the seven and those that the study recorded. Default: all.",
)
@click.option(
    "--ties",
    type=click.Choice(["worst", "index"]),
    default="worst",
    show_default=True,
    help=(
        "Tied labels in the ranking metrics: an error, or ranked by their index, as in the software"
        " that the paper used."
    ),
)
@click.option(
    "--against",
    metavar="FILE",
    help=(
        "Published figures under ours: a CSV file with the columns method, dataset, metric, mean and"
        " std (which may be missing), or the word paper."
    ),
)
@click.option(
    "--significance",
    is_flag=True,
    help="Average ranks, Friedman, Nemenyi, Bonferroni–Dunn, Wilcoxon–Holm, effect sizes.",
)
@options.examples(
    "skcamel tables DIR --preset best --significance",
    "skcamel tables DIR --methods camel,br --against paper --form latex",
)
def tables(
    folder: str,
    which: str,
    form: str,
    against: str | None,
    *,
    significance: bool,
    **chosen: Any,
) -> None:
    """Print the tables of a study folder, as `skcamel study` filled it, in the form of the paper's."""
    from skcamel.experiment.records import Records
    from skcamel.experiment.summary import summarise
    from skcamel.experiment.tables import (
        result_tables,
        significance_tables,
        sizes_table,
        write_tables,
    )

    records = Records(folder)
    for name in ("methods", "metrics"):
        if chosen[name] is not None:
            chosen[name] = [one.strip() for one in chosen[name].split(",")]
    try:
        summary = summarise(records, **chosen)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if not summary.figures:
        raise click.ClickException(f"{folder} holds no finished unit of these methods and preset.")
    published = None if against is None else _published(against, summary)
    cards = {name: records.cards[name] for name in summary.datasets if name in records.cards}
    found: dict[str, Table] = {"1": sizes_table(cards)} if cards else {}
    found |= result_tables(summary, against=published)
    if which != "all" and which not in found:
        raise click.ClickException(f"{folder} holds nothing for Table {which}.")
    shown = list(found.values()) if which == "all" else [found[which]]
    if significance:
        try:
            shown += significance_tables(summary, summary.methods[0])
        except ValueError as error:
            raise click.ClickException(str(error)) from error
    output.hand_over(write_tables(shown, form) + "\n")


def _published(against: str, summary: Summary) -> Published:
    """The table to compare with."""
    from skcamel.experiment.published import paper_table, read_published

    if against != "paper" and not Path(against).is_file():
        raise click.UsageError(
            f"--against: there is no file {against}; give a CSV file, or the word paper."
        )
    try:
        return paper_table() if against == "paper" else read_published(against, summary.measures)
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--against: {error}") from error

"""``skcamel tables``: what a study folder holds, in the paper's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skcamel.cli import options, output

if TYPE_CHECKING:
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
    type=click.Choice(["markdown", "csv"]),
    default="markdown",
    show_default=True,
    help="csv holds unrounded figures; pandoc makes LaTeX of markdown.",
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
    type=click.Choice(["paper"]),
    help="The figures that the paper prints, under ours.",
)
@click.option(
    "--significance",
    is_flag=True,
    help="Average ranks, Friedman, Nemenyi, Bonferroni–Dunn, Wilcoxon–Holm, effect sizes.",
)
@options.examples(
    "skcamel tables DIR --preset best --significance",
    "skcamel tables DIR --methods camel,br --against paper --ties index",
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
    from skcamel.experiment.published import paper_table
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
    published = None if against is None else paper_table()
    sized = [one for one in records if one["dataset"] in summary.datasets and "cardinality" in one]
    found: dict[str, Table] = {"1": sizes_table(sized)} if sized else {}
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

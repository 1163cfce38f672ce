"""``skcamel inspect``: what a model file is, from what data, how good, and what it reveals; and its model card."""

from __future__ import annotations

import click

from skcamel.cli.options import OutputFile, as_json, examples, keep_apart, model_file, output_file
from skcamel.cli.output import hand_over, say, say_json, words_beside
from skcamel.files import whole_file
from skcamel.text import one_line


@click.command(
    epilog=examples(
        "skcamel inspect model.skcamel",
        "skcamel inspect model.skcamel --json",
        "skcamel inspect model.skcamel --card -o CARD.md",
    )
)
@model_file
@click.option(
    "--card",
    is_flag=True,
    help="Write a model card in Markdown; what only a person can know is marked to be filled in.",
)
@output_file(OutputFile(), "File to write the card to; default: standard output.")
@as_json
def inspect(model: str, card: bool, output: str | None, *, as_json: bool) -> None:
    """Tell what a model file is, how good, and what it reveals.

    It also tells from what data the model is, and its size by part. No step of another library is
    built, so nothing has to be trusted.
    """
    if card and as_json:
        raise click.UsageError("--card writes Markdown, --json writes JSON; choose one.")
    if output is not None and not card:
        raise click.UsageError("-o is for the model card; add --card, or redirect standard output.")
    keep_apart(output, model)
    from skcamel.model_file.inspection import inspect as inspected

    told = inspected(model)
    if as_json:
        say_json(told.to_dict())
    elif output is not None:
        with whole_file(output) as file:
            file.write(told.card().encode(errors="replace"))
        with words_beside(output):
            say(f"wrote {one_line(output)}; fill in what is marked 'To be filled in by a person'")
    elif card:
        hand_over(told.card())
    else:
        say(str(told))

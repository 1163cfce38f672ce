"""``skcamel export``: a model file ► an ONNX file."""

from __future__ import annotations

import click

from skcamel.cli.inputs import open_model
from skcamel.cli.options import OutputFile, examples, keep_apart, need, output_file
from skcamel.cli.output import say, words_beside
from skcamel.text import count, file_size, one_line


@click.command(
    epilog=examples(
        "skcamel export model.skcamel -o model.onnx",
        "skcamel export model.skcamel --dtype float64 -o model.onnx",
    )
)
@click.argument("model", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
    help="Of the numbers that go in, and of scores and probabilities; between them all is float64.",
)
@output_file(OutputFile(".onnx"), "ONNX file to write.", required=True)
def export(model: str, dtype: str, output: str) -> None:
    """Write MODEL as ONNX, which scores rows without Python.

    It gives the same scores, labels and probabilities. Its input is a matrix X; after a fit on a
    table it has an input for each column:
    numbers with NaN for a missing one, 1 and 0 for yes and no, text for categories and tags,
    seconds from 1970 for dates. Columns of free text cannot be exported.
    """
    keep_apart(output, model)
    need("onnx", "export", "ONNX files")
    from skcamel.data.pipeline import final
    from skcamel.export import to_onnx
    from skcamel.files import whole_file

    fitted = open_model(model)
    made = to_onnx(fitted, dtype=dtype)
    content = made.SerializeToString()
    with whole_file(output) as file:
        file.write(content)
    told = {own.key: own.value for own in made.metadata_props}
    inputs = [one_line(own.name) for own in made.graph.input]
    shown = inputs if len(inputs) <= 8 else [*inputs[:7], f"… {len(inputs) - 7} more"]
    with words_beside(output):
        say(
            f"wrote {one_line(output)}: {file_size(len(content))},"
            f" {count(len(final(fitted).label_names_), 'label')}"
        )
        say(f"  inputs   {', '.join(shown)}")
        say(f"  outputs  {', '.join(own.name for own in made.graph.output)}")
        say(
            f"  memory   about {file_size(1000 * int(told['bytes_per_row']))} for 1,000 rows in one"
            " call"
        )

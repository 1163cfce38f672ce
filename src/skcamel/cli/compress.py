"""``skcamel compress``: a model file ► a smaller one without training rows."""

from __future__ import annotations

from pathlib import Path

import click

from skcamel.cli.inputs import open_model
from skcamel.cli.options import OutputFile, examples, keep_apart, output_file
from skcamel.cli.output import say, words_beside
from skcamel.text import count, file_size, one_line


@click.command(epilog=examples("skcamel compress model.skcamel --landmarks 500 -o small.skcamel"))
@click.argument("model", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--landmarks", type=click.IntRange(min=1), default=500, show_default=True, help="How many centres stand for the rows, at most."
)
@output_file(OutputFile(), "Model file to write.", required=True)
def compress(model: str, landmarks: int, output: str) -> None:
    """Write a smaller MODEL that scores almost the same, and holds centres of clusters in place of training rows.

    Compare both on rows that were not in the fit ('skcamel evaluate'): errors are larger there than those that this command tells.
    """
    keep_apart(output, model)
    from skcamel.compression import compress as compressed
    from skcamel.persistence import save
    from skcamel.pipeline import final

    larger = open_model(model)
    small = compressed(larger, landmarks)
    save(small, output)
    told = final(small).compression_
    before, after = (file_size(Path(file).stat().st_size) for file in (model, output))
    with words_beside(output):
        say(
            f"wrote {one_line(output)}: {count(told['rows_before'], 'row')} became {count(told['rows_after'], 'centre')}, "
            f"a file of {before} became {after}; scores of the rows used differ by "
            f"{told['mean_error']:.2g} on average, by {told['max_error']:.2g} at most"
        )

"""``skcamel records``: what a study folder holds, as one file for other programs; calls ``skcamel.experiment.Records``."""

from __future__ import annotations

import click

from skcamel.cli.options import OutputFile, words_beside
from skcamel.cli.output import note, say
from skcamel.cli.root import examples

FORMS = {".csv": "to_csv", ".json": "to_json", ".parquet": "to_parquet"}
OUTPUT = OutputFile(*FORMS)


@click.command(
    epilog=examples("skcamel records DIR", "skcamel records DIR -o records.csv", "skcamel records DIR -o records.parquet --compact")
)
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--output", type=OUTPUT, help="File to write, .csv, .json or .parquet: one row for each unit.")
@click.option("--compact", is_flag=True, help="Move the units of DIR into one sorted file, records.jsonl, for version control.")
def records(folder: str, output: str | None, *, compact: bool) -> None:
    """Count the records of a study folder, and export them with every figure, parameter, time and version."""
    from skcamel.experiment.records import Records
    from skcamel.experiment.summary import newest

    found = Records(folder)
    if output is not None:
        getattr(found, FORMS[OUTPUT.suffix(output)])(output)
    if compact:
        found.compact()
    sets, methods = ({record[field] for record in found} for field in ("dataset", "method"))
    with words_beside(output):
        say(f"{len(found)} finished units: data sets {len(sets)}, methods {len(methods)}; failed {len(found.failures)}.")
    if earlier := len(newest(found)[1]):
        note(f"{earlier} of the finished units have earlier settings; the export holds them, tables and pages leave them out.")

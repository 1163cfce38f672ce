"""``skcamel datasets``: list, card, fetch, convert, check; each calls one public function of ``skcamel.data``."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from skcamel.cli.options import OutputFile, OutputFolder, words_beside
from skcamel.cli.output import note, say, say_json
from skcamel.cli.root import examples
from skcamel.text import one_line

if TYPE_CHECKING:
    from skcamel.data.catalogue import DatasetFacts, Place
    from skcamel.data.dataset import Dataset

TOO_LONG = ("scumble_rows", "cooccurrence", "phi")  # one value per row or per pair of labels: for Python, not for JSON
as_json = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
label_columns = click.option(
    "--labels",
    metavar="COLUMNS",
    help="Label columns of a CSV, TSV or Parquet file: names (a,b), a prefix (topic_*), positions from 0 (3,4; a single one 3,), or how "
    "many of the last columns (6; -6: of the first). Names with a comma in double quotes.",
)
label_file = click.option("--xml", type=click.Path(dir_okay=False), help="Mulan label file, if it is not NAME.xml beside NAME.arff.")
data_home = click.option("--data-home", type=click.Path(file_okay=False), help="Folder of benchmark sets; default: SKCAMEL_DATA.")


def complete_name(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of benchmark sets, for the tab key."""
    from skcamel.data.catalogue import list_datasets

    return [CompletionItem(name, help="benchmark set") for name in list_datasets() if name.startswith(incomplete)]


def complete_source(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of benchmark sets, then files, for the tab key.

    The type "file" makes bash forget the names, so files are listed here where there are both.
    """
    names = complete_name(_, __, incomplete)
    if not names:
        return [CompletionItem(incomplete, type="file")]
    files = sorted(
        path for path in Path().iterdir() if path.name.startswith(incomplete) and path.name[0] != "." and path.name.isprintable()
    )
    return [*names, *(CompletionItem(f"{path}/" if path.is_dir() else str(path)) for path in files)]


@click.group(epilog=examples("skcamel datasets card yeast"))
def datasets() -> None:
    """List, describe, fetch, convert and check data sets.

    A data set is named by its name in the catalogue, or by a file: .arff (with its XML, or of MEKA), .csv, .tsv, .parquet,
    .mat, .svm, .svmlight, .txt.
    """


@datasets.command("list", epilog=examples("skcamel datasets list", "skcamel datasets list --json"))
@data_home
@as_json
def list_command(data_home: str | None, *, as_json: bool) -> None:
    """List the benchmark sets, their sizes, and where each is found."""
    from skcamel.data.catalogue import dataset_facts, list_datasets, whereabouts

    rows = [(dataset_facts(name), whereabouts(name, data_home)) for name in list_datasets()]
    if as_json:
        say_json([_described(facts, place) for facts, place in rows])
        return
    cells = [
        (facts.name, str(facts.n), str(facts.d), str(facts.q), f"{facts.cardinality:.3f}", _available(facts, place))
        for facts, place in rows
    ]
    print_table(("name", "n", "d", "q", "cardinality", "available"), cells)


def _described(facts: DatasetFacts, place: Place | None) -> dict[str, Any]:
    keys = (
        "name",
        "n",
        "d",
        "q",
        "cardinality",
        "sparse",
        "in_paper",
        "reference",
        "licence",
        "terms",
        "defects",
        "sources",
        "repaired",
        "digest",
    )
    found = None if place is None else str(place.folder)
    return {key: getattr(facts, key) for key in keys} | {"found_in": found, "fetchable": facts.download is not None}


def _available(facts: DatasetFacts, place: Place | None) -> str:
    if place is not None:
        return f"yes: {place.reason}"
    if facts.download is None:
        return "no: bring a copy"
    return f"no: fetch {facts.name}{' --yes' if facts.terms else ''}"


def print_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Write a table to the terminal; columns of figures are set to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in head:
        table.add_column(column, justify="right" if column in ("n", "d", "q", "cardinality") else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(one_line, row))
    Console(highlight=False, markup=False, emoji=False).print(table)


@datasets.command(epilog=examples("skcamel datasets card yeast", "skcamel datasets card mine.csv --labels 'topic_*'"))
@click.argument("name_or_file", shell_complete=complete_source)
@label_columns
@label_file
@data_home
@as_json
def card(name_or_file: str, labels: str | None, xml: str | None, data_home: str | None, *, as_json: bool) -> None:
    """Describe a data set: sizes, label statistics, imbalance, co-occurrence, oddities."""
    description = open_dataset(name_or_file, labels=labels, xml=xml, data_home=data_home).card()
    if as_json:
        figures = {key: value for key, value in description.as_dict().items() if key not in TOO_LONG}
        say_json(plain(figures))
        return
    say(str(description))
    for defect in _known_defects(name_or_file):
        say(f"Note: {defect}")


@datasets.command(epilog=examples("skcamel datasets fetch emotions", "skcamel datasets fetch rcv1-s1 --yes"))
@click.argument("name", shell_complete=complete_name)
@click.option("--yes", is_flag=True, help="Accept the terms of use, where some apply (rcv1).")
@click.option("--cache", type=OutputFolder(), help="Folder to fill; default: SKCAMEL_CACHE, or the cache folder of this platform.")
@click.option("--base-url", metavar="URL", help="A mirror of raw.githubusercontent.com, https.")
def fetch(name: str, cache: str | None, base_url: str | None, *, yes: bool) -> None:
    """Download a benchmark set into the cache; source, licence status and reference are shown first."""
    from skcamel.data.catalogue import dataset_facts
    from skcamel.data.fetch import GITHUB, TermsError, fetch_dataset

    try:
        with _progress() as progress:
            dataset = fetch_dataset(name, yes=yes, cache=cache, base_url=base_url or GITHUB, announce=_announce, progress=progress)
    except TermsError as error:
        _announce(dataset_facts(name).notice)
        raise click.UsageError(f"Terms apply to {name}; if you accept them, run: skcamel datasets fetch {name} --yes") from error
    say(f"{dataset.name}: {sizes(dataset)}; in {one_line(str(Path(dataset.source).parent))}")


def _announce(notice: str) -> None:
    say(notice, err=True)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """One bar per file on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, Any] = {}

        def update(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(one_line(name), total=total)
            bars.update(tasks[name], completed=done, total=total)

        yield update


@datasets.command(
    epilog=examples("skcamel datasets convert emotions emotions.csv", "skcamel datasets convert mine.csv mine.arff --labels a,b,c")
)
@click.argument("source", metavar="FROM", shell_complete=complete_source)
@click.argument("target", metavar="TO", type=OutputFile())
@label_columns
@label_file
@data_home
@click.option("--meka", is_flag=True, help="Write .arff in the form of MEKA instead of Mulan's.")
@click.option("--force", is_flag=True, help="Write over existing files.")
def convert(source: str, target: str, labels: str | None, xml: str | None, data_home: str | None, *, meka: bool, force: bool) -> None:
    """Read one format, write another; the suffix of TO says which."""
    from skcamel.data.formats import format_of, write_dataset, xml_beside
    from skcamel.files import is_stream

    kind = format_of(target)
    if kind == "mat":
        raise click.UsageError(f"{target}: Matlab files are read, not written; write .arff, .csv or .svm instead.")
    written = [Path(target)] + ([xml_beside(Path(target))] if kind == "arff" and not meka else [])
    if not force and (there := [str(path) for path in written if path.exists() and not is_stream(path)]):
        raise click.UsageError(f"{' and '.join(there)} exist{'s' if len(there) == 1 else ''} already; choose another name, or add --force.")
    dataset = open_dataset(source, labels=labels, xml=xml, data_home=data_home)
    files = write_dataset(dataset, target, meka=meka)
    with words_beside(target):
        say(f"{sizes(dataset)}; wrote {' and '.join(one_line(str(file)) for file in files)}")


@datasets.command(epilog=examples("skcamel datasets check rcv1-s2", "skcamel datasets check mine.arff --json"))
@click.argument("name_or_file", shell_complete=complete_source)
@label_columns
@label_file
@data_home
@as_json
@click.pass_context
def check(ctx: click.Context, name_or_file: str, labels: str | None, xml: str | None, data_home: str | None, *, as_json: bool) -> None:
    """Look for defects: labels among the features, shifted label blocks, constant or duplicate labels, and more.

    Exit code 1 where an error or a warning is found, else 0.
    """
    from skcamel.data.checks import check_dataset

    dataset = open_dataset(name_or_file, labels=labels, xml=xml, data_home=data_home)
    findings = check_dataset(dataset)
    if as_json:
        say_json([plain(finding) for finding in findings])
    else:
        say("\n".join(one_line(str(finding)) for finding in findings) or f"Nothing found in {sizes(dataset)}.")
    ctx.exit(int(any(finding.severity != "info" for finding in findings)))


def is_catalogue_name(name_or_file: str) -> bool:
    """Whether a benchmark set is meant; a file without suffix is of no known format, so it never is."""
    from skcamel.data.catalogue import list_datasets

    path = Path(name_or_file)
    try:
        is_file, is_folder = path.exists(), path.is_dir()  # a pipe is a file too
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{name_or_file}: {getattr(error, 'strerror', None) or error}.") from error
    if name_or_file.lower() in list_datasets():
        if is_file and not is_folder:
            note(f"{name_or_file} is taken as the benchmark set, not as the file of that name; give the file a suffix, such as .csv.")
        return True
    if not name_or_file:
        raise click.UsageError("The name of a data set is empty; give a file, or a name that 'skcamel datasets list' shows.")
    if is_folder and (path.suffix or len(path.parts) != 1):
        raise click.UsageError(f"{name_or_file} is a folder; give a file.")
    if not is_file and (path.suffix or len(path.parts) > 1):
        raise click.UsageError(f"{name_or_file}: there is no such file; 'skcamel datasets list' shows the sets that have a name.")
    return not is_file or is_folder  # a misspelt name: the catalogue says which are near


def open_dataset(name_or_file: str, *, labels: str | None, xml: str | None, data_home: str | None, nominal: str = "index") -> Dataset:
    """Open a catalogue name or a file; what looks like a file (it exists, or has a suffix or a separator) is one."""
    from skcamel.data.catalogue import load_dataset
    from skcamel.data.formats import format_of, read_dataset

    by_name = is_catalogue_name(name_or_file)
    kind = "set" if by_name else format_of(name_or_file)
    if labels is not None and kind != "table":
        raise click.UsageError(f"--labels names columns of a CSV, TSV or Parquet file; {name_or_file} says itself what its labels are.")
    if xml is not None and kind != "arff":
        raise click.UsageError(f"--xml is the label file of an ARFF file; {name_or_file} is none.")
    if kind == "table" and labels is None:
        raise click.UsageError(f"{name_or_file}: a table does not say which columns are labels; name them by --labels, as --help explains.")
    if nominal != "index" and kind != "table":
        raise click.UsageError(f"--nominal is about text in a CSV, TSV or Parquet file; {name_or_file} is none.")
    if by_name:
        return load_dataset(name_or_file, data_home)
    return read_dataset(name_or_file, xml=xml, labels=None if labels is None else _label_columns(labels), nominal=nominal)


def _label_columns(text: str) -> int | str | list[str] | list[int]:
    """Understand ``6`` (last columns), ``-6`` (first ones), ``0,3`` and ``3,`` (positions), ``topic_*`` (prefix), ``a,"b, c"`` (names)."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if text.endswith("*"):
        return text[:-1]
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]
    except csv.Error as error:  # an end of line, or a name longer than any
        raise click.UsageError(f"--labels cannot be read ({error}); put names with commas or ends of line in double quotes.") from error
    if not names:
        raise click.UsageError("--labels is empty; name at least one column.")
    return [int(name) for name in names] if all(name.isdecimal() for name in names) else names


def _known_defects(name: str) -> tuple[str, ...]:
    from skcamel.data.catalogue import dataset_facts, list_datasets

    return dataset_facts(name).defects if name.lower() in list_datasets() else ()


def sizes(dataset: Dataset) -> str:
    """Rows, features and labels in words."""
    return f"{dataset.n} rows, {dataset.d} features, {dataset.q} labels"


def plain(value: Any) -> Any:
    """Make a value such that JSON can hold it: dataclasses as mappings, arrays as lists, numbers that are not finite as None."""
    import dataclasses
    import math

    import numpy as np

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)

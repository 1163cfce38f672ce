"""What an inspection found ► words for a terminal, and a model card in Markdown; what only a person knows is marked, not invented."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skcamel.metrics.conventions import LOSSES, TITLES
from skcamel.text import count, listed, one_line

if TYPE_CHECKING:
    from skcamel.model_file.inspection import Inspection

FEW = 10  # rows that have a label, for figures that mean much
MOST_COLUMNS, MOST_LABELS = 20, 30  # shown; the others are counted
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
NOT_NEW = "Where settings or thresholds were chosen by the same scores, figures on new rows are somewhat worse."
CARD = """# {title}

## What it is

A {kind} of skcamel{steps}. It answers which of {n_labels} a row has: {labels}{more}.

{settings}

## Intended use

- *To be filled in by a person:* what decisions this model should support, and for whom.
- *To be filled in by a person:* what it must not be used for.
- *To be filled in by a person:* who answers for it, and how to reach them.

## Data

Fitted on {data}

*To be filled in by a person:* where the rows come from, when and how they were collected, and who labelled them.

{columns}

## How good it is

{quality}

## Limits

- It knows the labels above and no others, and answers for rows like those of the fit; it does not notice rows of another kind.
{limits}- *To be filled in by a person:* groups of rows that the data leave out, and what errors would cost.

## What the file reveals about its training data

{reveals}

## How to load it

```python
import skcamel

model = skcamel.load({file!r})
model.label_sets(rows)
```

The file holds no code. Steps of other libraries are built only if their types are known to be harmless, or trusted by name.
"""
NO_COLUMNS = "The model does not know the names of its columns; rows are matched by position."
MEASURE = (
    "*To be filled in by a person:* figures on rows that were kept out of the fit, for the groups of rows that matter (`skcamel evaluate`)."
)
FIGURES = (("F1", "f1"), ("precision", "precision"), ("recall", "recall"))


def words(told: Inspection) -> str:
    """Several lines for a terminal."""
    lines = [*_what(told), "", *_from(told), "", *_quality(told), "", "What the file reveals about its training data:"]
    lines += [f"  {entry['what']}: {entry['held']}. {entry['detail']}" for entry in told.reveals]
    lines += ["", f"Size: {size(told.file['bytes'])}"]
    lines += [f"  {size(part['bytes']):>8}  {part['part']}" for part in told.size]
    return "\n".join(map(one_line, lines))


def size(number: float) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> size(812), size(81_200), size(8_120_000)
    ('812 B', '81.2 kB', '8.12 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= scale:
            return f"{number / scale:.3g} {unit}"
    return f"{number} B"


def _what(told: Inspection) -> Iterator[str]:
    """What it is, and who wrote it."""
    model, file = told.model, told.file
    name = f"{file['name']}: " if file["name"] else ""
    yield f"{name}{model['class']}, {count(len(model['labels']), 'label')}" + (
        f", behind {listed(model['steps'])}" if model["steps"] else ""
    )
    yield from (f"  {line}" for line in _settings(told))
    yield f"  {_written(told)}"


def _written(told: Inspection) -> str:
    file = told.file
    libraries = listed([f"{name} {version}" for name, version in (file["environment"] or {}).items()])
    return f"Written by {file['written_by'] or 'an unknown version'}, format version {file['format_version']}" + (
        f"; {libraries}." if libraries else "."
    )


def _settings(told: Inspection) -> Iterator[str]:
    """Solver, kernels and thresholds."""
    model = told.model
    yield f"Solver: {model['solver']}; label correlation learned {model['correlation']}."
    for own in model["members"]:
        weight = f"weight {own['weight']:.3g}, " if len(model["members"]) > 1 else ""
        numbers = ", ".join(f"{key} {own[key]:.4g}" for key in ("alpha", "lambda1", "lambda2", "bandwidth") if own[key] is not None)
        yield f"Kernel: {weight}{own['kernel']}, scaling {own['scaling']}, {numbers}."
    threshold = model["threshold"]
    yield f"Thresholds of the scores: {threshold if isinstance(threshold, str) else f'{threshold:.4g}'}."


def _from(told: Inspection) -> Iterator[str]:
    """From what data."""
    yield f"Data: {_data(told)}"
    columns = told.data["columns"]
    width = min(30, max((len(column["name"]) for column in columns[:MOST_COLUMNS]), default=0))
    yield from (f"  {column['name']:<{width}}  {column['kind']:<8}  {column['detail']}".rstrip() for column in columns[:MOST_COLUMNS])
    if len(columns) > MOST_COLUMNS:
        yield f"  … {len(columns) - MOST_COLUMNS} more columns"


def _data(told: Inspection) -> str:
    data = told.data
    made = f", made from {count(len(data['columns']), 'column')}" if data["columns"] and len(data["columns"]) != data["features"] else ""
    share = f"; {100 * (1 - data['known_labels']):.2g} % of the labels were unknown" if data["known_labels"] < 1 else ""
    return f"{count(data['rows'], 'row')}, {count(data['features'], 'feature')}{made}{share}."


def _quality(told: Inspection) -> Iterator[str]:
    quality = told.quality
    if not quality["source"]:
        yield f"How good: {quality['reason']}"
        return
    figures = ", ".join(f"{TITLES[name]} {value:.3f} {'↓' if name in LOSSES else '↑'}" for name, value in quality["figures"].items())
    yield f"How good, by {quality['source']} (↓: smaller is better): {figures}."
    if quality["weakest"]:
        yield "  Weakest labels:"
    yield from (f"    {_label(entry)}" for entry in quality["weakest"])


def _label(entry: dict[str, Any]) -> str:
    figures = ", ".join(f"{title} {entry[key]:.3f}" for title, key in FIGURES if entry[key] == entry[key])
    return f"{entry['label']}: {figures} ({entry['positives']:,.6g} of {entry['rows']:,.6g} rows have it)"


def card(told: Inspection, title: str | None = None) -> str:
    """Write a model card in Markdown."""
    model, path = told.model, Path(told.file["name"])
    labels = model["labels"]
    return CARD.format(
        title=plain(title or path.stem or model["class"]),
        kind=model["class"],
        steps=f" behind {plain(listed(model['steps']))}" if model["steps"] else "",
        n_labels=count(len(labels), "label"),
        labels=listed([plain(name) for name in labels[:MOST_LABELS]]),
        more=f" and {len(labels) - MOST_LABELS} more" if len(labels) > MOST_LABELS else "",
        settings="\n".join(f"- {plain(line)}" for line in (*_settings(told), _written(told))),
        data=plain(_data(told)),
        columns=_card_columns(told.data["columns"]),
        quality=_card_quality(told.quality),
        limits=_card_limits(told),
        reveals=_table(("What", "In the file", "Detail"), [(entry["what"], entry["held"], entry["detail"]) for entry in told.reveals]),
        file=path.name or "model.skcamel",
    )


def plain(text: Any) -> str:
    r"""Text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> plain("a|b <i>*\n")
    'a\\|b \\<i\\>\\*\\\\n'
    """
    return MARKDOWN.sub(r"\\\1", one_line(str(text)))


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    first, *others = (f"| {' | '.join(map(plain, cells))} |" for cells in (head, *rows))
    return "\n".join([first, "|" + " --- |" * len(head), *others])


def _card_columns(columns: list[dict[str, str]]) -> str:
    if not columns:
        return NO_COLUMNS
    shown = _table(("Column", "Kind", "What becomes of it"), [tuple(column.values()) for column in columns[:MOST_COLUMNS]])
    more = f"\n\n{len(columns) - MOST_COLUMNS} more columns are not listed." if len(columns) > MOST_COLUMNS else ""
    return shown + more


def _card_quality(quality: dict[str, Any]) -> str:
    if not quality["source"]:
        return plain(quality["reason"])
    figures = [
        (TITLES[name], f"{value:.3f}", f"{'smaller' if name in LOSSES else 'larger'} is better")
        for name, value in quality["figures"].items()
    ]
    said = [f"Measured by {plain(quality['source'])}. {NOT_NEW}", _table(("Metric", "Value", ""), figures)]
    if quality["weakest"]:
        titles, keys = zip(*FIGURES, strict=True)
        labels = [(own["label"], f"{own['positives']:,.6g}", *(_figure(own[key]) for key in keys)) for own in quality["weakest"]]
        said += ["The weakest labels:", _table(("Label", "Rows that have it", *titles), labels)]
    return "\n\n".join([*said, MEASURE])


def _figure(value: float) -> str:
    return "–" if value != value else f"{value:.3f}"


def _card_limits(told: Inspection) -> str:
    said = ""
    rare = [plain(entry["label"]) for entry in told.quality["labels"] if entry["positives"] < FEW]
    if rare:
        names = listed(rare[:MOST_LABELS]) + (" and others" if len(rare) > MOST_LABELS else "")
        said += f"- Fewer than {FEW} rows have {names}: figures of {'this label' if len(rare) == 1 else 'these labels'} are uncertain.\n"
    if told.data["known_labels"] < 1:
        said += f"- {100 * (1 - told.data['known_labels']):.2g} % of the labels were unknown in the fit; figures count the others.\n"
    return said

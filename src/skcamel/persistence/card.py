"""What an inspection found ► words for a terminal, and a model card in Markdown; what only a person knows is marked, not invented."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skcamel.metrics.conventions import LOSSES, TITLES
from skcamel.text import count, listed, one_line

if TYPE_CHECKING:
    from skcamel.persistence.inspection import Inspection

MOST_COLUMNS, MOST_LABELS = 20, 30  # shown; the others are counted
BY_A_PERSON = "*To be filled in by a person:*"
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
NOT_NEW = "Where settings or cuts were chosen by the same scores, figures on new rows are somewhat worse."
FIGURES = (("F1", "f1"), ("precision", "precision"), ("recall", "recall"), ("AUC", "auc"))


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
    """Solver, kernels and cuts."""
    model = told.model
    yield f"Solver: {model['solver']}; label correlation learned {model['correlation']}."
    for own in model["members"]:
        weight = f"weight {own['weight']:.3g}, " if len(model["members"]) > 1 else ""
        numbers = ", ".join(f"{key} {own[key]:.4g}" for key in ("alpha", "lambda1", "lambda2", "bandwidth") if own[key] is not None)
        yield f"Kernel: {weight}{own['kernel']}, scaling {own['scaling']}, {numbers}."
    cuts = model["cuts"]
    yield f"Cuts of the scores: {cuts if isinstance(cuts, str) else f'{cuts:.4g}'}."
    if "compression" in model:
        yield f"Compressed: scores differ from the larger model's by {model['compression']['mean_error']:.2g} on average."


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
    rows = "a number of rows that the file does not tell" if data["rows"] is None else count(data["rows"], "row")
    made = f", made from {count(len(data['columns']), 'column')}" if data["columns"] and len(data["columns"]) != data["features"] else ""
    known = data["known_labels"]
    share = f"; {100 * (1 - known):.2g} % of the labels were unknown" if known is not None and known < 1 else ""
    return f"{rows}, {count(data['features'], 'feature')}{made}{share}."


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
    name = title or Path(told.file["name"]).stem or told.model["class"]
    sections = {
        "What it is": _card_what(told),
        "Intended use": _card_use(),
        "Data": _card_data(told),
        "How good it is": _card_quality(told),
        "Limits": _card_limits(told),
        "What the file reveals about its training data": _card_reveals(told),
        "How to load it": _card_load(told),
    }
    body = [f"## {heading}\n\n" + "\n".join(lines) for heading, lines in sections.items()]
    return "\n\n".join([f"# {plain(name)}", *body]) + "\n"


def plain(text: Any) -> str:
    r"""Text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> plain("a|b <i>*\n")
    'a\\|b \\<i\\>\\*\\\\n'
    """
    return MARKDOWN.sub(r"\\\1", one_line(str(text)))


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    first, *others = (f"| {' | '.join(map(plain, cells))} |" for cells in (head, *rows))
    return [first, "|" + " --- |" * len(head), *others]


def _card_what(told: Inspection) -> list[str]:
    model = told.model
    labels = listed([plain(name) for name in model["labels"][:MOST_LABELS]])
    more = f" and {len(model['labels']) - MOST_LABELS} more" if len(model["labels"]) > MOST_LABELS else ""
    steps = f" behind {plain(listed(model['steps']))}" if model["steps"] else ""
    return [
        f"A {model['class']} of skcamel{steps}. It answers which of {count(len(model['labels']), 'label')} a row has: {labels}{more}.",
        "",
        *(f"- {plain(line)}" for line in (*_settings(told), _written(told))),
    ]


def _card_use() -> list[str]:
    return [
        f"- {BY_A_PERSON} what decisions this model should support, and for whom.",
        f"- {BY_A_PERSON} what it must not be used for.",
        f"- {BY_A_PERSON} who answers for it, and how to reach them.",
    ]


def _card_data(told: Inspection) -> list[str]:
    columns = told.data["columns"]
    lines = [
        f"Fitted on {plain(_data(told))}",
        "",
        f"{BY_A_PERSON} where the rows come from, when and how they were collected, and who labelled them.",
        "",
    ]
    if not columns:
        return [*lines, "The model does not know the names of its columns; rows are matched by position."]
    more = [f"\n{len(columns) - MOST_COLUMNS} more columns are not listed."] if len(columns) > MOST_COLUMNS else []
    rows = [(column["name"], column["kind"], column["detail"]) for column in columns[:MOST_COLUMNS]]
    return [*lines, *_table(("Column", "Kind", "What becomes of it"), rows), *more]


def _card_quality(told: Inspection) -> list[str]:
    quality = told.quality
    if not quality["source"]:
        return [plain(quality["reason"])]
    lines = [f"Measured by {plain(quality['source'])}. {NOT_NEW}", ""]
    better = {name: "smaller is better" if name in LOSSES else "larger is better" for name in quality["figures"]}
    lines += _table(("Metric", "Value", ""), [(TITLES[name], f"{value:.3f}", better[name]) for name, value in quality["figures"].items()])
    if quality["weakest"]:
        cells = [
            (entry["label"], f"{entry['positives']:,.6g}", *(f"{entry[key]:.3f}" for _, key in FIGURES)) for entry in quality["weakest"]
        ]
        lines += ["", "The weakest labels:", "", *_table(("Label", "Rows that have it", *(title for title, _ in FIGURES)), cells)]
    return [
        *lines,
        "",
        f"{BY_A_PERSON} figures on rows that were kept out of the fit, for the groups of rows that matter (`skcamel evaluate`).",
    ]


def _card_limits(told: Inspection) -> list[str]:
    rare = [entry for entry in told.quality["labels"] if entry["positives"] < 10]
    lines = [
        "- It knows the labels above and no others, and answers for rows like those of the fit; it does not notice rows of another kind."
    ]
    if rare:
        names = listed([plain(entry["label"]) for entry in rare[:MOST_LABELS]]) + (" and others" if len(rare) > MOST_LABELS else "")
        lines.append(f"- Fewer than 10 rows have {names}: figures of {'this label' if len(rare) == 1 else 'these labels'} are uncertain.")
    if (known := told.data["known_labels"]) is not None and known < 1:
        lines.append(f"- {100 * (1 - known):.2g} % of the labels were unknown in the fit; figures count the others.")
    return [*lines, f"- {BY_A_PERSON} groups of rows that the data leave out, and what errors would cost."]


def _card_reveals(told: Inspection) -> list[str]:
    return _table(("What", "In the file", "Detail"), [(entry["what"], entry["held"], entry["detail"]) for entry in told.reveals])


def _card_load(told: Inspection) -> list[str]:
    name = Path(told.file["name"]).name or "model.skcamel"
    lines = ["```python", "import skcamel", "", f"model = skcamel.load({name!r})", "model.label_sets(rows)", "```", ""]
    return [
        *lines,
        "The file holds no code. Steps of other libraries are built only if their types are known to be harmless, or trusted by name.",
    ]

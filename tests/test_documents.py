"""What documents show is so: code runs, commands work, links lead on, figures are measured."""

import inspect
import re
import runpy
import shlex
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import skcamel
import skcamel.serve
import tiny
from skcamel import CamelClassifier, CamelClassifierCV, explain, save
from skcamel.data import TablePreparer

ROOT = Path(__file__).parents[1]
if not (ROOT / "README.md").exists():
    pytest.skip("the documents are not there", allow_module_level=True)
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
WHY = r"^(?P<why><!-- not run: [^>]+ -->\n\n)?"
FENCED = re.compile(WHY + r"```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?: {4})?(skcamel .+)$", re.MULTILINE)
# Pages for people who begin: every command is run, on the tickets of the demo. Commands of the
# others are read by the parser.
FIRST_PAGES = ("README.md", "index.md", "get_started.md", "studies.md", "explain.md", "deploy.md")
named = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text_of(page):
    return page.read_text(encoding="utf-8")


def blocks(page):
    """Python of a page without ``>>>``, which pytest runs itself; and whether it can run here."""
    for found in FENCED.finditer(text_of(page)):
        if found["language"] == "python" and ">>>" not in found["code"]:
            yield found["code"], found["why"] is None


def commands(page):
    """Commands of a page in indented or fenced code, without comments."""
    text = text_of(page).replace("\\\n", " ")  # a command may go on in the next line
    fenced = [found["code"] for found in FENCED.finditer(text) if found["language"] in ("", "bash")]
    indented = re.findall(r"^ {4}skcamel .+$", FENCED.sub("", text), re.MULTILINE)
    lines = COMMAND.findall("\n".join([*fenced, *indented]))
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.fixture(scope="module")
def tickets():
    """Tickets of the demo: a table with tags, and new rows without."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / "messy_table.py")))


@pytest.fixture
def folder(tmp_path, monkeypatch, tickets):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    tickets.write("tickets.csv", tickets.tickets(150, seed=1))
    new = [{key: row[key] for key in row if key != "tags"} for row in tickets.tickets(5, seed=2)]
    tickets.write("new_tickets.csv", new)
    return tmp_path


@pytest.fixture
def names(folder):
    """What a reader of a page has: rows, labels, a frame, a fitted model, and files of a table."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(60, 3)) > 0).astype(int)
    plans, paid = ["free", "team", "free"] * 20, ["$0", "$1,200", "$80"] * 20
    frame = pd.DataFrame({"plan": plans, "paid": paid, "size": X[:, 0]})
    for year in (2024, 2025):
        frame.assign(topic_a=Y[:, 0], topic_b=Y[:, 1]).to_parquet(f"{year}.parquet")
    model = CamelClassifier(scaling="standard").fit(X, Y)
    save(model, "mine.skcamel")
    imported = (CamelClassifierCV, TablePreparer, explain)
    return {value.__name__: value for value in imported} | {
        "X": X,
        "Y": Y,
        "X_new": X[:3],
        "X_test": X,
        "Y_test": Y,
        "Y_with_gaps": np.where(rng.random(Y.shape) < 0.2, np.nan, Y),
        "model": model,
        "pipeline": make_pipeline(TablePreparer(), CamelClassifier()).fit(frame, Y),
        "frame": frame,
        "tags": Y,
        "new_frame": frame[:2],
        "new": frame[:2],
    }


with_code = [page for page in PAGES if any(blocks(page))]


@pytest.mark.parametrize("page", with_code, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, names):
    for text, can_run in blocks(page):
        compiled = compile(text, page.name, "exec")
        if can_run:
            exec(compiled, names)  # noqa: S102 - our own documents


def test_few_blocks_cannot_run():
    assert sum(not can_run for page in PAGES for _, can_run in blocks(page)) <= 8


@pytest.mark.parametrize("name", FIRST_PAGES)
def test_the_commands_of_first_pages_work_when_pasted(name, folder):
    testing = pytest.importorskip(
        "click.testing", reason="click is not installed: pip install skcamel[cli]"
    )
    pytest.importorskip("python_calamine")
    pytest.importorskip("jinja2")
    from skcamel.cli.app import root

    def run(words):
        result = testing.CliRunner().invoke(root, words, prog_name="skcamel")
        assert result.exit_code == 0, f"{shlex.join(words)}\n{result.output}"

    given = commands(ROOT / name if name == "README.md" else ROOT / "docs" / name)
    assert given
    if given[0][0] not in ("fit", "datasets", "study"):  # a page that goes on from the first fit
        run(["fit", "tickets.csv", "--labels", "tags"])
    (folder / "mine.arff").write_bytes(tiny.arff())
    (folder / "mine.xml").write_bytes(tiny.xml())
    for words in given:
        if words[0] == "serve":  # runs until it is stopped: tests of the server do
            continue
        # a small set in place of a larger one
        run(["mine.arff" if word == "yeast" else word for word in words])


@named
def test_the_commands_of_a_page_have_these_options(page):
    click = pytest.importorskip("click", reason="click is not installed: pip install skcamel[cli]")
    from skcamel.cli.app import root

    for words in commands(page):
        command, rest = root, list(words)
        with click.Context(root) as context:
            while isinstance(command, click.Group):
                command = command.get_command(context, rest[0])
                assert command is not None, f"{page.name}: skcamel {shlex.join(words)}"
                rest = rest[1:]
            command.make_parser(context).parse_args(rest)


@named
def test_links_of_a_page_lead_to_files_and_pictures_are_described(page):
    text = text_of(page)
    for target in re.findall(r"\]\((?!http|#|mailto)([^)\s#]+)", FENCED.sub("", text)):
        if target.startswith("gallery/"):  # made by a build, which checks them
            example = ROOT / "examples" / Path(target).with_suffix(".py").name
            assert example.exists() or target == "gallery/index.rst", target
        else:
            assert (page.parent / target).exists(), target
    assert all(len(words) > 20 for words in re.findall(r"!\[([^\]]*)\]\(", text))


def test_the_readme_is_short_and_says_what_a_model_file_holds():
    text = text_of(ROOT / "README.md")
    assert len(text.splitlines()) <= 90
    assert max(map(len, text.splitlines())) <= 220
    assert "A model file holds training rows" in text
    assert "eigen" not in text.lower()


def test_the_measured_tables_of_the_readme_are_what_the_records_say(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    front_page = import_module("benchmarks.front_page")
    text = text_of(ROOT / "README.md")
    assert "times as long" in front_page.block()
    assert text == front_page.written(text), "run: python -m benchmarks.front_page"


def test_targets_and_extras_that_documents_name_exist():
    texts = "\n".join(map(text_of, PAGES))
    extras = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    targets = re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)`", texts)) <= set(targets)
    listed = re.findall(r"(?:skcamel|\.)\[([a-z,]+)\]", texts)
    assert set(",".join(listed).split(",")) <= set(extras)


def test_the_reference_lists_every_public_name():
    text = text_of(ROOT / "docs" / "api.md")
    listed = set(re.findall(r"py:data:: (\S+)", text))
    for module, body in re.findall(r"\.\. currentmodule:: (\S+)(.*?)```", text, re.DOTALL):
        listed |= {f"{module}.{name}" for name in re.findall(r"^   (\w+)$", body, re.MULTILINE)}
    # not imported with the rest: it needs an extra
    public = {f"skcamel.serve.{name}" for name in skcamel.serve.__all__}
    for name in skcamel.__all__:
        value = getattr(skcamel, name)
        inside = [f".{inner}" for inner in value.__all__] if inspect.ismodule(value) else [""]
        public |= {f"skcamel.{name}{inner}" for inner in inside}
    assert listed == public


def test_version_and_citation_agree():
    yaml = text_of(ROOT / "CITATION.cff")
    fields = dict(re.findall(r'^([a-z-]+): ?"?([^"\n]*)"?$', yaml, re.MULTILINE))
    assert fields["version"] == skcamel.__version__
    assert fields["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license", "date-released", "preferred-citation"} <= set(
        fields
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", fields["date-released"])
    assert f"\n## {skcamel.__version__} " in text_of(ROOT / "CHANGELOG.md")

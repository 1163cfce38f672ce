"""What the documents show is so: code runs, commands work, links lead somewhere, pictures are described, and no figure is typed by hand."""

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
FENCED = re.compile(
    r"^(?P<why><!-- not run: [^>]+ -->\n\n)?```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^(?: {4})?(skcamel .+)$", re.MULTILINE)
# Pages for people who begin: every command is run, on the tickets of the demo. Commands of the
# others are read by the parser.
FIRST_PAGES = ("README.md", "index.md", "get_started.md", "studies.md", "explain.md", "deploy.md")
named = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page, language="python"):
    """Code of a page in that language, without sessions (``>>>``), which pytest runs by itself; and whether it can run here."""
    for found in FENCED.finditer(page.read_text(encoding="utf-8")):
        if found["language"] == language and ">>>" not in found["code"]:
            yield found["code"], found["why"] is None


def commands(page):
    """Commands of a page in indented or fenced code, without comments."""
    text = page.read_text(encoding="utf-8").replace(
        "\\\n", " "
    )  # a command may go on in the next line
    fenced = "\n".join(
        found["code"] for found in FENCED.finditer(text) if found["language"] in ("", "bash")
    )
    indented = "\n".join(re.findall(r"^ {4}skcamel .+$", FENCED.sub("", text), re.MULTILINE))
    return [
        shlex.split(line, comments=True)[1:] for line in COMMAND.findall(f"{fenced}\n{indented}")
    ]


@pytest.fixture(scope="module")
def tickets():
    """Tickets of the demo: a table with tags, and new rows without."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "examples" / "messy_table.py")))


@pytest.fixture
def folder(tmp_path, monkeypatch, tickets):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    tickets.write("tickets.csv", tickets.tickets(150, seed=1))
    tickets.write(
        "new_tickets.csv",
        [
            {key: cell for key, cell in row.items() if key != "tags"}
            for row in tickets.tickets(5, seed=2)
        ],
    )
    return tmp_path


@pytest.fixture
def names(folder):
    """What a reader of any page has: rows, labels, a frame, a fitted model, and files of a table."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(60, 3)) > 0).astype(int)
    frame = pd.DataFrame(
        {
            "plan": ["free", "team", "free"] * 20,
            "paid": ["$0", "$1,200", "$80"] * 20,
            "size": X[:, 0],
        }
    )
    for year in (2024, 2025):
        frame.assign(topic_a=Y[:, 0], topic_b=Y[:, 1]).to_parquet(f"{year}.parquet")
    gaps = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
    model = CamelClassifier(scaling="standard").fit(X, Y)
    save(model, "mine.skcamel")
    pipeline = make_pipeline(TablePreparer(), CamelClassifier()).fit(frame, Y)
    imported = {
        "CamelClassifierCV": CamelClassifierCV,
        "TablePreparer": TablePreparer,
        "explain": explain,
    }
    common = {
        "X": X,
        "Y": Y,
        "X_new": X[:3],
        "X_test": X,
        "Y_test": Y,
        "Y_with_gaps": gaps,
        "model": model,
    }
    return (
        imported
        | common
        | {
            "pipeline": pipeline,
            "frame": frame,
            "tags": Y,
            "new_frame": frame[:2],
            "new": frame[:2],
        }
    )


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(blocks(page))], ids=lambda page: page.name
)
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
        run(
            ["mine.arff" if word == "yeast" else word for word in words]
        )  # a small set in place of a larger one


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
def test_links_of_a_page_lead_to_files(page):
    for target in re.findall(
        r"\]\((?!http|#|mailto)([^)\s#]+)", FENCED.sub("", page.read_text(encoding="utf-8"))
    ):
        if not target.startswith("gallery/"):  # made by a build, which checks them
            assert (page.parent / target).exists(), target
        else:
            example = ROOT / "examples" / Path(target).with_suffix(".py").name
            assert example.exists() or target == "gallery/index.rst", target


@named
def test_pictures_are_described(page):
    for words in re.findall(r"!\[([^\]]*)\]\(", page.read_text(encoding="utf-8")):
        assert len(words) > 20


def test_the_readme_is_short_and_says_what_a_model_file_holds():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    assert max(map(len, text.splitlines())) <= 220
    assert "A model file holds training rows" in text
    assert "eigen" not in text.lower()


def test_the_measured_tables_of_the_readme_are_what_the_records_say(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    front_page = import_module("benchmarks.front_page")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "times as long" in front_page.block()
    assert text == front_page.written(text), "run: python -m benchmarks.front_page"


def test_the_table_of_the_readme_shows_means_and_marks_the_best(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    made_records, front_page = import_module("made_records"), import_module("benchmarks.front_page")
    records = []
    for fold in range(2):
        for preset, method, value in (
            ("best", "camel", 0.8),
            ("quick", "camel", 0.7),
            ("best", "extra-trees", 0.6),
            ("best", "mlknn", 0.9),
        ):
            for place, dataset in enumerate(("emotions", "flags")):
                given = {
                    "preset": preset,
                    "fold": fold,
                    "n_folds": 2,
                    "average_precision": value + 0.1 * fold - 0.2 * place,
                }
                records.append(made_records.record(dataset, method, **given))
    lines = front_page.accuracy(records).splitlines()
    assert lines[0] == "| average precision | skcamel `best` | skcamel `quick` | extra trees |"
    assert lines[2:4] == [
        "| emotions | **0.850** | 0.750 | 0.650 |",
        "| mean of 2 sets | **0.750** | 0.650 | 0.550 |",
    ]
    assert front_page.accuracy([]) == ""


def test_targets_and_extras_that_documents_name_exist():
    texts = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(re.findall(r"`make ([a-z-]+)`", texts)) <= targets
    extras = {
        extra
        for listed in re.findall(r"(?:skcamel|\.)\[([a-z,]+)\]", texts)
        for extra in listed.split(",")
    }
    assert extras <= set(project["project"]["optional-dependencies"])


def test_the_reference_lists_every_public_name():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set()
    for module, body in re.findall(r"\.\. currentmodule:: (\S+)(.*?)```", text, re.DOTALL):
        listed |= {f"{module}.{name}" for name in re.findall(r"^   (\w+)$", body, re.MULTILINE)}
    listed |= set(re.findall(r"py:data:: (\S+)", text))
    public = {
        f"skcamel.serve.{name}" for name in skcamel.serve.__all__
    }  # not imported with the rest: it needs an extra
    for name in skcamel.__all__:
        value = getattr(skcamel, name)
        public |= (
            {f"skcamel.{name}.{inner}" for inner in value.__all__}
            if inspect.ismodule(value)
            else {f"skcamel.{name}"}
        )
    assert listed == public


def test_version_and_citation_agree():
    yaml = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r'^([a-z-]+): ?"?([^"\n]*)"?$', yaml, re.MULTILINE))
    assert fields["version"] == skcamel.__version__
    assert fields["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license", "date-released", "preferred-citation"} <= set(
        fields
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", fields["date-released"])
    assert f"\n## {skcamel.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

"""The catalogue: every set by name, from the first place that holds it, with the known values."""

import gzip
import http.client
import io
import re
import urllib.error
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from scipy.io import savemat

import tiny
from reference.mulan import read
from skcamel.data import DataError, catalogue
from skcamel.data.catalogue import dataset_facts, fetch_dataset, list_datasets, load_dataset
from skcamel.data.dataset import Dataset, digest


@pytest.fixture
def empty(monkeypatch, tmp_path):
    """No data home, an empty cache, no river."""
    monkeypatch.delenv("SKCAMEL_DATA", raising=False)
    monkeypatch.setenv("SKCAMEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "EMBEDDED", "none")
    return tmp_path


@pytest.fixture
def only_tiny(empty, monkeypatch):
    """The made-up set as the one entry; `only_tiny(**changes)` changes it."""

    def put(**changes):
        monkeypatch.setattr(catalogue, "_catalogue", lambda: {"tiny": tiny.facts(**changes)})

    put()
    return put


def test_the_sixteen_of_the_paper_come_first_and_the_variants_after():
    names = list_datasets()
    small = "cal500 emotions genbase medical enron image scene yeast science arts business"
    paper = [*small.split(), *(f"rcv1-s{k}" for k in range(1, 6))]
    assert list(names[:16]) == paper
    assert all(dataset_facts(name).in_paper == (name in paper) for name in names)
    realigned = {f"rcv1-s{k}-realigned" for k in range(1, 6)}
    assert set(names[16:]) == {"rcv1-s4-llsf", "rcv1-s5-llsf", *realigned}


@pytest.mark.parametrize("name", list_datasets())
def test_every_entry_is_complete(name):
    facts = dataset_facts(name)
    assert min(facts.n, facts.d, facts.q) > 0
    assert 0 < facts.cardinality < facts.q
    assert re.fullmatch("[0-9a-f]{64}", facts.digest)
    assert facts.terms == name.startswith("rcv1")
    assert facts.repaired is None or facts.repaired in list_datasets()
    assert all(text.endswith(".") for text in facts.defects)
    for part in (facts.download or {"parts": []})["parts"]:
        assert part["save_as"] == Path(part["save_as"]).name
        assert part["max_bytes"] <= 64_000_000
        assert all(re.match(r"[\w.-]+/[\w.-]+/[0-9a-f]{40}/", address) for address in part["at"])


def test_capitals_do_not_matter_and_a_typing_error_is_understood():
    assert dataset_facts("Emotions").name == "emotions"
    with pytest.raises(
        DataError, match=r"No data set is called 'emotion'; similar names: emotions"
    ):
        load_dataset("emotion")
    with pytest.raises(DataError, match="No data set is called 3"):
        load_dataset(3)


def test_a_missing_set_names_every_place_and_the_command(empty):
    with pytest.raises(catalogue.DatasetNotFoundError) as caught:
        load_dataset("emotions", data_home=empty / "home")
    message = str(caught.value)
    parts = [str(empty / place / "emotions") for place in ("home", "cache")]
    for part in (*parts, "skcamel.data.fetch_dataset('emotions')", "emotions.arff[.gz]"):
        assert part in message
    assert "\n" not in message
    with pytest.raises(
        catalogue.DatasetNotFoundError, match="no download for rcv1-s4; or put rcv1-s4"
    ):
        load_dataset("rcv1-s4")
    with pytest.raises(
        catalogue.DatasetNotFoundError, match=r"fetch_dataset\('rcv1-s1', yes=True\)"
    ):
        load_dataset("rcv1-s1")


def test_places_in_order(only_tiny, empty, monkeypatch):
    X, _ = tiny.arrays()
    tiny.put(empty / "cache")
    assert "cache" in load_dataset("tiny").source
    monkeypatch.setenv("SKCAMEL_DATA", str(empty / "shelf"))
    tiny.put(empty / "shelf")
    assert "shelf" in load_dataset("tiny").source
    tiny.put(empty / "home")
    dataset = load_dataset("tiny", data_home=empty / "home")
    assert dataset.source == str(empty / "home" / "tiny" / "tiny.arff")
    assert dataset.name == "tiny"
    np.testing.assert_array_equal(dataset.X, X)
    assert catalogue.whereabouts("tiny", empty / "home") == empty / "home" / "tiny" / "tiny.arff"
    cached = empty / "cache" / "tiny" / "tiny.arff"
    assert catalogue.whereabouts("tiny", empty / "nowhere") == cached
    assert catalogue.places("tiny") == [empty / "shelf" / "tiny", empty / "cache" / "tiny"]


def test_a_gzipped_file_is_found_and_half_a_pair_is_not(only_tiny, empty):
    folder = tiny.put(empty / "cache")
    (folder / "tiny.arff.gz").write_bytes(gzip.compress((folder / "tiny.arff").read_bytes()))
    (folder / "tiny.arff").unlink()
    assert load_dataset("tiny").n == tiny.N
    (folder / "tiny.xml").unlink()
    with pytest.raises(DataError, match=r"no label file tiny\.xml beside it"):
        load_dataset("tiny")


def test_one_changed_value_is_refused_and_another_layout_is_not(only_tiny, empty):
    folder = tiny.put(empty / "cache")
    (folder / "tiny.arff").write_bytes(tiny.arff(slice(30)))
    with pytest.raises(DataError, match=r"tiny.arff: this is not .* 30 rows, .* published 40 rows"):
        load_dataset("tiny")
    text = tiny.arff().decode()
    head, body = text.split("@data\n")
    (folder / "tiny.arff").write_text(f"% a comment\n{head}@DATA\n{body.replace(',', ', ')}")
    assert load_dataset("tiny").n == tiny.N
    first = body.split(",")[0]
    other = f"{float(first) + 0.5}{body.removeprefix(first)}"
    (folder / "tiny.arff").write_text(f"{head}@data\n{other}")
    with pytest.raises(
        DataError, match=r"40 rows, .* other sizes or values than the published 40 rows"
    ):
        load_dataset("tiny")


def test_known_defects_are_told(only_tiny, empty):
    only_tiny(defects=("Half of it is shifted.",), repaired="tiny-realigned")
    tiny.put(empty / "cache")
    message = r"tiny is the public file .* Half of it is shifted\. .* tiny-realigned for new work"
    with pytest.warns(UserWarning, match=message) as caught:
        load_dataset("tiny")
    assert caught[0].filename == __file__


def test_the_documentation_has_the_figures_of_the_catalogue():
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    for name in list_datasets():
        facts = dataset_facts(name)
        assert f"| `{name}` | {facts.n} | {facts.d} | {facts.q} | {facts.cardinality:.4f} |" in page
        assert facts.reference in page
        assert name.startswith("rcv1") or all(defect in page for defect in facts.defects)


def test_the_cache_folder(monkeypatch, tmp_path):
    for name in ("SKCAMEL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert catalogue.cache_folder() == tmp_path / ".cache" / "skcamel" / "datasets"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert catalogue.cache_folder() == Path("/xdg/skcamel/datasets")
    monkeypatch.setenv("SKCAMEL_CACHE", "/mine")
    assert catalogue.cache_folder() == Path("/mine")


def test_the_embedded_yeast_is_the_mulan_file_value_for_value(empty, monkeypatch):
    pytest.importorskip("river", reason="river is not installed: pip install skcamel[datasets]")
    monkeypatch.undo()
    monkeypatch.delenv("SKCAMEL_DATA", raising=False)
    monkeypatch.setenv("SKCAMEL_CACHE", str(empty))
    yeast = load_dataset("yeast")
    assert yeast.source.endswith("yeast.csv.gz")
    assert digest(yeast.X, yeast.Y) == dataset_facts("yeast").digest  # that of the Mulan file
    assert yeast.label_names == tuple(f"Class{j}" for j in range(1, 15))
    assert catalogue.whereabouts("yeast").name == "yeast.csv.gz"


# Downloads


@pytest.fixture
def web(monkeypatch, only_tiny):
    """What hosts serve, by path; bytes, or an error."""
    files = dict(tiny.served())

    def urlopen(address, timeout):
        content = files.get(unquote(address.removeprefix("https://raw.githubusercontent.com")))
        if content is None:
            raise urllib.error.HTTPError(address, 404, "Not Found", None, None)
        if isinstance(content, Exception):
            raise content
        return io.BytesIO(content)

    monkeypatch.setattr(catalogue.urllib.request, "urlopen", urlopen)
    return files


@pytest.fixture
def fetched(web, tmp_path):
    """`fetched(**options)`: one download of the made-up set."""
    return lambda **options: fetch_dataset("tiny", cache=tmp_path / "cache", **options)


def left_over(tmp_path):
    """What a reader of the cache could find."""
    return sorted(path.name for path in (tmp_path / "cache").glob("*"))


def test_a_download_is_the_data_set_and_load_dataset_finds_it(fetched, web, tmp_path):
    dataset = fetched()
    X, Y = tiny.arrays()
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.Y, Y)
    assert left_over(tmp_path) == ["tiny"]
    path = tmp_path / "cache" / "tiny" / "tiny.arff"
    assert load_dataset("tiny").source == dataset.source == str(path)
    whole = dict(web)
    web.clear()
    assert fetched().n == tiny.N  # from the cache
    path.write_bytes(tiny.arff(slice(5)))
    web |= whole
    assert fetched().n == tiny.N  # a damaged cache is repaired
    assert left_over(tmp_path) == ["tiny"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (tiny.arff()[:100], r"not the expected data .* Nothing was kept"),
        (tiny.arff(slice(30)), "not the data set tiny"),
        (b"<html>Sign in</html>", "not the expected data"),
        (b"x" * 6000, "not the expected data"),
        (TimeoutError("timed out"), r"could not be fetched \(timed out\); is this machine online"),
        (http.client.IncompleteRead(b""), "could not be fetched"),
        (None, r"HTTP Error 404"),
    ],
)
def test_a_failed_download_leaves_nothing(fetched, web, tmp_path, answer, message):
    path = next(path for path in web if path.endswith(".arff"))
    right = web[path]
    web[path] = answer
    with pytest.raises(catalogue.DownloadError, match=message):
        fetched()
    assert left_over(tmp_path) == []
    web[path] = right
    assert fetched().n == tiny.N


def test_missing_files_are_looked_for_at_the_second_address(fetched, only_tiny):
    plan = tiny.facts().download
    moved = [part | {"at": (f"{tiny.REPOSITORY}/gone", *part["at"])} for part in plan["parts"]]
    only_tiny(download=plan | {"parts": moved})
    assert fetched().n == tiny.N


def test_what_must_not_be_fetched_is_refused(fetched, only_tiny, tmp_path):
    for name in ("../tiny", "/etc/passwd", "", "tiny\0"):
        with pytest.raises(DataError, match="No data set is called"):
            fetch_dataset(name, cache=tmp_path)
    only_tiny(terms=True)
    with pytest.raises(catalogue.TermsError, match=r"Licence: none(.|\n)*pass yes=True"):
        fetched()
    assert fetched(yes=True).n == tiny.N
    only_tiny(download=None)
    with pytest.raises(catalogue.DatasetNotFoundError, match="no download for tiny"):
        fetched()


@pytest.mark.parametrize("form", ["mulan-parts", "mat"])
def test_other_forms_become_one_data_set(form, fetched, web, only_tiny, tmp_path):
    X, Y = tiny.arrays()
    first, last = slice(25), slice(25, None)
    other = tiny.arff(last, relation="other")
    files = {"tiny-train.arff": tiny.arff(first), "tiny-test.arff": other}
    files["tiny.xml"] = tiny.xml()
    if form == "mat":
        signs = 2.0 * Y.T - 1
        parts = {"train_data": X[first], "train_target": signs[:, first]}
        parts |= {"test_data": X[last], "test_target": signs[:, last]}
        savemat(tmp_path / "tiny.mat", parts)
        files = {"tiny.mat": (tmp_path / "tiny.mat").read_bytes()}
    web |= {f"/{tiny.REPOSITORY}/{name}": content for name, content in files.items()}
    at = {name: {"at": (f"{tiny.REPOSITORY}/{name}",), "max_bytes": 100_000} for name in files}
    plan = {"form": form, "parts": [{"save_as": name, **own} for name, own in at.items()]}
    names = {"label_prefix": "Class"}
    only_tiny(sparse=form == "mat", download=plan | (names if form == "mat" else {}))
    dataset = fetched()
    found = dataset.X.toarray() if form == "mat" else dataset.X
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(dataset.Y, Y)
    assert form != "mat" or dataset.label_names == ("Class1", "Class2")


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:.*known defects")
@pytest.mark.parametrize("name", list_datasets())
def test_every_set_loads_with_the_values_of_a_second_reader(name):
    dataset, facts = load_dataset(name), dataset_facts(name)
    X, Y = read(name)
    assert isinstance(dataset, Dataset)
    assert (dataset.n, dataset.d, dataset.q) == (facts.n, facts.d, facts.q)
    assert digest(dataset.X, dataset.Y) == digest(X, Y) == facts.digest
    assert hasattr(dataset.X, "indptr") == facts.sparse

"""Downloads from a real server on this machine: afterwards the cache holds the whole right set, or nothing of it."""

import errno
import gzip
import json
import re
import subprocess
import sys
import urllib.request
from dataclasses import asdict

import numpy as np
import pytest

import tiny
from loopback import loopback_server
from reference.mulan import data_home, read
from skcamel.data import DataError, catalogue, fetch
from skcamel.data.catalogue import DatasetNotFoundError, dataset_facts, list_datasets, load_dataset
from skcamel.data.dataset import digest
from skcamel.data.fetch import DownloadError, TermsError, fetch_dataset


@pytest.fixture
def server(monkeypatch):
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    with loopback_server() as running:
        running.files = tiny.served()
        yield running


@pytest.fixture
def entry(monkeypatch):
    """Put a changed entry of the made-up set into the catalogue."""

    def put(**changes):
        monkeypatch.setattr(catalogue, "_catalogue", lambda: {"tiny": tiny.facts(**changes)})

    put()
    return put


@pytest.fixture
def fetched(server, entry, tmp_path):
    """`fetched(**options)`: one download of the made-up set into a fresh cache."""
    return lambda **options: fetch_dataset(
        "tiny", cache=tmp_path / "cache", base_url=server.url, **options
    )


def left_over(tmp_path):
    """What a reader of the cache could find."""
    return sorted(path.name for path in (tmp_path / "cache").glob("*"))


def test_a_download_is_the_data_set_and_load_dataset_finds_it(
    fetched, server, tmp_path, monkeypatch
):
    said, steps = [], []
    dataset = fetched(announce=said.append, progress=lambda *step: steps.append(step))
    X, Y = tiny.arrays()
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.Y, Y)
    assert said == [
        f"tiny: from {tiny.REPOSITORY}\nLicence: none, it is made up\nPlease cite: Nobody, 2000"
    ]
    assert steps[0] == ("tiny.arff", len(tiny.arff()), len(tiny.arff()))
    assert left_over(tmp_path) == ["tiny"]
    monkeypatch.setenv("SKCAMEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SKCAMEL_DATA", raising=False)
    assert (
        load_dataset("tiny").source
        == dataset.source
        == str(tmp_path / "cache" / "tiny" / "tiny.arff")
    )


def test_what_is_in_the_cache_is_not_fetched_again(fetched, server):
    fetched()
    server.requests.clear()
    assert fetched().n == tiny.N
    assert server.requests == []


def test_a_damaged_cache_is_repaired(fetched, server, tmp_path):
    fetched()
    (tmp_path / "cache" / "tiny" / "tiny.arff").write_bytes(tiny.arff(slice(5)))
    assert fetched().n == tiny.N
    assert left_over(tmp_path) == ["tiny"]


def test_a_truncated_download_leaves_nothing(fetched, server, tmp_path):
    server.cut = [100]
    with pytest.raises(
        DownloadError,
        match=(
            r"the connection ended after 100 of \d+ bytes\); is this machine online\? Run it again"
        ),
    ):
        fetched()
    assert left_over(tmp_path) == []
    assert fetched().n == tiny.N


def test_a_refusal_leaves_nothing(fetched, server, tmp_path):
    server.refuse = [403]
    with pytest.raises(DownloadError, match="HTTP Error 403: Forbidden"):
        fetched()
    assert len(server.requests) == 1
    assert left_over(tmp_path) == []


def test_missing_files_are_looked_for_at_the_second_address(fetched, server, entry):
    plan = tiny.facts().download
    moved = [part | {"at": (f"{tiny.REPOSITORY}/gone", *part["at"])} for part in plan["parts"]]
    entry(download=plan | {"parts": moved})
    assert fetched().n == tiny.N
    server.files.clear()
    entry(name="tiny", digest="another")  # so that the cache does not count
    with pytest.raises(DownloadError, match=r"Not found \(HTTP 404\)"):
        fetched()


def test_wrong_values_are_refused(fetched, server, tmp_path):
    path = next(path for path in server.files if path.endswith(".arff"))
    right = server.files[path]
    server.files[path] = right[:-2] + (b"0" if right[-2:-1] == b"1" else b"1") + b"\n"
    with pytest.raises(DownloadError, match=r"not the expected data .* Nothing was kept"):
        fetched()
    assert left_over(tmp_path) == []
    server.files[path] = right
    assert fetched().n == tiny.N


def test_values_that_only_the_digest_tells_apart_are_refused(fetched, entry):
    entry(digest="0" * 64)
    with pytest.raises(DownloadError, match="neither its checksum nor its values agree"):
        fetched()


def test_what_is_no_data_at_all_is_refused(fetched, server, tmp_path):
    server.files = dict.fromkeys(server.files, b"<html>Sign in</html>")
    with pytest.raises(DownloadError, match="not the expected data"):
        fetched()
    assert left_over(tmp_path) == []


@pytest.mark.parametrize("announced", [True, False], ids=["size announced", "size unknown"])
def test_an_oversize_file_is_refused(fetched, server, tmp_path, announced):
    server.announce_length = announced
    server.files = dict.fromkeys(server.files, b"x" * 500_000)
    with pytest.raises(DownloadError, match="larger than 5000 bytes"):
        fetched()
    assert left_over(tmp_path) == []


def test_a_host_that_is_not_there_is_told(entry, server, tmp_path):
    with pytest.raises(DownloadError, match="could not be fetched"):
        fetch_dataset("tiny", cache=tmp_path, base_url="http://127.0.0.1:9", timeout=1)


def test_a_silent_host_is_given_up(fetched, server, tmp_path):
    server.stall = 0.3
    with pytest.raises(DownloadError, match=r"could not be fetched \(timed out\)"):
        fetched(timeout=0.05)
    assert left_over(tmp_path) == []


def test_a_full_disk_leaves_nothing(fetched, tmp_path, monkeypatch):
    def full(facts, contents, staged):
        (staged.folder / "tiny.arff").write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fetch, "_write_mulan", full)
    with pytest.raises(DownloadError, match="No space left on device; free some space"):
        fetched()
    assert left_over(tmp_path) == []


def start_fetch(url, tmp_path):
    """Fetch the made-up set in a process of its own."""
    (tmp_path / "facts.json").write_text(json.dumps(asdict(tiny.facts())))
    code = (
        "import json, sys\nfrom skcamel.data import catalogue, fetch\n"
        "facts = catalogue.DatasetFacts(**json.load(open(sys.argv[1])))\n"
        "catalogue._catalogue = lambda: {'tiny': facts}\n"
        + "print(fetch.fetch_dataset('tiny', cache=sys.argv[2], base_url=sys.argv[3]).n)"
    )
    command = [
        sys.executable,
        "-c",
        code,
        str(tmp_path / "facts.json"),
        str(tmp_path / "cache"),
        url,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_at_once_leave_one_right_set(server, entry, tmp_path):
    processes = [start_fetch(server.url, tmp_path) for _ in range(3)]
    answers = [process.communicate(timeout=60) for process in processes]
    assert [answer.strip() for answer, _ in answers] == [str(tiny.N)] * 3, answers
    assert left_over(tmp_path) == ["tiny"]
    assert fetch_dataset("tiny", cache=tmp_path / "cache", base_url=server.url).n == tiny.N


@pytest.mark.parametrize("name", ["../tiny", "/etc/passwd", "tiny/../../x", "..", "", "tiny\0"])
def test_names_that_lead_elsewhere_are_refused(server, entry, tmp_path, name):
    with pytest.raises(DataError, match="No data set is called"):
        fetch_dataset(name, cache=tmp_path / "cache", base_url=server.url)
    assert not (tmp_path / "cache").exists()
    assert server.requests == []


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc",
        "ftp://example.org",
        "http://example.org",
        "nothing",
        "http://127.0.0.1.example.org",
    ],
)
def test_only_https_or_this_machine_is_asked(entry, tmp_path, address):
    with pytest.raises(ValueError, match="https only"):
        fetch_dataset("tiny", cache=tmp_path / "cache", base_url=address)


def test_terms_have_to_be_accepted_before_anything_is_asked(fetched, server, entry):
    entry(terms=True)
    with pytest.raises(
        TermsError, match=r"Licence: none(.|\n)*pass yes=True \(command line: --yes\)"
    ):
        fetched()
    assert server.requests == []
    assert fetched(yes=True).n == tiny.N


def test_sets_without_a_download_say_where_to_put_them(fetched, entry):
    entry(download=None)
    with pytest.raises(
        DatasetNotFoundError, match=r"no download for tiny. Put tiny.arff\[.gz\] and tiny.xml"
    ):
        fetched()


def parts_plan(*names):
    return [
        {"save_as": name, "max_bytes": 100_000, "at": (f"{tiny.REPOSITORY}/{name}",)}
        for name in names
    ]


def test_training_and_test_files_become_one(fetched, server, entry):
    entry(
        download={"form": "mulan-parts", "parts": parts_plan("train.arff", "test.arff", "tiny.xml")}
    )
    pair = {
        "train.arff": tiny.arff(slice(25)).rstrip(),
        "test.arff": tiny.arff(slice(25, None), relation="other"),
        "tiny.xml": tiny.xml(),
    }
    server.files = {f"/{tiny.REPOSITORY}/{name}": content for name, content in pair.items()}
    np.testing.assert_array_equal(fetched().X, tiny.arrays()[0])


def test_parts_with_other_attributes_are_refused(fetched, server, entry):
    entry(
        download={"form": "mulan-parts", "parts": parts_plan("train.arff", "test.arff", "tiny.xml")}
    )
    pair = {
        "train.arff": tiny.arff(slice(25)),
        "test.arff": tiny.arff(slice(25, None)).replace(b"f1", b"g1"),
        "tiny.xml": tiny.xml(),
    }
    server.files = {f"/{tiny.REPOSITORY}/{name}": content for name, content in pair.items()}
    with pytest.raises(DownloadError, match="declare different attributes"):
        fetched()
    server.files[f"/{tiny.REPOSITORY}/test.arff"] = b"nothing"
    with pytest.raises(DownloadError, match="declare different attributes"):
        fetched()


def test_matlab_files_are_converted(fetched, server, entry, tmp_path):
    from scipy.io import savemat

    X, Y = tiny.arrays()
    savemat(
        tmp_path / "tiny.mat",
        {
            "train_data": X[:25],
            "train_target": 2.0 * Y[:25].T - 1,
            "test_data": X[25:],
            "test_target": 2.0 * Y[25:].T - 1,
        },
    )
    server.files = {f"/{tiny.REPOSITORY}/tiny.mat": (tmp_path / "tiny.mat").read_bytes()}
    entry(
        sparse=True,
        download={
            "form": "mat",
            "feature_prefix": "f",
            "label_prefix": "Class",
            "parts": parts_plan("tiny.mat"),
        },
    )
    dataset = fetched()
    np.testing.assert_array_equal(dataset.X.toarray(), X)
    assert dataset.label_names == ("Class1", "Class2")


def as_published(name, facts, home, tmp_path):
    """What the hosts hold for one set, rebuilt from the benchmark folder."""
    from scipy import sparse
    from scipy.io import savemat

    first = [part["at"][0] for part in facts.download["parts"]]
    if facts.download["form"] == "mat":
        X, Y = read(name, home)
        split = {
            "train_data": X[:2000],
            "test_data": X[2000:],
            "train_target": 2.0 * Y[:2000].T - 1,
            "test_target": 2.0 * Y[2000:].T - 1,
        }
        savemat(
            tmp_path / "x.mat",
            {"data": sparse.csc_matrix(X), "target": Y.T.astype(float)} if facts.terms else split,
            do_compression=True,
        )
        return dict(zip(first, [(tmp_path / "x.mat").read_bytes()], strict=True))
    plain, xml = home / name / f"{name}.arff", (home / name / f"{name}.xml").read_bytes()
    whole = (
        plain.read_bytes()
        if plain.exists()
        else gzip.decompress((home / name / f"{name}.arff.gz").read_bytes())
    )
    if facts.download["form"] == "mulan":
        return dict(zip(first, [whole, xml], strict=True))
    head, body = re.split(
        rb"(?<=@data\n)", whole.replace(b"\r\n", b"\n"), maxsplit=1, flags=re.IGNORECASE
    )
    rows = body.strip().split(b"\n")
    pair = (head + b"\n".join(part) + b"\n" for part in (rows[:1211], rows[1211:]))
    return dict(zip(first, [*pair, xml], strict=True))


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in list_datasets() if dataset_facts(name).download])
def test_each_fetchable_set_comes_through_its_own_plan(name, server, tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_warned", set(list_datasets()))
    facts = dataset_facts(name)
    server.files = {
        f"/{address}": content
        for address, content in as_published(name, facts, data_home(), tmp_path).items()
    }
    dataset = fetch_dataset(name, yes=True, cache=tmp_path / "cache", base_url=server.url)
    assert digest(dataset.X, dataset.Y) == facts.digest
    assert hasattr(dataset.X, "indptr") == facts.sparse
    monkeypatch.delenv("SKCAMEL_DATA")
    monkeypatch.setenv("SKCAMEL_CACHE", str(tmp_path / "cache"))
    assert load_dataset(name).equals(dataset)


def test_a_redirect_away_from_https_is_refused():
    request = urllib.request.Request("https://example.org/a")
    with pytest.raises(DownloadError, match="not https; refused"):
        fetch._NoDowngrade().redirect_request(
            request, None, 302, "Found", {}, "http://example.org/a"
        )
    assert (
        fetch._NoDowngrade()
        .redirect_request(request, None, 302, "Found", {}, "https://example.org/b")
        .full_url
        == "https://example.org/b"
    )

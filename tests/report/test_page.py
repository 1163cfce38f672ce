"""Assembly of pages: escaping, packed numbers, the content policy, and the same bytes for the same input."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")

from skcamel.report.page import Column, Page, Rounded, Section, as_json, render, write

texts = st.text(st.characters(codec="utf-8"), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=10,
)
PLAIN = Page("title", "lead", [("fact", "value")], [])


class Scripts(HTMLParser):
    """Scripts and styles of a page as a browser would find them."""

    def __init__(self):
        super().__init__()
        self.open, self.found = None, []

    def handle_starttag(self, tag, attributes):
        self.open = tag
        if tag in ("script", "style"):
            self.found.append([tag, dict(attributes), ""])

    def handle_data(self, data):
        if self.open in ("script", "style"):
            self.found[-1][2] += data

    def handle_endtag(self, tag):
        self.open = None


def scripts(html):
    parser = Scripts()
    parser.feed(html)
    return parser.found


@given(values)
def test_json_survives_inside_a_script_element(value):
    text = as_json(value)
    assert json.loads(text) == value
    assert not set("<>&") & set(text)


@given(st.dictionaries(texts, texts, min_size=1))
def test_whatever_the_data_says_a_page_has_the_scripts_it_was_given(value):
    html = render(Page("t", "l", [], [], shared=value))
    found = scripts(html)
    assert [tag for tag, _, _ in found] == ["style", "script", "script"]
    assert json.loads(found[1][2]) == value


@given(
    arrays(
        np.float32,
        st.tuples(st.integers(0, 4), st.integers(1, 4)),
        elements=st.floats(-1e6, 1e6, width=32),
    )
)
def test_packed_floats_are_exact(array):
    packed = json.loads(as_json(array))
    assert packed["shape"] == list(array.shape)
    np.testing.assert_array_equal(
        np.frombuffer(base64.b64decode(packed["f32"]), "<f4").reshape(array.shape), array
    )


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 4)),
        elements=st.floats(-1e6, 1e6, allow_subnormal=False),
    )
)
def test_rounded_matrices_are_exact_to_half_a_step_of_their_column(matrix):
    packed = json.loads(as_json(Rounded(matrix)))
    steps = np.frombuffer(base64.b64decode(packed["i16"]), "<i2").reshape(matrix.shape)
    most = abs(matrix).max(axis=0)
    assert (abs(steps * np.array(packed["scale"]) - matrix) <= most / 65534 * (1 + 1e-3)).all()


def test_small_integers_are_bytes_and_larger_ones_are_refused():
    assert json.loads(as_json(np.array([0, 255]))) == {"u8": "AP8=", "shape": [2]}
    with pytest.raises(ValueError, match="from 0 to 256; send a list"):
        as_json(np.array([0, 256]))


def test_numbers_without_a_value_are_null():
    assert as_json([float("nan"), float("inf"), 1.5]) == "[null,null,1.5]"


def test_text_of_a_page_is_escaped():
    nasty = "<img src=x onerror=alert(1)>"
    html = render(Page(nasty, nasty, [(nasty, nasty)], []))
    assert "<img" not in html
    assert html.count("&lt;img src=x") == 5


def test_the_policy_allows_the_script_and_the_style_of_the_page_alone():
    html = render(PLAIN)
    policy = (
        re.search(r'Content-Security-Policy" content="([^"]*)"', html)
        .group(1)
        .replace("&#39;", "'")
    )
    for tag, attributes, text in scripts(html):
        if "type" not in attributes:  # data is not run
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_a_page_names_no_address_outside_itself():
    html = render(PLAIN)
    assert set(re.findall(r"https?://[^\s\"'<>]*", html)) == {
        "http://www.w3.org/2000/svg"
    }  # the name of SVG, not fetched


def test_scripts_that_sections_share_are_sent_once(monkeypatch, tmp_path):
    monkeypatch.setattr("skcamel.report.page.STATIC", tmp_path)
    for name, text in {
        "page.js": "// core",
        "one.js": "// shared",
        "style.css": "",
        "empty.html": "",
        "page.html": "{{ script }}",
    }.items():
        (tmp_path / name).write_text(text)
    sections = [Section(name, name, scripts=("one.js",), template="empty.html") for name in "ab"]
    assert render(Page("t", "l", [], sections)).count("// shared") == 1


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text("before")
    broken = Page("t", "l", [], [Section("nothing", "No such template")])
    with pytest.raises(Exception, match=r"nothing\.html"):
        write(broken, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "before"


def test_cells_sort_by_their_full_value():
    column = Column("F1", 2)
    assert (column.text(1234.567), column.key(1234.567)) == ("1,234.57", "1234.57")
    assert (column.text(None), column.key(None)) == ("–", "")


def test_without_jinja_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'skcamel\[report\]'"):
        render(PLAIN)

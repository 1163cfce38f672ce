"""Assembly of pages: escaping, the content policy, drawings, whole files."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import skcamel.report.page as parts

NASTY = "</script><img src=x onerror=alert(1)>"


def page(text):
    """A page that says the same in every place where text may stand."""
    columns = [parts.Column(text, note=text), parts.Column(text)]
    blocks = [
        parts.Text(text),
        parts.Facts([(text, text)]),
        parts.Table(text, columns, [[text, text]], note=text),
        parts.Side([parts.Sum(text, [(text, 1.0)])], text),
        parts.Details(text, text),
        parts.Choice(text, [parts.Option("one", text, [parts.Text(text)])]),
    ]
    return parts.Page(text, text, [text], [parts.Section("all", text, text, blocks)])


class Elements(HTMLParser):
    """Tags of a page, the text of its scripts and styles, and all other text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.inside, self.code, self.text = [], "", {}, ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside in ("script", "style"):
            self.code[self.inside] = self.code.get(self.inside, "") + data
        else:
            self.text += data


@example(NASTY)
@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1, max_size=40))
def test_whatever_text_says_a_page_has_the_elements_of_any_page(text):
    html = parts.render(page(text))
    assert Elements(html).tags == Elements(parts.render(page("plain"))).tags
    assert text != NASTY or html.count("&lt;img src=x") == 27


def test_the_policy_allows_the_script_and_the_style_of_the_page_alone():
    html = parts.render(page("plain"))
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    policy = found.replace("&#39;", "'")
    for tag, code in Elements(html).code.items():
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_a_page_names_no_address_and_has_no_inline_style():
    svg = parts.svg_of(lambda ax: ax.plot([1, 2]), (3, 2), name="line", alt=NASTY)
    blocks = [parts.Drawing("A line", svg, "up")]
    html = parts.render(parts.Page("t", "a", [], [parts.Section("s", "S", "S", blocks)]))
    assert "://" not in html
    assert "style=" not in html
    assert "<img" not in html
    assert 'role="img"' in svg


def test_text_of_a_drawing_stays_text_and_equal_drawings_are_equal():
    def drawing():
        return parts.svg_of(lambda ax: ax.set_title("beach <b>"), (3, 2), name="one", alt="a title")

    assert drawing() == drawing()
    assert re.search(r'<text [^>]*text-anchor="middle"[^>]*>beach &lt;b&gt;</text>', drawing())
    assert drawing().startswith("<svg")


def test_without_jinja_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'skcamel\[report\]'"):
        parts.render(page("plain"))

"""No cell of a CSV file begins a formula, and the text comes back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skcamel.text import original_cell, plain_cell

TEXTS = st.text("'=+-@＝\t\r\n \u00a0\ufeff\x00a1.e", max_size=6) | st.text(max_size=6)
RUN = ("=cmd|' /C calc'!A0", "+1+1", "-2+3|cmd", "@SUM(A1)", "\tx", "\rx", "\nx", "\n=1", " =1")
RUN_TOO = ("\u00a0\ufeff=1", "\x00=1", "＝1", "'=1")
PLAIN = ("", "sea", "a=b", "it's", "'tis", "-1", "+0.5", "-.5e-3", "1e+300", "A-1", "x@y")


@pytest.mark.parametrize("text", RUN + RUN_TOO)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert plain_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_and_numerals_stay(text):
    assert plain_cell(text) == text
    assert original_cell(text) == text


@example("'=1")
@example("''=1")
@example("'")
@given(TEXTS)
def test_the_text_comes_back_and_begins_no_formula_behind_what_spreadsheets_skip(text):
    assert original_cell(plain_cell(text)) == text
    shown = plain_cell(text).lstrip(" \t\r\n\x00\u00a0\ufeff")
    assert shown[:1] not in tuple("=@＝")

"""What a run tells: lines, bars on a terminal, or nothing."""

import io
import sys

import pytest

from skcamel.experiment import Unit, run_study
from skcamel.experiment.progress import Event, listener
from study_methods import Broken, Mean, made


class Terminal(io.StringIO):
    def isatty(self):
        return True


def unit(fold=0):
    return Unit("yeast", "br", "quick", fold, 3, "plain", 0)


def told(stream, progress="auto", finished=0):
    with listener(progress, {"yeast": 3}, {"yeast": finished}, stream) as tell:
        for k, state in enumerate(("done", "failed", "done")[finished:], finished + 1):
            tell(Event(unit(k - 1), state, 1.25, k, 3))
    return stream.getvalue()


def test_lines_where_there_is_no_terminal():
    lines = told(io.StringIO()).splitlines()
    assert lines[0].startswith("1/3  yeast, br, quick, fold 1 of 3: 1.2 s, ")
    assert lines[1].startswith("2/3  yeast, br, quick, fold 2 of 3: FAILED, ")
    assert lines[2] == "3/3  yeast, br, quick, fold 3 of 3: 1.2 s, 0 s left"


def test_lines_tell_what_was_done_before():
    assert told(io.StringIO(), finished=1).startswith("1 of 3 units are done already\n2/3  yeast")


def test_bars_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "100")
    shown = told(Terminal())
    assert "3/3" in shown
    assert "fold 2 of 3: FAILED" in shown
    assert "\x1b[" in shown


def test_bars_without_rich_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(ImportError, match=r"pip install 'skcamel\[cli\]'; or choose progress='lines'"):
        told(io.StringIO(), "bars")


@pytest.mark.parametrize("progress", ["quiet", None])
def test_quiet(progress):
    assert told(Terminal(), progress) == ""


@pytest.mark.filterwarnings("ignore:.* units failed:UserWarning")
@pytest.mark.parametrize("how", [{}, {"n_jobs": 2, "backend": "threading"}], ids=str)
def test_every_unit_is_told_once(how, capsys):
    events = []
    run_study([made()], [Mean(), Broken()], n_folds=3, progress=events.append, **how)
    assert sorted(event.finished for event in events) == [1, 2, 3, 4, 5, 6]
    assert sorted(event.state for event in events) == ["done"] * 3 + ["failed"] * 3
    assert capsys.readouterr() == ("", "")

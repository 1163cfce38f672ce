"""`skcamel inspect`, `export` and `report` write what Python writes."""

import json

import pytest

import skcamel
from skcamel import load
from skcamel.export import to_onnx
from tables import table


def test_inspect(done, refused, model, tmp_path):
    found = skcamel.inspect("m.skcamel")
    assert done("inspect", "m.skcamel").strip() == str(found).strip()
    assert set(json.loads(done("inspect", "m.skcamel", "--json"))) == set(found.to_dict())
    done("inspect", "m.skcamel", "-o", "CARD.md")
    assert (tmp_path / "CARD.md").read_text() == found.card()
    refused(2, "choose one", "inspect", "m.skcamel", "-o", "CARD.md", "--json")
    refused(2, "is m.skcamel, which is read", "inspect", "m.skcamel", "-o", "m.skcamel")


def test_export(cli, refused, model, tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed: pip install skcamel[export]")
    result = cli("export", "m.skcamel", "--dtype", "float64", "-o", "m.onnx")
    assert result.exit_code == 0, result.stderr
    expected = to_onnx(load(model), dtype="float64").SerializeToString()
    assert (tmp_path / "m.onnx").read_bytes() == expected
    refused(2, "must end in .onnx", "export", "m.skcamel", "-o", "m.bin")


def test_report(cli, refused, model, tmp_path):
    pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install skcamel[report]")
    table(tmp_path / "new.csv", range(40, 60))
    for options in ((), ("--data", "new.csv")):
        result = cli("report", "m.skcamel", *options, "-o", "page.html")
        assert result.exit_code == 0, result.stderr
        assert "sun" in (tmp_path / "page.html").read_text()
    (tmp_path / "empty").mkdir()
    refused(1, "no records", "report", "empty", "-o", "page.html")
    refused(2, "needs none", "report", "empty", "--data", "new.csv", "-o", "page.html")
    refused(1, "new.csv", "report", "new.csv", "-o", "other.html")
    assert not (tmp_path / "other.html").exists()

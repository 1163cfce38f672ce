"""`skcamel export`: an ONNX file from a model file, what is told of it, and refusals in one sentence."""

import json

import numpy as np
import pytest

from skcamel import CamelClassifier, load, save
from skcamel.text import file_size

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install skcamel[export]")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

X = np.random.default_rng(0).normal(size=(80, 4))
Y = (X[:, :2] > 0).astype(int)


def test_a_model_file_becomes_an_onnx_file_that_answers_like_it(cli, tmp_path):
    save(CamelClassifier().fit(X, Y), "model.skcamel")
    result = cli("export", "model.skcamel", "-o", "model.onnx")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1:] == [
        "  inputs   X",
        "  outputs  scores, labels, probabilities",
        "  memory   about 1.3 MB for 1,000 rows in one call",
    ]
    size = file_size((tmp_path / "model.onnx").stat().st_size)
    assert result.stdout.startswith(f"wrote model.onnx: {size}, 2 labels\n")
    found = ort.InferenceSession("model.onnx").run(["labels"], {"X": X.astype(np.float32)})[0]
    np.testing.assert_array_equal(found, load("model.skcamel").predict(X.astype(np.float32)))


def test_a_table_keeps_its_columns(cli, tmp_path):
    lines = [f"{'red' if a > 0 else 'blue'},{b:.3f},{int(a > 0)},{int(b > 0)}" for a, b in X[:, :2]]
    (tmp_path / "mine.csv").write_text("\n".join(["colour,size,warm,large", *lines]))
    assert cli("fit", "mine.csv", "--labels", "warm,large", "-o", "table.skcamel").exit_code == 0
    result = cli("export", "table.skcamel", "--dtype", "float64", "-o", "table.onnx")
    assert result.exit_code == 0, result.output
    assert "  inputs   colour, size\n" in result.stdout
    session = ort.InferenceSession("table.onnx")
    found = session.run(
        ["labels"],
        {"colour": np.array([["red"], ["blue"]], dtype=object), "size": np.array([[2.0], [-2.0]])},
    )[0]
    assert found.tolist() == [[1, 1], [0, 0]]
    told = session.get_modelmeta().custom_metadata_map
    assert json.loads(told["label_names"]) == ["warm", "large"]


def test_many_columns_are_told_in_short(cli, tmp_path):
    names = [f"c{k}" for k in range(12)]
    rows = np.random.default_rng(0).normal(size=(30, 12))
    lines = [",".join([*map("{:.3f}".format, row), str(int(row[0] > 0))]) for row in rows]
    (tmp_path / "mine.csv").write_text("\n".join([",".join([*names, "up"]), *lines]))
    assert cli("fit", "mine.csv", "--labels", "up", "-o", "table.skcamel").exit_code == 0
    assert (
        "  inputs   c0, c1, c2, c3, c4, c5, c6, … 5 more\n"
        in cli("export", "table.skcamel", "-o", "table.onnx").stdout
    )


def test_what_cannot_be_exported_is_refused(cli, refused, tmp_path):
    save(CamelClassifier().fit(X, Y), "other.skcamel")
    refused(2, "ends in '.txt'; it must be .onnx.", "export", "other.skcamel", "-o", "other.txt")
    refused(2, "Missing option '-o'", "export", "other.skcamel")
    lines = [f"sun {k % 3} sea {k},{a:.3f},{int(a > 0)}" for k, a in enumerate(X[:, 0])]
    (tmp_path / "mine.csv").write_text("\n".join(["said,size,large", *lines]))
    text = ("--text", "said", "-o", "table.skcamel")
    assert cli("fit", "mine.csv", "--labels", "large", *text).exit_code == 0
    refused(
        1,
        "ONNX has no operators for free text: 'said'. Fit without these columns (--drop",
        "export",
        "table.skcamel",
        "-o",
        "a.onnx",
    )
    assert not (tmp_path / "a.onnx").exists()

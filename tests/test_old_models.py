"""Files that earlier versions wrote load, and predict what they predicted then."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skcamel import ModelFileError, inspect, load, persistence, save

MODELS = Path(__file__).parent / "models"
FILES = sorted(path.relative_to(MODELS).as_posix() for path in MODELS.glob("v2*/*.skcamel"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_earlier_version_predicts_as_it_did(name):
    path = MODELS / name
    told = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    rows = pd.DataFrame(told["rows"]) if isinstance(told["rows"], dict) else np.array(told["rows"])
    model = load(path)
    np.testing.assert_allclose(model.decision_function(rows), told["scores"], rtol=1e-9, atol=1e-12)
    assert model.predict(rows).tolist() == told["answers"]
    again = io.BytesIO()
    save(model, again)  # what was added since is optional
    again.seek(0)
    np.testing.assert_array_equal(load(again).decision_function(rows), model.decision_function(rows))
    assert inspect(path).file["format_version"] == 2
    assert "To be filled in by a person" in inspect(path).card()


def test_each_kind_of_model_is_kept_in_the_newest_format():
    kinds = {Path(name).stem for name in FILES if name.startswith(f"v{persistence.VERSION}/")}
    assert {"single", "search", "combined", "landmark", "primal", "compressed", "table", "unknown"} <= kinds


def test_a_file_of_the_first_format_says_what_to_do():
    with pytest.raises(ModelFileError, match=r"single\.skcamel is not a whole .* format version 1 of skcamel.*save the model anew"):
        load(MODELS / "v1" / "single.skcamel")


def test_a_file_of_a_later_version_names_its_writer_and_the_cure(tmp_path):
    with np.load(MODELS / "v2" / "single.skcamel") as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes()) | {"version": 3, "written_by": "skcamel 4.2"}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with (tmp_path / "new.skcamel").open("wb") as file:
        np.savez(file, **arrays)
    for read in (load, inspect):
        with pytest.raises(ModelFileError, match=r"version 3, this skcamel reads 2; upgrade skcamel \(it was written by skcamel 4\.2\)"):
            read(tmp_path / "new.skcamel")

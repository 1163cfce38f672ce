"""New rows for a model: columns found by name, labels on request, cells read as at the fit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat
from sklearn.pipeline import make_pipeline

from skcamel import CamelClassifier
from skcamel.data import DataError, Dataset, TablePreparer
from skcamel.data.matching import match, read_rows, remember

X = np.random.default_rng(0).normal(size=(20, 3))
Y = pd.DataFrame((X[:, :2] > 0).astype(int), columns=["l", "m"])
BARE = CamelClassifier().fit(pd.DataFrame(X, columns=["x", "y", "c"]), Y)
CELLS = {"x": ["1", "4"], "y": ["2", "5"], "c": ["6", ""], "l": ["0", "1"], "m": ["1", "1"]}


@pytest.fixture
def prepared():
    """A model of a table with a German number, a code, a category and the name of the row."""
    columns = {"price": "{0},5", "code": "00{1}", "ticket": "T{0}"}
    cells = {name: [text.format(k, k % 3) for k in range(20)] for name, text in columns.items()}
    table = pa.table(cells | {"plan": ["free", "team"] * 10})
    preparer = TablePreparer(id=["ticket"], category=["code"])
    return make_pipeline(preparer, CamelClassifier()).fit(table, Y)


@given(st.permutations([*CELLS, "other"]))
def test_the_order_of_columns_does_not_matter(tmp_path_factory, order):
    path = tmp_path_factory.mktemp("t") / "new.csv"
    columns = {**CELLS, "c": ["6", "7"], "other": ["what", "ever"]}
    pd.DataFrame({name: columns[name] for name in order}).to_csv(path, index=False)
    rows = read_rows(BARE, path, truth=True)
    assert rows.X.tolist() == [[1, 2, 6], [4, 5, 7]]
    assert rows.Y.tolist() == [[0, 1], [1, 1]]
    assert rows.unused == ("other",)
    rows = read_rows(BARE, path)
    assert (rows.Y, set(rows.unused)) == (None, {"l", "m", "other"})


def test_labels_are_not_read_unless_wanted(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("x,y,c,l\n1,2,3,what\n")
    assert read_rows(BARE, path).unused == ("l",)
    path.write_text("x,y,c,l\n1,2,3,\n")
    with pytest.raises(DataError, match="lacks 'm', which the model knows from its fit; add"):
        read_rows(BARE, path, truth=True)
    with pytest.raises(DataError, match="lacks 'l', 'm', which the model knows"):
        match(BARE, pa.table({"x": [1], "y": [2], "c": [3]}), "new", truth=True)


def test_missing_labels_are_unknown(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,c,m,l\n1,2,3,1,\n3,4,5,?,0\n")
    found = read_rows(BARE, tmp_path / "a.csv", truth=True).Y
    np.testing.assert_array_equal(found, [[np.nan, 1], [0, np.nan]])
    (tmp_path / "b.csv").write_text("x,y,c,m,l\n1,2,3,1,0\n")
    assert read_rows(BARE, tmp_path / "b.csv", truth=True).Y.dtype == np.int64


def test_what_does_not_fit_a_model_is_refused():
    twice = Dataset(np.ones((1, 4)), [[1, 0]], ("x", "y", "c", "x"), ("l", "m"))
    with pytest.raises(DataError, match="two columns are called 'x'; rename one"):
        match(BARE, twice, "new")
    with pytest.raises(DataError, match="lacks 'c', which the model knows"):
        match(BARE, Dataset([[2.0, 1.0]], [[1]], ("x", "y")), "new")
    with pytest.raises(DataError, match=r"1 value missing or infinite, the first in row 2, .*'c'"):
        match(BARE, pa.table(CELLS), "new")
    words = pa.table({**CELLS, "c": ["6", "red"]})
    problem = "column 'c' holds cells that are no plain numbers; .* TablePreparer"
    with pytest.raises(DataError, match=f"new: {problem}"):
        match(BARE, words, "new")


def test_a_model_without_names_takes_columns_in_their_order():
    model = CamelClassifier().fit(X, Y)
    data = Dataset([[2.0, 1.0, 3.0]], [[1, 0]], ("b", "a", "c"), ("l", "m"))
    rows = match(model, data, "new")
    assert rows.X.tolist() == [[2, 1, 3]]
    assert "3 columns taken in their order" in rows.notes("new")[-1]
    with pytest.raises(DataError, match=r"has 2 columns beside the labels, .* fitted on 3"):
        match(model, Dataset([[2.0, 1.0]], [[1]]), "new")


def test_nominal_columns_have_the_numbers_of_the_fit():
    named = {"feature_names": ("x", "y", "c"), "label_names": ("l", "m")}
    nominal = CamelClassifier().fit(X, Y)
    remember(nominal, Dataset(X, Y, **named, categories={"c": ("blue", "red")}, dropped=("id",)))
    other = Dataset([[1.0, 2, 0]], [[1, 0]], **named, categories={"c": ("red", "blue")})
    problem = "'c' holds 'red', 'blue', at the fit it held 'blue', 'red'"
    with pytest.raises(DataError, match=problem):
        match(nominal, other, "new")
    less = replace(other, categories={"c": ("blue",)}, feature_names=("y", "x", "c"))
    assert match(nominal, less, "new").X.tolist() == [[2, 1, 0]]
    assert match(nominal, pa.table({"c": [1], "x": [2], "id": [7], "y": [3]}), "new").unused == ()


FRAME = {"price": [2.5, None], "code": ["001", "002"], "plan": ["team", "free"]}
FRAME |= {"ticket": ["A", "B"]}
WRITTEN = {**FRAME, "price": ["2,5", "k.A."]}


def test_cells_are_read_by_the_rule_that_the_model_learned(prepared, tmp_path):
    pd.DataFrame(WRITTEN).to_csv(tmp_path / "a.csv", sep=";", index=False)
    pd.DataFrame(WRITTEN).to_csv(tmp_path / "b.csv", index=False)
    pd.DataFrame(WRITTEN).to_json(tmp_path / "c.jsonl", orient="records", lines=True)
    pd.DataFrame(WRITTEN).to_excel(tmp_path / "d.xlsx", index=False)
    pd.DataFrame(FRAME).to_parquet(tmp_path / "e.parquet")
    expected = prepared[:-1].transform(pd.DataFrame(FRAME))
    for name in ("a.csv", "b.csv", "c.jsonl", "d.xlsx", "e.parquet"):
        rows = read_rows(prepared, tmp_path / name)
        np.testing.assert_array_equal(rows.X, expected)
        assert rows.ids == {"ticket": ["A", "B"]}


def test_columns_of_a_table_may_be_missing_or_unknown(prepared):
    table = pa.table({**WRITTEN, "l": ["1", "0"], "colour": ["red", "blue"]})
    rows = match(prepared, table, "new.csv", allow_missing=True)
    assert rows.unused == ("l", "colour")
    assert rows.notes("new.csv")[0] == "new.csv: 2 columns left aside: 'l', 'colour'."
    with pytest.raises(DataError, match=r"new\.csv: the table lacks the column 'plan' of the fit"):
        match(prepared, table.drop_columns(["plan"]), "new.csv")
    match(prepared, table.drop_columns(["plan"]), "new.csv", allow_missing=True)


def test_a_data_set_is_a_table_for_a_model_of_tables():
    model = make_pipeline(TablePreparer(), CamelClassifier()).fit(
        pa.table(dict(zip("xyc", X.T))), Y
    )
    data = Dataset(X, Y, ("c", "y", "x"), ("l", "m"))
    rows = match(model, data, "new", truth=True)
    np.testing.assert_array_equal(rows.X, model[:-1].transform(dict(zip("cyx", X.T))))
    assert (rows.Y.tolist(), rows.unused) == (Y.to_numpy().tolist(), ())


def test_lists_of_labels_are_the_truth_too(prepared):
    prepared[-1].label_columns_ = ["tags"]
    table = pa.table({**WRITTEN, "tags": ["l|other", "m"]})
    rows = match(prepared, table, "new.csv", truth=True)
    assert (rows.Y.tolist(), rows.unknown) == ([[1, 0], [0, 1]], ("other",))
    note = "new.csv: labels that the model does not know, left aside: 'other'."
    assert rows.notes("new.csv")[0] == note
    unknown = pa.table({**WRITTEN, "tags": ["L", "other"]})
    with pytest.raises(DataError, match=r"knows, such as 'l'; correct the names of 'L', 'other'"):
        match(prepared, unknown, "new.csv", truth=True)


@pytest.mark.parametrize("name", ["t.svm", "t.mat"])
def test_files_without_names_are_taken_by_position(tmp_path, name):
    if name == "t.mat":
        savemat(tmp_path / name, {"data": np.eye(3), "target": np.eye(3, 2)})
    else:
        (tmp_path / name).write_text("1 1:1\n2 2:1\n1,2 3:1\n")
    rows = read_rows(BARE, tmp_path / name, truth=True)
    assert (rows.X.shape, rows.Y.shape) == ((3, 3), (3, 2))
    other = CamelClassifier().fit(X, np.eye(20, 3, dtype=int))
    if name == "t.mat":
        with pytest.raises(DataError, match="lacks 'label3', which the model knows"):
            read_rows(other, tmp_path / name, truth=True)


def test_attributes_of_an_arff_file_are_labels_by_their_names(tmp_path):
    head = "".join(f"@attribute {name} numeric\n" for name in ("y", "c", "m", "x", "l"))
    (tmp_path / "t.arff").write_text(f"@relation r\n{head}@data\n2,3,0,1,1\n5,6,1,4,0\n")
    rows = read_rows(BARE, tmp_path / "t.arff", truth=True)
    assert (rows.X.tolist(), rows.Y.tolist()) == ([[1, 2, 3], [4, 5, 6]], [[1, 0], [0, 1]])

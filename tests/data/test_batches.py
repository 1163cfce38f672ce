"""Parquet files in batches: one table of several files, and the fit of all their rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.data import DataError, TablePreparer, batches, read_columns, take_labels
from skcamel.data.batches import fit_batches, opened
from skcamel.data.preparer import notes_on

LABELS = ["sea", "sun"]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 16)


def messy(n=90, seed=0):
    """Dictionary, list and timestamp columns, gaps, and two labels."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue"], n)
    return pa.table(
        {
            "x": pa.array(np.where(rng.random(n) < 0.1, np.nan, x), from_pandas=True),
            "colour": pa.array(colour).dictionary_encode(),
            "tags": pa.array(
                [list(rng.choice(["a", "b", "c"], k % 3, replace=False)) for k in range(n)],
                pa.list_(pa.string()),
            ),
            "when": pa.array(
                np.datetime64("2020-01-01T00:00:00") + rng.integers(0, 10**7, n), pa.timestamp("us")
            ),
            "smoker": rng.random(n) > 0.5,
            "sea": (x + (colour == "red") > 0.3).astype(int),
            "sun": np.where(x + rng.normal(size=n) > 0, "yes", "no"),
        }
    )


def split(folder, table, sizes=(40, 50)):
    start, paths = 0, []
    for k, size in enumerate(sizes):
        paths.append(folder / f"part{k}.parquet")
        pq.write_table(table.slice(start, size), paths[-1], row_group_size=17)
        start += size
    return paths


def whole(files):
    return pa.concat_tables([rows.table for rows in files.batches()])


def test_batches_hold_what_the_whole_files_hold(tmp_path):
    paths = split(tmp_path, messy())
    parts = list(opened(paths).batches())
    sizes = [len(part.table) for part in parts]
    assert [part.first for part in parts] == np.cumsum([0, *sizes[:-1]]).tolist()
    assert 0 < min(sizes) <= max(sizes) <= 16
    whole = pa.concat_tables([read_columns(path) for path in paths])
    assert pa.concat_tables([part.table for part in parts]).to_pylist() == whole.to_pylist()


def test_columns_may_be_in_any_order_and_numbers_of_any_type(tmp_path):
    first = pa.table({"a": [1, 2], "b": ["x", None], "c": pa.nulls(2)})
    pq.write_table(first, tmp_path / "a.parquet")
    pq.write_table(pa.table({"c": [1.5], "b": ["y"], "a": [2.5]}), tmp_path / "b.parquet")
    files = opened([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    expected = {"a": [1.0, 2.0, 2.5], "b": ["x", None, "y"], "c": [None, None, 1.5]}
    assert whole(files).select(["a", "b", "c"]).to_pydict() == expected


KINDS = {
    "words": ({"sea": ["yes", "no", "no"], "sun": ["TRUE", "false", "True"]}, LABELS),
    "lists": ({"tags": [["sea", "sun"], [], ["sun", None, " wind "]]}, ["tags"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_mean_what_they_mean_in_the_whole_file(kind, tmp_path):
    columns, names = KINDS[kind]
    table = pa.table({"x": [1, 2, 3]} | columns)
    found = opened(split(tmp_path, table, (1, 2))).labels(names)
    pq.write_table(table, tmp_path / "whole.parquet")
    _, wanted = take_labels(read_columns(tmp_path / "whole.parquet"), names, "whole.parquet")
    assert found.names == wanted.names
    np.testing.assert_array_equal(found.Y, wanted.Y)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([1, 0, 1, None], "a.parquet, b.parquet: label 'sea' is unknown in row 4; sums over rows"),
        ([1, 0, 1, 2], "'2' in column 'sea', row 4; labels are 0 and 1"),
    ],
)
def test_unknown_and_wrong_labels_are_refused_by_row(columns, message, tmp_path):
    table = pa.table({"x": [1, 2, 3, 4], "sea": columns})
    pq.write_table(table.slice(0, 2), tmp_path / "a.parquet")
    pq.write_table(table.slice(2), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=message):
        opened([tmp_path / "a.parquet", tmp_path / "b.parquet"]).labels("sea")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"x": [1], "z": [2]}, "b.parquet: differs from a.parquet by the columns 'y', 'z'; files"),
        ({"x": [1], "y": ["word"]}, "b.parquet: holds a column of another type than a.parquet"),
    ],
)
def test_files_of_different_columns_are_refused_by_name(other, message, tmp_path):
    pq.write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table(other), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=message):
        opened([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_files_without_rows_and_files_of_other_formats_are_refused(tmp_path):
    pq.write_table(pa.table({"x": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a.parquet: holds no row"):
        opened([tmp_path / "a.parquet"])
    with pytest.raises(DataError, match=r"a.csv: is read as a whole only; save it as .parquet"):
        opened([tmp_path / "a.csv"])


def test_the_sample_depends_on_the_seed_alone(tmp_path, monkeypatch):
    files = opened(split(tmp_path, messy()))
    table, rows = files.sample(20, seed=3)
    monkeypatch.setattr(batches, "BATCH_ROWS", 90)
    again, same_rows = files.sample(20, seed=3)
    assert table.to_pylist() == again.to_pylist() == whole(files).take(rows).to_pylist()
    np.testing.assert_array_equal(rows, same_rows)
    assert not np.array_equal(rows, files.sample(20, seed=4)[1])
    assert len(files.sample(1000)[0]) == 90


@pytest.mark.parametrize("text", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("make", [CamelClassifier, CamelClassifierCV])
def test_a_fit_in_batches_is_the_fit_in_memory(make, text, tmp_path):
    table = messy()
    if text:
        words = np.random.default_rng(1).choice(["wind", "wave", "sand", "rain", "hill"], (90, 7))
        table = table.append_column("note", pa.array([" ".join(row) for row in words]))
    files = opened(split(tmp_path, table))
    labels = files.labels(LABELS)
    preparer = TablePreparer(text=["note"] * text)
    preparer.fit(files.sample()[0].drop_columns(LABELS), labels.Y)
    options = {"solver": "landmark", "n_landmarks": 30}
    new = preparer.transform(take_labels(table, LABELS, "whole")[0])
    here, there = make(**options).fit(new, labels.Y), make(**options)
    fit_batches(there, files, labels, preparer)
    np.testing.assert_allclose(there.decision_function(new), here.decision_function(new), atol=1e-9)
    np.testing.assert_allclose(there.thresholds_, here.thresholds_, atol=1e-9)
    assert there.label_names_.tolist() == LABELS


def test_values_that_the_sample_did_not_hold_are_taken_as_at_prediction_and_counted(tmp_path):
    cells = {"size": [1.0, 2.5, 4.0, 3.0] * 10, "kind": ["x", "y", "z", "y"] * 10}
    table = pa.table(cells | {"sea": [0, 1] * 20})
    odd = pa.table({"size": [None], "kind": ["w"], "sea": [1]}, schema=table.schema)
    files = opened(split(tmp_path, pa.concat_tables([table, odd]), (20, 21)))
    preparer = TablePreparer().fit(table.drop_columns(["sea"]))
    model = CamelClassifier(solver="landmark")
    total = fit_batches(model, files, files.labels("sea"), preparer)
    assert total["unseen", "kind"] == 1
    assert "1 row with a value of 'kind' that the sample did not see" in notes_on(total, "sample")


def test_damage_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(messy(3000), path, row_group_size=1000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 200] = b"\xff" * 200
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a.parquet: is damaged"):
        list(opened([path]).batches())

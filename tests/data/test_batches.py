"""Files in batches: the columns of each whole file, whatever the batches, and one table of several files."""

import gzip
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skcamel import CamelClassifier, CamelClassifierCV, memory
from skcamel.data import DataError, TablePreparer, batches, read_columns, take_labels
from skcamel.data.batches import opened
from skcamel.table_files import BATCH_ROWS, LEAST_ROWS, TableFiles, first_pass, rows_within

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install skcamel[tables]")
pq = pytest.importorskip("pyarrow.parquet")


DIALECTS = {
    "types.csv": "n;d;code;day;yes;gap;\n1,5;3;007;2001-02-03;true;;\nNA;4;8;;false;NA;\n2;;9;2001-01-01 10:00:00;true;?;\n",
    "late.csv": "a,b,c,d\n" + "1,2,2001-02-03,5\n" * 9 + "1.5,x,2001-02-03 10:00,NA\n-,07,,6\n",
    "mixed.csv": "a,b\n1,true\ntrue,2001-02-03\n",
    "latin.csv": "größe,wörter\n1,süß\n2,\x84\n",
    "quoted.csv": 'a,b\n1,"x, ""y"""\n2,"two\nlines"\n3,5" pipe\n4,6" pipe\n',
    "single.csv": "only\na\nb\n1,5\n2,5\n",
    "blank.tsv.gz": "a\tb\n\n1\tx\n\n2\t\n",
    "sep.csv": "sep=|\na|b\n1|2\n",
}


def write(folder, name, text, encoding="utf-8"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode(encoding)) if name.endswith(".gz") else text.encode(encoding))
    return path


def in_batches(paths, rows=3, **options):
    files = opened(paths if isinstance(paths, list) else [paths], **options)
    parts = [batch for piece in files.pieces for batch in files.batches(piece, rows)]
    for before, after in pairwise(parts):
        assert after.first == (before.first + len(before.table) if after.file == before.file else 0)
    assert all(0 < len(part.table) <= rows for part in parts)
    return pa.concat_tables([part.table for part in parts]).combine_chunks()


def messy(n=90, seed=0):
    """Dictionary, list and timestamp columns, gaps, and two labels."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue"], n)
    return pa.table(
        {
            "x": pa.array(np.where(rng.random(n) < 0.1, np.nan, x), from_pandas=True),
            "colour": pa.array(colour).dictionary_encode(),
            "tags": pa.array([list(rng.choice(["a", "b", "c"], k % 3, replace=False)) for k in range(n)], pa.list_(pa.string())),
            "when": pa.array(np.datetime64("2020-01-01T00:00:00") + rng.integers(0, 10**7, n), pa.timestamp("us")),
            "smoker": rng.random(n) > 0.5,
            "sea": (x + (colour == "red") > 0.3).astype(int),
            "sun": np.where(x + rng.normal(size=n) > 0, "yes", "no"),
        }
    )


@pytest.mark.parametrize("block", [24, 2**22])
@pytest.mark.parametrize("name", DIALECTS)
def test_text_in_batches_has_the_columns_of_the_whole_file(name, block, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "TEXT_BLOCK", block)
    encoding = "latin-1" if name == "latin.csv" else "utf-8"
    path = write(tmp_path, name, DIALECTS[name], encoding)
    assert in_batches(path).equals(read_columns(path).combine_chunks())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_found(encoding, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "TEXT_BLOCK", 16)
    path = write(tmp_path, "a.csv", "é,b\n" + "1,süß\n" * 20, encoding)
    assert in_batches(path).equals(read_columns(path).combine_chunks())


@given(st.lists(st.sampled_from(["1", "2.5", "007", "", "NA", "true", "2001-02-03", "2001-02-03 10:00:00", "x", "10:20"]), min_size=1))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_types_are_those_of_all_cells_together(tmp_path, monkeypatch, cells):
    monkeypatch.setattr(batches, "TEXT_BLOCK", 24)
    path = write(tmp_path, "a.csv", "".join(f"{cell},z\n" for cell in ["a", *cells]))
    assert in_batches(path, 2).equals(read_columns(path).combine_chunks())


def test_parquet_in_batches_has_the_columns_of_the_whole_file(tmp_path):
    pq.write_table(messy(), tmp_path / "a.parquet", row_group_size=7)
    assert in_batches(tmp_path / "a.parquet", 5).equals(read_columns(tmp_path / "a.parquet").combine_chunks())


def test_row_groups_are_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "PIECE_ROWS", 20)
    pq.write_table(messy(), tmp_path / "a.parquet", row_group_size=7)
    files = opened([tmp_path / "a.parquet"])
    assert [(piece.first, piece.groups) for piece in files.pieces[:2]] == [(0, (0, 1, 2)), (21, (3, 4, 5))]
    assert in_batches(tmp_path / "a.parquet", 5).equals(read_columns(tmp_path / "a.parquet").combine_chunks())


def test_several_files_are_one_table_whatever_the_order_of_columns_and_whatever_is_empty(tmp_path):
    table = messy()
    pq.write_table(table.slice(0, 30), tmp_path / "a.parquet")
    pq.write_table(table.slice(30).select(table.column_names[::-1]), tmp_path / "b.parquet", row_group_size=11)
    with pq.ParquetWriter(tmp_path / "c.parquet", table.schema) as writer:
        writer.write_table(table.slice(0, 0))
    pq.write_table(table, tmp_path / "all.parquet")
    found = in_batches([tmp_path / f"{name}.parquet" for name in "acb"], 8)
    assert found.equals(read_columns(tmp_path / "all.parquet").combine_chunks())


def test_a_column_has_the_type_of_all_files(tmp_path):
    write(tmp_path, "a.csv", "x,y,z\n1,2001-02-03,5\n")
    write(tmp_path, "b.csv", "x,y,z\n2.5,2001-02-03 10:00:00,five\n")
    pq.write_table(pa.table({"x": [7], "y": pa.array([0], pa.timestamp("us")), "z": ["6"]}), tmp_path / "c.parquet")
    found = in_batches([tmp_path / name for name in ("a.csv", "b.csv", "c.parquet")])
    assert [str(kind) for kind in found.schema.types] == ["double", "timestamp[us]", "string"]
    assert found["z"].to_pylist() == ["5", "five", "6"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": "x,y\n1,2\n", "b.csv": "x\n1\n"}, "b.csv: lacks the column 'y' of a.csv; files of one table have the same columns"),
        ({"a.csv": "x\n1\n", "b.csv": "x,y\n1,2\n"}, "a.csv: lacks the column 'y' of b.csv"),
        ({"a.csv": "x,y\n1,2\n", "b.csv": "x,y\n1,2\n1,2,3\n"}, "b.csv: row 2: 3 cells, the first line has 2; is a cell"),
        ({"a.csv": 'x,y\n1,2\n3,"4\n'}, "a.csv: a quote is left open"),
        ({"a.csv": "x,y\n", "b.csv": "y,x\n"}, "a.csv: neither it nor the others hold a row"),
        ({"a.csv": "x,y\n"}, "a.csv: holds no row"),
        ({"a.csv": "x,y\n1,\0\n"}, "a.csv: holds zero bytes"),
        ({"a.csv": "x,y\n1,2\n", "b.parquet": "PAR1"}, "b.parquet: is damaged or no Parquet file"),
        ({"a.csv": "x\n1\n", "b.jsonl": "{}"}, "b.jsonl: is read as a whole only; save it as .csv"),
    ],
)
def test_files_that_are_no_table_together_are_refused_by_name(files, message, tmp_path):
    paths = [write(tmp_path, name, text) for name, text in files.items()]
    with pytest.raises(DataError, match=message):
        in_batches(paths)


def test_lists_beside_words_are_refused(tmp_path):
    pq.write_table(pa.table({"t": [["a"]], "x": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"t": ["a"], "x": [1]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet: column 't' holds string here and list.* before; write it alike everywhere"):
        opened([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_rows_longer_than_a_block_take_larger_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "TEXT_BLOCK", 16)
    monkeypatch.setattr(batches, "LARGEST_BLOCK", 1024)
    path = write(tmp_path, "a.csv", "x,y\n1,2\n" + "3," + "w" * 500 + "\n")
    assert in_batches(path).equals(read_columns(path).combine_chunks())
    with pytest.raises(DataError, match="a row is longer than"):
        opened([write(tmp_path, "b.csv", "x,y\n1,2\n" + "3," + "w" * 9000 + "\n")])


LABELS = {
    "words": ({"sea": ["yes", "no", "yes"], "sun": ["1", "0", "0"]}, ["sea", "sun"]),
    "marks": ({"sea": ["x", "", "x"], "sun": ["", "X", ""]}, ["sea", "sun"]),
    "signs": ({"sea": [-1, 1, 1], "sun": [1, -1, -1]}, ["sea", "sun"]),
    "truths": ({"sea": [True, False, False], "sun": [1.0, 0.0, 1.0]}, ["sea", "sun"]),
    "one label": ({"sea": [1, 0, 0]}, ["sea"]),
    "written lists": ({"tags": ["sea|sun", "", "sun| wind"]}, ["tags"]),
    "JSON lists": ({"tags": ['["sea", "sun"]', "[]", '["sun"]']}, ["tags"]),
    "one word": ({"tags": ["sea", "sun", None]}, ["tags"]),
    "lists": ({"tags": [["sea", "sun"], [], ["sun", None, " wind "]]}, ["tags"]),
}


@pytest.mark.parametrize("rows", [1, 10])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_mean_what_they_mean_in_the_whole_file(kind, rows, tmp_path):
    columns, names = LABELS[kind]
    pq.write_table(pa.table({"x": [1, 2, 3]} | columns), tmp_path / "a.parquet")
    found = first_pass(opened([tmp_path / "a.parquet"]), names, rows=rows)
    _, labels = take_labels(read_columns(tmp_path / "a.parquet"), names, "a.parquet")
    assert (found.labels.names, found.n_rows) == (labels.names, 3)
    np.testing.assert_array_equal(found.labels.signs(found.sample), 2 * labels.Y - 1)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sea": [1, 0, 1, None], "sun": [1, 0, 1, 0]}, "b.parquet: label 'sea' is unknown in row 2; sums over rows take complete labels"),
        ({"sea": ["yes", "no", "NA", "no"], "sun": [1, 0, 1, 0]}, "b.parquet: label 'sea' is unknown in row 1"),
        ({"sea": [1, 0, 1, 2], "sun": [1, 0, 1, 0]}, "b.parquet: label 'sea' is 2 in row 2; labels are 0 and 1"),
        ({"sea": ["yes", "no", "no", "maybe"], "sun": [1, 0, 1, 0]}, "b.parquet: 'maybe' in column 'sea', row 2; labels are"),
        ({"sea": ["1", "0", "0", "2"], "sun": [1, 0, 1, 0]}, "b.parquet: label 'sea' is 2 in row 2"),
        ({"sea": [1, 0, 1, -1], "sun": [1, 0, 1, 0]}, "label 'sea' holds -1 and 0"),
        ({"sea": [["a"], [], ["b"], None]}, "b.parquet: label 'sea' is unknown in row 2"),
        ({"sea": ["a|b", "", "b", "?"]}, "b.parquet: label 'sea' is unknown in row 2"),
        ({"sea": pa.array([[], [], [], []], pa.list_(pa.string()))}, "column 'sea' names no label in any row"),
    ],
)
def test_unknown_and_wrong_labels_are_refused_by_file_and_row(columns, message, tmp_path):
    table = pa.table({"x": [1, 2, 3, 4]} | columns)
    pq.write_table(table.slice(0, 2), tmp_path / "a.parquet")
    pq.write_table(table.slice(2), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=message):
        first_pass(opened([tmp_path / "a.parquet", tmp_path / "b.parquet"]), list(columns), rows=1)


def test_the_sample_depends_on_the_seed_alone_not_on_batches(tmp_path):
    pq.write_table(messy(), tmp_path / "a.parquet", row_group_size=13)
    files = opened([tmp_path / "a.parquet"])

    def sampled(rows, seed):
        return first_pass(files, ["sea", "sun"], seed=seed, size=20, rows=rows).sample

    assert len(sampled(7, 0)) == 20
    assert sampled(7, 0).equals(sampled(90, 0))
    assert not sampled(7, 0).equals(sampled(7, 1))


def split(folder, table, sizes=(40, 50)):
    start, paths = 0, []
    for k, size in enumerate(sizes):
        paths.append(folder / f"part{k}.parquet")
        pq.write_table(table.slice(start, size), paths[-1], row_group_size=17)
        start += size
    return paths


@pytest.mark.parametrize("text", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("make", [CamelClassifier, CamelClassifierCV])
def test_a_fit_in_batches_is_the_fit_in_memory(make, text, tmp_path):
    table = messy()
    if text:
        words = np.random.default_rng(1).choice(["wind", "wave", "sand", "rain", "hill"], (90, 7))
        table = table.append_column("note", pa.array([" ".join(row) for row in words]))
    files = opened(split(tmp_path, table))
    found = first_pass(files, ["sea", "sun"], rows=16)
    rest, labels = take_labels(table, ["sea", "sun"], "whole")
    preparer = TablePreparer(text=["note"] * text).fit(found.sample.drop_columns(["sea", "sun"]), labels.Y)
    options = {"solver": "landmark", "n_landmarks": 30}
    here = make(**options).fit(preparer.transform(rest), labels.Y)
    source = TableFiles(files, preparer, found.labels, rows=16)
    there = make(**options).fit(source, None)
    new = preparer.transform(rest)
    np.testing.assert_allclose(there.decision_function(new), here.decision_function(new), atol=1e-9)
    np.testing.assert_allclose(there.thresholds_, here.thresholds_, atol=1e-9)
    assert there.label_names_.tolist() == ["sea", "sun"]


def test_the_order_of_files_does_not_matter(tmp_path):
    table, scores = messy(), []
    paths = split(tmp_path, table)
    for order in (paths, paths[::-1]):
        files = opened(order)
        found = first_pass(files, ["sea", "sun"])
        preparer = TablePreparer().fit(found.sample.drop_columns(["sea", "sun"]))
        model = CamelClassifier(solver="landmark", n_landmarks=30).fit(TableFiles(files, preparer, found.labels), None)
        scores.append(model.decision_function(preparer.transform(table)))
    np.testing.assert_allclose(*scores, atol=1e-9)


def test_values_that_the_sample_did_not_hold_are_taken_as_at_prediction_and_counted(tmp_path):
    sizes = ["1", "2.5", "4", "3"] * 10
    path = write(tmp_path, "a.csv", "size,kind,sea\n" + "".join(f"{size},{'xyz'[k % 3]},{k % 2}\n" for k, size in enumerate(sizes)))
    with path.open("a") as file:
        file.write("big,w,1\n")
    files = opened([path])
    found = first_pass(files, ["sea"])
    known = found.sample.slice(0, 40)
    preparer = TablePreparer(number=["size"]).fit(known.drop_columns(["sea"]))
    source = TableFiles(files, preparer, found.labels, rows=7)
    CamelClassifier(solver="landmark").fit(source, None)
    (differences,) = source.told
    assert (differences.unseen, differences.unreadable) == ({"kind": 1}, {"size": 1})
    assert "1 row with a value of 'kind' that the sample did not see" in differences.notes("sample")
    (*_, last) = source.read(0)
    np.testing.assert_array_equal(last.batch.X, preparer.transform(read_columns(path).slice(35)))


def test_one_and_two_workers_give_the_same_bits_as_each_other_and_the_sums_of_here(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'skcamel[distributed]'")
    monkeypatch.setattr(batches, "PIECE_ROWS", 17)
    table = messy()
    paths = split(tmp_path, table)

    def fitted(*, on_cluster):
        files = opened(paths)
        found = first_pass(files, ["sea", "sun"], rows=9, on_cluster=on_cluster)
        preparer = TablePreparer().fit(found.sample.drop_columns(["sea", "sun"]))
        source = TableFiles(files, preparer, found.labels, rows=9, on_cluster=on_cluster)
        model = CamelClassifier(solver="landmark", n_landmarks=30).fit(source, None)
        return model.decision_function(preparer.transform(table))

    scores = []
    for workers in (1, 2):
        with (
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
            distributed.Client(cluster),
        ):
            scores.append(fitted(on_cluster=True))
    np.testing.assert_array_equal(*scores)
    np.testing.assert_allclose(scores[0], fitted(on_cluster=False), atol=1e-9)


def test_a_file_that_a_worker_cannot_read_is_named(tmp_path):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'skcamel[distributed]'")
    path = write(tmp_path, "a.csv", "x,sea\n1,1\n2,0\n")
    files = opened([path])
    path.unlink()
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster),
        pytest.raises(DataError, match=r"a.csv: a worker of the cluster cannot read it .*under the same path"),
    ):
        first_pass(files, ["sea"], on_cluster=True)


def test_a_file_that_changes_between_passes_is_refused(tmp_path):
    path = write(tmp_path, "a.csv", "x,sea\n1,yes\n2,no\n")
    files = opened([path])
    found = first_pass(files, ["sea"])
    preparer = TablePreparer().fit(found.sample.drop_columns(["sea"]))
    write(tmp_path, "a.csv", "x,sea\n1,yes\n2,nein\n")
    with pytest.raises(DataError, match=r"a.csv: changed while it was read \('nein' is a new label\); fit again"):
        CamelClassifier(solver="landmark").fit(TableFiles(files, preparer, found.labels), None)


def test_label_cells_that_do_not_fit_into_memory_are_refused(tmp_path):
    path = write(tmp_path, "a.csv", "x,note\n" + "".join(f"{k},text {k}\n" for k in range(50)))
    files = opened([path])
    with memory.allowance(10_000), pytest.raises(MemoryError, match=r"different label cells needs.*Are the right columns named as labels"):
        first_pass(files, ["note"], rows=5)


def test_batches_keep_to_an_eighth_of_the_memory(tmp_path):
    files = opened([write(tmp_path, "a.csv", "x,y\n1,2\n")])
    assert rows_within(files, 8 * 8 * 10 * 1000) == 1000  # two columns: twice as read, three times as prepared
    assert rows_within(files, 1) == LEAST_ROWS
    assert rows_within(files, 2**60) == BATCH_ROWS
    assert rows_within(files, 2**60, 10_000) < 2_000
    with memory.allowance(8 * 8 * 10 * 500):
        assert rows_within(files, None) == 500

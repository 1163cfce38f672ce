"""Model files changed with valid checksums are refused, or answer with finite numbers."""

import functools
import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline

from skcamel import CamelClassifier, CamelClassifierCV, ModelFileError, inspect, load, outputs, save
from skcamel.data import TablePreparer
from skcamel.data.pipeline import final, transformers

ROWS, FEATURES, LABELS = 14, 4, 3
WIDEST = 1000
SMALL = {"alphas": (0.0, 0.5), "lambda2s": (0.1, 1.0)}
DEEP = "deep"  # stands for a tree deeper than Python's stack
JUNK = [
    *json.loads(
        "[null, true, -1, 0, 1, 2, 5, 1073741824, 9223372036854775808, 0.5, -0.0, 1e-300, 1e60,"
        ' 1e49, 1e308, -1e308, "", "abc", "rbf", "precomputed", "standard", "unit", "matrix",'
        ' "binary", "\\ud800", [], {}, [[[]]], NaN, Infinity, [1, 2], {"$list": []},'
        ' {"$tuple": [1, 2]}, {"$text": ["a", "b", "c"]}, {"$objects": [null, "a"]},'
        ' {"$dict": {"a": 1}}, {"$array": "a0"}, {"$array": "a3"}, {"$csr": []},'
        ' {"$Kernel": {"name": "linear", "bandwidth": 1.0}}, {"$CamelClassifier": {}},'
        ' {"$Scaling": {"name": "unit", "shift": null}}, {"$Pipeline": [["a", null]]}]'
    ),
    10**400,
    DEEP,
]
NUMBERS = [
    *map(float, ["nan", "inf", "-inf", "1e308", "1e49", "1e-320", "0", "-5", "1", "2", "255"])
]
NUMBERS += [2.0**30, 2.0**31, -(2.0**63)]
DTYPES = [">f8", "<f4", "<f2", "<f8", "<i8", "<i4", "|u1", "|b1", "<c16", "<U3", "|S4", "<u8"]
DTYPES += [">i8", "<M8[s]", "<f4,<i4", "|V8"]


@functools.cache
def base_files():
    """Headers and arrays of sound models of every class, dense and sparse, also of 1-d y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, FEATURES)) * (rng.random((ROWS, FEATURES)) < 0.8)
    Y = (X[:, :LABELS] + 0.3 * rng.normal(size=(ROWS, LABELS)) > 0).astype(int)
    thin, words, many = sparse.csr_array(X), np.array(["no", "yes"])[Y[:, 0]], np.arange(ROWS) % 3
    weights = 1 + np.arange(ROWS) % 4
    known = CamelClassifier().fit(X, Y)
    columns = {"features": tuple("abcd"), "categories": {"a": ("x", "y")}, "dropped": ()}
    known.input_columns_ = columns
    odds, two = {"scores": "log_odds"}, {"scalings": ("none", "standard")}
    inner = Pipeline([("same", None), ("model", CamelClassifier())])
    models = [
        known,
        CamelClassifier(kernel="laplacian", scaling="minmax").fit(thin, Y),
        CamelClassifier(kernel="exponential", scaling="unit", threshold="macro_f1").fit(X, Y),
        CamelClassifier(kernel="linear", scaling="standard").fit(X, words),
        CamelClassifier(kernel="laplacian", scaling="rank").fit(X, Y),
        CamelClassifier(kernel="precomputed").fit(X @ X.T, Y, sample_weight=weights),
        CamelClassifier(solver="alternating", alpha=0.1).fit(thin, many),
        CamelClassifierCV(**SMALL, kernels=("linear", "rbf"), bandwidths=(0.5, 1.0)).fit(X, Y),
        CamelClassifier(**odds, threshold=[0.1] * LABELS, miss_cost={"label1": 5}).fit(X, Y),
        CamelClassifierCV(**SMALL, **two, **odds, combine=True).fit(X, Y),
        CamelClassifierCV(**SMALL, **two, cv=2).fit(thin, words),
        make_pipeline("passthrough", inner).fit(X, Y),
        *(
            make_pipeline(TablePreparer(scaling=scaling), CamelClassifier()).fit(table(), Y)
            for scaling in ("rank", "none")
        ),
    ]
    return [stored(model) for model in models]


def table():
    """A table with a column of each kind."""
    few = np.arange(ROWS)
    return pd.DataFrame(
        {
            "row": few,
            "size": np.where(few % 5, few**2.0, np.nan),
            "price": [f"${k * k},000.50" for k in few],
            "paid": np.where(few % 2, "yes", "no"),
            "town": np.where(few % 3, "Rome", "Oslo"),
            "tags": np.where(few % 2, "red|blue", "red"),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(few * 31, unit="D"),
            "note": [f"a note of word{k} and word{k % 4} again" for k in few],
            "same": 1,
        }
    )


def stored(model):
    """Header, as text, and arrays of the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model")
        with np.load(Path(folder) / "model") as npz:
            arrays = dict(npz)
    return arrays.pop("header").tobytes(), arrays


def attack(seed: int, folder: Path) -> None:
    """Change a file in one to three ways, and load it."""
    rng = np.random.default_rng(seed)
    text, arrays = pick(rng, base_files())
    header, arrays = json.loads(text), dict(arrays)
    for _ in range(pick(rng, (0, 1, 1, 1, 1, 2, 3))):
        pick(rng, (change_tree, change_array))(rng, header, arrays)
    text = json.dumps(header).replace(f'"{DEEP}"', '{"$list": [' * 3000 + "]}" * 3000)
    header = np.frombuffer(text.encode(), dtype=np.uint8)
    members = {name: npy(array) for name, array in {"header": header, **arrays}.items()}
    content = zipped(list(members.items()))
    if rng.random() < 0.25:
        content = pick(rng, (lying_header, lying_size, flipped))(rng, members)
    (folder / "model").write_bytes(content)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = load(folder / "model")
        except ModelFileError:
            return
        assert_sound(model)


def assert_sound(model):
    """All answers on ordinary rows are finite."""
    width = final(model).n_features_in_
    if width > WIDEST:  # a model may ignore any number of features; rows so wide are the caller's
        return
    rows = np.random.default_rng(1).normal(size=(3, width))
    rows[1] = 0
    forms = [rows, rows.astype(np.float32)]
    preparers = [step for step in transformers(model) if isinstance(step, TablePreparer)]
    if preparers:
        preparers[0].set_params(allow_missing=True)  # names may have changed
        forms = [table().head(3)]
    elif not getattr(final(model), "_is_pairwise", bool)():
        forms.append(sparse.csr_array(rows))
    for X in forms:
        for method in ("decision_function", "predict_proba", "predict", "label_sets", "explain"):
            if not hasattr(model, method):
                continue
            answer = getattr(model, method)(X)
            numbers = answer.parts if method == "explain" else answer
            assert len(numbers) == len(rows), method
            if method in ("decision_function", "predict_proba", "explain"):
                assert np.isfinite(numbers).all(), method
        found = outputs(model, X)
        if not isinstance(found.set_thresholds, str):
            sets = found.sets(0.9)
            assert (found.decisions[sets == 1] == 1).all()
            assert (found.decisions[sets == 0] == 0).all()
    repr(model)
    str(inspect(model))


def pick(rng, things):
    """One of them."""
    return things[rng.integers(len(things))]


def change_tree(rng, header, arrays):
    """Another value, name or place for a node of the header, or none."""
    nodes = []

    def walk(node):
        for key, child in list(node.items() if isinstance(node, dict) else enumerate(node)):
            nodes.append((node, key))
            if isinstance(child, dict | list):
                walk(child)

    walk(header)
    parent, key = pick(rng, nodes)
    other, other_key = pick(rng, nodes)
    way = rng.integers(6)
    if way == 0:
        parent.pop(key)
    elif way == 1 and isinstance(parent, dict):
        names = ("alpha", "__class__", "predict", "classes_", "$Kernel", "$Popen", other_key)
        parent[pick(rng, names)] = parent.pop(key)
    elif way == 2:
        parent[key] = json.loads(json.dumps(other[other_key]))
    elif way == 3:
        for _ in range(int(pick(rng, (1, 50)))):
            parent[key] = {"$list": [parent[key]]}
    else:
        parent[key] = json.loads(json.dumps(pick(rng, JUNK)))


def change_array(rng, header, arrays):
    """Another value, shape, kind or content for an array."""
    able = [name for name, own in arrays.items() if own.ndim and own.dtype.kind in "biuf"]
    name = pick(rng, able)
    array = arrays[name].copy()
    way = rng.integers(8)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if way <= 3 and array.size:
            array.flat[rng.integers(array.size)] = np.array(pick(rng, NUMBERS)).astype(array.dtype)
        elif way == 4:
            other = array.astype(np.float64).astype(pick(rng, DTYPES))
            array = other if rng.random() < 0.9 else np.array(array.sum())
        elif way == 5:
            twice = np.repeat(array, 2, axis=0)
            array = pick(rng, (array[:-1], array[:0], twice, array.T, array[None], array[::-1]))
        elif way == 6:
            array = arrays[pick(rng, list(arrays))]
        else:
            array = np.full_like(array, pick(rng, (0, 1, 2)))
    arrays[name] = array


def npy(array):
    """Content of a member."""
    target = io.BytesIO()
    np.lib.format.write_array(target, np.asarray(array), allow_pickle=False)
    return target.getvalue()


def zipped(members, method=zipfile.ZIP_STORED):
    """An archive with right checksums."""
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w", method) as archive:
        warnings.simplefilter("ignore")  # of repeated names
        for name, content in members:
            archive.writestr(f"{name}.npy", content)
    return target.getvalue()


def lying_header(rng, members):
    """An array that declares another kind, shape or order than it holds."""
    name = pick(rng, list(members))
    content = members[name]
    kinds = (b"<f8", b"<c8"), (b"<f8", b"|O8"), (b"False", b"True "), (b"'descr'", b"'desc\n'")
    old, new = pick(rng, (*kinds, (b"(", b"(9"), (b"(", b"(-")))
    length = int.from_bytes(content[8:10], "little")
    head = content[10 : 10 + length].replace(old, new, 1)
    size = (len(head) % 65536).to_bytes(2, "little")
    lying = content[:8] + size + head + content[10 + length :]
    return zipped(list((members | {name: lying}).items()))


def lying_size(rng, members):
    """Sizes, lengths and places in the records of the zip that are not true."""
    content = bytearray(zipped(list(members.items())))
    local = [(b"PK\3\4", offset, width) for offset, width in ((18, 4), (22, 4), (26, 2), (28, 2))]
    mark, offset, width = pick(rng, [*local, (b"PK\1\2", 20, 4)])
    if rng.random() < 0.3:
        mark, offset, width = b"PK\5\6", int(pick(rng, (8, 10, 12, 16))), 2
    places = [k for k in range(len(content)) if content[k : k + 4] == mark]
    place = pick(rng, places) + offset
    size = int(pick(rng, (0, 1, 30, 2**16 - 1, 2**32 - 1)) % 2 ** (8 * width))
    content[place : place + width] = size.to_bytes(width, "little")
    return bytes(content)


def flipped(rng, members):
    content = bytearray(zipped(list(members.items())))
    for _ in range(int(rng.integers(1, 5))):
        content[rng.integers(len(content))] = rng.integers(256)
    return bytes(content)

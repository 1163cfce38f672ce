"""Model files: the same predictions afterwards, and one clear error for everything else."""

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
from functools import cache
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzing import model_files
from skcamel import CamelClassifier, CamelClassifierCV, ModelFileError, inspect, load, save
from skcamel.baselines import LLSF, BinaryRelevance
from tiny_steps import Foreign

X, Y = make_multilabel_classification(60, n_features=5, n_classes=4, n_labels=2, random_state=0)
NEW = X[40:] + 0.1
X, Y = X[:40], Y[:40]
SMALL = {"alphas": (0.0, 0.5), "lambda2s": (0.01, 0.1)}
BOTH = SMALL | {"scalings": ("none", "standard"), "combine": True, "scores": "log_odds"}
NAMES = ["ä", "b\n", '"c', "d"]


INNER = make_pipeline(StandardScaler(), "passthrough")


def fitted(estimator, rows=X, labels=Y, **options):
    return estimator.fit(rows, labels, **options)


MODELS = {
    "plain": lambda: fitted(CamelClassifier()),
    "frames": lambda: fitted(CamelClassifier(), frame(X), pd.DataFrame(Y, columns=NAMES)),
    "sparse": lambda: fitted(
        CamelClassifier(scaling="minmax", kernel="laplacian"), sparse.csr_array(X)
    ),
    "ranks": lambda: fitted(CamelClassifier(scaling="rank", kernel="linear")),
    "thresholds": lambda: fitted(CamelClassifier(threshold="micro_f1", scores="log_odds")),
    "costs": lambda: fitted(CamelClassifier(threshold=[0.1] * 4, miss_cost={"label2": 5})),
    "combined": lambda: fitted(CamelClassifierCV(**BOTH, threshold=np.full(4, 0.1), miss_cost=2.0)),
    "alternating": lambda: fitted(CamelClassifier(0.1, solver="alternating")),
    "weights": lambda: fitted(
        CamelClassifier(kernel="precomputed"), X @ X.T, sample_weight=1 + np.arange(40) % 3
    ),
    "words": lambda: fitted(CamelClassifier(), labels=np.array(["no", "yes"])[Y[:, 0]]),
    "multiclass": lambda: fitted(CamelClassifier(), labels=np.arange(40) % 3),
    "search": lambda: fitted(CamelClassifierCV(**SMALL, kernels=("linear", "rbf"))),
    "folds": lambda: fitted(CamelClassifierCV(**SMALL, cv=3, scoring="coverage"), labels=Y[:, :1]),
    "pipeline": lambda: fitted(
        make_pipeline("passthrough", INNER, make_pipeline(CamelClassifier()))
    ),
}


def frame(rows):
    return pd.DataFrame(rows, columns=list("abcde"))


def rows_for(kind):
    return {"weights": NEW @ X.T, "frames": frame(NEW)}.get(kind, NEW)


@pytest.mark.parametrize("kind", MODELS)
def test_predictions_on_new_rows_are_identical(kind, tmp_path):
    model, new = MODELS[kind](), rows_for(kind)
    save(model, tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]  # the path as given
    again = load(str(tmp_path / "model"))
    assert type(again) is type(model)
    for method in ("decision_function", "predict", "predict_proba"):
        assert hasattr(again, method) == hasattr(model, method)
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(again, method)(new), getattr(model, method)(new))
    if kind == "pipeline":
        return
    assert again.label_sets(new) == model.label_sets(new)
    np.testing.assert_array_equal(again.explain(new).parts, model.explain(new).parts)
    np.testing.assert_equal(again.get_params(), model.get_params())
    assert vars(again).keys() == vars(model).keys()
    assert list(again.label_names_) == list(model.label_names_)
    if hasattr(model, "set_thresholds_"):
        np.testing.assert_array_equal(again.predict_sets(new), model.predict_sets(new))
    if hasattr(model, "cv_results_"):
        np.testing.assert_equal(again.cv_results_, model.cv_results_)
    again.fit(X @ X.T if kind == "weights" else X, Y)  # and it can be fitted again


def test_a_splitter_is_left_out_with_a_warning(tmp_path):
    model = fitted(CamelClassifierCV(**SMALL, cv=KFold(2), callback=lambda progress: None))
    with pytest.warns(UserWarning, match="cv=KFold.* is not stored with the model"):
        save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.cv, again.callback) == ("loo", None)
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_what_cannot_be_written_is_refused_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"before")
    with pytest.raises(TypeError, match=r"save cannot store _kernel=<function .* use skops"):
        save(fitted(CamelClassifier(kernel=lambda A, B: A @ B.T)), path)
    others = [LogisticRegression(), fitted(LLSF()), fitted(BinaryRelevance())]
    for other in (*others, fitted(make_pipeline(StandardScaler(), LLSF()))):
        with pytest.raises(TypeError, match=r"save takes a fitted CamelClassifier or .* use skops"):
            save(other, path)
    with pytest.raises(ValueError, match="not fitted; call fit before save"):
        save(CamelClassifier(), path)
    model = MODELS["plain"]()
    model.dual_coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match="cannot be saved: dual_coef_ must hold numbers"):
        save(model, path)
    model = MODELS["plain"]()
    model.label_names_[0] = "\udc80"
    with pytest.raises(ValueError, match="half characters"):
        save(model, path)
    monkeypatch.setattr(np, "savez", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        save(MODELS["plain"](), path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["model"]


def test_equal_models_give_equal_files(tmp_path):
    costs = {"label2": 5, "label1": 2}
    one = fitted(CamelClassifierCV(**SMALL, miss_cost=costs))
    other = fitted(CamelClassifierCV(**SMALL, miss_cost=dict(reversed(costs.items()))))
    for name, value in reversed(list(vars(other).items())):  # in another order
        delattr(other, name)
        setattr(other, name, dict(reversed(value.items())) if isinstance(value, dict) else value)
    save(one, tmp_path / "one")
    save(other, tmp_path / "other")
    save(load(tmp_path / "one"), tmp_path / "again")
    contents = {(tmp_path / name).read_bytes() for name in ("one", "other", "again")}
    assert len(contents) == 1


class OneWay(io.RawIOBase):
    """A stream that is read or written once, and takes some bytes of what it is given."""

    def __init__(self, content=b""):
        self.content = io.BytesIO(content)

    def readable(self):
        return True

    def writable(self):
        return True

    def readinto(self, buffer):
        return self.content.readinto(buffer)

    def write(self, data):
        return self.content.write(bytes(data)[:1000])


def test_streams_need_not_be_seekable_and_are_left_open_behind_the_model():
    model, stream = MODELS["plain"](), OneWay()
    save(model, stream)
    again = load(OneWay(stream.content.getvalue()))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    stream = io.BytesIO(b"before")
    stream.seek(6)
    save(model, stream)
    end = stream.tell()
    assert end == len(stream.getvalue())
    stream.seek(6)
    load(stream)
    assert (stream.closed, stream.tell()) == (False, end)


def test_errors_name_the_stream_or_what_is_none():
    model, stream = MODELS["plain"](), io.BytesIO()
    save(model, stream)
    with pytest.raises(ModelFileError, match=r"\(BytesIO\) holds nothing from where it stands"):
        load(stream)
    with pytest.raises(ModelFileError, match=r"\(BytesIO\) is not a whole skcamel model file"):
        load(io.BytesIO(b"PK"))
    for use, mode in ((load, "rb"), (lambda file: save(model, file), "wb")):
        with pytest.raises(TypeError, match="a path or a binary file object, got NoneType"):
            use(None)
        with pytest.raises(TypeError, match=rf"is open for text, .* open it with mode '{mode}'"):
            use(io.StringIO())


# ---- damaged, foreign and hostile files


class Trap:
    """Unpickling this would leave a mark."""

    def __reduce__(self):
        return os.mkdir, ("executed",)


def npz(**arrays):
    target = io.BytesIO()
    np.savez(target, **arrays)
    return target.getvalue()


def header_of(text):
    return np.frombuffer(text, dtype=np.uint8)


@pytest.fixture(scope="module")
def stored():
    """The bytes of a model."""
    stream = io.BytesIO()
    save(MODELS["plain"](), stream)
    return stream.getvalue()


FOREIGN = {
    "a pickle": lambda stored: pickle.dumps(Trap()),
    "an array of objects": lambda stored: npz(header=np.array([Trap()], dtype=object)),
    "text": lambda stored: b"a,b\n1,2\n",
    "nothing": lambda stored: b"",
    "a zip of a text": lambda stored: packed({"readme.txt": b"hello"}),
    "an npz of others": lambda stored: npz(header=header_of(b'{"format": "something"}')),
    "a compressed model": lambda stored: packed(unpacked(stored), zipfile.ZIP_DEFLATED),
    "bytes behind it": lambda stored: stored + b"x",
    "bytes before it": lambda stored: b"x" + stored,
    "two models": lambda stored: stored + stored,
    "a byte too few": lambda stored: stored[:-1],
    "no directory": lambda stored: stored[:-22],
    "members in another order": lambda stored: packed(dict(reversed(unpacked(stored).items()))),
    "a member too many": lambda stored: packed(unpacked(stored) | {"notes.npy": b""}),
    **{
        f"the header {text[:9]}": lambda stored, text=text: npz(header=header_of(text))
        for text in (b"[" * 10**5, b'{"format": NaN}', b"1" * 10**5, b"\xff", b"null", b"{}")
    },
}


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, method=zipfile.ZIP_STORED):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_refused_and_never_executed(kind, tmp_path, monkeypatch, stored):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").write_bytes(FOREIGN[kind](stored))
    for read in (load, inspect):
        with pytest.raises(ModelFileError):
            read(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("version", [None, 0, 2, "skcamel-model"])
def test_a_file_of_another_format_says_what_to_do(version, stored, edited):
    path = edited("plain", lambda header, arrays: header.update(format=version))
    hint = "update skcamel" if version == 2 else "fit again with this version"
    with pytest.raises(ModelFileError, match=f"the format {version!r}, .* reads 1; {hint}"):
        load(path)


@cache
def parts_of(name):
    """Header, as text, and arrays of the file of a model."""
    return model_files.stored(MODELS[name]())


@pytest.fixture
def edited(tmp_path):
    """`edited(name, edit)` ► path of the file of that model after ``edit(header, arrays)``."""

    def write(name, edit):
        text, arrays = parts_of(name)
        header, arrays = json.loads(text), dict(arrays)
        edit(header, arrays)
        members = {"header": header_of(json.dumps(header).encode())} | arrays
        contents = [(key, model_files.npy(array)) for key, array in members.items()]
        (tmp_path / "model").write_bytes(model_files.zipped(contents))
        return tmp_path / "model"

    return write


def at(header, path):
    """The node that holds the last key of a path, and this key."""
    *path, last = path.split("/")
    node = next(iter(header["model"].values()))
    for key in path:
        node = node[int(key) if isinstance(node, list) else key]
    return node, int(last) if isinstance(node, list) else last


def setting(path, value):
    """An edit that sets a node of the header."""

    def edit(header, arrays):
        node, key = at(header, path)
        node[key] = value

    return edit


def change(path, function):
    """An edit that replaces an array by a function of it."""

    def edit(header, arrays):
        node, key = at(header, path)
        name = node[key]["$array"] if isinstance(node[key], dict) else node[key]
        arrays[name] = function(arrays[name].copy())

    return edit


def first(value):
    def put(array):
        array.flat[0] = value
        return array

    return put


def calls_the_system(text):
    """A schema that names os.system in place of the scaler."""
    text = text.replace(b"StandardScaler", b"system")
    return text.replace(b"sklearn.preprocessing._data", b"os")


KERNEL, SCALE, RANKS = "_kernel/$Kernel", "_scaling/$Scaling", "_scaling/$Scaling/ranks/$Ranks"
SETS, ESTIMATES = "set_thresholds_/$SetThresholds", "label_estimates_/$dict"
STEP = "1/1/$Pipeline/0/1/$skops"
REFUSED = {
    "sparse": [
        change("X_fit_/$csr/1", first(2**30)),
        change("X_fit_/$csr/1", first(3)),
        change("X_fit_/$csr/0", first(np.nan)),
    ],
    "plain": [
        lambda header, arrays: arrays.pop("a1"),
        lambda header, arrays: arrays.update({f"a{len(arrays)}": np.zeros(3)}),
        lambda header, arrays: header.update(model={"$Popen": {}}),
        change("dual_coef_", first(np.nan)),
        change("dual_coef_", first(1e308)),
        change("dual_coef_", lambda a: a.astype("<U8")),
        change("dual_coef_", lambda a: a.astype(complex)),
        change("intercept_", lambda a: np.array(1.0)),
        change("A_", lambda a: a[:-1]),
        setting(f"{KERNEL}/bandwidth", 0),
        setting(f"{KERNEL}/name", "foo"),
        setting("_kernel", {"$Popen": {"args": "ls"}}),
        setting("thresholds_", {"$text": list("abcd")}),
        change("link_slopes_", first(0.0)),
        change(f"{SETS}/yes", lambda a: a[::-1].copy()),
        change(f"{ESTIMATES}/rows", first(-1.0)),
        change(f"{ESTIMATES}/f1", lambda a: a > 0),
        setting("miss_cost", {"$dict": {"a": {"$dict": {"b": 1}}}}),
        setting("predict", 1),
        setting("label_names_", {"$objects": ["a"]}),
        setting("n_features_in_", True),
        setting("_target", "binary"),
        setting("scores_", "odds"),
        setting("total_weight_", 0),
        setting("n_iter_", 10**1000),
        setting("alpha", 7),
        setting("device", "__import__('os')"),
    ],
    "frames": [setting("feature_names_in_", {"$objects": ["a"]})],
    "ranks": [
        setting(f"{SCALE}/ranks", None),
        change(f"{RANKS}/knots", lambda a: a[::-1].copy()),
        change(f"{RANKS}/knots", first(-1e300)),
        change(f"{RANKS}/levels", lambda a: a + 1),
        change(f"{RANKS}/ends", first(0)),
    ],
    "words": [setting("classes_", {"$text": ["no", "no"]})],
    "pipeline": [
        setting("0", ["a", {"$Popen": {}}]),
        setting("2/1/$Pipeline/0/1", "passthrough"),
        setting("0/1", "drop"),
        setting("0/1", {"$Pipeline": "a"}),
        setting("0/0", "a__b"),
        setting("0/0", "memory"),
        setting("0/1", json.loads('{"$Pipeline": [["a", ' * 100 + "null" + "]]}" * 100)),
        lambda header, arrays: header["model"]["$Pipeline"].clear(),
        lambda header, arrays: header["model"]["$Pipeline"].append(["b", None]),
        setting("2/1/$Pipeline/0/1/$CamelClassifier/n_iter_", -1),
        change(STEP, lambda a: a[:3]),
        change(STEP, lambda a: header_of(packed({}))),
        change(STEP, lambda a: header_of(packed(unpacked(a.tobytes()), zipfile.ZIP_DEFLATED))),
        change(STEP, lambda a: schema(a, lambda text: b"[" * 10**5)),
        change(STEP, lambda a: schema(a, calls_the_system)),
    ],
}


def schema(array, function):
    """The bytes of a step of skops with another text in a sound archive."""
    members = unpacked(array.tobytes())
    return header_of(packed(members | {"schema.json": function(members["schema.json"])}))


@pytest.mark.parametrize("name", REFUSED)
def test_a_model_that_is_not_sound_is_refused(name, edited):
    assert type(load(edited(name, lambda header, arrays: None))) is type(MODELS[name]())
    for k, edit in enumerate(REFUSED[name]):
        try:
            load(edited(name, edit))
        except ModelFileError:
            continue
        pytest.fail(f"edit {k} of {name} was loaded")


def test_a_refusal_names_what_is_wrong(edited):
    for edit, message in (
        (setting("lambda2", -1), "lambda2 must be a number > 0, got -1"),
        (lambda header, arrays: at(header, "lambda2")[0].pop("lambda2"), "lambda2 missing"),
        (setting("correlation", "plain"), "correlation='plain' is not known; choose one of"),
        (setting("_target", "regression"), "do not belong together.*'regression'"),
        (lambda header, arrays: arrays.update(a99=np.zeros(3)), "are not header, a0, a1"),
    ):
        with pytest.raises(ModelFileError, match=message):
            load(edited("plain", edit))


LYING = [b"(999999999999,)", b"(4294967296, 4294967296)", b"(-1,)", b"(1e9,)"]


@pytest.mark.parametrize("shape", LYING)
def test_arrays_that_declare_more_than_they_hold_take_no_memory(shape, tmp_path):
    content = model_files.npy(np.zeros(10))
    head = content[10:128].replace(b"(10,)", shape)
    lying = content[:8] + struct.pack("<H", len(head)) + head + content[128:]
    header = model_files.npy(header_of(b'{"format": 1}'))
    (tmp_path / "model").write_bytes(model_files.zipped([("header", header), ("a0", lying)]))
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21


def test_a_type_that_is_not_trusted_is_never_built(tmp_path, monkeypatch):
    """Neither its constructor nor its state is touched before its name was found in `trusted`."""
    save(fitted(make_pipeline(Foreign(), CamelClassifier())), tmp_path / "model")
    trusted = load(tmp_path / "model", trusted=["tiny_steps.Foreign"])
    assert isinstance(trusted[0], Foreign)
    monkeypatch.setattr(Foreign, "__new__", lambda *_, **__: pytest.fail("was built"))
    with pytest.raises(ModelFileError, match=r"not trusted.*\['tiny_steps.Foreign'\]"):
        load(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"not trusted.*\['tiny_steps.Foreign'\]"):
        load(tmp_path / "model", trusted="tiny_steps.Foreign")

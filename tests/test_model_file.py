"""Model files: the same predictions afterwards, and one clear error for everything else."""

import io
import json
import os
import pickle
import stat
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcamel import CamelClassifier, CamelClassifierCV, ModelFileError, inspect, load, save
from skcamel.baselines import LLSF, BinaryRelevance

X, Y = make_multilabel_classification(60, n_features=5, n_classes=4, n_labels=2, random_state=0)
NEW = X[40:] + 0.1
X, Y = X[:40], Y[:40]
SMALL = {"alphas": (0.0, 0.5), "lambda2s": (0.01, 0.1)}

MODELS = {
    "plain": lambda: CamelClassifier().fit(X, Y),
    "frames": (
        lambda: CamelClassifier(scaling="standard").fit(
            pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y, columns=["ä", "b\n", '"c', "d"])
        )
    ),
    "sparse": (
        lambda: CamelClassifier(scaling="minmax", kernel="laplacian").fit(sparse.csr_array(X), Y)
    ),
    "ranks": lambda: CamelClassifier(scaling="rank", kernel="linear").fit(X, Y),
    "thresholds": lambda: CamelClassifier(threshold="micro_f1", scores="log_odds").fit(X, Y),
    "costs": (
        lambda: CamelClassifier(threshold=[0.1, 0.2, 0.3, 0.4], miss_cost={"label2": 5}).fit(X, Y)
    ),
    "combined": (
        lambda: CamelClassifierCV(
            **SMALL,
            scalings=("none", "standard"),
            combine=True,
            scores="log_odds",
            threshold=np.array([0.1, 0.2, 0.3, 0.4]),
            miss_cost=2.0,
        ).fit(X, Y)
    ),
    "far thresholds": lambda: CamelClassifier(threshold=1e100).fit(X, Y),
    "alternating": lambda: CamelClassifier(0.1, solver="alternating").fit(X, Y),
    "centred": lambda: CamelClassifier(correlation="centred").fit(X, Y),
    "weights": (
        lambda: CamelClassifier(kernel="precomputed").fit(
            X @ X.T, Y, sample_weight=1 + np.arange(40) % 3
        )
    ),
    "strings": lambda: CamelClassifier().fit(X, np.array(["no", "yes"])[Y[:, 0]]),
    "multiclass": lambda: CamelClassifier().fit(X, np.arange(40) % 3),
    "search": (
        lambda: CamelClassifierCV(**SMALL, kernels=("linear", "rbf"), bandwidths=(0.5, 1.0)).fit(
            X, Y
        )
    ),
    "folds": (
        lambda: CamelClassifierCV(**SMALL, cv=3, random_state=1, scoring="coverage").fit(
            X, Y[:, :1]
        )
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_predictions_on_new_rows_are_identical(kind, tmp_path):
    model = MODELS[kind]()
    save(model, tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]  # the path as given
    again = load(str(tmp_path / "model"))
    new = (
        NEW @ X.T
        if kind == "weights"
        else pd.DataFrame(NEW, columns=list("abcde"))
        if kind == "frames"
        else NEW
    )
    assert again.label_sets(new) == model.label_sets(new)
    for method in ("decision_function", "predict", "predict_proba"):
        assert hasattr(again, method) == hasattr(model, method)
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(again, method)(new), getattr(model, method)(new))
    np.testing.assert_array_equal(again.explain(new).parts, model.explain(new).parts)
    np.testing.assert_equal(again.get_params(), model.get_params())
    if hasattr(model, "set_thresholds_"):
        np.testing.assert_array_equal(again.predict_sets(new), model.predict_sets(new))
    if hasattr(model, "label_estimates_"):
        np.testing.assert_equal(again.label_estimates_, model.label_estimates_)
    assert vars(again).keys() == vars(model).keys()
    assert list(again.label_names_) == list(model.label_names_)
    if hasattr(model, "cv_results_"):
        assert again.best_params_ == model.best_params_
        np.testing.assert_array_equal(
            again.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"]
        )
    again.set_params(device=None).fit(
        X @ X.T if kind == "weights" else X, Y
    )  # and it can be fitted again


def test_a_splitter_is_left_out_with_a_warning(tmp_path):
    model = CamelClassifierCV(**SMALL, cv=KFold(2), callback=lambda progress: None).fit(X, Y)
    with pytest.warns(
        UserWarning,
        match="cv=KFold.* is not stored with the model; its predictions do not depend on it",
    ):
        save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.cv, again.callback) == ("loo", None)
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_what_cannot_be_written_without_pickle_is_refused_and_names_skops(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(
        TypeError,
        match=(
            r"save cannot store _kernel=<function .*For models with functions .* use skops.io.dump"
        ),
    ):
        save(CamelClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y), path)
    for other in (
        LogisticRegression(),
        LLSF().fit(X, Y),
        BinaryRelevance().fit(X, Y),
        make_pipeline(StandardScaler(), LLSF()).fit(X, Y),
    ):
        with pytest.raises(
            TypeError,
            match=(
                r"save takes a fitted CamelClassifier or CamelClassifierCV, .*, got \w+; for others"
                r" use skops"
            ),
        ):
            save(other, path)
    with pytest.raises(ValueError, match="not fitted; call fit before save"):
        save(CamelClassifier(), path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(MODELS["plain"](), path)
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        save(MODELS["thresholds"](), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_a_new_file_has_the_usual_rights_an_old_one_keeps_its_own_and_a_link_stays_a_link(tmp_path):
    save(MODELS["plain"](), tmp_path / "model")
    (tmp_path / "other").touch()
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "other").stat().st_mode
    )
    (tmp_path / "v1").touch(mode=0o600)
    (tmp_path / "current").symlink_to(tmp_path / "v1")
    save(MODELS["plain"](), tmp_path / "current")
    assert (tmp_path / "current").is_symlink()
    assert stat.S_IMODE((tmp_path / "v1").stat().st_mode) == 0o600
    assert load(tmp_path / "v1").n_features_in_ == 5


def test_a_missing_folder_or_file_is_just_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no such folder.*nowhere'"):
        save(MODELS["plain"](), tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    save(CamelClassifier().fit(X[:6, :2], Y[:6, :2]), path)
    return path.read_bytes()


@settings(max_examples=150)
@given(data=st.data())
def test_a_damaged_file_loads_whole_or_not_at_all(data, stored, tmp_path_factory):
    """Any cut and any flipped bytes: ModelFileError, or a model that predicts as the original."""
    path = tmp_path_factory.getbasetemp() / "damaged"
    damaged = bytearray(stored)
    for position, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(stored) - 1), st.integers(0, 255)), max_size=4)
    ):
        damaged[position] = value
    path.write_bytes(
        damaged[: data.draw(st.one_of(st.just(len(stored)), st.integers(0, len(stored) - 1)))]
    )
    try:
        model = load(path)
    except ModelFileError:
        with pytest.raises(ModelFileError):
            inspect(path)
        return
    assert "training rows" in str(inspect(path))
    path.write_bytes(stored)
    np.testing.assert_array_equal(
        model.decision_function(NEW[:, :2]), load(path).decision_function(NEW[:, :2])
    )


class Trap:
    """Unpickling this would leave a mark."""

    def __reduce__(self):
        return os.mkdir, ("executed",)


@pytest.mark.parametrize(
    "kind", ["pickle", "object array", "text", "empty", "other zip", "other npz", "compressed"]
)
def test_a_foreign_file_is_refused_and_never_executed(kind, tmp_path, monkeypatch, stored):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model"
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Trap()))
    elif kind == "object array":
        with path.open("wb") as file:
            np.savez(file, header=np.array([Trap()], dtype=object))
    elif kind == "text":
        path.write_text("a,b\n1,2\n")
    elif kind == "empty":
        path.touch()
    elif kind == "other zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme.txt", "hello")
    elif kind == "other npz":
        with path.open("wb") as file:
            np.savez(file, header=np.frombuffer(b'{"format": "something"}', dtype=np.uint8))
    elif kind == "compressed":
        with np.load(io.BytesIO(stored)) as arrays, path.open("wb") as file:
            np.savez_compressed(file, **arrays)
    with pytest.raises(ModelFileError):
        load(path)
    assert not (tmp_path / "executed").exists()


def state(header):
    return header["model"]["$CamelClassifier"]


def edited(stored, edit):
    """The stored model with an edited header."""
    with np.load(io.BytesIO(stored)) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    edit(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    target = io.BytesIO()
    np.savez(target, **arrays)
    return target.getvalue()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda h, a: h.update(format=2),
            "model has the format 2, this skcamel reads 1; update skcamel",
        ),
        (
            lambda h, a: h.pop("format"),
            "has the format None, this skcamel reads 1; fit again with this version",
        ),
        (
            lambda h, a: h.update(format=0),
            "has the format 0, this skcamel reads 1; fit again with this version",
        ),
        (
            lambda h, a: h.update(format="skcamel-model", version=2),
            "has the format 'skcamel-model', this skcamel reads 1; fit again",
        ),
        (
            lambda h, a: h.update(model={"$Popen": {}}),
            "names 'Popen', which is no class of a model",
        ),
        (lambda h, a: state(h).pop("bandwidth_"), "bandwidth_ missing"),
        (lambda h, a: state(h).pop("_kernel"), "_kernel missing"),
        (
            lambda h, a: state(h)["_kernel"]["$Kernel"].update(name="foo"),
            "_kernel name must be one of rbf.*, got 'foo'",
        ),
        (
            lambda h, a: state(h).update(_target="regression"),
            "do not belong together: 2 and 2 for the target 'regression'",
        ),
        (
            lambda h, a: state(h).update(n_iter_={"$tuple": []}),
            "n_iter_ must be a whole number of ordinary size, got a tuple",
        ),
        (
            lambda h, a: state(h).update(_kernel={"$Popen": {"args": "ls"}}),
            "not a whole skcamel model file",
        ),
        (lambda h, a: state(h).update(nonsense=1), "not a whole skcamel model file"),
        (lambda h, a: state(h).update(lambda2=-1), "lambda2 must be a number > 0, got -1"),
        (lambda h, a: state(h).pop("lambda2"), "lambda2 missing"),
        (
            lambda h, a: state(h).update(correlation="plain"),
            "correlation='plain' is not known; choose one of 'paper', 'centred'",
        ),
        (
            lambda h, a: state(h).update(total_weight_=0),
            "total_weight_ must be at least 1e-50, got 0",
        ),
        (lambda h, a: a.pop("a1"), "are not header, a0, a1"),
        (
            lambda h, a: a.update({f"a{len(a) - 1}": np.zeros(3)}),
            "1 of its arrays belong to nothing",
        ),
    ],
)
def test_an_edited_file_is_refused(edit, message, stored, tmp_path):
    (tmp_path / "model").write_bytes(edited(stored, edit))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model")


@pytest.mark.parametrize("read", [load, inspect])
@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_before_the_first_release_says_what_to_do(version, read, tmp_path):
    """Its header stood at the end in the very first form."""
    header = {
        "format": "skcamel-model",
        "version": version,
        "written_by": "skcamel 0.1.0",
        "class": "CamelClassifier",
    }
    arrays = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "a0": np.zeros(3),
    }
    with (tmp_path / "model").open("wb") as file:
        np.savez(file, **(arrays if version == 2 else dict(reversed(arrays.items()))))
    with pytest.raises(
        ModelFileError,
        match=(
            r"model has the format 'skcamel-model', this skcamel reads 1; fit again with this"
            r" version\."
        ),
    ):
        read(tmp_path / "model")


def test_equal_models_give_equal_files(tmp_path):
    costs = {"label2": 5, "label1": 2}
    one, other = (
        CamelClassifierCV(**SMALL, miss_cost=dict(items)).fit(X, Y)
        for items in (costs.items(), reversed(costs.items()))
    )
    for name, value in reversed(
        list(vars(other).items())
    ):  # another order of attributes, and of what they hold
        delattr(other, name)
        setattr(other, name, dict(reversed(value.items())) if isinstance(value, dict) else value)
    save(one, tmp_path / "one")
    os.utime(tmp_path / "one", (0, 0))
    save(other, tmp_path / "other")
    save(load(tmp_path / "one"), tmp_path / "again")
    assert (
        (tmp_path / "one").read_bytes()
        == (tmp_path / "other").read_bytes()
        == (tmp_path / "again").read_bytes()
    )


class OneWay(io.RawIOBase):
    """A stream that is read or written once, from front to back, and takes some bytes of what it is given."""

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


def test_a_stream_need_not_be_seekable_and_may_take_few_bytes_at_a_time():
    model, stream = MODELS["plain"](), OneWay()
    save(model, stream)
    np.testing.assert_array_equal(
        load(OneWay(stream.content.getvalue())).predict(NEW), model.predict(NEW)
    )


def test_a_stream_is_left_open_behind_the_model():
    stream = io.BytesIO(b"before")
    stream.seek(6)
    save(MODELS["plain"](), stream)
    end = stream.tell()
    assert end == len(stream.getvalue())
    stream.seek(6)
    load(stream)
    assert (stream.closed, stream.tell()) == (False, end)


def test_errors_name_the_stream_or_what_is_none(tmp_path):
    model, stream = MODELS["plain"](), io.BytesIO()
    save(model, stream)
    with pytest.raises(
        ModelFileError,
        match=(
            r"The stream \(BytesIO\) holds nothing from where it stands to its end; go back .*"
            r" seek\(0\)"
        ),
    ):
        load(stream)
    with pytest.raises(
        ModelFileError, match=r"The stream \(BytesIO\) is not a whole skcamel model file"
    ):
        load(io.BytesIO(b"PK"))
    stream.close()
    for use, mode in ((load, "rb"), (lambda file: save(model, file), "wb")):
        with pytest.raises(
            ValueError, match=r"The stream \(BytesIO\) is closed, or open for the other direction"
        ):
            use(stream)
        with pytest.raises(
            TypeError, match="A model file is a path or a binary file object, got NoneType"
        ):
            use(None)
        with pytest.raises(
            TypeError,
            match=(
                r"The stream \(StringIO\) is open for text, a model is bytes; open it with mode"
                rf" '{mode}'"
            ),
        ):
            use(io.StringIO())
    with (
        (tmp_path / "model").open("wb") as file,
        pytest.raises(ValueError, match=r"model is closed, or open for the other direction.*'rb'"),
    ):
        load(file)

"""Hostile model files: refused, or sound; never more memory than the file has bytes for, never another exception."""

import io
import json
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzing import model_files
from skcamel import CamelClassifier, ModelFileError, load, save
from skcamel.model_file.archive import FORMAT
from tiny_steps import Foreign

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4))
Y = (X[:, :3] + 0.3 * RNG.normal(size=(20, 3)) > 0).astype(int)
MODELS = {
    "camel": CamelClassifier(scaling="standard").fit(X, Y),
    "ranks": CamelClassifier(scaling="rank").fit(X, Y),
    "sparse": CamelClassifier(kernel="laplacian").fit(sparse.csr_array(X * (X > 0)), Y),
    "kernel": (
        CamelClassifier(kernel="precomputed").fit(X @ X.T, Y, sample_weight=1 + np.arange(20) % 3)
    ),
    "words": CamelClassifier().fit(X, np.array(["no", "yes"])[Y[:, 0]]),
    "pipeline": (
        make_pipeline(
            "passthrough",
            make_pipeline(StandardScaler(), "passthrough"),
            make_pipeline(CamelClassifier()),
        ).fit(X, Y)
    ),
}


@pytest.mark.parametrize("first", range(0, 3000, 250))
def test_a_file_changed_at_random_is_refused_or_sound(first, tmp_path):
    for seed in range(first, first + 250):
        try:
            model_files.attack(seed, tmp_path)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.fixture
def edited(tmp_path):
    """`edited(name, edit)` ► path of the file of that model after ``edit(header, arrays)``; ``arrays[...]`` is by reference."""

    def write(name, edit):
        text, arrays = model_files.stored(MODELS[name])
        header = json.loads(text)
        edit(header, arrays)
        members = {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)} | arrays
        (tmp_path / "model").write_bytes(
            model_files.zipped([(key, model_files.npy(array)) for key, array in members.items()])
        )
        return tmp_path / "model"

    return write


def state(header):
    """Parameters and attributes of the one model in the file."""
    return header["model"]["$CamelClassifier"]


def array(header, *path):
    """Name of the array that an attribute refers to."""
    node = state(header)
    for key in path:
        node = node[key]
    return node["$array"]


def replace(*path, by):
    """An edit that replaces an array by a function of it."""

    def edit(header, arrays):
        arrays[array(header, *path)] = by(arrays[array(header, *path)])

    return edit


def setting(*path, to):
    """An edit that sets a node of the state."""

    def edit(header, arrays):
        node = state(header)
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return edit


def first_set_to(value):
    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


def csr_part(k, value):
    def edit(header, arrays):
        name = state(header)["X_fit_"]["$csr"][k]
        arrays[name] = first_set_to(value)(arrays[name])

    return edit


def parameter(**values):
    return lambda header, arrays: state(header).update(values)


SCALE = ("_scaling", "$Scaling")
RANKS = (*SCALE, "ranks", "$Ranks")
REFUSED = {
    "a column index beyond the last": ("sparse", csr_part(1, 2**30)),
    "a negative column index": ("sparse", csr_part(1, -5)),
    "columns out of order": ("sparse", csr_part(1, 3)),
    "rows that do not begin at 0": ("sparse", csr_part(2, 1)),
    "NaN among sparse values": ("sparse", csr_part(0, np.nan)),
    "NaN among coefficients": ("camel", replace("dual_coef_", by=first_set_to(np.nan))),
    "coefficients as text": ("camel", replace("dual_coef_", by=lambda a: a.astype("<U8"))),
    "complex coefficients": ("camel", replace("dual_coef_", by=lambda a: a.astype(complex))),
    "big-endian coefficients": ("camel", replace("dual_coef_", by=lambda a: a.astype(">f8"))),
    "structured coefficients": ("camel", replace("dual_coef_", by=lambda a: a.astype("f8,f8"))),
    "coefficients whose products overflow": (
        "camel",
        replace("dual_coef_", by=first_set_to(1e308)),
    ),
    "an array without dimensions": ("camel", replace("intercept_", by=lambda a: np.array(1.0))),
    "a missing row": ("camel", replace("A_", by=lambda a: a[:-1])),
    "a bandwidth of 0": ("camel", setting("_kernel", "$Kernel", "bandwidth", to=0)),
    "a negative bandwidth": ("camel", setting("_kernel", "$Kernel", "bandwidth", to=-1.0)),
    "an infinite bandwidth": ("camel", setting("_kernel", "$Kernel", "bandwidth", to=float("inf"))),
    "a bandwidth as text": ("camel", setting("_kernel", "$Kernel", "bandwidth", to="abc")),
    "no scale": ("camel", setting(*SCALE, "scale", to=None)),
    "a scale of the wrong length": ("camel", replace(*SCALE, "scale", by=lambda a: a[:-1])),
    "a scale of 0": ("camel", replace(*SCALE, "scale", by=first_set_to(0.0))),
    "a negative scale": ("camel", replace(*SCALE, "scale", by=first_set_to(-1.0))),
    "no ranks": ("ranks", setting(*SCALE, "ranks", to=None)),
    "knots out of order": ("ranks", replace(*RANKS, "knots", by=lambda a: a[::-1].copy())),
    "a knot twice": (
        "ranks",
        replace(*RANKS, "knots", by=lambda a: np.repeat(a[::2], 2)[: len(a)]),
    ),
    "a knot beyond ordinary size": ("ranks", replace(*RANKS, "knots", by=first_set_to(-1e300))),
    "falling levels": ("ranks", replace(*RANKS, "levels", by=first_set_to(1.0))),
    "a level above 1": ("ranks", replace(*RANKS, "levels", by=lambda a: a + 1)),
    "a column without knots": ("ranks", replace(*RANKS, "ends", by=first_set_to(0))),
    "knots of no column": ("ranks", replace(*RANKS, "ends", by=lambda a: a - 1)),
    "ranks of too few columns": ("ranks", replace(*RANKS, "ends", by=lambda a: a[1:].copy())),
    "thresholds as text": ("camel", setting("thresholds_", to={"$text": ["a", "b", "c"]})),
    "a slope of 0": ("camel", replace("link_slopes_", by=first_set_to(0.0))),
    "a slope of a label too few": ("camel", replace("link_slopes_", by=lambda a: a[1:].copy())),
    "slopes without offsets": (
        "camel",
        lambda header, arrays: arrays.pop(state(header).pop("link_offsets_")["$array"]),
    ),
    "sets of too few confidences": (
        "camel",
        replace("set_thresholds_", "$SetThresholds", "yes", by=lambda a: a[1:].copy()),
    ),
    "sets that shrink": (
        "camel",
        replace("set_thresholds_", "$SetThresholds", "yes", by=lambda a: a[::-1].copy()),
    ),
    "estimates that are negative": (
        "camel",
        replace("label_estimates_", "$dict", "rows", by=first_set_to(-1.0)),
    ),
    "estimates of no label": (
        "camel",
        replace("label_estimates_", "$dict", "f1", by=lambda a: a[:0].copy()),
    ),
    "costs that are negative": ("camel", parameter(miss_cost={"$dict": {"a": -1}})),
    "costs within costs": ("camel", parameter(miss_cost={"$dict": {"a": {"$dict": {"b": 1}}}})),
    "an unknown attribute": ("camel", setting("foo", to=1)),
    "a method as attribute": ("camel", setting("predict", to=1)),
    "too few names of labels": ("camel", setting("label_names_", to={"$objects": ["a"]})),
    "names of labels that are numbers": (
        "camel",
        setting("label_names_", to={"$objects": [1, 2, 3]}),
    ),
    "names of features of the wrong length": (
        "camel",
        setting("feature_names_in_", to={"$objects": ["a"]}),
    ),
    "a number of features as text": ("camel", setting("n_features_in_", to="4")),
    "a number of features as truth value": ("camel", setting("n_features_in_", to=True)),
    "another number of features": ("camel", setting("n_features_in_", to=5)),
    "classes of another target": ("camel", setting("_target", to="binary")),
    "classes that repeat": ("words", setting("classes_", to={"$text": ["no", "no"]})),
    "no class of a binary target": ("words", setting("classes_", to={"$text": []})),
    "figures of labels as truth values": (
        "camel",
        replace("label_estimates_", "$dict", "f1", by=lambda a: a > 0),
    ),
    "figures of labels that are no array": (
        "camel",
        setting("label_estimates_", "$dict", "f1", to=[0.5, 0.5, 0.5]),
    ),
    "three classes of a binary target": (
        "words",
        setting("classes_", to={"$text": ["a", "b", "c"]}),
    ),
    "a huge number": ("camel", setting("n_iter_", to=10**1000)),
    "a parameter out of range": ("camel", parameter(alpha=7)),
    "a parameter of the wrong kind": ("camel", parameter(max_iter="a")),
    "a parameter that is a tree": ("camel", parameter(random_state={"$dict": {"a": 1}})),
    "a device that is none": ("camel", parameter(device="__import__('os')")),
}


def steps(change):
    """An edit of the list of steps."""
    return lambda header, arrays: change(header["model"]["$Pipeline"])


def foreign(change):
    """An edit of the bytes that skops wrote."""

    def edit(header, arrays):
        name = header["model"]["$Pipeline"][1][1]["$Pipeline"][0][1]["$skops"]
        arrays[name] = np.frombuffer(change(arrays[name].tobytes()), dtype=np.uint8)

    return edit


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, method=zipfile.ZIP_STORED):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def told(change):
    """An edit of what skops reads, in a sound archive."""
    return foreign(
        lambda content: packed(
            (members := unpacked(content)) | {"schema.json": change(members["schema.json"])}
        )
    )


def pipelines_within(levels):
    node = {"$Pipeline": [["a", "passthrough"]]}
    for _ in range(levels):
        node = {"$Pipeline": [["a", node]]}
    return node


def bare_model(steps):
    return steps[2][1]["$Pipeline"][0][1]


REFUSED |= {
    name: ("pipeline", edit)
    for name, edit in {
        "an unknown class as step": steps(lambda own: own.__setitem__(0, ["a", {"$Popen": {}}])),
        "an unknown class as last step": steps(
            lambda own: own.__setitem__(2, ["a", {"$Popen": {}}])
        ),
        "a model before the last step": steps(
            lambda own: own.__setitem__(0, ["a", bare_model(own)])
        ),
        "a last step that is a transformer": steps(lambda own: own.pop()),
        "a last step of another library": steps(
            lambda own: own.__setitem__(2, ["a", own[1][1]["$Pipeline"][0][1]])
        ),
        "a last step that passes on": steps(
            lambda own: own[2][1]["$Pipeline"].append(["b", "passthrough"])
        ),
        "a last step that is nothing": steps(lambda own: own.append(["b", None])),
        "a step that is text": steps(lambda own: own.__setitem__(0, ["a", "drop"])),
        "a step that is a number": steps(lambda own: own.__setitem__(0, ["a", 1])),
        "a step that is a list": steps(lambda own: own.__setitem__(0, ["a", []])),
        "steps that are text": steps(lambda own: own.__setitem__(0, ["a", {"$Pipeline": "a"}])),
        "no steps": steps(lambda own: own.clear()),
        "a step of three": steps(lambda own: own[0].append(1)),
        "a name twice": steps(lambda own: own[0].__setitem__(0, own[1][0])),
        "a name with two dashes": steps(lambda own: own[0].__setitem__(0, "a__b")),
        "a name of a parameter": steps(lambda own: own[0].__setitem__(0, "memory")),
        "a name that is a number": steps(lambda own: own[0].__setitem__(0, 1)),
        "many nested Pipelines": steps(
            lambda own: own.__setitem__(0, ["a", pipelines_within(100)])
        ),
        "very many nested Pipelines": steps(
            lambda own: own.__setitem__(0, ["a", pipelines_within(300)])
        ),
        "a model that is not sound": steps(
            lambda own: bare_model(own)["$CamelClassifier"].update(n_iter_=-1)
        ),
        "no archive of skops": foreign(lambda content: b"abc"),
        "an empty archive of skops": foreign(lambda content: packed({})),
        "a step cut short": foreign(lambda content: content[:-30]),
        "a compressed step": foreign(
            lambda content: packed(unpacked(content), zipfile.ZIP_DEFLATED)
        ),
        "a step without its arrays": foreign(
            lambda content: packed({"schema.json": unpacked(content)["schema.json"]})
        ),
        "a step that is no JSON": told(lambda text: text[:-5]),
        "a step that is deep JSON": told(lambda text: b"[" * 10**5),
        "a step of an unknown type": told(
            lambda text: text.replace(b"StandardScaler", b"StandardScalpel")
        ),
        "a step that is a function of the system": told(
            lambda text: text.replace(b"StandardScaler", b"system").replace(
                b"sklearn.preprocessing._data", b"os"
            )
        ),
        "a step that transforms nothing": told(
            lambda text: text.replace(b"StandardScaler", b"LogisticRegression").replace(
                b"sklearn.preprocessing._data", b"sklearn.linear_model._logistic"
            )
        ),
    }.items()
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_attacked_is_sound_before(name, edited):
    assert type(load(edited(name, lambda header, arrays: None))) is type(MODELS[name])


@pytest.mark.parametrize("case", REFUSED)
def test_a_model_that_is_not_sound_is_refused(case, edited):
    name, edit = REFUSED[case]
    with pytest.raises(ModelFileError):
        load(edited(name, edit))


def test_a_model_of_a_gpu_loads_where_there_is_none(edited):
    assert load(edited("camel", parameter(device="cuda"))).device == "cuda"


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 10**5,
        b'{"a":' * 10**5,
        b'{"format": NaN}',
        b"1" * 10**5,
        b"\xff",
        b"null",
        b'""',
        b"[]",
        b"{}",
    ],
)
def test_a_header_of_any_json_is_refused(text, tmp_path):
    header = model_files.npy(np.frombuffer(text, dtype=np.uint8))
    (tmp_path / "model").write_bytes(model_files.zipped([("header", header)]))
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


def limited(path):
    """Bytes that loading a file takes at the peak."""
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def nested(names, payload):
    """Members of which each holds all that follow: their sizes add up to far more than their bytes. Content and directory entries."""
    content, entries = payload, []
    for name in reversed(names):
        body = model_files.npy(np.frombuffer(content, dtype=np.uint8))
        entry = zipfile.ZipInfo(f"{name}.npy")
        entry.CRC, entry.file_size, entry.compress_size = zlib.crc32(body), len(body), len(body)
        content = entry.FileHeader() + body
        entry.header_offset = -len(content)  # from the end
        entries.insert(0, entry)
    return content, entries


def test_members_within_members_take_no_memory(tmp_path):
    names = [f"a{k}" for k in range(40)]
    content, entries = nested(names, bytes(10**6))
    header = {"format": FORMAT, "model": {"$CamelClassifier": {}}}
    header["arrays"] = {name: ["|u1", [10**6]] for name in names}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(
            "header.npy",
            model_files.npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)),
        )
        target.seek(archive.start_dir)
        target.write(content)
        archive.start_dir = target.tell()
        for entry in entries:
            entry.header_offset += archive.start_dir
            archive.filelist.append(entry)
    (tmp_path / "model").write_bytes(target.getvalue())
    with np.load(tmp_path / "model") as npz:  # a valid zip to others
        assert len(npz["a0"]) > len(npz["a39"]) == 10**6
    assert limited(tmp_path / "model") < 10**6


@pytest.mark.parametrize(
    "shape",
    [
        b"(999999999999,)",
        b"(4294967296, 4294967296)",
        b"(99999999, 99999999, 99999999)",
        b"(-1,)",
        b"(1e9,)",
    ],
)
def test_arrays_that_declare_more_than_they_hold_take_no_memory(shape, tmp_path):
    content = model_files.npy(np.zeros(10))
    head = content[10:128].replace(b"(10,)", shape)
    header = model_files.npy(np.frombuffer(b'{"format": 1}', dtype=np.uint8))
    lying = content[:8] + struct.pack("<H", len(head)) + head + content[128:]
    (tmp_path / "model").write_bytes(model_files.zipped([("header", header), ("a0", lying)]))
    assert limited(tmp_path / "model") < 2**21


def test_members_in_another_order_or_beside_the_model_are_refused(tmp_path):
    text, arrays = model_files.stored(MODELS["camel"])
    members = [("header", np.frombuffer(text, dtype=np.uint8)), *arrays.items()]
    for changed in (
        members[1:] + members[:1],
        [*members, members[-1]],
        [*members, ("a99", np.zeros(3))],
        [*members, ("notes", np.zeros(3))],
    ):
        (tmp_path / "model").write_bytes(
            model_files.zipped([(name, model_files.npy(array)) for name, array in changed])
        )
        with pytest.raises(ModelFileError, match="in this order"):
            load(tmp_path / "model")


@pytest.mark.parametrize(
    "change",
    [lambda c: c + b"x", lambda c: b"x" + c, lambda c: c + c, lambda c: c[:-1], lambda c: c[:-22]],
)
def test_bytes_before_or_behind_the_archive_are_refused(change, tmp_path):
    save(MODELS["camel"], tmp_path / "model")
    (tmp_path / "model").write_bytes(change((tmp_path / "model").read_bytes()))
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = CamelClassifier().fit(X, Y)
    model.dual_coef_[0, 0] = np.nan
    with pytest.raises(
        ValueError, match="This CamelClassifier cannot be saved: dual_coef_ must hold numbers"
    ):
        save(model, tmp_path / "model")
    model = CamelClassifier().fit(X, Y)
    model.label_names_[0] = "\udc80"
    with pytest.raises(ValueError, match="half characters"):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_type_that_is_not_trusted_is_never_built(edited, monkeypatch):
    """Neither its constructor nor its state is touched before its name was found in `trusted`."""
    MODELS["untrusted"] = make_pipeline(Foreign(), CamelClassifier()).fit(X, Y)
    path = edited("untrusted", lambda header, arrays: None)
    monkeypatch.setattr(Foreign, "__new__", lambda *_, **__: pytest.fail("was built"))
    with pytest.raises(ModelFileError, match=r"not trusted.*\['tiny_steps.Foreign'\]"):
        load(path)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_a_step_changed_at_random_is_refused_or_transforms(first, edited):
    for seed in range(first, first + 100):
        rng = np.random.default_rng(seed)

        def flip(content, rng=rng):
            changed = bytearray(content)
            for _ in range(int(rng.integers(1, 4))):
                changed[rng.integers(len(changed))] = rng.integers(256)
            return bytes(changed)

        try:
            model = load(edited("pipeline", foreign(flip)))
        except ModelFileError:
            continue
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        assert hasattr(model[1], "transform")

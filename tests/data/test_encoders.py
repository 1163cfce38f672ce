"""Text encoders that the user brings: what they give, and how a model file gets them back."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.random_projection import GaussianRandomProjection

import skcamel
from skcamel import CamelClassifier, ModelFileError, load, save
from skcamel.data import TablePreparer
from skcamel.data.preparer import import_encoder

N = 24
TABLE = pd.DataFrame(
    {
        "notes": [f"{('rain, all of', 'sun and sea on')[k % 2]} day {k}" for k in range(N)],
        "remark": [*[f"a fine trip, number {k % 9 + 10}" for k in range(N - 1)], None],
        "size": np.linspace(0, 1, N),
    }
)  # fmt: skip
Y = np.column_stack([np.arange(N) % 2, np.arange(N) % 3 == 0]).astype(int)


def projection(seed=0):
    """Groups of characters; no download."""
    characters = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 3), n_features=2**10)
    return make_pipeline(characters, GaussianRandomProjection(8, random_state=seed))


def learned():
    return make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0))


class Lengths:
    """An encoder as sentence-transformers has it."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def encode(self, texts):
        assert isinstance(texts, list)
        return np.array([[len(text), self.factor * text.count(" ")] for text in texts])


class Other:
    """An encoder that makes what it likes of a number of texts."""

    def __init__(self, made):
        self.made = made

    def encode(self, texts):
        return self.made(len(texts))


def fitted(encoder):
    preparer = TablePreparer(text_encoder=encoder)
    return skcamel.make_pipeline(preparer, CamelClassifier()).fit(TABLE, Y)


@pytest.mark.parametrize(
    "encoder", [projection(), learned(), Lengths()], ids=["hash", "svd", "own"]
)
def test_texts_become_rows_of_length_1_in_place_of_words(encoder):
    preparer = TablePreparer(text=["remark"], text_encoder=encoder).fit(TABLE)
    X = preparer.transform(TABLE)
    for name in ("notes", "remark"):
        own = X[:, preparer.source_columns_ == name]
        lengths = np.linalg.norm(own, axis=1)
        np.testing.assert_allclose(lengths, TABLE[name].notna(), atol=1e-12)
    assert preparer.kinds_ == {"notes": "text", "remark": "text", "size": "number"}
    assert preparer.get_feature_names_out()[0] == "notes (1)"
    read = encoder.encode if isinstance(encoder, Lengths) else encoder.fit(TABLE["notes"]).transform
    expected = np.asarray(read(TABLE["notes"].tolist()))
    expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    found = X[:, preparer.source_columns_ == "notes"]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_encoders_by_column():
    preparer = TablePreparer(text=["remark"], text_encoder={"notes": Lengths()}).fit(TABLE)
    sources = preparer.source_columns_.tolist()
    assert sources.count("notes") == 2
    assert sources.count("remark") > 2
    with pytest.raises(ValueError, match="text names 'note', which is no column"):
        TablePreparer(text_encoder={"note": Lengths()}).fit(TABLE)


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (3, r"text_encoder must be a transformer of texts, an object with .encode\(texts\)"),
        (Other(np.ones), r"gives shape \(3,\) for 3 texts"),
        (Other(lambda n: np.full((n, 2), np.nan)), "NaN"),
    ],
)  # fmt: skip
def test_what_is_no_encoder_is_refused(encoder, message):
    with pytest.raises((TypeError, ValueError), match=message):
        TablePreparer(text_encoder={"notes": encoder}).fit(TABLE)


@pytest.mark.parametrize("make", [projection, Lengths], ids=["unfitted", "own"])
def test_a_model_file_gets_its_encoder_back(make, tmp_path):
    model = fitted(make())
    save(model, tmp_path / "model")
    assert len((tmp_path / "model").read_bytes()) < 50_000
    again = load(tmp_path / "model", text_encoder=make())
    np.testing.assert_array_equal(again.decision_function(TABLE), model.decision_function(TABLE))
    again.fit(TABLE, Y)  # with the encoder, too
    np.testing.assert_array_equal(again.decision_function(TABLE), model.decision_function(TABLE))


def test_an_encoder_that_learned_is_handed_back_as_it_was_fitted(tmp_path):
    model = fitted({"notes": learned()})
    save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="says something else than that; hand back the same"):
        load(tmp_path / "model", text_encoder={"notes": learned()})
    own = {"notes": model[0].columns_[0].encoder}
    again = load(tmp_path / "model", text_encoder=own)
    np.testing.assert_array_equal(again.decision_function(TABLE), model.decision_function(TABLE))


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (None, r"model needs the text encoder .*Lengths of the column 'notes', which no file"),
        (Lengths(2), r"was fitted with the text encoder .*Lengths, and .*Lengths says something"),
        (projection(), "says something else than that"),
        ({"remark": Lengths()}, "needs the text encoder"),
    ],
)  # fmt: skip
def test_a_model_file_refuses_no_encoder_and_another_one(encoder, message, tmp_path):
    save(fitted({"notes": Lengths()}), tmp_path / "model")
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model", text_encoder=encoder)


def test_a_model_without_a_place_for_an_encoder_refuses_it(tmp_path):
    save(fitted(None), tmp_path / "model")
    with pytest.raises(ModelFileError, match="has no column for a text encoder"):
        load(tmp_path / "model", text_encoder=Lengths())


def test_the_user_names_an_encoder_by_module_and_factory(tmp_path, monkeypatch):
    (tmp_path / "my_texts.py").write_text("def encoder():\n    return 'made'\n")
    monkeypatch.chdir(tmp_path)
    assert import_encoder("my_texts:encoder") == "made"
    for name in ("my_texts", "my_texts:other", "no_such_module:encoder"):
        with pytest.raises(ValueError, match=r"makes no text encoder .* write module:factory"):
            import_encoder(name)

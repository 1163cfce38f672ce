"""
A text encoder of one's own
===========================

By default, the words of a text become its features. ``text_encoder`` replaces them by a transformer
of scikit-learn, or any object with ``encode(list of str)``, such as a sentence model. The encoder
here needs no download: character n-grams, hashed and projected to 200 numbers, so that "delivry" is
close to "delivery".
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.random_projection import GaussianRandomProjection

import skcamel
from skcamel import CamelClassifierCV
from skcamel.data import TablePreparer
from skcamel.metrics import average_precision

TOPICS = {
    "delivery": "delivery parcel courier",
    "money": "invoice payment refund",
    "login": "password account locked",
}
FILLER = ["hello", "please", "the", "my", "again", "today", "thanks", "could", "look", "this"]
rng = np.random.default_rng(0)


def misspelt(word: str) -> str:
    """The word without one of its inner letters."""
    place = rng.integers(1, len(word) - 1)
    return word[:place] + word[place + 1 :]


def message(about: np.ndarray) -> str:
    """A message on some topics, with many misspelt words."""
    words = [rng.choice(own.split()) for own in np.array(list(TOPICS.values()))[about == 1]]
    return " ".join(rng.permutation([*map(misspelt, words), *rng.choice(FILLER, 6)]))


Y = (rng.random((300, len(TOPICS))) < 0.4).astype(int)
table = pd.DataFrame({"message": [message(about) for about in Y], "size": rng.normal(size=300)})
labels = pd.DataFrame(Y, columns=list(TOPICS))

# %%
# The encoder is fitted with the table. Its rows are scaled to length 1, like those of TF-IDF.

characters = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 3), n_features=2**14)
encoder = make_pipeline(characters, GaussianRandomProjection(200, random_state=0))

found, models = {}, {}
for name, text_encoder in {"words (TF-IDF)": None, "character n-grams": encoder}.items():
    preparer = TablePreparer(text=["message"], text_encoder=text_encoder)
    classifier = CamelClassifierCV.from_preset("quick", prepared=True)
    model = skcamel.make_pipeline(preparer, classifier).fit(table[:200], labels[:200])
    found[name] = average_precision(Y[200:], model.decision_function(table[200:]))
    models[name] = model
plt.barh(list(found), list(found.values()))
plt.xlabel("average precision on new messages")
plt.tight_layout()
plt.show()

# %%
# A model file does not hold the encoder, so pass it to `load`. Another encoder is refused, because
# its output for three fixed texts differs.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "messages.skcamel"
    skcamel.save(models["character n-grams"], path)
    again = skcamel.load(path, text_encoder=encoder)
    print(skcamel.label_sets(again, table[200:203]))
    try:
        skcamel.load(path)
    except skcamel.ModelFileError as error:
        print(error)

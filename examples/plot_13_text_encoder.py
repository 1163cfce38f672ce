"""
A text encoder of one's own
===========================

A table learns from texts by the words in them. Another encoder takes their place by
``text_encoder``: a transformer of scikit-learn, or any object with ``encode(list of str)``, such as
a sentence model. The one here needs no download: groups of characters, hashed, and projected to 200
numbers. It sees that "delivry" is close to "delivery".
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
FILLER = [
    "hello",
    "please",
    "the",
    "my",
    "since",
    "when",
    "again",
    "today",
    "thanks",
    "could",
    "someone",
    "look",
    "into",
    "this",
]
rng = np.random.default_rng(0)


def misspelt(word: str) -> str:
    """The word without one of its inner letters."""
    place = rng.integers(1, len(word) - 1)
    return word[:place] + word[place + 1 :]


def message(about: np.ndarray) -> str:
    """A message on some topics, with many slips."""
    words = [
        rng.choice(own.split()) for own, flag in zip(TOPICS.values(), about, strict=True) if flag
    ]
    return " ".join(rng.permutation([*map(misspelt, words), *rng.choice(FILLER, 6)]))


Y = (rng.random((300, len(TOPICS))) < 0.4).astype(int)
table = pd.DataFrame({"message": [message(about) for about in Y], "size": rng.normal(size=300)})
labels = pd.DataFrame(Y, columns=list(TOPICS))

# %%
# The encoder is fitted with the table. Its rows are scaled to length 1, as those of TF-IDF are.

characters = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 3), n_features=2**14)
encoder = make_pipeline(characters, GaussianRandomProjection(200, random_state=0))

found, models = {}, {}
for name, text_encoder in {"words (TF-IDF)": None, "groups of characters": encoder}.items():
    model = skcamel.make_pipeline(
        TablePreparer(text=["message"], text_encoder=text_encoder),
        CamelClassifierCV.from_preset("quick", prepared=True),
    ).fit(table[:200], labels[:200])
    found[name] = average_precision(Y[200:], model.decision_function(table[200:]))
    models[name] = model
plt.barh(list(found), list(found.values()))
plt.xlabel("average precision on new messages")
plt.tight_layout()
plt.show()

# %%
# A model file never holds the encoder, and nothing is imported by a name in it: hand the encoder
# back. Another one is refused, because it says something else to three fixed texts.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "messages.skcamel"
    skcamel.save(models["groups of characters"], path)
    again = skcamel.load(path, text_encoder=encoder)
    print(skcamel.label_sets(again, table[200:203]))
    try:
        skcamel.load(path)
    except skcamel.ModelFileError as error:
        print(error)

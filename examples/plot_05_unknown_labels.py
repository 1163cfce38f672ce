"""
Unknown labels
==============

We hide a growing share of the training labels of yeast and fit twice: once with NaN, which means
"nobody knows", and once with 0, which
says "no" where nobody has looked.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skcamel import CamelClassifier
from skcamel.data import load_dataset
from skcamel.metrics import average_precision, macro_f1

yeast = load_dataset("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(
    yeast.X, yeast.Y, train_size=700, random_state=0
)
rng = np.random.default_rng(0)
order = rng.random(Y_train.shape)

# %%
# Labels are hidden at random, each larger share on top of the smaller one. The test labels are
# complete.

shares = (0.0, 0.2, 0.4, 0.6, 0.8)
found = {"unknown as NaN": [], "unknown counted as no": []}
for share in shares:
    gaps = np.where(order < share, np.nan, Y_train)
    for name, Y in (("unknown as NaN", gaps), ("unknown counted as no", np.nan_to_num(gaps))):
        model = CamelClassifier(0.3, scaling="standard", kernel="laplacian").fit(X_train, Y)
        found[name].append(
            (
                average_precision(Y_test, model.decision_function(X_test)),
                macro_f1(Y_test, model.predict(X_test)),
            )
        )

# %%
# With NaN, average precision on this split hardly moves while less than half of the labels is
# hidden, and falls slowly after that. Counting
# unknown labels as "no" teaches the model to say no: macro-F1 falls from the start, and with four
# fifths hidden no score exceeds 0.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, place, title in zip(
    axes, (0, 1), ("average precision", "macro-F1, threshold 0"), strict=True
):
    for (name, values), style in zip(found.items(), ("o-", "s--"), strict=True):
        ax.plot(
            [100 * share for share in shares], [value[place] for value in values], style, label=name
        )
    ax.set(xlabel="hidden labels in %", title=title)
axes[0].legend()
plt.show()

"""
Missing labels
==============

We hide a growing share of the training labels of yeast and fit twice: once with NaN for the missing
labels, and once with 0, as if they were known to be absent.
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
as_nan, as_zero = [], []
for share in shares:
    incomplete = np.where(order < share, np.nan, Y_train)
    for Y, figures in ((incomplete, as_nan), (np.nan_to_num(incomplete), as_zero)):
        model = CamelClassifier(0.3, scaling="standard", kernel="laplacian").fit(X_train, Y)
        precision = average_precision(Y_test, model.decision_function(X_test))
        figures.append((precision, macro_f1(Y_test, model.predict(X_test))))

# %%
# With NaN, average precision on this split hardly changes while less than half of the labels are
# hidden, and falls slowly after that. With 0, macro-F1 falls from the start, and with four fifths
# hidden no score exceeds 0.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for k, title in enumerate(("average precision", "macro-F1, threshold 0")):
    axes[k].plot(100 * np.array(shares), np.array(as_nan)[:, k], "o-", label="missing as NaN")
    axes[k].plot(100 * np.array(shares), np.array(as_zero)[:, k], "s--", label="missing as 0")
    axes[k].set(xlabel="hidden labels in %", title=title)
axes[0].legend()
plt.show()

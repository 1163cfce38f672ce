"""
Yes, no, or open
================

Where a wrong answer is dear, a model may leave a question open. `predict_sets` takes the coverage that you want and says open where a
score does not tell.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skcamel import CamelClassifier
from skcamel.data import load_dataset

yeast = load_dataset("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(yeast.X, yeast.Y, train_size=1_000, random_state=0)
model = CamelClassifier(0.3, scaling="standard", kernel="laplacian").fit(X_train, Y_train)

# %%
# For each wanted coverage we count on genes kept aside: how many of those that have a label were told yes or open, how many of those that
# lack it no or open, and how much stayed open.

wanted = np.array([0.75, 0.8, 0.85, 0.9, 0.95, 0.98])
kept, left_open = [], []
for coverage in wanted:
    answers = model.predict_sets(X_test, coverage=coverage)
    kept.append(((answers != 0)[Y_test == 1].mean(), (answers != 1)[Y_test == 0].mean()))
    left_open.append((answers == -1).mean())
    print(f"wanted {coverage:.0%}: kept for {kept[-1][0]:.1%} of positives, {kept[-1][1]:.1%} of negatives, open {left_open[-1]:.0%}")

# %%
# Measured coverage follows what was wanted, to within a point or two, and its price is seen: yeast is a hard set, and certainty leaves
# much open.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].plot([74, 100], [74, 100], color="grey", linestyle=":", label="wanted")
for place, name, style in ((0, "rows that have the label", "o-"), (1, "rows that lack it", "s--")):
    axes[0].plot(100 * wanted, 100 * np.array(kept)[:, place], style, label=name)
axes[0].set(xlabel="wanted coverage in %", ylabel="measured coverage in %", title="Is the promise kept?")
axes[0].legend()
axes[1].bar([f"{100 * value:.0f}" for value in wanted], 100 * np.array(left_open))
axes[1].set(xlabel="wanted coverage in %", ylabel="open answers in %", title="What it costs")
plt.show()

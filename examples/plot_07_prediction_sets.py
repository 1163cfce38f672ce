"""
Prediction sets
===============

Where errors are costly, a model may leave an answer open. `predict_sets` takes a confidence,
answers yes or no where both kinds of errors stay rare enough, and leaves the rest open.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skcamel import CamelClassifier
from skcamel.data import load_dataset

yeast = load_dataset("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(
    yeast.X, yeast.Y, train_size=1_000, random_state=0
)
model = CamelClassifier(0.3, scaling="standard", kernel="laplacian").fit(X_train, Y_train)

# %%
# For several confidences we count on test genes how many of the yes answers are right, how many of
# the labels that are present are answered no, and how much stays open.

confidences = np.array([0.75, 0.8, 0.85, 0.9, 0.95])
right, missed, left_open = [], [], []
for confidence in confidences:
    answers = model.predict_sets(X_test, confidence=confidence)
    right.append((Y_test[answers == 1] == 1).mean())
    missed.append((answers[Y_test == 1] == 0).mean())
    left_open.append((answers == -1).mean())
    print(
        f"confidence {confidence:.0%}: {right[-1]:.1%} of yes answers right, {missed[-1]:.1%}"
        f" answered no, open {left_open[-1]:.0%}"
    )

# %%
# On new genes both promises hold within a few points. Yeast is a hard set, so a high confidence
# leaves much open.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].plot([74, 97], [74, 97], color="grey", linestyle=":", label="promised")
axes[0].plot(100 * confidences, 100 * np.array(right), "o-", label="yes answers that are right")
not_missed = 100 - 100 * np.array(missed)
axes[0].plot(100 * confidences, not_missed, "s--", label="present labels not answered no")
axes[0].set(xlabel="confidence in %", ylabel="measured in %", title="Do the promises hold?")
axes[0].legend()
axes[1].bar([f"{100 * value:.0f}" for value in confidences], 100 * np.array(left_open))
axes[1].set(xlabel="confidence in %", ylabel="open answers in %", title="What it costs")
plt.show()

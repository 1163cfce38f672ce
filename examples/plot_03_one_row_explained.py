"""
One row explained, by labels and by columns
===========================================

Why did this gene get these classes? Each score is exactly a sum of parts, in two ways.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcamel import CamelClassifier
from skcamel.data import load_dataset
from skcamel.plots import plot_explanation

yeast = load_dataset("yeast")
model = CamelClassifier(
    alpha=0.3, scaling="standard", kernel="laplacian", correlation="centred", threshold="micro_f1"
)
model.fit(yeast.X[:1_000], yeast.labels[:1_000])
why = model.explain(yeast.X[1_000:1_050], features=True)
for push in why.top(3)[0]["Class3"]:  # the strongest parts of one score of the first row
    print(f"{push.source} {push.amount:+.2f}")

# %%
# **By labels**: the score of the average gene, what the label's own prediction adds, and what the
# other labels add. A label is predicted where its score exceeds its threshold.

plot_explanation(why, row=0, label="Class3", by="labels")
plt.show()

# %%
# **By columns**: exact Shapley values. Blue raises the score of the label, orange lowers it.

plot_explanation(why, row=0, label="Class3", by="columns", k=10)
plt.show()

# %%
# The parts add up to the score, up to rounding:

scores = model.decision_function(yeast.X[1_000:1_050])
print(np.abs(why.base + why.parts.sum(axis=1) - scores).max())
print(np.abs(why.feature_base + why.features.sum(axis=1) - scores).max())

# %%
# The mean over all fifty rows shows which columns matter most.

strength = why.importance().max(axis=1)
for column in np.argsort(-strength)[:5]:
    print(f"{why.feature_names[column]} {strength[column]:.2f}")

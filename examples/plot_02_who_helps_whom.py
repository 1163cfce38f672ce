"""
Who helps whom
==============

A model learns from the labels alone how much each label says about each other one. The result is a
matrix S with many exact zeros. Here
it is drawn in two ways.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcamel import CamelClassifier
from skcamel.data import load_dataset
from skcamel.display import plot_collaboration

yeast = load_dataset("yeast")
model = CamelClassifier(
    alpha=0.3, lambda2=0.1, scaling="standard", kernel="laplacian", correlation="centred"
).fit(yeast.X[:1_000], yeast.labels[:1_000])

# %%
# An arrow leads from the label that pushes to the label that is pushed. Blue pushes up: labels that
# occur together more often than their
# frequencies explain. Orange pushes down.

plot_collaboration(model, n_pushes=24)
plt.show()

# %%
# The same as a matrix: column j holds what the other labels add to label j. Classes of yeast come
# in overlapping runs, so neighbours help
# each other.

S = model.label_correlation_
fig, ax = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
image = ax.imshow(S, cmap="RdBu", vmin=-abs(S).max(), vmax=abs(S).max())
ax.set_xticks(range(len(S)), model.label_names_, rotation=90)
ax.set_yticks(range(len(S)), model.label_names_)
ax.set(xlabel="is pushed", ylabel="pushes", title="S, the label correlation")
fig.colorbar(image, label="push per unit of the label's own prediction")
plt.show()

# %%
# A push is learned given all other labels, so it is not the plain correlation. How far do the two
# agree?

plain = np.corrcoef(yeast.Y[:1_000], rowvar=False)
pairs = ~np.eye(len(S), dtype=bool)
agree = (np.sign(S) == np.sign(plain))[pairs & (S != 0)].mean()
print(
    f"{(S[pairs] != 0).mean():.0%} of the pairs have a push; {agree:.0%} of the pushes have the"
    " sign of the plain correlation"
)

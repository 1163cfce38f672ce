"""
Who helps whom
==============

A model learns from the labels alone how much each label says about each other one. The result is a
matrix S with many exact zeros.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcamel import CamelClassifier
from skcamel.data import load_dataset
from skcamel.plots import plot_collaboration

yeast = load_dataset("yeast")
model = CamelClassifier(
    alpha=0.3, lambda2=0.1, scaling="standard", kernel="laplacian", correlation="centred"
).fit(yeast.X[:1_000], yeast.labels[:1_000])

# %%
# The label on the left pushes the label above. Blue pushes up: labels that occur together more
# often than their frequencies explain. Orange pushes down. Classes of yeast come in overlapping
# runs, so neighbours help each other; labels that push each other stand side by side.

plot_collaboration(model)
plt.show()

# %%
# A push is learned given all other labels, so it is not the plain correlation. How far do the two
# agree?

plain = np.corrcoef(yeast.Y[:1_000], rowvar=False)
S = model.label_correlation_
pairs = ~np.eye(len(S), dtype=bool)
agree = (np.sign(S) == np.sign(plain))[pairs & (S != 0)].mean()
print(
    f"{(S[pairs] != 0).mean():.0%} of the pairs have a push; {agree:.0%} of the pushes have the"
    " sign of the plain correlation"
)

"""
Label correlations
==================

CAMEL learns from the labels alone how much each label helps to predict the others. The result is a
sparse matrix S.
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
# A blue cell means that the label on the left raises the score of the label above: the two occur
# together more often than their frequencies explain. Orange lowers it. Labels with strong
# coefficients are placed side by side.

plot_collaboration(model)
plt.show()

# %%
# A coefficient is learned given all other labels, so its sign may differ from that of the plain
# correlation.

plain = np.corrcoef(yeast.Y[:1_000], rowvar=False)
S = model.label_correlation_
pairs = ~np.eye(len(S), dtype=bool)
agree = (np.sign(S) == np.sign(plain))[pairs & (S != 0)].mean()
print(
    f"{(S[pairs] != 0).mean():.0%} of the coefficients are not 0; {agree:.0%} of these have the"
    " sign of the plain correlation"
)

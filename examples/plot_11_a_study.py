"""
A study and its critical-difference diagram
===========================================

Which of several methods is best? One data set is not enough to say. A study runs each method on
each fold of each set; Friedman's test says whether ranks differ beyond chance, and the diagram
shows which do. The sets here are made up and small, so that the study takes seconds: the figures
say nothing about the methods on your data.
"""

import tempfile

import matplotlib.pyplot as plt
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import KNeighborsClassifier

from skcamel.data import Dataset
from skcamel.experiment import compare_methods, run_study, summarise
from skcamel.plots import plot_critical_difference

sets = []
for seed in range(5):
    X, Y = make_multilabel_classification(100, n_features=12, random_state=seed)
    sets.append(Dataset(X, Y, name=f"made {seed}"))

# %%
# Methods are names, or scikit-learn classifiers of your own. `run_study` writes one record for each
# unit; run it again on the same folder and it computes only what is missing.

methods = [
    "camel",
    "br",
    ("trees", ExtraTreesClassifier(30, random_state=0)),
    ("neighbours", KNeighborsClassifier()),
]
with tempfile.TemporaryDirectory() as folder:
    records = list(run_study(sets, methods, preset="quick", out=folder))
print(f"{len(records)} units: {len(sets)} sets, {len(methods)} methods, 3 folds")

# %%
# The diagram shows the ranks of the methods, averaged over the sets. Methods joined by a bar do not
# differ significantly at the level of 5 %.

summary = summarise(records)
plot_critical_difference(summary.figures, "average_precision")
plt.show()

# %%
# The same in numbers:

found = compare_methods(summary.figures, "average_precision")
print(f"Friedman's test, p = {found.friedman.f_p:.4f}")
print({method: round(rank, 2) for method, rank in found.ranks.items()})

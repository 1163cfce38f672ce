"""
Cuts
====

A score becomes a decision by a cut. Rare labels seldom score above 0, so the cut at 0 hardly ever predicts them. Cuts tuned on
leave-one-out scores cost no second fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skcamel import CamelClassifier
from skcamel.data import load_dataset
from skcamel.metrics import hamming_loss, macro_f1, micro_f1

yeast = load_dataset("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(yeast.X, yeast.labels, train_size=1_000, random_state=0)
rules = {"zero": "0", "common": "one for all", "label": "one each"}
models = {rule: CamelClassifier(0.3, scaling="standard", kernel="laplacian", threshold=rule).fit(X_train, Y_train) for rule in rules}

# %%
# Scores are the same in all three; decisions differ. Cuts for each label raise macro-F1 most and cost some Hamming loss: no cut is best
# for everything.

for rule, model in models.items():
    P = model.predict(X_test)
    figures = {"macro-F1": macro_f1(Y_test, P), "micro-F1": micro_f1(Y_test, P), "Hamming loss": hamming_loss(Y_test, P)}
    print(f"{rules[rule]:12}", {name: round(float(value), 3) for name, value in figures.items()})

# %%
# The cut of a rare label is drawn towards the common one, the more the fewer positives it has.

share = np.asarray(Y_train).mean(axis=0)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.scatter(share, models["label"].thresholds_, label="one cut each")
ax.axhline(models["common"].thresholds_[0], color="tab:orange", label="common cut")
ax.axhline(0, color="grey", linestyle=":", label="0")
for name, x, y in zip(models["label"].label_names_, share, models["label"].thresholds_, strict=True):
    ax.annotate(name.removeprefix("Class"), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
ax.set(xlabel="share of training rows that have the label", ylabel="cut", title="Rare labels need lower cuts")
ax.legend()
plt.show()

"""
Thresholds
==========

A label is predicted where its score exceeds its threshold. Rare labels seldom score above 0, so the
threshold 0 hardly ever predicts them. Thresholds are tuned on leave-one-out scores, without a
second fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skcamel import CamelClassifier
from skcamel.data import load_dataset
from skcamel.metrics import hamming_loss, macro_f1, micro_f1

yeast = load_dataset("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(
    yeast.X, yeast.labels, train_size=1_000, random_state=0
)
choices = ("zero", "hamming_loss", "micro_f1", "macro_f1")
options = {"alpha": 0.3, "scaling": "standard", "kernel": "laplacian"}
models = {name: CamelClassifier(**options, threshold=name) for name in choices}
for model in models.values():
    model.fit(X_train, Y_train)

# %%
# Scores are the same in all four, decisions differ. Each threshold is best, or nearly so, for the
# metric that it is tuned for.

for name, model in models.items():
    P = model.predict(X_test)
    figures = {
        "macro-F1": macro_f1(Y_test, P),
        "micro-F1": micro_f1(Y_test, P),
        "Hamming loss": hamming_loss(Y_test, P),
    }
    print(f"{name:12}", {metric: round(float(value), 3) for metric, value in figures.items()})

# %%
# In terms of probabilities: for macro-F1, rare labels are predicted from a low probability on. The
# fewer positives a label has, the more its threshold is shrunk towards the one that is best for all
# labels together.

share = np.asarray(Y_train).mean(axis=0)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, style in (("macro_f1", "o"), ("micro_f1", "s"), ("hamming_loss", "^")):
    ax.plot(share, models[name].probability_thresholds_, style, label=name)
ax.axhline(0.5, color="grey", linestyle=":", label="½")
ax.set(xlabel="share of training rows with the label", ylabel="threshold, as a probability")
ax.set_title("Rare labels need low thresholds")
ax.legend()
plt.show()

# %%
# Where mistakes have known costs, no metric is needed. If a miss is five times as bad as a false
# alarm, a label should be predicted from the probability 1/(1 + 5) on.

careful = CamelClassifier(**options, miss_cost=5).fit(X_train, Y_train)
truth = np.asarray(Y_test) == 1
for name, model in {"threshold 0": models["zero"], "miss_cost=5": careful}.items():
    predicted = model.predict(X_test) == 1
    misses, alarms = (truth & ~predicted).sum(), (~truth & predicted).sum()
    print(f"{name:12} {misses:5} misses, {alarms:5} false alarms, cost {5 * misses + alarms}")

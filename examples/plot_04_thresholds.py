"""
Thresholds
==========

A label is predicted where its score exceeds its threshold. Rare labels seldom score above 0, so the
threshold 0 hardly ever predicts
them. Thresholds tuned on leave-one-out scores cost no second fit.
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
models = {
    name: (
        CamelClassifier(0.3, scaling="standard", kernel="laplacian", threshold=name).fit(
            X_train, Y_train
        )
    )
    for name in choices
}

# %%
# Scores are the same in all four, decisions differ. Each choice is best, or nearly so, for the
# metric that it is tuned for: no threshold
# is best for everything.

for name, model in models.items():
    P = model.predict(X_test)
    figures = {
        "macro-F1": macro_f1(Y_test, P),
        "micro-F1": micro_f1(Y_test, P),
        "Hamming loss": hamming_loss(Y_test, P),
    }
    print(f"{name:12}", {metric: round(float(value), 3) for metric, value in figures.items()})

# %%
# As probabilities, thresholds show what is being traded: for macro-F1 rare labels are predicted
# from a low probability on. The threshold
# of a rare label is drawn towards the one that is best for all labels together, the more the fewer
# positives it has.

share = np.asarray(Y_train).mean(axis=0)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, style in (("macro_f1", "o"), ("micro_f1", "s"), ("hamming_loss", "^")):
    ax.plot(share, models[name].probability_thresholds_, style, label=name)
ax.axhline(0.5, color="grey", linestyle=":", label="½")
ax.set(
    xlabel="share of training rows that have the label", ylabel="predicted from this probability on"
)
ax.set_title("Rare labels need low thresholds")
ax.legend()
plt.show()

# %%
# Where mistakes have known costs, no metric is needed. A miss that is five times as bad as a false
# alarm asks for a yes from the
# probability 1/(1 + 5) on.

careful = CamelClassifier(0.3, scaling="standard", kernel="laplacian", miss_cost=5).fit(
    X_train, Y_train
)
truth, predictions = (
    np.asarray(Y_test) == 1,
    {"threshold 0": models["zero"].predict(X_test), "miss_cost=5": careful.predict(X_test)},
)
for name, P in predictions.items():
    misses, alarms = int((truth & (P == 0)).sum()), int((~truth & (P == 1)).sum())
    print(f"{name:12} {misses:5} misses, {alarms:5} false alarms, cost {5 * misses + alarms}")

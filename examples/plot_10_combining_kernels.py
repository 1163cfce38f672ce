"""
Combining kernels
=================

Scaling and kernel decide what "similar rows" means. Instead of choosing one, `combine=True` adds
the scores of several, with weights
that are never negative and are learned on leave-one-out scores.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skcamel import CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.metrics import average_precision

yeast = load_dataset("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(
    yeast.X, yeast.Y, train_size=700, random_state=0
)
places = (
    ("none", "rbf", 1.0),
    ("standard", "rbf", 1.0),
    ("standard", "laplacian", 0.5),
    ("rank", "laplacian", 1.0),
    ("standard", "linear", 1.0),
)
grid = {"alphas": (0, 0.25, 0.5), "lambda2s": (0.01, 0.1, 1)}

# %%
# Each representation by itself, and all together:

names = [f"{scaling}, {kernel}" for scaling, kernel, _ in places]
alone = [
    CamelClassifierCV(**grid, representations=[place]).fit(X_train, Y_train) for place in places
]
together = CamelClassifierCV(**grid, representations=places, combine=True).fit(X_train, Y_train)
scores = [
    average_precision(Y_test, model.decision_function(X_test)) for model in [*alone, together]
]

# %%
# The weights say who takes part; most are 0. Prediction evaluates the others only.

taking_part = {
    f"{one.scaling}, {one.kernel}": round(float(weight), 2)
    for one, weight in zip(together.members_, together.weights_, strict=True)
}
print(taking_part)

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.barh([*names, "combined"], scores, color=["tab:blue"] * len(names) + ["tab:orange"])
ax.set(
    xlim=(min(scores) - 0.01, max(scores) + 0.005),
    xlabel="average precision on genes kept aside",
    title="Several similarities together",
)
ax.invert_yaxis()
plt.show()
print(
    f"the best single one {max(scores[:-1]):.4f}, combined {scores[-1]:.4f}; spread of the single"
    f" ones {np.ptp(scores[:-1]):.4f}"
)

"""
Combining kernels
=================

Scaling and kernel define which rows are similar. Instead of selecting one representation,
`combine=True` adds the scores of several, with non-negative weights that are learned on
leave-one-out scores.
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
# Each representation alone, and all combined:

names = [f"{scaling}, {kernel}" for scaling, kernel, _ in places]
models = [CamelClassifierCV(**grid, representations=[place]) for place in places]
together = CamelClassifierCV(**grid, representations=places, combine=True)
scores = []
for model in [*models, together]:
    model.fit(X_train, Y_train)
    scores.append(average_precision(Y_test, model.decision_function(X_test)))

# %%
# Most weights are 0; only the members with positive weights are evaluated at prediction.

for member, weight in zip(together.members_, together.weights_, strict=True):
    print(f"{member.scaling}, {member.kernel}: {weight:.2f}")

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.barh([*names, "combined"], scores, color=["tab:blue"] * len(names) + ["tab:orange"])
ax.set(
    xlim=(min(scores) - 0.01, max(scores) + 0.005),
    xlabel="average precision on test genes",
    title="Single and combined representations",
)
ax.invert_yaxis()
plt.show()
print(
    f"best single {max(scores[:-1]):.4f}, combined {scores[-1]:.4f};"
    f" range of the single ones {np.ptp(scores[:-1]):.4f}"
)

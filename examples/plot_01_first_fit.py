"""
First fit
=========

Yeast: 2417 genes, 103 measured columns, 14 functional classes. A gene has four of them on average.
We fit a model, see how good it is
on genes that it has not seen, and compare it with a model in which labels do not help each other.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skcamel import CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.metrics import evaluate

yeast = load_dataset("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(
    yeast.X, yeast.labels, train_size=1_000, random_state=0
)

# %%
# One call chooses kernel, scaling, the strength of collaboration, penalty and thresholds, by exact
# leave-one-out inside the training rows.

model = CamelClassifierCV.from_preset("quick").fit(X_train, Y_train)
print(model.best_params_)

# %%
# How good is it on genes that it has not seen? Beside it stands the same search without
# collaboration: with α = 0 every label is on its
# own. On this split the two are alike; leave-one-out tells which to take, and the next example
# shows what the labels say about each
# other.

alone = CamelClassifierCV.from_preset("quick", alphas=(0.0,)).fit(X_train, Y_train)
for name, one in {"labels together": model, "labels alone": alone}.items():
    figures = evaluate(Y_test, one.decision_function(X_test), one.predict(X_test))
    print(f"{name:16}", {metric: round(float(value), 3) for metric, value in figures.items()})

# %%
# Leave-one-out scores of all candidates are kept. They show how the choice was made: average
# precision of the chosen representation over
# α and λ2.

results = model.cv_results_
chosen = np.array(
    [
        all(params[key] == model.best_params_[key] for key in ("kernel", "scaling", "bandwidth"))
        for params in results["params"]
    ]
)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for lambda2 in sorted(set(results["param_lambda2"])):
    here = chosen & (np.asarray(results["param_lambda2"]) == lambda2)
    ax.plot(
        np.asarray(results["param_alpha"])[here],
        results["mean_test_score"][here],
        "o-",
        label=f"λ2 = {lambda2:g}",
    )
ax.set(
    xlabel="α, the strength of collaboration",
    ylabel="average precision by leave-one-out",
    title="Every candidate, from one decomposition",
)
ax.legend()
plt.show()

"""
First fit
=========

Yeast has 2417 genes, 103 measured columns and 14 functional classes; a gene has four of them on
average. We fit a model, evaluate it on new genes, and compare it with a model without label
correlations.
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
# One call selects kernel, scaling, the strength of collaboration, penalty and thresholds, by exact
# leave-one-out on the training rows.

model = CamelClassifierCV.from_preset("quick").fit(X_train, Y_train)
print(model.best_params_)

# %%
# The figures on new genes, beside those of the same search without collaboration: with α = 0 all
# labels are independent. On this split the two are alike. The next example shows the correlations.

alone = CamelClassifierCV.from_preset("quick", alphas=(0.0,)).fit(X_train, Y_train)
for name, one in {"labels together": model, "labels alone": alone}.items():
    figures = evaluate(Y_test, one.decision_function(X_test), one.predict(X_test))
    print(f"{name:16}", {metric: round(float(value), 3) for metric, value in figures.items()})

# %%
# `cv_results_` has the leave-one-out scores of all candidates. The plot shows average precision of
# the selected representation over α and λ2.

results = model.cv_results_
alphas, lambda2s = (np.asarray(results[f"param_{name}"]) for name in ("alpha", "lambda2"))
chosen = np.ones(len(alphas), dtype=bool)
for key in ("kernel", "scaling", "bandwidth"):
    chosen &= np.array([params[key] == model.best_params_[key] for params in results["params"]])
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for lambda2 in np.unique(lambda2s):
    here = chosen & (lambda2s == lambda2)
    ax.plot(alphas[here], results["mean_test_score"][here], "o-", label=f"λ2 = {lambda2:g}")
ax.set(xlabel="α, the strength of collaboration", ylabel="average precision by leave-one-out")
ax.set_title("Every candidate, from one decomposition")
ax.legend()
plt.show()

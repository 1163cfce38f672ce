"""
A million rows in blocks
========================

The exact solver needs a matrix of rows × rows. For more than some ten thousand rows, a Nyström
approximation by landmarks takes one pass over the rows, in blocks, within a given memory. Here
`ROWS` is 60,000, so that this page builds in seconds; with 1,000,000, time grows in proportion and
memory stays the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from skcamel import CamelClassifier
from skcamel.metrics import average_precision

ROWS, BLOCK = 60_000, 10_000
NEW = 2_000


def rows(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """Made-up rows by number, as from a file or a stream."""
    rng = np.random.default_rng(start)
    X = rng.normal(size=(stop - start, 10)).astype(np.float32)
    return X, X[:, :4] + X[:, 1:5] * X[:, 2:6] + 0.5 * rng.normal(size=(stop - start, 4)) > 0.5


X_new, Y_new = rows(ROWS, ROWS + NEW)

# %%
# `partial_fit` adds blocks to sums, so only one block is in memory. The first block determines
# landmarks, bandwidth and scaling. We evaluate the model after each block.

model = CamelClassifier(scaling="standard", solver="landmark", n_landmarks=400, max_memory="1GiB")
seen, good = [], []
for start in range(0, ROWS, BLOCK):
    model.partial_fit(*rows(start, start + BLOCK))
    seen.append(start + BLOCK)
    good.append(average_precision(Y_new, model.decision_function(X_new)))
print(
    f"{model.total_weight_:,.0f} rows; coefficients have the shape"
    f" {model.dual_coef_.shape}, landmarks × labels"
)

# %%
# For comparison: the exact solver, on as many rows as it handles in about a second.

small = 1_500
exact = CamelClassifier(scaling="standard", solver="spectral").fit(*rows(0, small))
reached = average_precision(Y_new, exact.decision_function(X_new))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(seen, good, "o-", label="400 landmarks, in blocks")
ax.axhline(reached, color="tab:orange", linestyle="--", label=f"exact, {small:,} rows")
ax.set(
    xlabel="rows seen",
    ylabel="average precision on new rows",
    title="More rows than the exact solver allows",
)
ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
ax.legend()
plt.show()

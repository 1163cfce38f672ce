"""
Export
======

A fitted model can be written in the ONNX format and run without Python's scientific libraries. The
exported model gives the same
scores, labels and probabilities. Needs the extra `export`, and `onnxruntime` to run it.
"""

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime

from skcamel import CamelClassifier, export
from skcamel.data import load_dataset

yeast = load_dataset("yeast")
model = CamelClassifier(0.3, scaling="standard", threshold="micro_f1").fit(
    yeast.X[:800], yeast.Y[:800]
)
new = yeast.X[800:1_300]

# %%
# A kernel model holds its training rows, and so does what is exported. Where that matters, fit on
# centres of clusters: 200 of them
# take the place of 800 genes.

small = CamelClassifier(
    0.3,
    scaling="standard",
    threshold="micro_f1",
    solver="landmark",
    landmarks="kmeans",
    n_landmarks=200,
)
small.fit(yeast.X[:800], yeast.Y[:800])
exported = {"all rows": (model, export.to_onnx(model)), "centres": (small, export.to_onnx(small))}
for name, (_, graph) in exported.items():
    print(f"{name}: {len(graph.SerializeToString()) / 1024:,.0f} KiB")

# %%
# Run it as a server in another language would, and compare with the model in Python.

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, (original, graph)) in zip(axes, exported.items(), strict=True):
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    scores, labels = session.run(["scores", "labels"], {"X": new.astype(np.float32)})
    ours = original.decision_function(new)
    equal = (labels == original.predict(new)).mean()
    print(
        f"{name}: scores differ by at most {np.abs(scores - ours).max():.1e}, {equal:.2%} of the"
        " labels are equal"
    )
    ax.plot(ours.ravel(), scores.ravel(), ".", markersize=2)
    ax.set(xlabel="score in Python", ylabel="score of the exported model", title=name)
plt.show()

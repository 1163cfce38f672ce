"""
Export
======

A fitted model can be exported to ONNX and run without Python's scientific libraries. The exported
model gives the same scores, labels and probabilities. This needs the extra `export`, and
`onnxruntime` to run the model.
"""

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime

from skcamel import CamelClassifier, export
from skcamel.data import load_dataset

yeast = load_dataset("yeast")
options = {"alpha": 0.3, "scaling": "standard", "threshold": "micro_f1"}
model = CamelClassifier(**options).fit(yeast.X[:800], yeast.Y[:800])
new = yeast.X[800:1_300]

# %%
# A kernel model holds its training rows, and so does the exported file. To avoid this, fit on
# cluster centres: 200 of them replace 800 genes.

centres = {"solver": "landmark", "landmarks": "kmeans", "n_landmarks": 200}
small = CamelClassifier(**options, **centres)
small.fit(yeast.X[:800], yeast.Y[:800])
exported = {"all rows": (model, export.to_onnx(model)), "centres": (small, export.to_onnx(small))}
for name, (_, graph) in exported.items():
    print(f"{name}: {len(graph.SerializeToString()) / 1024:,.0f} KiB")

# %%
# Run the exported models, as in any other language, and compare them with those in Python.

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

"""What each preset tries: parameters of :class:`skcamel.CamelClassifierCV`, the same in Python, in ``fit`` and in ``study``.

What a preset leaves out is as the class has it, which is as the paper prints it. Only
representations cost much: each is one
eigendecomposition.
"""

from __future__ import annotations

from typing import Any

Place = tuple[str, str, float]  # scaling, kernel, multiple of the mean distance

COARSE: dict[str, Any] = {
    "alphas": (0.0, 0.25, 0.5, 0.75, 1.0),
    "lambda2s": (0.001, 0.01, 0.1, 1.0),
}
# Product and linear kernels alone, so that reasons by column stay exact.
STRONG: tuple[Place, ...] = (
    ("none", "rbf", 1.0),
    ("none", "laplacian", 0.5),
    ("standard", "rbf", 1.0),
    ("standard", "laplacian", 0.5),
    ("standard", "laplacian", 1.0),
    ("standard", "linear", 1.0),
    ("minmax", "laplacian", 0.5),
    ("unit", "rbf", 0.5),
    ("unit", "laplacian", 0.5),
    ("unit", "linear", 1.0),
    ("rank", "laplacian", 0.5),
    ("rank", "laplacian", 1.0),
)
# For rows that come out of a TablePreparer, whose columns are commensurate: scaling again would
# undo that.
PREPARED: dict[str, tuple[Place, ...]] = {
    "quick": (("none", "rbf", 1.0), ("none", "laplacian", 0.5), ("none", "linear", 1.0)),
    "paper": (("none", "rbf", 1.0),),
    "best": (
        ("none", "rbf", 0.5),
        ("none", "rbf", 1.0),
        ("none", "rbf", 2.0),
        ("none", "laplacian", 0.5),
        ("none", "laplacian", 1.0),
        ("none", "linear", 1.0),
    ),
}
# "best" tries 25 candidates of each: with 88, average precision moved by less than .001 on nine
# sets, up on four and down on three
# (benchmarks/grids.py at commit 6e69555), and a fit took 2.5 times as long.
PRESETS: dict[str, dict[str, Any]] = {
    "quick": (
        COARSE
        | {
            "correlation": "centred",
            "representations": (
                ("none", "rbf", 1.0),
                ("standard", "rbf", 1.0),
                ("standard", "laplacian", 0.5),
            ),
            "scores": "log_odds",
            "threshold": "micro_f1",
        }
    ),
    "paper": {},
    "best": {
        "alphas": COARSE["alphas"],
        "lambda2s": (0.001, 0.01, 0.1, 1.0, 10.0),
        "representations": STRONG,
        "correlation": "centred",
        "combine": True,
        "scores": "log_odds",
        "threshold": "micro_f1",
    },
}

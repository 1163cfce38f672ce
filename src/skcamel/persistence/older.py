"""Model files of earlier versions of skcamel ► what the classes of this one hold."""

from __future__ import annotations

from typing import Any

import numpy as np

HALF = 0.5


def bring_up_to_date(name: str, parameters: dict[str, Any], state: dict[str, Any]) -> None:
    """Add what files lack that were written before all estimators had one rule for their cuts.

    LLSF and JFSC had one cut τ of F, the other comparison methods predicted where F >= 1/2; now all have cuts of F - 1/2.
    """
    if name.startswith("Camel") or "threshold_metric" in parameters:
        return
    tau, threshold = state.pop("threshold_", HALF), parameters.get("threshold", HALF)
    parameters["threshold"] = threshold if isinstance(threshold, str) else "zero" if threshold == HALF else threshold - HALF
    parameters["threshold_metric"] = None
    state["thresholds_"] = np.full(len(state["label_names_"]), 0.0 if tau == HALF else np.nextafter(tau - HALF, -np.inf))

"""Leave-one-out scores ► choices: thresholds, calibration, and the search over a grid of hyper-parameters."""

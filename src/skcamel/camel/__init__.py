"""CAMEL itself: rows and labels ► label correlations, kernels, one decomposition ► scores, thresholds, probabilities, reasons."""

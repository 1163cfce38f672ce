"""CAMEL: rows and labels ► label correlations, kernels ► scores, probabilities, explanations."""

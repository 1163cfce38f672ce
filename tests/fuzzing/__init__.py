"""Fuzzers: each module has ``attack(seed, folder)``, which raises where the library misbehaves.

The test suite runs the first seeds of each; ``make fuzz MINUTES=10`` goes on from a random seed for
that long.
"""

TARGETS = ("model_files", "readers", "commands", "requests")

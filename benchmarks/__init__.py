"""Timings as ratios to something else in the same run, with the machine they were measured on."""

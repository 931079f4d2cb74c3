"""Detectors: they estimate the probability that a passage supports a perspective."""

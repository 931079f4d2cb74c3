"""Confidence intervals, significance tests and corrections."""

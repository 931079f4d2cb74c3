"""Reliability of partially annotated sets (D-MERIT): rankings of systems with some of the labels and with all labels."""

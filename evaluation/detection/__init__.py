"""Evaluation of detectors: their figures on labelled pairs, their calibration, agreement, errors and speed."""

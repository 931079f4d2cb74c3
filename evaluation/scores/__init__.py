"""Scores of runs: which questions count, when too few pairs have labels, and tuning."""

"""Bundles: tables with the runs, labels and questions from which they were computed, so that anyone can recompute them."""

"""Selecting the pairs that a batch sends out."""

"""Stored runs, and the keys of the pairs that their top passages make."""

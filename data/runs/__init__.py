"""Stored runs, and the pairs of their top passages with the perspectives of their questions."""

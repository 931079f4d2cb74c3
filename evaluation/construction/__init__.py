"""Constructions: data sets made as the papers made theirs, step by step, with the origin of every row."""

"""Ranking by words: tokenizers, an inverted index on disk, and the functions that score it."""

"""Lexical retrieval: tokenizers, an inverted index on disk, and scoring functions."""

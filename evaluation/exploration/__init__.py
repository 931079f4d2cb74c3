"""Exploration of retrieval results: questions across runs, facets, maps of passages, and contrasting words."""

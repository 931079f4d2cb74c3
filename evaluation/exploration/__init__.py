"""Exploring what retrieval found: questions, facets, maps of passages, and contrasting words."""

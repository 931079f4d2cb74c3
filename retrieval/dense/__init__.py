"""Ranking by vectors: FAISS layouts, exact and approximate, over any encoder."""

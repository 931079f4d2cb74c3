"""Encoders, which convert texts to vectors, term weights and scores."""

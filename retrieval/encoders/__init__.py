"""From texts to vectors, term weights and scores: every encoder that a pipeline can name."""

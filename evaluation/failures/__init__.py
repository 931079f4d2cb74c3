"""Where retrieval fails: which perspective is missing, at which rank, why, and what another run does better."""

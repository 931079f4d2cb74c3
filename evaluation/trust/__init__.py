"""Reliability of a ranking of systems: probabilities of a wrong order, flip margins, and which pairs to judge next."""

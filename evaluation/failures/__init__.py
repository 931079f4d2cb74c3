"""Failure analysis: which perspectives a run misses, at which ranks it covers the others, why it misses them, and which run does
better."""

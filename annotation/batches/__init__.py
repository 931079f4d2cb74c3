"""Batches: pairs sent out for judging, the queues that serve them, and their progress."""

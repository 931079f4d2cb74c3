"""Batches: pairs sent out to be judged, the queues that serve them, and their progress."""

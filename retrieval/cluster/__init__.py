"""Corpora too large for one machine: building and searching shards on a Ray cluster."""

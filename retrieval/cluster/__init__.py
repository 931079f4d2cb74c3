"""Corpora too large for one machine: shards built and searched over a Ray cluster."""

"""Whom retrieval speaks for, on a run with labels, and as people say where they have judged."""

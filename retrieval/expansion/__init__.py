"""Perspectives as extra queries: where they come from, and how their rankings are merged (BERDS, query expansion)."""

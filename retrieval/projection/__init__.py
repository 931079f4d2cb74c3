"""Projections: perspective-aware scores by vector arithmetic on a query, its root, its perspective and a passage (PIR)."""

"""Cutting documents into passages, and finding near-duplicate passages."""

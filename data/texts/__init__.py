"""Cutting documents into passages, and finding passages that nearly repeat one another."""

"""Measures and tables computed from runs and labels."""

"""Stages that reorder what a ranker found."""

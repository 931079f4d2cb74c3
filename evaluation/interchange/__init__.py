"""Runs and labels in the formats that other programs read and write, one format a file."""

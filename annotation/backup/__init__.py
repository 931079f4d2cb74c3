"""Backups: the parts of a workspace that cannot be obtained again, in one file, written while people work; and restoring."""

"""Edits of the perspectives of a data set: proposed, accepted or rejected, and made a version of it."""

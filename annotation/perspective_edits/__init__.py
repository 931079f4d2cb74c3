"""Edits of the perspectives of a data set: proposed, accepted or rejected, and written as a new version of the data set."""

"""Judgments as versioned training sets: labelled by a rule, split by question, free of leaks, in the forms others read."""

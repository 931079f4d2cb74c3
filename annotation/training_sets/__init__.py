"""Versioned training sets from judgments: labelled by a rule, split by question, without leaks, in common file formats."""

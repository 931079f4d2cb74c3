"""Measures of answers to debatable questions (DebateQA), and their agreement with people."""

"""Measures of answers to debatable questions (DebateQA) and how well they agree with people."""

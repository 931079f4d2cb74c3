"""Judgments: the append-only event log, its database and schema, adjudication, and counts of verdicts."""

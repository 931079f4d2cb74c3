"""Evaluation: measures, tables, charts and studies computed from runs, labels and answers."""

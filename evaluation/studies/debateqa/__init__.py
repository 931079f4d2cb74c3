"""The studies of DebateQA: its tables, its printed figures, and its meta-evaluation."""

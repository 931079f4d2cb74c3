"""The studies of PIR: its tables and heat maps over its tasks and over tasks of your own."""

"""The demo content and how it becomes a workspace."""

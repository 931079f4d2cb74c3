"""The demo content, and the functions that add it to a workspace."""

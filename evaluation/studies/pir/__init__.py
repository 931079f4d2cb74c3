"""PIR's tables and heat maps over any of its tasks, one's own among them: a table a module."""

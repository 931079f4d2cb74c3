"""Files: atomic writing, checksums, locks, JSON and tables, and the checks of paths that a user gives."""

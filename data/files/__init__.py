"""Files: atomic writing, checksums, locks, JSON, tables, and checks of the paths that a user gives."""

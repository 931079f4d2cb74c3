"""A workspace's precious parts in one file, while people work, and back again."""

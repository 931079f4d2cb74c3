"""Jobs: long work that runs in the background as separate commands."""

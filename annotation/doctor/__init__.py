"""Looking for what is wrong in the judgments database, and mending what can be mended without losing a word."""

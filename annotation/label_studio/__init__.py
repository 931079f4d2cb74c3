"""Label Studio: starting it, and keeping its annotations and ours in agreement."""

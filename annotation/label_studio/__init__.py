"""The exchange with Label Studio: its server, its projects, and the push and pull that keep both sides in agreement."""

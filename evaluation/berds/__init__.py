"""What BERDS measures beside MRecall and Precision: how deep one must read, what all systems find together, and who leans."""

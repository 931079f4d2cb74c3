"""The studies of D-MERIT: one module for each group of tables."""

"""The studies of D-MERIT, a module for each group of tables."""

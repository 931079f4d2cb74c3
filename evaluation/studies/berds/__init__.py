"""The studies of BERDS (Open-World Evaluation for Retrieving Diverse Perspectives)."""

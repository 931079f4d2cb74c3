"""A bundle: tables with the runs, labels and questions that they were computed from, so that anyone can compute them again."""

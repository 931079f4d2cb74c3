"""The doctor: finds faults in the judgments database and fixes those that it can fix without losing a judgment."""

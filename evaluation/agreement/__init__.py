"""Agreement of people and detectors on a workspace's judgments: the labels, the report of all statistics, and its exports."""

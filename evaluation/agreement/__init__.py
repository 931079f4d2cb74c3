"""Agreement of people and detectors on the judgments of a workspace: the labels, the report of all statistics, its exports."""

"""The methods section of a paper, from what the workspace holds."""

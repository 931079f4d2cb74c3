"""Guidelines for annotators: the packaged texts, a workspace's own texts, and the version that was shown with each pair."""

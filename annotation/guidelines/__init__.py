"""What annotators are told: the packaged texts, a workspace's own, and which version stood beside a pair."""

"""The detector `stance`: a small cross-encoder that tells supporting, opposing and neutral passages apart, and its training."""

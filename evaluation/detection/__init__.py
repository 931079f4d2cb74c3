"""How good detectors are: their figures on labelled files, their agreement, where they fail, and what they cost."""

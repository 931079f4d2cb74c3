"""Selection of the pairs of a batch."""

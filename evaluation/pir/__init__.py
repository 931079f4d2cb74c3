"""What PIR measures: recall by perspective, shares of perspectives, locations, and perspectives that a model names."""

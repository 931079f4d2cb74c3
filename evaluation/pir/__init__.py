"""Measures of PIR: recall by perspective, shares of perspectives, locations, and perspectives named by a model."""

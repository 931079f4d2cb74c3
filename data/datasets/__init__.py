"""Data sets: stored questions with their perspectives, versions of them, published data sets, and file layouts."""

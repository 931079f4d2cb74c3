"""Data sets: stored questions with their perspectives, their versions, published sets and the layouts they are read from."""

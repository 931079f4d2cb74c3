"""Scores of runs: which questions count, when too little is judged, and tuning."""

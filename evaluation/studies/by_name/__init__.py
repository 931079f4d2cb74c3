"""Studies by name: each takes names of data sets, pipelines, models and files, opens what they name, and computes the study."""

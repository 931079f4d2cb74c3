"""Records, workspace, corpora, data sets and demo content; imports nothing else of ours."""

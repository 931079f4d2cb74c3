"""Records, workspace, corpora, data sets and demo content; imports no other package of Berdseye."""

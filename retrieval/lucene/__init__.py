"""Searching existing Lucene indexes, those of Anserini and Pyserini, beside Berdseye's own."""

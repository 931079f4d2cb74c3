"""Searching existing Lucene indexes, made by Anserini or Pyserini."""

"""Late interaction (ColBERT): passages are ranked by the similarities of their token vectors to those of the query."""

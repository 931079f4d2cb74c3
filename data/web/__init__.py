"""The web as a corpus: pages are searched, fetched and stored, so that a query can be repeated with stored pages."""

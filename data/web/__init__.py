"""The web as a corpus: searched, fetched and kept, so that what was asked once can be asked again."""

"""Published data sets: where each is at home, how it is fetched and checked, and how large its paper says it is."""

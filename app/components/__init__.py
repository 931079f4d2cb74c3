"""Parts that several pages draw: cards, keys, forms, charts and escaped text."""

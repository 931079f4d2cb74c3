"""Parts that several pages draw: cards, keys, forms, charts, and the text that they show escaped."""

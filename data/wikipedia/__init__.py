"""Wikipedia dumps: pages, introductions, links and tables, from wikitext, in bounded memory."""

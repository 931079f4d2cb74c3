"""How far one's own ranking of systems can be trusted: chances of a wrong order, flip margins, and what to judge next."""

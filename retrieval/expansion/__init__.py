"""Query expansion with perspectives: the sources of perspectives, and the merging of their rankings (BERDS)."""

"""PIR tasks of one's own: sources of texts with perspectives rewritten in the layout of PIR's demo, a kind of source a module."""

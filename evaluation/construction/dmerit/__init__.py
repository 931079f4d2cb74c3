"""D-MERIT: queries for the members of Wikipedia's lists, with all passages that confirm a member (sections 2.1 to 2.6)."""

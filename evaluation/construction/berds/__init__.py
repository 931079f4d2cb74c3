"""BERDS: questions and perspectives from pairs of arguments, Kialo debates, opinion polls, or questions alone (section 4.1)."""

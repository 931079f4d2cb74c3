"""Fusing the rankings of several rankers into one."""

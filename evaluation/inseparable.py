"""Which systems cannot be told apart: letters beside them, as statisticians set them beside treatments."""

from collections.abc import Sequence
from itertools import product
from string import ascii_lowercase

import networkx as nx

from berdseye.evaluation.significance import Comparison


def inseparable(best_first: Sequence[str], comparisons: Sequence[Comparison]) -> list[list[str]]:
    """The largest groups of systems of whom no two differ significantly, those with the best members first.

    They are the maximal cliques of the graph whose edges join what was not found to differ (Gramm et al., Computational
    Statistics and Data Analysis, 2007). A system may be in several, and one that differs from all others is alone. That two
    are in a group does not say that they are equally good, only that these questions do not show which is better.
    """
    apart: nx.Graph[str] = nx.Graph()
    apart.add_nodes_from(best_first)
    apart.add_edges_from((c.a, c.b) for c in comparisons if c.significant and c.a in apart and c.b in apart)
    place = {name: number for number, name in enumerate(best_first)}
    groups = [sorted(group, key=place.__getitem__) for group in nx.find_cliques(nx.complement(apart))]
    return sorted(groups, key=lambda group: [place[name] for name in group])


def letters(best_first: Sequence[str], comparisons: Sequence[Comparison]) -> dict[str, str]:
    """The compact letter display (Piepho, Journal of Computational and Graphical Statistics, 2004): a letter for each group of
    `inseparable`, so that two systems share one exactly where they were not found to differ."""
    told = dict.fromkeys(best_first, "")
    names = (name for size in (1, 2, 3) for name in map("".join, product(ascii_lowercase, repeat=size)))
    groups = inseparable(best_first, comparisons)
    several = len(groups) > len(ascii_lowercase)
    for letter, group in zip(names, groups, strict=False):
        for name in group:
            told[name] += f" {letter}" if several and told[name] else letter
    return told

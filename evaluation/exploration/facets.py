"""Facets of a list: what its items have in common, counted, and the items that a choice among the values leaves."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

Values = Mapping[str, Sequence[Sequence[str]]]
"""Of each facet the values of each item; an item may have several, or none."""


def kept_items(values: Values, chosen: Mapping[str, Collection[str]]) -> list[int]:
    """The places of the items that have one of the chosen values of every facet in which something is chosen, in order."""
    count = max((len(of) for of in values.values()), default=0)
    wanted = {facet: set(some) for facet, some in chosen.items() if some and facet in values}
    return [i for i in range(count) if all(wanted[facet] & set(values[facet][i]) for facet in wanted)]


def facet_counts(values: Values, chosen: Mapping[str, Collection[str]]) -> dict[str, dict[str, int]]:
    """How many items each value of each facet would leave, the most first, then by name.

    What is chosen in the other facets counts, and what is chosen in the facet itself does not: its values add to each other.
    Values that leave nothing are told too.
    """
    found: dict[str, dict[str, int]] = {}
    for facet, of in values.items():
        others = {name: some for name, some in chosen.items() if name != facet}
        counts: Counter[str] = Counter({value: 0 for item in of for value in item})
        for place in kept_items(values, others):
            counts.update(set(of[place]))
        found[facet] = dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
    return found

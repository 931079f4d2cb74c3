"""Facets of a list: counts of the values of its items, and the items that remain for a selection of values."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

Values = Mapping[str, Sequence[Sequence[str]]]
"""The values of each item, by facet; an item may have several values or none."""


def kept_items(values: Values, chosen: Mapping[str, Collection[str]]) -> list[int]:
    """Return the places of the items that have, for every facet with chosen values, one of these values; in order."""
    count = max((len(of) for of in values.values()), default=0)
    wanted = {facet: set(some) for facet, some in chosen.items() if some and facet in values}
    return [i for i in range(count) if all(wanted[facet] & set(values[facet][i]) for facet in wanted)]


def facet_counts(values: Values, chosen: Mapping[str, Collection[str]]) -> dict[str, dict[str, int]]:
    """Count, for each value of each facet, the items that it would leave, the largest count first, then by name.

    Values chosen in other facets restrict the count; values chosen in the facet itself do not, because they add up. Values that
    leave no item are included.
    """
    by_facet: dict[str, dict[str, int]] = {}
    for facet, of in values.items():
        others = {name: some for name, some in chosen.items() if name != facet}
        counts: Counter[str] = Counter({value: 0 for item in of for value in item})
        for place in kept_items(values, others):
            counts.update(set(of[place]))
        by_facet[facet] = dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
    return by_facet

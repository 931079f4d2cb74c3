"""Where retrieved news happened, against where it was asked for (PIR, location bias)."""

import re
from collections import Counter

import pandas as pd

from berdseye.data.pir_tasks import PirTask
from berdseye.data.records import Ids

_PLACE = re.compile(r"\bhappened in\s+(.+?)\s*(?:and similar to\b.*)?$", re.DOTALL)
ELSEWHERE = "elsewhere"


def asked_places(task: PirTask) -> list[str]:
    """The place that each query asks for; empty where it asks for something else."""
    return [found.group(1) if (found := _PLACE.search(q.perspective)) else "" for q in task.queries]


def location_matrix(task: PirTask, ids: Ids) -> pd.DataFrame:
    """Columns `asked`, `retrieved`, `share`, `queries`: of the top k passages of the queries that ask for a place, the share
    from each place. `ids` int64[n_queries, k].

    A passage is from the place it is relevant for; else from the place, of those asked for, that its text names first; else
    from elsewhere. Padding does not count. Empty for a task that asks for no places.
    """
    asked = asked_places(task)
    places = sorted(set(asked) - {""})
    home = _homes(task, asked, places)
    counts: dict[str, Counter[str]] = {place: Counter() for place in places}
    for place, row in zip(asked, ids.tolist(), strict=True):
        if place:
            counts[place].update(home[i] for i in row if i >= 0)
    numbers = Counter(asked)
    rows = []
    for place in places:
        total = max(counts[place].total(), 1)
        rows += [
            {"asked": place, "retrieved": other, "share": counts[place][other] / total, "queries": numbers[place]}
            for other in [*places, ELSEWHERE]
        ]
    return pd.DataFrame(rows, columns=["asked", "retrieved", "share", "queries"])


def _homes(task: PirTask, asked: list[str], places: list[str]) -> list[str]:
    longest_first = sorted(places, key=len, reverse=True)
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b") if places else None
    homes = [found.group() if named and (found := named.search(p.text)) else ELSEWHERE for p in task.passages]
    for place, query in zip(asked, task.queries, strict=True):
        for passage in query.relevant if place else ():
            homes[passage] = place
    return homes

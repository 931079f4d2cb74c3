"""Leanings and stances of stored runs, computed once for all sessions."""

import pandas as pd

from berdseye.app.access.session import workspace
from berdseye.app.cached.cached_on import cached_on, judgments_version
from berdseye.app.cached.runs import Made, counted, systems
from berdseye.evaluation.bias.sides import completely_judged, leaning_shares, leanings_by_people, stance_shares
from berdseye.evaluation.labels.sources import HUMAN
from berdseye.evaluation.scores.enough_judged import min_judged_of

Figures = tuple[pd.DataFrame, pd.DataFrame]


@cached_on(judgments_version, max_entries=50, show_spinner="Counting the sides…")
def leaning_figures(kept: Made, source: str, k: int) -> Figures:
    """Shares of leanings by system, and these shares beside those by people's judgments."""
    held = systems(kept, source, k)
    shares = leaning_shares(held, k, counted(kept, source, held, k), min_judged_of(workspace()))
    return shares, leanings_by_people(held, systems(kept, HUMAN, k), k)


@cached_on(judgments_version, max_entries=50, show_spinner="Adding up the stances…")
def stance_figures(kept: Made, source: str, k: int) -> Figures:
    """Shares of stances by system; and, over questions whose whole top k people judged, by the labels and by people."""
    held, people = systems(kept, source, k), systems(kept, HUMAN, k)
    whole = {name: [completely_judged(run, k) for run in runs] for name, runs in people.items()}
    columns = ["system", "stance"]
    both = stance_shares(held, k, whole)[[*columns, "value"]].rename(columns={"value": "labels"}).merge(
        stance_shares(people, k, whole)[[*columns, "value", "low", "high", "n"]].rename(columns={"value": "people"}), on=columns
    )  # fmt: skip
    shares = stance_shares(held, k, counted=counted(kept, source, held, k), min_judged=min_judged_of(workspace()))
    return shares, both[both["n"] > 0]


def side_by_side(cells: pd.DataFrame, across: str, digits: int) -> pd.DataFrame:
    """Format figures with their intervals: one row a system, one column for each value of `across`, then the number of questions
    and the share of pairs that have a label."""
    texts = [
        "–"
        if value != value
        else f"{value:.{digits}f}"
        if low != low
        else f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
        for value, low, high in cells[["value", "low", "high"]].to_numpy(dtype=float).tolist()
    ]
    wide = cells.assign(text=texts).pivot(index="system", columns=across, values="text")
    wide = wide.loc[cells["system"].unique(), cells[across].unique()].fillna("–")
    by = cells.groupby("system", sort=False)
    for name, form in (("n", "{:.0f}"), ("judged", "{:.0f}%")):
        if name in cells:
            ends = zip(by[name].min(), by[name].max(), strict=True)
            wide[name] = [" to ".join(dict.fromkeys(map(form.format, pair))) for pair in ends]
    return wide.reset_index().rename_axis(columns=None)

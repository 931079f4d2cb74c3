"""The history of a question's coverage: how people's judgments change the covered perspectives of each run."""

from collections.abc import Sequence
from typing import cast

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.verdict_counts import label_changes
from berdseye.data.runs.pairs import Keys
from berdseye.evaluation.charts import legend_below
from berdseye.evaluation.exploration.question_runs import QuestionRun

_HEIGHT = 320


def coverage_over_time(
    judgments: Judgments, runs: Sequence[QuestionRun], k: int, *, people_alone: bool
) -> pd.DataFrame:
    """Return the coverage of the question by each run's top k over time: one row per run at the beginning, and one for every
    change of people's label of a pair in its top k.

    Columns: at (NaT at the beginning), run, covered (perspectives), coverage (their share), MRecall (1 if all perspectives or k
    of them are covered), by (who made the change). People's labels replace the labels of the runs, which are computed without
    them; with `people_alone`, pairs without a label of people do not count as covered. The rankings are the current ones.
    """
    tops = [(run, run.keys[:k], np.zeros_like(run.labels[:k]) if people_alone else run.labels[:k]) for run in runs]
    rows = []
    people_labels: dict[str, bool | None] = {}

    def state(run: QuestionRun, keys: Keys, labels: npt.NDArray[np.float64]) -> tuple[int, int]:
        current = [[people_labels.get(key.decode()) for key in row] for row in keys]
        people = np.array([[np.nan if p is None else float(p) for p in row] for row in current]).reshape(labels.shape)
        covered = int((np.where(np.isnan(people), labels, people) == 1).any(axis=0).sum())
        return covered, int(run.labelled.counts[0])

    def add(at: pd.Timestamp | None, by: str, run: QuestionRun, keys: Keys, labels: npt.NDArray[np.float64]) -> None:
        covered, count = state(run, keys, labels)
        share = covered / count if count else np.nan
        mrecall = float(covered >= min(count, k)) if count else np.nan
        rows.append({"at": at, "run": run.name, "covered": covered, "coverage": share, "MRecall": mrecall, "by": by})

    for top in tops:
        add(None, "", *top)
    pairs = [{key.decode() for key in keys.ravel() if key} for _, keys, _ in tops]
    for change in label_changes(judgments, sorted(set().union(*pairs))):
        people_labels[change.pair] = change.label
        for top, own_pairs in zip(tops, pairs, strict=True):
            if change.pair in own_pairs:
                add(change.at, change.by, *top)
    frame = pd.DataFrame(rows, columns=["at", "run", "covered", "coverage", "MRecall", "by"])
    return frame.assign(at=pd.to_datetime(frame["at"], utc=True))


def coverage_chart(history: pd.DataFrame, runs: Sequence[QuestionRun]) -> alt.LayerChart:
    """Draw one line of `coverage_over_time` per run, with dots at changes by judgments and a diamond at the creation of the run.

    Dots to the left of the diamond are judgments that are older than the ranking.
    """
    created = pd.DataFrame(
        {"run": [r.name for r in runs], "at": pd.to_datetime([r.run.created for r in runs], format="ISO8601", utc=True)}
    )
    times = pd.concat([history["at"].dropna(), created["at"]])
    moved = history.assign(at=history["at"].fillna(times.min() - pd.Timedelta(minutes=1)), dotted=history["at"].notna())
    last = moved.groupby("run", sort=False).last().reset_index().assign(at=times.max(), dotted=False)
    lines = pd.concat([moved, last], ignore_index=True)
    steps = pd.merge_asof(
        created.sort_values("at"), moved.sort_values("at", kind="stable")[["at", "run", "covered"]], on="at", by="run"
    )
    names = [r.name for r in runs]
    most = max((int(r.labelled.counts[0]) for r in runs), default=1)
    base = alt.Chart(lines).encode(
        x=alt.X("at:T", title=None),
        y=alt.Y(
            "covered:Q",
            title="perspectives covered",
            scale=alt.Scale(domain=[0, most]),
            axis=alt.Axis(tickMinStep=1, format="d", values=list(range(most + 1))),
        ),
        color=alt.Color("run:N", title=None, sort=names, legend=legend_below(names)),
    )
    tooltip = [alt.Tooltip("at:T", format="%Y-%m-%d %H:%M"), "run", "covered", "MRecall", "by"]
    line = base.mark_line(interpolate="step-after", strokeWidth=2, opacity=0.8)
    dots = base.transform_filter("datum.dotted").mark_circle(size=70, opacity=1).encode(tooltip=tooltip)
    diamonds = (
        base.properties(data=steps)
        .mark_point(shape="diamond", filled=True, size=130, opacity=1)
        .encode(tooltip=[alt.Tooltip("at:T", title="created", format="%Y-%m-%d %H:%M"), "run"])
    )
    return cast(alt.LayerChart, alt.layer(line, dots, diamonds).properties(height=_HEIGHT))

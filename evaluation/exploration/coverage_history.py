"""How the words that people give change what is known of a question's coverage."""

from collections.abc import Sequence
from typing import cast

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.verdict_counts import people_over_time
from berdseye.data.runs.pairs import Keys
from berdseye.evaluation.exploration.question_runs import QuestionRun

_HEIGHT = 320


def coverage_over_time(
    judgments: Judgments, runs: Sequence[QuestionRun], k: int, *, people_alone: bool
) -> pd.DataFrame:
    """How much of the question each run covered within k, by the words there were then: a row for each run at the beginning, and
    one whenever people's word on one of its top k changed.

    Columns: at (NaT at the beginning), run, covered (perspectives), coverage (their share), MRecall (1 where all are covered, or
    k of them), by (who changed it). What people say counts before the labels of the runs, which are asked without them
    (`people_alone`: what nobody said is not covered). The rankings are those of today.
    """
    tops = [(run, run.keys[:k], np.zeros_like(run.labels[:k]) if people_alone else run.labels[:k]) for run in runs]
    rows = []
    said: dict[str, bool | None] = {}

    def state(run: QuestionRun, keys: Keys, labels: npt.NDArray[np.float64]) -> tuple[int, int]:
        words = [[said.get(key.decode()) for key in row] for row in keys]
        people = np.array([[np.nan if w is None else float(w) for w in row] for row in words]).reshape(labels.shape)
        covered = int((np.where(np.isnan(people), labels, people) == 1).any(axis=0).sum())
        return covered, int(run.labelled.counts[0])

    def add(at: pd.Timestamp | None, by: str, run: QuestionRun, keys: Keys, labels: npt.NDArray[np.float64]) -> None:
        covered, count = state(run, keys, labels)
        share = covered / count if count else np.nan
        whole = float(covered >= min(count, k)) if count else np.nan
        rows.append({"at": at, "run": run.name, "covered": covered, "coverage": share, "MRecall": whole, "by": by})

    for top in tops:
        add(None, "", *top)
    ours = [{key.decode() for key in keys.ravel() if key} for _, keys, _ in tops]
    for change in people_over_time(judgments, sorted(set().union(*ours))):
        said[change.pair] = change.said
        for top, known in zip(tops, ours, strict=True):
            if change.pair in known:
                add(change.at, change.by, *top)
    frame = pd.DataFrame(rows, columns=["at", "run", "covered", "coverage", "MRecall", "by"])
    return frame.assign(at=pd.to_datetime(frame["at"], utc=True))


def coverage_chart(history: pd.DataFrame, runs: Sequence[QuestionRun]) -> alt.LayerChart:
    """Lines of `coverage_over_time`, one for each run: a dot where a word changed it, a diamond where the run was made.

    A diamond may stand to the right of dots: the words are then older than the ranking.
    """
    made = pd.DataFrame(
        {"run": [r.name for r in runs], "at": pd.to_datetime([r.run.created for r in runs], format="ISO8601", utc=True)}
    )
    times = pd.concat([history["at"].dropna(), made["at"]])
    moved = history.assign(at=history["at"].fillna(times.min() - pd.Timedelta(minutes=1)), said=history["at"].notna())
    last = moved.groupby("run", sort=False).last().reset_index().assign(at=times.max(), said=False)
    lines = pd.concat([moved, last], ignore_index=True)
    steps = pd.merge_asof(
        made.sort_values("at"), moved.sort_values("at", kind="stable")[["at", "run", "covered"]], on="at", by="run"
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
        color=alt.Color("run:N", title=None, sort=names, legend=alt.Legend(orient="bottom", columns=2, labelLimit=420)),
    )
    told = [alt.Tooltip("at:T", format="%Y-%m-%d %H:%M"), "run", "covered", "MRecall", "by"]
    line = base.mark_line(interpolate="step-after", strokeWidth=2, opacity=0.8)
    dots = base.transform_filter("datum.said").mark_circle(size=70, opacity=1).encode(tooltip=told)
    diamonds = (
        base.properties(data=steps)
        .mark_point(shape="diamond", filled=True, size=130, opacity=1)
        .encode(tooltip=[alt.Tooltip("at:T", title="made", format="%Y-%m-%d %H:%M"), "run"])
    )
    return cast(alt.LayerChart, alt.layer(line, dots, diamonds).properties(height=_HEIGHT))

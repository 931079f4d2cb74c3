"""What the Python API says of a run, and of two runs compared."""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from berdseye.data.runs.stored import Run as StoredRun
from berdseye.data.texts.counts import counted
from berdseye.evaluation.failures.contrast import LOSS, OUTCOMES, TIE, WIN, Contrast
from berdseye.evaluation.measures import DEFAULT_MEASURES
from berdseye.evaluation.scores.enough_judged import Floor


def facts_html(title: str, facts: Mapping[str, str]) -> str:
    """Render an HTML table of facts with all texts escaped."""
    rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in facts.items())
    return f"<table><caption>{html.escape(title)}</caption>{rows}</table>"


USUAL = " ".join(DEFAULT_MEASURES)


class Tables(Protocol):
    """The tables of runs that a workspace computes (`berdseye.app.python.workspace.Workspace`)."""

    def measures(
        self,
        runs: "Run | str | Iterable[Run | str] | None" = None,
        names: str = USUAL,
        labels: str | None = None,
        *,
        min_judged: Floor | None = None,
        unjudged: str | None = None,
    ) -> pd.DataFrame: ...

    def labels(self, run: "Run | str", k: int = 5, labels: str | None = None) -> pd.DataFrame: ...

    def holes(self, run: "Run | str", k: int = 5, labels: str | None = None) -> pd.DataFrame: ...


@dataclass(frozen=True)
class Run:
    """A stored run. Its rankings are `stored.ids`, int64[n_questions, k], padded with -1, and `stored.scores`."""

    workspace: Tables
    stored: StoredRun

    @property
    def name(self) -> str:
        return self.stored.manifest.name

    @property
    def place(self) -> str:
        """The data set and the corpus of the run."""
        return f"{self.stored.manifest.dataset} over {self.stored.manifest.corpus}"

    def rankings(self) -> pd.DataFrame:
        """The lists, a row a passage: question_id, rank, passage, score."""
        rows, ranks = np.nonzero(self.stored.ids >= 0)
        ids = np.array(self.stored.question_ids, dtype=object)[rows]
        found = {"passage": self.stored.ids[rows, ranks], "score": self.stored.scores[rows, ranks]}
        return pd.DataFrame({"question_id": ids, "rank": ranks + 1, **found})

    def measures(
        self,
        names: str = USUAL,
        labels: str | None = None,
        *,
        min_judged: Floor | None = None,
        unjudged: str | None = None,
    ) -> pd.DataFrame:
        """Call `Workspace.measures` for this run."""
        return self.workspace.measures(self, names, labels, min_judged=min_judged, unjudged=unjudged)

    def labels(self, k: int = 5, labels: str | None = None) -> pd.DataFrame:
        """Call `Workspace.labels` for this run."""
        return self.workspace.labels(self, k, labels)

    def holes(self, k: int = 5, labels: str | None = None) -> pd.DataFrame:
        """Call `Workspace.holes` for this run."""
        return self.workspace.holes(self, k, labels)

    def __repr__(self) -> str:
        m = self.stored.manifest
        return f"Run of {m.pipeline} on {self.place}: {counted(m.questions, 'question')}, {m.k} deep"

    def _repr_html_(self) -> str:
        m = self.stored.manifest
        pace = f"{m.milliseconds_per_question:g} ms a question"
        told = {"data set": m.dataset, "corpus": m.corpus, "pipeline": m.pipeline, "depth": str(m.k)}
        return facts_html(f"Run {self.name}", told | {"questions": str(m.questions), "made": f"{m.created}, {pace}"})


@dataclass(frozen=True)
class Compared:
    """Two runs compared on their common questions. `contrast.questions` has one row a question, the greatest difference first."""

    first: Run
    second: Run
    labels: str
    contrast: Contrast

    @property
    def questions(self) -> pd.DataFrame:
        """One row a question: both values, their difference (second minus first), the outcome, and perspectives lost
        and gained."""
        return self.contrast.questions

    @property
    def summary(self) -> pd.DataFrame:
        """One row: the difference (second minus first) with its interval, n and p, and the numbers of wins, losses and ties."""
        c = self.contrast.comparison
        found = {"measure": str(self.contrast.measure), "difference": c.difference, "low": c.low, "high": c.high}
        counts = {outcome.replace(" ", "_"): self.contrast.count(outcome) for outcome in OUTCOMES}
        return pd.DataFrame([{**found, "n": c.n, "p": c.p, "test": c.test, "labels": self.labels, **counts}])

    def __repr__(self) -> str:
        c, same = self.contrast.comparison, self.first.place == self.second.place
        first, second = (
            run.stored.manifest.pipeline + ("" if same else f" on {run.place}") for run in (self.first, self.second)
        )
        told = f"{second} against {first}" + (f", {self.first.place}" if same else "")
        if self.contrast.withheld:
            return f"{told}: {self.contrast.measure} has no value, {self.contrast.withheld}"
        interval = "" if c.low != c.low else f" [{c.low:.3f}, {c.high:.3f}]"
        wins, losses, ties = (self.contrast.count(outcome) for outcome in (WIN, LOSS, TIE))
        return (
            f"{told}: {self.contrast.measure} {c.difference:+.3f}{interval}, p = {c.p:.3f} "
            f"over {c.n} questions; {wins} wins, {losses} losses, {ties} ties"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.questions.head(10).to_html(index=False)}"

"""Two runs compared, as Python sees it."""

import html
from dataclasses import dataclass

import pandas as pd

from berdseye.app.python.run import Run
from berdseye.evaluation.failures.contrast import LOSS, OUTCOMES, TIE, WIN, Contrast


@dataclass(frozen=True)
class Compared:
    """Two runs on the same questions. `contrast.questions` has a row a question, the greatest difference first."""

    first: Run
    second: Run
    labels: str
    contrast: Contrast

    @property
    def questions(self) -> pd.DataFrame:
        """Values of both, their difference (second minus first), the outcome, and perspectives lost and gained."""
        return self.contrast.questions

    @property
    def summary(self) -> pd.DataFrame:
        """One row: the difference (second minus first) with its interval, n and p, and how many wins, losses and ties."""
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

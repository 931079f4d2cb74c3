"""A stored run, as Python sees it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from berdseye.app.python.shown import facts_html
from berdseye.data.runs.stored import Run as StoredRun
from berdseye.evaluation.measures import DEFAULT_MEASURES

if TYPE_CHECKING:
    from berdseye.app.python.workspace import Workspace

USUAL = " ".join(DEFAULT_MEASURES)


@dataclass(frozen=True)
class Run:
    """A stored run: its lists are `stored.ids` int64[n_questions, k] and `stored.scores`, -1 pads."""

    workspace: "Workspace"
    stored: StoredRun

    @property
    def name(self) -> str:
        return self.stored.manifest.name

    @property
    def place(self) -> str:
        """What was asked of what, in words."""
        return f"{self.stored.manifest.dataset} over {self.stored.manifest.corpus}"

    def rankings(self) -> pd.DataFrame:
        """The lists, a row a passage: question_id, rank, passage, score."""
        rows, ranks = np.nonzero(self.stored.ids >= 0)
        ids = np.array(self.stored.question_ids, dtype=object)[rows]
        found = {"passage": self.stored.ids[rows, ranks], "score": self.stored.scores[rows, ranks]}
        return pd.DataFrame({"question_id": ids, "rank": ranks + 1, **found})

    def measures(
        self, names: str = USUAL, labels: str | None = None, *, min_judged: float | None = None
    ) -> pd.DataFrame:
        """As `Workspace.measures`."""
        return self.workspace.measures(self, names, labels, min_judged=min_judged)

    def labels(self, k: int = 5, labels: str | None = None) -> pd.DataFrame:
        """As `Workspace.labels`."""
        return self.workspace.labels(self, k, labels)

    def holes(self, k: int = 5, labels: str | None = None) -> pd.DataFrame:
        """As `Workspace.holes`."""
        return self.workspace.holes(self, k, labels)

    def __repr__(self) -> str:
        m = self.stored.manifest
        return f"Run of {m.pipeline} on {self.place}: {m.questions} questions, {m.k} deep"

    def _repr_html_(self) -> str:
        m = self.stored.manifest
        pace = f"{m.milliseconds_per_question:g} ms a question"
        told = {"data set": m.dataset, "corpus": m.corpus, "pipeline": m.pipeline, "depth": str(m.k)}
        return facts_html(f"Run {self.name}", told | {"questions": str(m.questions), "made": f"{m.created}, {pace}"})

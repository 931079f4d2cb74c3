"""What measures of answers are given, and what they give back."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace

Doubles = npt.NDArray[np.float64]


class Answered(NamedTuple):
    """A question, with its partial answers as perspectives, and a system's answer to it."""

    question: Question
    answer: str


class Measured(NamedTuple):
    """A value an item, float64[n_items], NaN where there is none, and notes on what was left out or cut."""

    values: Doubles
    notes: tuple[str, ...] = ()


class Scorer(Protocol):
    """Measures answers. `version` changes when the model or the wording does."""

    @property
    def version(self) -> str: ...

    def values(self, workspace: Workspace, items: Sequence[Answered], *, progress: Progress = silent) -> Measured:
        """A value an item; what takes long is kept in the workspace, so that a killed run goes on."""
        ...

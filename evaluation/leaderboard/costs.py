"""What a system costs beside what it is worth: time, GPUs, tokens, and the minutes that people judged what it found."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from berdseye.data.runs.pairs import Keys
from berdseye.data.runs.stored import RunManifest

COSTS: Mapping[str, str] = {
    "milliseconds a question": "milliseconds",
    "GPU seconds": "gpu_seconds",
    "tokens": "tokens",
    "annotator minutes": "minutes",
}
"""The columns of `system_costs`, by what they are called on a page."""


def judging_minutes(keys: Keys, seconds: Mapping[str, float], k: int) -> float:
    """The minutes that people were timed on the pairs of a run's top k; `keys` bytes[n_questions, depth, m_max] are those of a
    labelled run, `seconds` those of `annotation.judging_time.seconds_by_pair`. A pair counts once, for however many questions
    it is in the top k."""
    timed = np.array(sorted(seconds), dtype=keys.dtype)
    if not len(timed):
        return 0.0
    found = timed[np.isin(timed, keys[:, :k])]
    return float(sum(seconds[key.decode()] for key in found)) / 60


def system_costs(runs: Sequence[RunManifest], minutes: Mapping[str, float]) -> pd.DataFrame:
    """Costs by system (columns corpus, pipeline and those of `COSTS`) over all of its runs; `minutes` by the name of a run.

    NaN where one of its runs was not timed or counted: imported runs have no times, and older ones counted neither GPUs nor
    tokens. Minutes are not added up where runs share pairs; here each data set has its own.
    """
    frame = pd.DataFrame(
        [
            {
                "corpus": run.corpus,
                "pipeline": run.pipeline,
                "milliseconds": (run.milliseconds_per_question or np.nan) * run.questions,
                "gpu_seconds": run.costs.get("gpu_seconds", np.nan),
                "tokens": run.costs.get("prompt_tokens", np.nan) + run.costs.get("completion_tokens", np.nan),
                "minutes": minutes.get(run.name, np.nan),
                "questions": run.questions,
            }
            for run in runs
        ]
    )
    # A sum that tells where something is missing, unlike that of `groupby`.
    parts = frame.groupby(["corpus", "pipeline"], sort=False)
    found = parts.sum().where(parts.count().eq(parts.size(), axis=0)).reset_index()
    found["milliseconds"] /= found["questions"]
    return found[["corpus", "pipeline", *COSTS.values()]]

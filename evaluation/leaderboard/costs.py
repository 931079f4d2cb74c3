"""Costs of systems: time, GPU seconds, tokens, and the minutes that people spent on judging their results."""

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
"""The columns of `system_costs`, by their names on pages."""


def judging_minutes(keys: Keys, seconds: Mapping[str, float], k: int) -> float:
    """Return the measured minutes that people spent on the pairs of a run's top k.

    `keys` bytes[n_questions, depth, m_max] are those of a labelled run, `seconds` the result of
    `berdseye.annotation.judgments.pace.seconds_by_pair`. A pair counts once, even if it is in the top k of several questions.
    """
    timed = np.array(sorted(seconds), dtype=keys.dtype)
    if not len(timed):
        return 0.0
    judged = timed[np.isin(timed, keys[:, :k])]
    return float(sum(seconds[key.decode()] for key in judged)) / 60


def system_costs(runs: Sequence[RunManifest], minutes: Mapping[str, float]) -> pd.DataFrame:
    """Return the costs of each system over all of its runs: columns corpus, pipeline and those of `COSTS`.

    `minutes` holds annotator minutes by the name of a run. A cost is NaN if one of the system's runs has no figure for it:
    imported runs have no times, and older runs have neither GPU seconds nor tokens. The sum of minutes counts no pair twice,
    because the runs of a system are on different data sets.
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
    # `groupby` sums skip missing values; here a missing value makes the sum missing.
    groups = frame.groupby(["corpus", "pipeline"], sort=False)
    costs = groups.sum().where(groups.count().eq(groups.size(), axis=0)).reset_index()
    costs["milliseconds"] /= costs["questions"]
    return costs[["corpus", "pipeline", *COSTS.values()]]

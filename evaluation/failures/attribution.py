"""The reasons for every hole of a run, from what the workspace holds: its other runs, people's words and flags."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.adjudication import decisions
from annotation.batch_progress import flags
from annotation.judgments import Judgments
from annotation.pair_words import pair_words
from data.errors import BadInputError
from data.progress import Progress, silent
from data.run_keys import Keys
from data.runs import Run
from data.workspace import Workspace
from evaluation.failures.hole_map import hole_map
from evaluation.failures.reasons import Circumstances, Ranks, attribute
from evaluation.label_sources import LabelSource
from evaluation.labelled_runs import LabelledRun, labelled_run

POOL_DEPTH = 100


def reasons_of_holes(
    workspace: Workspace,
    judgments: Judgments,
    run: Run,
    others: Sequence[Run],
    source: LabelSource,
    k: int,
    *,
    pool_depth: int = POOL_DEPTH,
    progress: Progress = silent,
) -> pd.DataFrame:
    """The holes of `hole_map`, with columns reason (evaluation/failures/reasons.py), elsewhere (the best rank among `others`,
    which are runs of the same data set over the same corpus, NaN where none has it) and found_by (their pipelines that do).

    Raises `BadInputError` where a run of `others` is of another data set or corpus, `StaleError` where one does not fit any more.
    """
    place = (run.manifest.dataset, run.manifest.corpus)
    for other in others:
        if (other.manifest.dataset, other.manifest.corpus) != place:
            raise BadInputError(
                f"Run '{other.manifest.name}' is of another data set or corpus.", hint="A pool is of one of each."
            )
    labelled = labelled_run(workspace, judgments, run, source, max(k, pool_depth), progress=progress)
    pool = {
        other.manifest.pipeline: labelled_run(
            workspace, judgments, other, source, pool_depth, progress=progress
        ).first_ranks()
        for other in others
        if other.manifest.name != run.manifest.name
    }
    circumstances = circumstances_of(judgments, run.manifest.dataset, labelled, list(pool.values()), k)
    holes = hole_map(labelled, k)
    rows, places = holes["row"].to_numpy(), holes["place"].to_numpy() - 1
    best = circumstances.elsewhere[rows, places]
    holes["reason"] = attribute(circumstances, k)[rows, places]
    holes["elsewhere"] = np.where(best > 0, best, np.nan)
    found = {pipeline: ranks[rows, places] > 0 for pipeline, ranks in pool.items()}
    holes["found_by"] = [
        ", ".join(pipeline for pipeline, has in found.items() if has[row]) for row in range(len(holes))
    ]
    return holes[holes["hole"]].reset_index(drop=True)


def circumstances_of(
    judgments: Judgments, dataset: str, labelled: LabelledRun, pool: Sequence[Ranks], k: int
) -> Circumstances:
    """What the rules ask, of one run and the first ranks int64[n_questions, m_max] of the others."""
    ranks = labelled.first_ranks()
    none = np.zeros_like(ranks)
    keys, labels = labelled.keys[:, :k], labelled.labels[:, :k]
    yes, no = _words(judgments, keys)
    decided = _decided(judgments, keys)
    for_it = np.where(np.isnan(decided), yes > no, decided == 1)
    real = keys != b""
    flagged_texts = _flagged(judgments, dataset)
    flagged = none.astype(bool)
    for row, question in enumerate(labelled.questions):
        for place, perspective in enumerate(question.perspectives):
            flagged[row, place] = (question.text, perspective.text) in flagged_texts
    return Circumstances(
        ranks,
        _best(pool, none),
        flagged,
        np.asarray((for_it & (labels == 0)).any(axis=1)),
        np.asarray(((yes > 0) & (no > 0) & np.isnan(decided)).any(axis=1)),
        np.asarray((np.isnan(labels) & real).any(axis=1)),
    )


def _best(pool: Sequence[Ranks], none: Ranks) -> Ranks:
    if not pool:
        return none
    block = np.stack(pool).astype(np.float64)
    block[block <= 0] = np.inf
    best = block.min(axis=0)
    return np.where(np.isinf(best), 0, best).astype(np.int64)


def _words(judgments: Judgments, keys: Keys) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many people say that each pair supports, and that it does not."""
    words = pair_words(judgments)
    places = _places(words.index, keys)
    columns = (np.append(words[name].to_numpy(dtype=np.int64), 0) for name in ("supports", "opposes"))
    yes, no = (column[places] for column in columns)
    return yes, no


def _decided(judgments: Judgments, keys: Keys) -> npt.NDArray[np.float64]:
    """An adjudicator's word on each pair: 1, 0, or NaN where there is none (or nobody can tell)."""
    said = decisions(judgments)
    values = [{"supports": 1.0, "does not support": 0.0}.get(d.verdict, np.nan) for d in said.values()]
    return np.append(np.array(values, dtype=np.float64), np.nan)[_places(pd.Index(list(said)), keys)]


def _places(known: pd.Index, keys: Keys) -> npt.NDArray[np.int64]:
    """Where each key stands among those that are known; -1 where it is none of them."""
    flat: npt.NDArray[np.int64] = np.full(keys.size, -1, dtype=np.int64)
    if len(known):
        order = np.argsort(keys, axis=None, kind="stable")
        ordered = keys.ravel()[order]
        names = known.to_numpy().astype(keys.dtype)
        for place, (left, right) in enumerate(
            zip(np.searchsorted(ordered, names, "left"), np.searchsorted(ordered, names, "right"), strict=True)
        ):
            flat[order[left:right]] = place
    return flat.reshape(keys.shape)


def _flagged(judgments: Judgments, dataset: str) -> set[tuple[str, str]]:
    flagged = flags(judgments)
    kept = flagged[flagged["dataset"] == dataset]
    return set(zip(kept["question"], kept["perspective"], strict=True))

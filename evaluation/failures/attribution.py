"""The reasons for every hole of a run, from what the workspace holds: its other runs, people's words and flags."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.adjudication import decisions
from berdseye.annotation.batch_progress import flags
from berdseye.annotation.judgments import Judgments
from berdseye.annotation.pair_words import pair_words
from berdseye.data.datasets import load_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.progress import Progress, silent
from berdseye.data.run_keys import Keys
from berdseye.data.run_pairs import fitting_corpus
from berdseye.data.runs import Run, RunManifest, list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.failures.hole_map import hole_map
from berdseye.evaluation.failures.reasons import Circumstances, Ranks, attribute
from berdseye.evaluation.label_sources import LabelSource
from berdseye.evaluation.labelled_runs import LabelledRun, labelled_run

POOL_DEPTH = 100


def pool_ranks(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[Run],
    source: LabelSource,
    *,
    depth: int = POOL_DEPTH,
    progress: Progress = silent,
) -> dict[str, Ranks]:
    """The first rank of each run, by its pipeline, that covers each perspective: int64[n_questions, m_max], as in `first_ranks`.

    Raises `BadInputError` for runs of several data sets or corpora, `StaleError` where one does not fit any more.
    """
    if len({(run.manifest.dataset, run.manifest.corpus) for run in runs}) > 1:
        raise BadInputError("These runs are of several data sets or corpora.", hint="A pool is of one of each.")
    return {
        run.manifest.pipeline: labelled_run(workspace, judgments, run, source, depth, progress=progress).first_ranks()
        for run in runs
    }


def others_of(workspace: Workspace, run: RunManifest) -> tuple[list[Run], list[str]]:
    """The other stored runs on a run's data set and corpus, and the names of those that do not fit them any more."""
    questions = load_dataset(workspace, run.dataset)
    fitting, stale = [], []
    for manifest in list_runs(workspace):
        if (manifest.dataset, manifest.corpus) == (run.dataset, run.corpus) and manifest.name != run.name:
            try:
                other = load_run(workspace, manifest.name)
                fitting_corpus(workspace, other, questions)
                fitting.append(other)
            except StaleError:
                stale.append(manifest.name)
    return fitting, stale


def reasons_of_holes(
    judgments: Judgments, dataset: str, labelled: LabelledRun, pool: Mapping[str, Ranks], k: int
) -> pd.DataFrame:
    """The holes of `hole_map`, with columns reason (evaluation/failures/reasons.py), elsewhere (the best rank in the pool, NaN
    where none of it has one) and found_by (the pipelines of the pool that do). `pool` is that of the other runs over the corpus.
    """
    circumstances = circumstances_of(judgments, dataset, labelled, list(pool.values()), k)
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

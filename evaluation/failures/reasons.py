"""Reasons of holes: why no passage of the top k supports a perspective. The first rule that applies gives the reason.

1. `flagged`: an annotator flagged the text of the perspective as faulty, so its absence shows nothing about retrieval.
2. `detector against people`: by people's judgments a passage of the top k supports it, but the labels say that it does not.
3. `disputed`: people disagree about a passage of the top k, and no adjudicator has decided.
4. `unjudged`: a passage of the top k has no label, and no labelled passage supports the perspective.
5. `below k`: this run ranks a supporting passage below rank k.
6. `another pipeline`: another run on the corpus has a supporting passage among its first passages (100 by default).
7. `not in the pool`: no run on the corpus has a supporting passage.

The rules read the workspace: its other runs, people's judgments, adjudications and flags.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.batches.progress import flags
from berdseye.annotation.judgments.adjudication import decisions
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.verdict_counts import verdict_counts
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.pairs import Keys, fitting_corpus
from berdseye.data.runs.stored import Run, RunManifest, list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.failures.hole_map import hole_map
from berdseye.evaluation.labels.labelled_runs import LabelledRun, labelled_run
from berdseye.evaluation.labels.sources import LabelSource

Reason = Literal[
    "flagged",
    "detector against people",
    "disputed",
    "unjudged",
    "below k",
    "another pipeline",
    "not in the pool",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
Bools = npt.NDArray[np.bool_]
Ranks = npt.NDArray[np.int64]
POOL_DEPTH = 100


@dataclass(frozen=True)
class Circumstances:
    """What the rules read of each perspective of each question; every array is [n_questions, m_max].

    `ranks`: the first rank of this run that covers the perspective (0: none, -1: no such perspective). `elsewhere`: the best
    rank of another run on the corpus (0: none). `flagged`: whether an annotator flagged its text. Of its pairs in the top k:
    `contradicted` (people say that one supports it, the labels that it does not), `disputed` (people disagree about one, and no
    adjudicator has decided), `unjudged` (one has no label).
    """

    ranks: Ranks
    elsewhere: Ranks
    flagged: Bools
    contradicted: Bools
    disputed: Bools
    unjudged: Bools


def attribute(circumstances: Circumstances, k: int) -> npt.NDArray[np.object_]:
    """Return the reason of each perspective that the top k does not cover, object[n_questions, m_max]; None for the others."""
    ranks = circumstances.ranks
    missing = (ranks == 0) | (ranks > k)
    rules = (
        circumstances.flagged,
        circumstances.contradicted,
        circumstances.disputed,
        circumstances.unjudged,
        ranks > k,
        circumstances.elsewhere > 0,
    )
    reasons = np.select(rules, REASONS[: len(rules)], default=REASONS[-1]).astype(object)
    reasons[~missing] = None
    return reasons


def reason_counts(holes: pd.DataFrame, by: tuple[str, ...], groups: Sequence[tuple[str, ...]]) -> pd.DataFrame:
    """Count holes by reason: one row for each of the `groups` (values of the columns `by`), also if it has no hole.

    After the columns `by` comes one column for each reason, in the order of the rules, and `holes`, their sum.
    """
    counts = holes.groupby([*by, "reason"]).size().to_dict()
    rows = [
        {**dict(zip(by, group, strict=True)), **{reason: int(counts.get((*group, reason), 0)) for reason in REASONS}}
        for group in groups
    ]
    table = pd.DataFrame(rows, columns=[*by, *REASONS])
    return table.assign(holes=table[list(REASONS)].sum(axis=1))


def pool_ranks(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[Run],
    source: LabelSource,
    *,
    depth: int = POOL_DEPTH,
    progress: Progress = silent,
) -> dict[str, Ranks]:
    """Return, by pipeline, the first rank that covers each perspective: int64[n_questions, m_max], as in `first_ranks`.

    Raises `BadInputError` for runs of several data sets or corpora, and `StaleError` if a run no longer fits its data set or
    corpus.
    """
    if len({(run.manifest.dataset, run.manifest.corpus) for run in runs}) > 1:
        raise BadInputError(
            "These runs are of several data sets or corpora.", hint="Choose runs of one data set and one corpus."
        )
    return {
        run.manifest.pipeline: labelled_run(workspace, judgments, run, source, depth, progress=progress).first_ranks()
        for run in runs
    }


def others_of(workspace: Workspace, run: RunManifest) -> tuple[list[Run], list[str]]:
    """Return the other stored runs on a run's data set and corpus, and the names of those that no longer fit them."""
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
    """Return the holes of `hole_map` with their reasons.

    Columns added to those of `hole_map`: reason (one of `REASONS`), elsewhere (the best rank in the pool, NaN if no run of it
    covers the perspective) and found_by (the pipelines of the pool that cover it). `pool` holds the ranks of the other runs on
    the corpus, as `pool_ranks` returns them.
    """
    circumstances = circumstances_of(judgments, dataset, labelled, list(pool.values()), k)
    holes = hole_map(labelled, k)
    rows, places = holes["row"].to_numpy(), holes["place"].to_numpy() - 1
    best = circumstances.elsewhere[rows, places]
    holes["reason"] = attribute(circumstances, k)[rows, places]
    holes["elsewhere"] = np.where(best > 0, best, np.nan)
    covers = {pipeline: ranks[rows, places] > 0 for pipeline, ranks in pool.items()}
    holes["found_by"] = [
        ", ".join(pipeline for pipeline, covered in covers.items() if covered[row]) for row in range(len(holes))
    ]
    return holes[holes["hole"]].reset_index(drop=True)


def circumstances_of(
    judgments: Judgments, dataset: str, labelled: LabelledRun, pool: Sequence[Ranks], k: int
) -> Circumstances:
    """Collect what the rules read; `pool` holds the first ranks of the other runs, int64[n_questions, m_max] each."""
    ranks = labelled.first_ranks()
    none = np.zeros_like(ranks)
    keys, labels = labelled.keys[:, :k], labelled.labels[:, :k]
    yes, no = _verdict_counts(judgments, keys)
    decided = _adjudicated(judgments, keys)
    supported = np.where(np.isnan(decided), yes > no, decided == 1)
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
        np.asarray((supported & (labels == 0)).any(axis=1)),
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


def _verdict_counts(judgments: Judgments, keys: Keys) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count the people who say that each pair supports, and those who say that it does not."""
    verdicts = verdict_counts(judgments)
    places = _places(verdicts.index, keys)
    columns = (np.append(verdicts[name].to_numpy(dtype=np.int64), 0) for name in ("supports", "does_not_support"))
    yes, no = (column[places] for column in columns)
    return yes, no


def _adjudicated(judgments: Judgments, keys: Keys) -> npt.NDArray[np.float64]:
    """Return the adjudicated label of each pair: 1, 0, or NaN without an adjudication (or where it is 'unsure')."""
    adjudications = decisions(judgments)
    values = [{"supports": 1.0, "does not support": 0.0}.get(d.verdict, np.nan) for d in adjudications.values()]
    return np.append(np.array(values, dtype=np.float64), np.nan)[_places(pd.Index(list(adjudications)), keys)]


def _places(known: pd.Index, keys: Keys) -> npt.NDArray[np.int64]:
    """Return the position of each key in `known`, -1 if it is not among them."""
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

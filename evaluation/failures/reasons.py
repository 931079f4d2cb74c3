"""Why a perspective is missing from a top k: each is given one reason, by rules that are asked in turn.

1. `flagged`: people say that the text of the perspective is no good, so that nothing follows from its absence.
2. `detector against people`: a passage of the top k supports it by people's word, and the labels say that it does not.
3. `disputed`: people disagree about a passage of the top k, and no adjudicator has decided.
4. `unjudged`: a passage of the top k has no label, and none that has one supports it.
5. `below k`: this run ranks a supporting passage, below k.
6. `another pipeline`: another run over the same corpus has a supporting passage among its first passages (100, unless told).
7. `not in the pool`: no run over this corpus has one.

The reasons for every hole of a run, from what the workspace holds: its other runs, people's words and flags.
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
from berdseye.annotation.judgments.verdict_counts import pair_words
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.pairs import Keys, fitting_corpus
from berdseye.data.runs.stored import Run, RunManifest, list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.failures.hole_map import hole_map
from berdseye.evaluation.labels.runs import LabelledRun, labelled_run
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


@dataclass(frozen=True)
class Circumstances:
    """What the rules ask of each perspective of each question; all [n_questions, m_max].

    `ranks` the first rank of this run that covers it (0: none, -1: there is no such perspective), `elsewhere` the best rank of
    another run over the same corpus (0: none); `flagged`; and of its pairs in the top k: `contradicted` (one supports by
    people's word and does not by the labels), `disputed` (people disagree about one, undecided), `unjudged` (one has no label).
    """

    ranks: Ranks
    elsewhere: Ranks
    flagged: Bools
    contradicted: Bools
    disputed: Bools
    unjudged: Bools


def attribute(circumstances: Circumstances, k: int) -> npt.NDArray[np.object_]:
    """The reason of each perspective that is not covered within k, object[n_questions, m_max]; None for all others."""
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
    found = np.select(rules, REASONS[: len(rules)], default=REASONS[-1]).astype(object)
    found[~missing] = None
    return found


def reason_counts(holes: pd.DataFrame, by: tuple[str, ...], groups: Sequence[tuple[str, ...]]) -> pd.DataFrame:
    """How many holes each reason has: a row for each of the `groups`, values of the columns `by`, 0 where it has none; a column
    a reason, in the order of the rules, and `holes`, their sum."""
    counts = holes.groupby([*by, "reason"]).size().to_dict()
    rows = [
        {**dict(zip(by, group, strict=True)), **{reason: int(counts.get((*group, reason), 0)) for reason in REASONS}}
        for group in groups
    ]
    table = pd.DataFrame(rows, columns=[*by, *REASONS])
    return table.assign(holes=table[list(REASONS)].sum(axis=1))


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
    columns = (np.append(words[name].to_numpy(dtype=np.int64), 0) for name in ("supports", "does_not_support"))
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

"""Classic measures, computed by ir_measures: those of trec_eval, and the diversity measures of ndeval.

A passage is relevant if it supports at least one perspective; for diversity measures, the perspectives are the subtopics.
Relevant passages outside the run come from the pool (`Support.rest`): every labelled passage that this run did not retrieve. A
question without a relevant passage in the pool has no value (trec_eval would give 0).

ndeval divides alpha_nDCG by the value of a greedy ideal ranking (the best one is NP-hard to find), and of passages with equal
gains it takes the one whose name is last. Passages are therefore named by their ids, so that the divisor depends on the pool
alone and is equal for all systems.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ids
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures.measure import WHOLE_RUN, Compute, Cutoff, Definition, Measure, Values

NDEVAL_DEEPEST = 20
_BEYOND = "r"
_DIGITS = 20


def classic(library: str, cutoff: Cutoff = "needed", deepest: int = WHOLE_RUN) -> Definition:
    """Define a measure that ir_measures computes under the name `library`."""
    return Definition(_alone(library), cutoff, deepest, pooled=True, library=library)


def classic_values(measures: Sequence[Measure], support: Support) -> list[Values]:
    """Compute the values of several measures, each float64[n_questions], with a single call of ir_measures.

    The order of passages is that of the ranking, so the tie rule is that of the run.
    """
    return _values([_library_measure(m.definition.library, m.k) for m in measures], support)


def _alone(library: str) -> Compute:
    def compute(support: Support, k: int) -> Values:
        return _values([_library_measure(library, k)], support)[0]

    return compute


def _library_measure(library: str, k: int) -> Any:
    return ir_measures.parse_measure(library if k == WHOLE_RUN else f"{library}@{k}")


def _values(measures: Sequence[Any], support: Support) -> list[Values]:
    support.top(1)
    if support.rest is None:
        raise BadInputError(
            f"{measures[0]} needs labels of passages that the run did not retrieve.",
            hint="Compute it for a stored run, or give a qrels file.",
        )
    relevant = np.asarray(support.supports.any(axis=2))
    beyond = np.asarray(np.asarray(support.rest.any(axis=2)).sum(axis=1))
    known = np.flatnonzero(relevant.any(axis=1) | (beyond > 0))
    values = np.full((len(measures), len(relevant)), np.nan)
    # By id: hashing a measure of ir_measures takes longer than computing its value.
    place = {id(m): row for row, m in enumerate(measures)}
    ranked = [m for m in measures if not _of_subtopics(m)]
    if ranked and len(known):
        qrels = _qrels(relevant, beyond, known)
        _fill(values, place, ir_measures.pytrec_eval.evaluator(ranked, qrels), _run(support.depths, known))
    diverse = [m for m in measures if _of_subtopics(m)]
    if diverse and len(known):
        evaluator = ir_measures.pyndeval.evaluator(diverse, list(_subtopics(support, known)))
        _fill(values, place, evaluator, _named_run(support, known))
    return list(values)


def _of_subtopics(measure: Any) -> bool:
    return not ir_measures.pytrec_eval.supports(measure)


def _fill(
    values: npt.NDArray[np.float64], place: dict[int, int], evaluator: Any, run: dict[str, dict[str, float]]
) -> None:
    for metric in evaluator.iter_calc(run):
        values[place[id(metric.measure)], int(metric.query_id)] = metric.value


def _run(depths: npt.NDArray[np.int64], known: npt.NDArray[np.int64]) -> dict[str, dict[str, float]]:
    """Return a run whose passages are named by their ranks, with decreasing scores; rankings of equal depth share one
    dictionary."""
    by_depth = {d: {str(rank): float(d - rank) for rank in range(d)} for d in np.unique(depths[known]).tolist()}
    return {str(q): by_depth[d] for q, d in zip(known.tolist(), depths[known].tolist(), strict=True)}


def _qrels(
    relevant: npt.NDArray[np.bool_], beyond: npt.NDArray[np.int64], known: npt.NDArray[np.int64]
) -> dict[str, dict[str, int]]:
    names = [str(rank) for rank in range(relevant.shape[1])]
    others = [f"{_BEYOND}{n}" for n in range(int(beyond.max(initial=0)))]
    return {
        str(q): dict.fromkeys(chain((names[rank] for rank in relevant[q].nonzero()[0]), others[: beyond[q]]), 1)
        for q in known.tolist()
    }


def _named_run(support: Support, known: npt.NDArray[np.int64]) -> dict[str, dict[str, float]]:
    """Return the run with its passages named by `_name`, with decreasing scores."""
    return {
        str(q): {_name(support.ids, "", q, rank): float(depth - rank) for rank in range(depth)}
        for q, depth in zip(known.tolist(), support.depths[known].tolist(), strict=True)
    }


def _subtopics(support: Support, known: npt.NDArray[np.int64]) -> list[Any]:
    assert support.rest is not None
    rows = []
    for ids, prefix, block in ((support.ids, "", support.supports), (support.rest_ids, _BEYOND, support.rest)):
        for place, document, perspective in np.argwhere(block[known]).tolist():
            q = int(known[place])
            rows.append(ir_measures.Qrel(str(q), _name(ids, prefix, q, document), 1, str(perspective)))
    return rows


def _name(ids: Ids | None, prefix: str, question: int, place: int) -> str:
    """Return the name of a passage: its id in digits, whose order as text is that of the ids, or without ids its place."""
    return f"{prefix}{place}" if ids is None else f"{ids[question, place]:0{_DIGITS}d}"

"""The measures by the names they are written with."""

from collections.abc import Mapping, Sequence

import numpy as np

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import Call, parse
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures.classic import NDEVAL_DEEPEST, classic, classic_values
from berdseye.evaluation.measures.measure import (
    ANSWER_MEASURES,
    WHOLE_RUN,
    Definition,
    Measure,
    Values,
    coverage,
    mrecall,
    precision,
)
from berdseye.evaluation.scores.cover import reading_length

MEASURES: Mapping[str, Definition] = {
    "MRecall": Definition(mrecall),
    "Precision": Definition(precision),
    "Coverage": Definition(coverage),
    "ToCover": Definition(reading_length, unit="passages"),
    "Recall": classic("R"),
    "nDCG": classic("nDCG", "may"),
    "AP": classic("AP", "may"),
    "Rprec": classic("Rprec", "none"),
    "alpha_nDCG": classic("alpha_nDCG", deepest=NDEVAL_DEEPEST),
    "ERR_IA": classic("ERR_IA", deepest=NDEVAL_DEEPEST),
    "StRecall": classic("StRecall", deepest=NDEVAL_DEEPEST),
}
ALIASES: Mapping[str, str] = {"MAP": "AP", "R": "Recall", "NDCG": "nDCG", "alphaNDCG": "alpha_nDCG", "P": "Precision"}
"""Other names by which measures are known; `str()` gives the canonical one."""
DEFAULT_MEASURES = ("MRecall@5", "Precision@5", "Precision@1")


def parse_measures(text: str) -> list[Measure]:
    """Measures from their names, separated by spaces, each once; raises `UnknownNameError` with the nearest right names."""
    measures = list(dict.fromkeys(_measure(parse(name), name) for name in text.split()))
    if not measures:
        raise BadInputError("No measure was named.", hint=f"Name some, such as {' '.join(DEFAULT_MEASURES)}.")
    return measures


def parse_measure(text: str) -> Measure:
    """The one measure of a text; raises as `parse_measures` does, and for several."""
    measures = parse_measures(text)
    if len(measures) != 1:
        raise BadInputError(f"'{text}' is not one measure.", hint="Write it like MRecall@5.")
    return measures[0]


def values_of(measures: Sequence[Measure], support: Support) -> list[Values]:
    """The values of each measure, as `Measure.values` gives them; those that a library computes are computed together."""
    together = [m for m in measures if m.definition.library]
    found = dict(zip(together, classic_values(together, support), strict=True)) if together else {}
    known = support.counts > 0
    return [np.where(known, found[m], np.nan) if m in found else m.values(support) for m in measures]


def _measure(calls: list[Call], name: str) -> Measure:
    call = calls[0]
    canonical = ALIASES.get(call.name, call.name)
    definition = MEASURES.get(canonical)
    if len(calls) > 1 or definition is None:
        if (of_others := _of_no_run(call.name, name)) is not None:
            raise of_others
        raise UnknownNameError("measure", name, [_example(m) for m in MEASURES])
    hint = f"Write it like {_example(canonical)}."
    if call.args or call.kwargs or call.keep is not None:
        raise BadInputError(f"'{name}' takes nothing but a cutoff.", hint=hint)
    if call.cutoff is None:
        if definition.cutoff == "needed":
            raise BadInputError(f"'{name}' needs a cutoff of at least 1.", hint=hint)
        return Measure(canonical, WHOLE_RUN, definition)
    if definition.cutoff == "none":
        raise BadInputError(f"'{name}' takes no cutoff.", hint=hint)
    if not 1 <= call.cutoff <= definition.deepest:
        limit = f" and at most {definition.deepest}" if definition.deepest < WHOLE_RUN else ""
        raise BadInputError(f"'{name}' needs a cutoff of at least 1{limit}.", hint=hint)
    return Measure(canonical, call.cutoff, definition)


def _of_no_run(kind: str, name: str) -> BadInputError | None:
    """Why a measure that Berdseye has cannot be computed of a run."""
    if kind in ANSWER_MEASURES:
        return BadInputError(
            f"{name} is a measure of answers, and a run has none.",
            hint=f"Take a set of answers: berdseye study debateqa --dataset NAME --answers NAME --measures '{name}'.",
        )
    if kind.replace("-", "") == "pRecall":
        return BadInputError(
            f"{name} needs a ranking for each perspective that is asked for, and a run has one a question.",
            hint="Take a task of PIR: berdseye study pir. What a question alone finds of its perspectives is Coverage@k.",
        )
    return None


def _example(name: str) -> str:
    return name if MEASURES[name].cutoff == "none" else f"{name}@5"

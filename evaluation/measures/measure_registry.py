"""The registry of measures, and the parser of their names."""

from collections.abc import Mapping, Sequence

import numpy as np

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import Call, parse
from berdseye.data.plugins import plugin, plugin_names
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
"""Other common names of measures; `str()` gives the canonical name."""
DEFAULT_MEASURES = ("MRecall@5", "Precision@5", "Precision@1")


def parse_measures(text: str) -> list[Measure]:
    """Parse measures from names separated by spaces, without duplicates.

    Raises `UnknownNameError` with the closest names, and `BadInputError` for invalid cutoffs or an empty text.
    """
    measures = list(dict.fromkeys(_measure(parse(name), name) for name in text.split()))
    if not measures:
        raise BadInputError("No measure is given.", hint=f"Name measures such as {' '.join(DEFAULT_MEASURES)}.")
    return measures


def parse_measure(text: str) -> Measure:
    """Parse exactly one measure; raises the errors of `parse_measures`, and `BadInputError` for several measures."""
    measures = parse_measures(text)
    if len(measures) != 1:
        raise BadInputError(
            f"'{text}' names {len(measures)} measures; exactly one is needed.", hint="Example: MRecall@5."
        )
    return measures[0]


def values_of(measures: Sequence[Measure], support: Support) -> list[Values]:
    """Compute the values of each measure, as `Measure.values` does; measures of a library are computed in one call."""
    of_library = [m for m in measures if m.definition.library]
    values = dict(zip(of_library, classic_values(of_library, support), strict=True)) if of_library else {}
    has_perspectives = support.counts > 0
    return [np.where(has_perspectives, values[m], np.nan) if m in values else m.values(support) for m in measures]


def _measure(calls: list[Call], name: str) -> Measure:
    call = calls[0]
    canonical = ALIASES.get(call.name, call.name)
    definition: Definition | None = MEASURES.get(canonical) or plugin("measures", canonical)
    if len(calls) > 1 or definition is None:
        if (of_others := _not_for_runs(call.name, name)) is not None:
            raise of_others
        raise UnknownNameError("measure", name, [*map(_example, MEASURES), *plugin_names("measures")])
    hint = f"Write it like {canonical if definition.cutoff == 'none' else f'{canonical}@5'}."
    if call.args or call.kwargs or call.keep is not None:
        raise BadInputError(f"'{name}': a measure takes only a cutoff.", hint=hint)
    if call.cutoff is None:
        if definition.cutoff == "needed":
            raise BadInputError(f"'{name}' needs a cutoff of at least 1.", hint=hint)
        return Measure(canonical, WHOLE_RUN, definition)
    if definition.cutoff == "none":
        raise BadInputError(f"'{name}' takes no cutoff.", hint=hint)
    if not 1 <= call.cutoff <= definition.deepest:
        limit = f" and at most {definition.deepest:,}" if definition.deepest < WHOLE_RUN or call.cutoff > 0 else ""
        raise BadInputError(f"'{name}' needs a cutoff of at least 1{limit}.", hint=hint)
    return Measure(canonical, call.cutoff, definition)


def _not_for_runs(kind: str, name: str) -> BadInputError | None:
    """Return the error that explains why a measure of Berdseye does not apply to runs, or None."""
    if kind in ANSWER_MEASURES:
        return BadInputError(
            f"{name} is a measure of answers, and a run has no answers.",
            hint=f"Use `berdseye study debateqa --dataset NAME --answers NAME --measures '{name}'`.",
        )
    if kind.replace("-", "") == "pRecall":
        return BadInputError(
            f"{name} needs one ranking per perspective, and a run has one ranking per question.",
            hint="Use `berdseye study pir` on a PIR task. For the share of perspectives covered by a question, use Coverage@k.",
        )
    return None


def _example(name: str) -> str:
    return name if MEASURES[name].cutoff == "none" else f"{name}@5"

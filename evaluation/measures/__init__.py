"""The measures of runs, by name: `MRecall@5`, `nDCG@20`, `Rprec`.

A measure gives a value for each question, float64[n_questions]: a share in 0..1 or a number of passages, NaN where it is not
defined. The score of a run is the mean of these values. A new measure is one line in `MEASURES` (`measure_registry.py`).
"""

from berdseye.evaluation.measures.measure import (
    WHOLE_RUN,
    Definition,
    Measure,
    Unit,
    Values,
    coverage,
    mrecall,
    precision,
)
from berdseye.evaluation.measures.measure_registry import (
    DEFAULT_MEASURES,
    MEASURES,
    parse_measure,
    parse_measures,
    values_of,
)

__all__ = [
    "DEFAULT_MEASURES",
    "MEASURES",
    "WHOLE_RUN",
    "Definition",
    "Measure",
    "Unit",
    "Values",
    "coverage",
    "mrecall",
    "parse_measure",
    "parse_measures",
    "precision",
    "values_of",
]

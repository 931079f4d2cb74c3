"""The D-MERIT study: its parts on one set of systems and relevant passages, combined into one result."""

from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.evaluation.partial.ranked_sets import RankedSet
from berdseye.evaluation.studies.dmerit.coverage import coverage_study
from berdseye.evaluation.studies.dmerit.selection import selection_study
from berdseye.evaluation.studies.dmerit.significance import significance_study
from berdseye.evaluation.studies.dmerit.systems import same_systems, systems_study
from berdseye.evaluation.studies.result import StudyResult, Table, digest

PARTS = ("systems", "selection", "significance", "coverage")


def dmerit_study(
    ranked: RankedSet,
    parts: Sequence[str] = PARTS,
    *,
    trials: int = 1000,
    seed: int = 0,
    known: Mapping[str, tuple[str, ...]] | None = None,
    progress: Progress = silent,
) -> StudyResult:
    """Compute the selected parts: table 5; tables 3 and 9; tables 4, 7 and 8; pool coverage; each with its figures.

    Raises `BadInputError` for fewer than two systems (three for selection and significance, where each system in turn chooses
    passages and is left out).
    """
    needed = 3 if {"selection", "significance"} & set(parts) else 2
    if len(ranked.matrices.systems) < needed:
        raise BadInputError(f"The set has {len(ranked.matrices.systems)} systems; this study needs at least {needed}.")
    tables: list[Table] = []
    charts: dict[str, Any] = {}
    notes = list(ranked.notes)
    for part in (p for p in PARTS if p in parts):
        match part:
            case "systems":
                result = systems_study(ranked)
            case "selection":
                result = selection_study(ranked, trials=trials, seed=seed)
            case "significance":
                result = significance_study(ranked, seed=seed, progress=progress)
            case _:
                result = coverage_study(ranked, known=known)
        tables += result.tables
        charts |= result.charts
        notes += result.notes
    if not same_systems(ranked):
        notes.append(
            "Published figures are for D-MERIT's own data and twelve systems; they are not comparable and are in separate rows."
        )
    settings = {
        "set": ranked.name,
        "systems": list(ranked.matrices.systems),
        "labels": ranked.labels,
        "detector_version": ranked.detector_version,
        "depth": ranked.matrices.depth,
        "inputs": digest(ranked.matrices.queries, ranked.matrices.relevant, known),
        "parts": list(parts),
        "trials": trials,
        "seed": seed,
    }
    return StudyResult("dmerit", settings, tables, charts, tuple(dict.fromkeys(notes)))

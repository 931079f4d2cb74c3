"""The PIR study: its parts, combined into one result."""

from collections.abc import Callable, Mapping, Sequence

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.evaluation.studies.pir.paper import Setting, StudyPart
from berdseye.evaluation.studies.pir.places import places
from berdseye.evaluation.studies.pir.tables import backbones, bias, extraction, methods, retrievers
from berdseye.evaluation.studies.result import StudyResult
from berdseye.retrieval.expansion.language_model import EXTRACTION

PARTS: Mapping[str, Callable[[Setting], StudyPart]] = {
    "retrievers": retrievers,
    "bias": bias,
    "methods": methods,
    "extraction": extraction,
    "backbones": backbones,
    "places": places,
}
"""The parts by name: table 2 and figure 2; tables 3 and 10; tables 4 and 8; table 6; table 9; figures 4 and 5."""
USUAL = ("retrievers", "bias")


def pir_study(setting: Setting, parts: Sequence[str] = USUAL) -> StudyResult:
    """Compute the named parts of the study over the setting's tasks.

    Raises `UnknownNameError` for an unknown part, and `BadInputError` for tasks of equal names or extraction without a model.
    """
    names = [s.task.name for s in setting.searches]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInputError(f"Two tasks have the name '{twice}'.", hint="Give --task NAME once for each file.")
    for part in parts:
        if part not in PARTS:
            raise UnknownNameError("part of the study", part, PARTS)
    if "extraction" in parts and setting.model is None:  # checked before the other parts are computed
        raise BadInputError(
            "The part 'extraction' needs a language model.", hint="Use --model llm or --model 'api(NAME)'."
        )
    results = [PARTS[part](setting) for part in dict.fromkeys(parts)]
    left_out = tuple(
        f"{s.task.name}: {s.task.left_out} queries without a relevant passage are left out."
        for s in setting.searches
        if s.task.left_out
    )
    return StudyResult(
        "pir",
        {
            "tasks": {s.task.name: s.digest for s in setting.searches},
            "pipelines": list(setting.pipelines),
            "encoders": list(setting.encoders),
            "parts": list(dict.fromkeys(parts)),
            "k": setting.k,
            "sample": setting.sample,
            "seed": setting.seed,
            "model": setting.model.name if setting.model else "",
            **({} if setting.variant == "paper" else {"variant": setting.variant}),
            **({} if setting.prompt is EXTRACTION else {"prompt": {setting.prompt.name: setting.prompt.version}}),
        },
        [table for part in results for table in part.tables],
        {name: chart for part in results for name, chart in part.charts.items()},
        (*left_out, *(note for part in results for note in part.notes)),
    )

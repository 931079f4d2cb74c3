"""Published figures of DebateQA, and the measures, models and settings of Berdseye to which each figure belongs."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from berdseye.data.web.settings import DEBATEQA_TRUSTED
from berdseye.evaluation.answer_measures.measures import AnswerMeasure
from berdseye.evaluation.published import published

_EVALUATORS = {
    ("PD", "qwen2-0.5b"): "pd_qwen2_05b",
    ("PD", "gpt2"): "pd_gpt2",
    ("DA", "phi-3-medium"): "da_phi3_medium",
    ("DA", "qwen2-1.5b"): "da_qwen2_15b",
}
PRINTED = {
    "pd_qwen2_05b": "PD(qwen2 0.5b)",
    "pd_gpt2": "PD(gpt2)",
    "da_phi3_medium": "DA(phi-3 medium)",
    "da_qwen2_15b": "DA(qwen2 1.5b)",
}
_GROUPS = {
    "style": ("debateqa_prompts", "prompt", {}),
    "strategy": ("debateqa_rag", "strategy", {"none": "plain"}),
    "trusted_only": ("debateqa_rag_sources", "documents", {"any": "False", "trustworthy": "True"}),
}
_GROUP_EVALUATOR = "pd_qwen2_05b"
"""The evaluator of tables 3 to 5."""


def printed_column(measure: AnswerMeasure) -> str | None:
    """Return the column of table 2 to which a measure corresponds, or None.

    The published P.D. are too small to be sums of perplexities and match the released script, so they belong to that variant.
    """
    name = measure.model.rpartition("/")[2].removesuffix(")").lower()
    wanted = "released" if measure.name == "PD" else "paper"
    if measure.settings.get("variant", "paper") != wanted or set(measure.settings) - {"variant"}:
        return None
    return next((c for (kind, part), c in _EVALUATORS.items() if kind == measure.name and name.startswith(part)), None)


def same_model(ours: str, printed: str) -> bool:
    """Whether a model of Berdseye, such as `api(gpt-4o)`, is the model that the paper calls `printed`."""
    bare = re.sub(r"^(?:api|local)\((.*)\)$", r"\1", ours).strip('"').rpartition("/")[2]
    return _letters(bare) == _letters(printed)


def main_figures() -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each model of table 2 with its figures by column."""
    for row in published("debateqa_main").to_dict("records"):
        yield str(row["model"]), {str(k): float(v) for k, v in row.items() if k != "model"}


def group_figure(setting: str, value: str, model: str, measure: AnswerMeasure) -> float | None:
    """Return the figure of tables 3, 4 or 5 for a model under a setting; None if it is not published or not clearly legible."""
    if setting not in _GROUPS:
        return None
    name, column, ours = _GROUPS[setting]
    figures = published(name)
    if "assignment" in figures:
        figures = figures[figures["assignment"] == "legible"]
        figures = figures[figures["measure"] == measure.name.lower()]
    elif printed_column(measure) != _GROUP_EVALUATOR:
        return None
    by_measure = "pd" if "pd" in figures else "value"
    names: Mapping[str, str] = ours
    for row in figures.to_dict("records"):
        if names.get(str(row[column]), str(row[column])) == value and same_model(model, str(row["model"])):
            return float(row[by_measure])
    return None


def has_papers_sites(settings: Mapping[str, Any]) -> bool:
    """Whether the sites that a set of answers was written from are those of table 5: any site, or the paper's trusted endings."""
    wanted = DEBATEQA_TRUSTED if settings.get("trusted_only") else ()
    return set(settings.get("trusted", ())) == set(wanted)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())

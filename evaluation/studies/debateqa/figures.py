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
_GROUP_EVALUATORS = {"pd": ("pd_qwen2_05b",), "da": ("da_phi3_medium", "da_qwen2_15b")}
"""The evaluators that tables 3 to 5 may have: P.D. is Qwen2 0.5B's, and that of D.A. is not given here."""
TEST_QUESTIONS = 1_000
"""The questions of DebateQA's test split, over which table 2 and figure 3 are."""
_GROUP_QUESTIONS = {"style": 200, "strategy": 100, "trusted_only": 100}


def printed_column(measure: AnswerMeasure) -> str | None:
    """Return the column of table 2 to which a measure corresponds, or None.

    The published P.D. are too small to be sums of perplexities and match the released script, so they belong to that variant.
    """
    name = _bare(measure.model).lower()
    wanted = "released" if measure.name == "PD" else "paper"
    if measure.settings.get("variant", "paper") != wanted or set(measure.settings) - {"variant"}:
        return None
    return next((c for (kind, part), c in _EVALUATORS.items() if kind == measure.name and name.startswith(part)), None)


def same_model(ours: str, printed: str) -> bool:
    """Whether a model of Berdseye, such as `api(gpt-4o)`, is the model that the paper calls `printed`."""
    return _letters(_bare(ours)) == _letters(printed)


def main_figures() -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each model of table 2 with its figures by column."""
    for row in published("debateqa_main").to_dict("records"):
        yield str(row["model"]), {str(k): float(v) for k, v in row.items() if k != "model"}


def group_figures(setting: str, measure: AnswerMeasure) -> dict[tuple[str, str], float]:
    """Return the figures of tables 3, 4 or 5 under a measure, by the paper's name of the model and our value of the setting.

    Empty unless the evaluator is the paper's; of table 3, only what is clearly legible.
    """
    if setting not in _GROUPS or printed_column(measure) not in _GROUP_EVALUATORS.get(measure.name.lower(), ()):
        return {}
    name, column, names = _GROUPS[setting]
    ours: Mapping[str, str] = names
    figures = published(name)
    if "assignment" in figures:
        figures = figures[(figures["assignment"] == "legible") & (figures["measure"] == measure.name.lower())]
    elif measure.name != "PD":
        return {}
    value = "pd" if "pd" in figures else "value"
    rows = figures.to_dict("records")
    return {(str(r["model"]), ours.get(str(r[column]), str(r[column]))): float(r[value]) for r in rows}


def is_papers_size(setting: str, questions: int) -> bool:
    """Whether the number of questions is that of the paper's table for a setting: 3 (style), 4 (strategy) or 5 (trusted_only)."""
    return _GROUP_QUESTIONS.get(setting) == questions


def has_papers_sites(settings: Mapping[str, Any]) -> bool:
    """Whether the sites that a set of answers was written from are those of table 5: any site, or the paper's trusted endings."""
    wanted = DEBATEQA_TRUSTED if settings.get("trusted_only") else ()
    return set(settings.get("trusted", ())) == set(wanted)


def _bare(model: str) -> str:
    """Return the name of a model without its owner and without `api(...)` around it."""
    return re.sub(r"^(?:api|local)\((.*)\)$", r"\1", model).strip('"').rpartition("/")[2]


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())

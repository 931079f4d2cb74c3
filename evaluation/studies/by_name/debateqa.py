"""DebateQA's measures of answers by name, and their validity."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from berdseye.data.given_options import only_with
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.by_name.options import Between, Names, Seed

if TYPE_CHECKING:
    from berdseye.data.records import Question
    from berdseye.evaluation.answer_measures.measures import AnswerMeasure
    from berdseye.evaluation.studies.result import StudyResult

DATASET = "debateqa-test"
Limit = Annotated[int | None, Between(1)]


def debateqa(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str = DATASET,
    answers: Names = None,
    measures: str = "PD(gpt2) DA(llm)",
    stratify_by: str = "",
    prompts: Path | None = None,
    limit: Limit = None,
    paper: bool = True,
) -> "StudyResult":
    """Compute tables 2 to 5 and figures 2 and 3; `paper` adds the rows of the paper's own models."""
    from berdseye.data.answers import named_answers
    from berdseye.evaluation.studies.debateqa import study

    chosen = _measures(measures, prompts)
    questions = _questions(workspace, dataset, limit)
    sets = named_answers(workspace, dataset, answers)
    return study.debateqa(
        workspace, dataset, sets, questions, chosen, by=stratify_by, paper_rows=paper, progress=progress
    )


def meta(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str = DATASET,
    preferences: Path | None = None,
    labels: Path | None = None,
    answers: Names = None,
    measures: str = "PD(gpt2) BLEU ROUGE-L SemScore",
    prompts: Path | None = None,
    limit: Limit = None,
    seed: Seed = 0,
) -> "StudyResult":
    """Compute tables 14 and 15 from files of people's preferences and labels."""
    from berdseye.data.answers import named_answers
    from berdseye.evaluation.answer_measures.people import read_dispute_labels, read_preferences
    from berdseye.evaluation.studies.debateqa.meta import debateqa_meta

    chosen = _measures(measures, prompts)
    only_with("--preferences", preferences, "seed")
    preferred = read_preferences(preferences) if preferences else []
    labelled = read_dispute_labels(labels) if labels else []
    questions = _questions(workspace, dataset, limit)
    return debateqa_meta(
        workspace, dataset, named_answers(workspace, dataset, answers), questions, chosen,
        preferences=preferred, labels=labelled, seed=seed, progress=progress,
    )  # fmt: skip


def stability(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str = DATASET,
    answers: Names = None,
    measures: str = "PD(gpt2)",
    wraps: bool = False,
    limit: Limit = None,
) -> "StudyResult":
    """Compare the orders of systems by measures and, with `wraps`, by every wrap of each P.D."""
    from berdseye.data.answers import named_answers
    from berdseye.evaluation.answer_measures.reading import WRAPS
    from berdseye.evaluation.studies.debateqa.meta import debateqa_stability

    chosen = _measures(measures, None)
    only_with("PD(MODEL) among the measures", any(m.name == "PD" for m in chosen), "wraps")
    if wraps:
        chosen = [
            m.with_setting("wrap", wrap) if wrap else m for m in chosen for wrap in (WRAPS if m.name == "PD" else ("",))
        ]
    questions = _questions(workspace, dataset, limit)
    sets = named_answers(workspace, dataset, answers)
    return debateqa_stability(workspace, dataset, sets, questions, chosen, progress=progress)


def _measures(text: str, prompts: Path | None) -> list["AnswerMeasure"]:
    from berdseye.evaluation.answer_measures.measures import parse_answer_measures

    measures = parse_answer_measures(text)
    only_with("DA(MODEL) among the measures", any(m.name == "DA" for m in measures), "prompts")
    if prompts is None:
        return measures
    return [m.with_setting("prompt", str(prompts)) if m.name == "DA" else m for m in measures]


def _questions(workspace: Workspace, dataset: str, limit: int | None) -> list["Question"]:
    from berdseye.data.datasets.stored import load_dataset

    return load_dataset(workspace, dataset)[:limit]

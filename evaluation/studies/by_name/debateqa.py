"""DebateQA's measures of answers by name, and their validity."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from berdseye.data.datasets.subsets import Subset
from berdseye.data.errors import UnknownNameError
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
Numbers = Sequence[float] | None


def debateqa(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str = DATASET,
    answers: Names = None,
    measures: str = "PD(gpt2) DA(llm)",
    stratify_by: str = "",
    prompt: Names = None,
    limit: Limit = None,
    sample: Limit = None,
    sample_seed: Seed = 0,
    paper: bool = True,
) -> "StudyResult":
    """Compute tables 2 to 5 and figures 2 and 3; `paper` adds the rows of the paper's own models."""
    from berdseye.data.answers import named_answers
    from berdseye.evaluation.studies.debateqa import study

    chosen = _measures(measures, prompt)
    subset = Subset(limit, sample, sample_seed)
    questions = _questions(workspace, dataset, subset)
    sets = named_answers(workspace, dataset, answers)
    result = study.debateqa(
        workspace, dataset, sets, questions, chosen, by=stratify_by, paper_rows=paper, progress=progress
    )
    return _recorded(result, subset)


def meta(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str = DATASET,
    preferences: Path | None = None,
    labels: Path | None = None,
    answers: Names = None,
    measures: str = "PD(gpt2) BLEU ROUGE-L SemScore",
    prompt: Names = None,
    limit: Limit = None,
    sample: Limit = None,
    sample_seed: Seed = 0,
    seed: Seed = 0,
) -> "StudyResult":
    """Compute tables 14 and 15, and figures 8 and 11, from files of people's preferences and labels."""
    from berdseye.data.answers import named_answers
    from berdseye.evaluation.answer_measures.people import read_dispute_labels, read_preferences
    from berdseye.evaluation.studies.debateqa.meta import debateqa_meta

    chosen = _measures(measures, prompt)
    only_with("--preferences", preferences, "seed")
    preferred = read_preferences(preferences) if preferences else []
    labelled = read_dispute_labels(labels) if labels else []
    subset = Subset(limit, sample, sample_seed)
    questions = _questions(workspace, dataset, subset)
    result = debateqa_meta(
        workspace, dataset, named_answers(workspace, dataset, answers), questions, chosen,
        preferences=preferred, labels=labelled, seed=seed, progress=progress,
    )  # fmt: skip
    return _recorded(result, subset)


def stability(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str = DATASET,
    answers: Names = None,
    measures: str = "PD(gpt2)",
    wraps: bool = False,
    limit: Limit = None,
    sample: Limit = None,
    sample_seed: Seed = 0,
) -> "StudyResult":
    """Compare the orders of systems by measures and, with `wraps`, by every wrap of each P.D."""
    from berdseye.data.answers import named_answers
    from berdseye.evaluation.answer_measures.reading import WRAPS
    from berdseye.evaluation.studies.debateqa.stability import debateqa_stability

    chosen = _measures(measures)
    only_with("PD(MODEL) among the measures", any(m.name == "PD" for m in chosen), "wraps")
    if wraps:
        chosen = [
            m.with_setting("wrap", wrap) if wrap else m for m in chosen for wrap in (WRAPS if m.name == "PD" else ("",))
        ]
    subset = Subset(limit, sample, sample_seed)
    questions = _questions(workspace, dataset, subset)
    sets = named_answers(workspace, dataset, answers)
    result = debateqa_stability(workspace, dataset, sets, questions, chosen, progress=progress)
    return _recorded(result, subset)


def sweep(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str = DATASET,
    model: str = "llm",
    temperature: Numbers = None,
    top_p: Numbers = None,
    length: Sequence[int] | None = None,
    base_temperature: Annotated[float, Between(0, 2)] = 1.0,
    style: Literal["basic", "comprehensive", "detailed"] = "basic",
    max_tokens: Annotated[int, Between(1)] = 512,
    measures: str = "PD(gpt2)",
    limit: Limit = None,
    sample: Limit = None,
    sample_seed: Seed = 0,
    seed: Seed = 0,
) -> "StudyResult":
    """Answer under several temperatures, top-p values and lengths, and measure the answers (figures 12 to 14)."""
    from berdseye.evaluation.answering.asking import Sampling
    from berdseye.evaluation.answering.running import AnsweringPlan
    from berdseye.evaluation.answering.styles import STYLES
    from berdseye.evaluation.studies.debateqa.sweep import debateqa_sweep

    subset = Subset(limit, sample, sample_seed)
    questions = _questions(workspace, dataset, subset)
    plan = AnsweringPlan(style=STYLES[style], sampling=Sampling(max_tokens, base_temperature, seed))
    result = debateqa_sweep(
        workspace, dataset, model, plan, questions, _measures(measures),
        temperatures=temperature or (), top_ps=top_p or (), lengths=length or (), subset=subset, progress=progress,
    )  # fmt: skip
    return _recorded(result, subset)


def _measures(text: str, prompts: Names = None) -> list["AnswerMeasure"]:
    """Parse measures, and give those that `prompts` name (`MEASURE=FILE`; a file alone is D.A.'s) the prompt of the file."""
    from berdseye.evaluation.answer_measures.measures import KINDS, parse_answer_measures

    measures = parse_answer_measures(text)
    asked = [kind for kind, declared in KINDS.items() if "prompt" in declared.settings]
    for given in prompts or ():
        name, _, file = given.partition("=") if "=" in given else ("DA", "", given)
        if name not in asked:
            raise UnknownNameError("measure with a prompt", name, asked)
        only_with(f"{name}(MODEL) among the measures", any(m.name == name for m in measures), "prompt")
        measures = [m.with_setting("prompt", file) if m.name == name else m for m in measures]
    return measures


def _questions(workspace: Workspace, dataset: str, subset: Subset) -> list["Question"]:
    from berdseye.data.datasets.stored import load_dataset

    subset.check()  # before a wrong name of a data set is reported
    return subset.of(load_dataset(workspace, dataset))


def _recorded(result: "StudyResult", subset: Subset) -> "StudyResult":
    """Return a result whose settings say which questions it is about."""
    return replace(result, settings={**result.settings, **subset.settings})

"""PIR's measures and tables by name, and the effect of its retrieval on answers and essays."""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.extras import require
from berdseye.data.given_options import only_with
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.by_name.options import Between, Names, Seed

if TYPE_CHECKING:
    from berdseye.data.records import Pair
    from berdseye.evaluation.answering.downstream import Floats
    from berdseye.evaluation.answering.styles import Style
    from berdseye.evaluation.pir.task_search import TaskSearch
    from berdseye.evaluation.studies.result import StudyResult

_ENCODER = "dense(static)"
PIPELINES = ("bm25(okapi-notebook)", "bm25", _ENCODER)
"""The default pipelines of `pir`."""
_DOWNSTREAM_PIPELINES = (_ENCODER, f"{_ENCODER} >> pap", f"{_ENCODER} >> pap+")


def pir(
    workspace: Workspace,
    progress: Progress,
    *,
    files: Sequence[Path],
    task: Names = None,
    pipeline: Names = None,
    encoder: Names = None,
    part: Names = None,
    model: str | None = None,
    prompt: Path | None = None,
    sample: int = 50,
    seed: Seed = 0,
    k: int = 5,
    variant: Literal["paper", "released"] = "paper",
) -> "StudyResult":
    """Compute tables 2, 3, 4, 6, 8, 9, 10 and figures 2, 4, 5 over tasks, which are files, folders or names of fetched tasks."""
    from berdseye.data.datasets.pir_tasks import read_pir_tasks
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.data.language_models.prompts import read_prompt
    from berdseye.evaluation.pipelines import pipeline_of
    from berdseye.evaluation.pir.task_search import TaskSearch
    from berdseye.evaluation.studies.pir.paper import Setting
    from berdseye.evaluation.studies.pir.study import PARTS, USUAL, pir_study
    from berdseye.retrieval.expansion.language_model import EXTRACTION, QUERY

    parts = list(PARTS) if part is not None and list(part) == ["all"] else part or list(USUAL)
    only_with("--part extraction, or all", "extraction" in parts, "model", "prompt", "sample", "seed")
    only_with("--part methods or backbones, or all", {"methods", "backbones"} & set(parts), "encoder")
    recalls = {"retrievers", "methods", "backbones"} & set(parts)
    only_with("--part retrievers, methods or backbones, or all", recalls, "variant")
    tasks = read_pir_tasks(files, task or [], workspace)
    setting = Setting(
        [TaskSearch(t, workspace) for t in tasks],
        [str(pipeline_of(workspace, name)) for name in pipeline or PIPELINES],
        [str(pipeline_of(workspace, name)) for name in encoder or [_ENCODER]],
        lambda name: pipeline_of(workspace, name),
        k,
        sample,
        seed,
        open_language_model(model, workspace) if model else None,
        CompletionCache(workspace),
        EXTRACTION if prompt is None else read_prompt(prompt, (QUERY,)),
        progress,
        variant,
    )
    return pir_study(setting, parts)


def pir_downstream(
    workspace: Workspace,
    progress: Progress,
    *,
    ambigqa: Path | None = None,
    answers: Path | None = None,
    perspectrum: Path | None = None,
    pipeline: Names = None,
    model: str = "llm",
    judge: str | None = None,
    detector: str | None = None,
    prompt: Names = None,
    examples: Annotated[int, Between(1)] = 120,
    essays: Annotated[int, Between(4)] = 30,
    temperature: Annotated[float, Between(0, 2)] = 0.0,
    essay_temperature: Annotated[float, Between(0, 2)] = 1.0,
    seed: Seed = 0,
    window: int | None = None,
) -> "StudyResult":
    """Compute table 5: accuracy of answers from the best passage, and correlation of essays with the requested stance.

    The judge of essays is TextBlob, as in the paper, unless `judge` names a language model or `detector` a detector.
    """
    import numpy as np

    from berdseye.data.labels import LabelStore
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.evaluation.answering.asking import Asker, Sampling
    from berdseye.evaluation.answering.downstream import (
        polarities_by_detector,
        polarities_by_model,
        polarities_by_textblob,
        read_accepted,
    )
    from berdseye.evaluation.pipelines import pipeline_of
    from berdseye.evaluation.studies.pir.downstream import TEXTBLOB, Downstream
    from berdseye.evaluation.studies.pir.downstream import pir_downstream as study

    if judge is not None and detector is not None:
        raise BadInputError("--judge and --detector exclude each other.", hint="Give one of them.")
    if ambigqa is not None and answers is None:
        raise BadInputError(
            "PIR's AmbigQA file has no answers.",
            where=ambigqa,
            hint="Give them with --answers, or omit --ambigqa.",
        )
    only_with("--ambigqa", ambigqa, "answers", "examples")
    only_with("--perspectrum", perspectrum, "judge", "detector", "essays", "essay_temperature")
    styles = _styles(prompt or (), {"answer": ambigqa, "essay": perspectrum})
    by_words = judge in (None, TEXTBLOB) and detector is None
    pipelines = [str(pipeline_of(workspace, name)) for name in pipeline or _DOWNSTREAM_PIPELINES]
    questions = None if ambigqa is None else _task(ambigqa, workspace)
    arguments = None if perspectrum is None else _task(perspectrum, workspace)
    if by_words and arguments is not None:
        require("The polarity of essays", "textblob")
    opened_model, cache = open_language_model(model, workspace), CompletionCache(workspace)
    judge_model = opened_model if by_words or judge is None else open_language_model(judge, workspace)
    side_detector = parse_detector(detector, workspace) if detector else None

    def polarity(essay_pairs: "Sequence[Pair]") -> "Floats":
        if not essay_pairs:
            return np.zeros(0)
        if side_detector is not None:
            return polarities_by_detector(LabelStore(workspace), side_detector, essay_pairs, progress=progress)
        if by_words:
            return polarities_by_textblob(essay_pairs)
        return polarities_by_model(judge_model, cache, essay_pairs, progress=progress)

    return study(
        Downstream(
            Asker(opened_model, cache, sampling=Sampling(temperature=temperature, seed=seed), window=window),
            pipelines,
            lambda name: pipeline_of(workspace, name),
            polarity,
            TEXTBLOB if by_words else (side_detector or judge_model).name,
            _textblob_version() if by_words else (side_detector or judge_model).version,
            questions,
            {} if answers is None else read_accepted(answers),
            arguments,
            examples,
            essays,
            essay_temperature,
            seed,
            styles["answer"],
            styles["essay"],
            progress,
        )
    )


def _styles(prompts: Sequence[str], tasks: "Mapping[str, Path | None]") -> "Mapping[str, Style]":
    """The styles of answers and essays; `prompts` are texts like `essay=FILE`, for steps whose task is given."""
    from berdseye.evaluation.answering.downstream import ESSAY, SHORT
    from berdseye.evaluation.answering.styles import read_style

    styles = {"answer": SHORT, "essay": ESSAY}
    for given in prompts:
        step, _, file = given.partition("=")
        if step not in styles or not file:
            raise UnknownNameError("step with a prompt", step, styles)
        only_with("--ambigqa" if step == "answer" else "--perspectrum", tasks[step], "prompt")
        styles[step] = read_style(Path(file))
    return styles


def _textblob_version() -> str:
    try:
        return version("textblob")
    except PackageNotFoundError:
        return ""


def _task(path: Path, workspace: Workspace) -> "TaskSearch":
    from berdseye.data.datasets.pir_tasks import read_pir_task
    from berdseye.evaluation.pir.task_search import TaskSearch

    return TaskSearch(read_pir_task(path), workspace)

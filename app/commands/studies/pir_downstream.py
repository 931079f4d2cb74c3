"""`study pir-downstream`: what retrieval is worth to answers and essays."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from berdseye.app.arguments import only_with
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import LARGEST_SEED, WorkspaceOption, opened
from berdseye.app.commands.studies.results import Form, FormOption, finish
from berdseye.app.console import counting
from berdseye.data.errors import BadInputError

if TYPE_CHECKING:
    from berdseye.data.records import Pair
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.pir.task_search import TaskSearch

_PIPELINES = ("dense(static)", "dense(static) >> pap(perspective=difference)")


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command("pir-downstream")(pir_downstream)


def pir_downstream(
    ambigqa: Annotated[Path | None, typer.Option(help="PIR's AmbigQA task, for answers with the best passage.")] = None,
    answers: Annotated[
        Path | None, typer.Option(help='Its accepted answers, JSONL: {"question", "answers": ["…"]}.')
    ] = None,
    perspectrum: Annotated[Path | None, typer.Option(help="PIR's Perspectrum task, for essays with five.")] = None,
    pipeline: Annotated[list[str] | None, typer.Option(help="A pipeline; may be given again.")] = None,
    model: ModelOption = DEFAULT_MODEL,
    judge: Annotated[
        str | None, typer.Option(help="A language model that tells an essay's side; without one, the model itself.")
    ] = None,
    detector: Annotated[str | None, typer.Option(help="A detector that tells it instead.")] = None,
    examples: Annotated[int, typer.Option(min=1, help="Questions at most.")] = 120,
    essays: Annotated[int, typer.Option(min=4, help="Essays at most, half of them for each stance.")] = 30,
    temperature: Annotated[float, typer.Option(min=0.0, max=2.0, help="0 is greedy.")] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="Draws the sample, and texts at temperatures above 0.")
    ] = 0,
    window: Annotated[int | None, typer.Option(help="Tokens of the model's window, where it does not tell.")] = None,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Exact-match accuracy with the best passage, and correlation of essays with the asked stance: PIR's table 5.

    Example: `berdseye study pir-downstream --perspectrum perspectrum.json --model llm --pipeline bm25`
    """
    from berdseye.app.pipelines import pipeline_of
    from berdseye.data.labels import LabelStore
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.data.language_models.registry import open_language_model
    from berdseye.detectors.registry import parse_detector
    from berdseye.evaluation.answering.asking import Asker, Sampling
    from berdseye.evaluation.answering.essays import Floats, polarities_by_detector, polarities_by_model
    from berdseye.evaluation.answering.short_answers import read_accepted
    from berdseye.evaluation.studies.pir_downstream import Downstream
    from berdseye.evaluation.studies.pir_downstream import pir_downstream as study

    if judge is not None and detector is not None:
        raise BadInputError("An essay's side is told twice.", hint="Give --judge or --detector.")
    if ambigqa is not None and answers is None:
        raise BadInputError(
            "PIR's AmbigQA file has no answers.",
            where=ambigqa,
            hint="Give them with --answers, or leave --ambigqa out.",
        )
    only_with("--ambigqa", ambigqa, "answers", "examples")
    only_with("--perspectrum", perspectrum, "judge", "detector", "essays")
    held = opened(workspace)
    opened_model, cache = open_language_model(model, held), CompletionCache(held)
    judging = open_language_model(judge, held) if judge else opened_model
    detecting = parse_detector(detector, held) if detector else None
    with counting("pir-downstream") as progress:

        def polarity(written: "Sequence[Pair]") -> Floats:
            if not written:
                return np.zeros(0)
            if detecting is not None:
                return polarities_by_detector(LabelStore(held), detecting, written, progress=progress)
            return polarities_by_model(judging, cache, written, progress=progress)

        result = study(
            Downstream(
                Asker(opened_model, cache, sampling=Sampling(temperature=temperature, seed=seed), window=window),
                [str(pipeline_of(held, name)) for name in pipeline or _PIPELINES],
                lambda name: pipeline_of(held, name),
                polarity,
                detecting.name if detecting is not None else judging.name,
                detecting.version if detecting is not None else judging.version,
                None if ambigqa is None else _task(ambigqa, held),
                {} if answers is None else read_accepted(answers),
                None if perspectrum is None else _task(perspectrum, held),
                examples,
                essays,
                seed,
                progress,
            )
        )
    finish(held, result, form)


def _task(path: Path, held: "Workspace") -> "TaskSearch":
    from berdseye.data.pir_tasks import read_pir_task
    from berdseye.evaluation.pir.task_search import TaskSearch

    return TaskSearch(read_pir_task(path), held)

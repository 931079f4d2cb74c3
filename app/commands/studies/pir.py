"""`study pir`: PIR's measures and tables over task files.

`study pir-downstream`: what retrieval is worth to answers and essays.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from berdseye.app.commands.arguments import not_with, only_with
from berdseye.app.commands.console import counting, print_json
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, opened
from berdseye.app.commands.studies.options import Form, FormOption, finish
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.data.datasets.pir_tasks import PirTask
    from berdseye.data.records import Pair
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.pir.task_search import TaskSearch


_ENCODER = "dense(static)"
_PIPELINES = ("bm25(okapi-notebook)", "bm25", _ENCODER)


def register(group: typer.Typer) -> None:
    """Add the commands."""
    register_pir(group)
    register_downstream(group)


def register_pir(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(pir)


def pir(
    files: Annotated[
        list[Path],
        typer.Argument(help="Tasks: files in the demo's layout, folders as on the Hub, or fetched ones by name."),
    ],
    task: Annotated[
        list[str] | None,
        typer.Option(help="The task's name, once a file; else the file's. Chooses it in a file of several."),
    ] = None,
    pipeline: Annotated[list[str] | None, typer.Option(help="A pipeline; may be given again.")] = None,
    encoder: Annotated[
        list[str] | None, typer.Option(help="A dense retriever for `methods` and `backbones`; may be given again.")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="retrievers, bias, methods, extraction, backbones, places, or all; may be given again."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The language model of `extraction`, such as llm.")] = None,
    sample: Annotated[int, typer.Option(help="Queries a task for `extraction`.")] = 50,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Draws that sample.")] = 0,
    k: Annotated[int, typer.Option("--k", "-k", help="How many passages count.")] = 5,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """How well rankings follow the perspective asked for: PIR's tables 2, 3, 4, 6, 8, 9, 10 and heat maps.

    With `--json`, p-Recall@k and Recall@k of one task and pipeline as one object, or of several as a list; that needs no
    workspace and keeps nothing.

    Example: `berdseye study pir perspectrum.json --task perspectrum --pipeline bm25 --k 5 --json`
    """
    from berdseye.evaluation.studies.pir.study import PARTS, USUAL

    not_with("--json", json, "form", "part", "encoder", "model", "sample", "seed", why="which prints recalls alone")
    parts = list(PARTS) if part == ["all"] else part or list(USUAL)
    only_with("--part extraction, or all", "extraction" in parts, "model", "sample", "seed")
    only_with("--part methods or backbones, or all", {"methods", "backbones"} & set(parts), "encoder")
    tasks = _tasks(files, task or [], workspace)
    names = pipeline or list(_PIPELINES)
    if json:
        _print_recalls(tasks, names, k, workspace)
        return
    from berdseye.app.pipelines import pipeline_of
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.evaluation.pir.task_search import TaskSearch
    from berdseye.evaluation.studies.pir.paper import Setting
    from berdseye.evaluation.studies.pir.study import pir_study

    held = opened(workspace)
    with counting("pir") as progress:
        setting = Setting(
            [TaskSearch(t, held) for t in tasks],
            [str(pipeline_of(held, name)) for name in names],
            [str(pipeline_of(held, name)) for name in encoder or [_ENCODER]],
            lambda name: pipeline_of(held, name),
            k,
            sample,
            seed,
            open_language_model(model, held) if model else None,
            CompletionCache(held),
            progress,
        )
        result = pir_study(setting, parts)
    finish(held, result, form)


def _tasks(files: list[Path], names: list[str], workspace: Path | None) -> "list[PirTask]":
    from berdseye.data.datasets.pir_tasks import read_pir_task

    if len(names) > len(files):
        raise BadInputError(
            f"{len(names)} names for {len(files)} files.", hint="Give --task once a file, in their order."
        )
    padded = [*names, *[""] * (len(files) - len(names))]
    return [read_pir_task(*_found(path, name, workspace)) for path, name in zip(files, padded, strict=True)]


def _found(path: Path, name: str, workspace: Path | None) -> tuple[Path, str]:
    """The file itself, or what `dataset fetch` keeps under this name, and the task's name."""
    from berdseye.data.datasets.pir_tasks import kept_task

    if path.exists():
        return path, name
    held = _workspace(workspace)
    kept = kept_task(held.downloads_folder / path) if held is not None else None
    if kept is None:
        raise BadInputError(
            "There is no such task file.", where=path, hint="Check the path, or fetch it: dataset fetch."
        )
    return kept, name or path.name.removeprefix("pir-")


def _print_recalls(tasks: "list[PirTask]", names: list[str], k: int, workspace: Path | None) -> None:
    from berdseye.app.pipelines import pipeline_of
    from berdseye.evaluation.pir.measures import perspective_recalls
    from berdseye.retrieval.pipeline_registry import parse_pipeline

    held = _workspace(workspace)
    parsed = [pipeline_of(held, name) if held else parse_pipeline(name) for name in names]
    rows = []
    for one in tasks:
        for pipe, found in zip(parsed, perspective_recalls(one, parsed, k), strict=True):
            values = {key: value for key, value in found._asdict().items() if key != "root_recall"}
            rows.append({"task": one.name, "pipeline": str(pipe), "k": k, **values})
    if len(rows) == 1:
        print_json({key: value for key, value in rows[0].items() if key not in ("task", "pipeline", "k")})
        return
    print_json(rows)


def _workspace(folder: Path | None) -> Workspace | None:
    """The workspace, or None where there is none and none was named."""
    try:
        return opened(folder)
    except UnavailableError:
        if folder is not None:
            raise
        return None


_DOWNSTREAM_PIPELINES = ("dense(static)", "dense(static) >> pap(perspective=difference)")


def register_downstream(group: typer.Typer) -> None:
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
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.evaluation.answering.asking import Asker, Sampling
    from berdseye.evaluation.answering.downstream import (
        Floats,
        polarities_by_detector,
        polarities_by_model,
        read_accepted,
    )
    from berdseye.evaluation.studies.pir.downstream import Downstream
    from berdseye.evaluation.studies.pir.downstream import pir_downstream as study

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
                [str(pipeline_of(held, name)) for name in pipeline or _DOWNSTREAM_PIPELINES],
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
    from berdseye.data.datasets.pir_tasks import read_pir_task
    from berdseye.evaluation.pir.task_search import TaskSearch

    return TaskSearch(read_pir_task(path), held)

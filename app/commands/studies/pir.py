"""`berdseye study pir` and `pir-downstream`: PIR's measures and tables over tasks, and the effect on answers and essays."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from berdseye.app.commands.arguments import not_with, only_with
from berdseye.app.commands.console import counting, print_json
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, open_workspace
from berdseye.app.commands.studies.options import Form, FormOption, finish
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.data.datasets.pir_tasks import PirTask
    from berdseye.data.records import Pair
    from berdseye.evaluation.pir.task_search import TaskSearch


_ENCODER = "dense(static)"
_PIPELINES = ("bm25(okapi-notebook)", "bm25", _ENCODER)
_DOWNSTREAM_PIPELINES = ("dense(static)", "dense(static) >> pap(perspective=difference)")


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
        typer.Argument(
            help="Tasks: files in the layout of PIR's demo, folders as on the Hub, or names of fetched tasks."
        ),
    ],
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="The name of a task, once per file; selects it in a file of several tasks. Default: the file's name."
        ),
    ] = None,
    pipeline: Annotated[list[str] | None, typer.Option(help="A pipeline; repeatable.")] = None,
    encoder: Annotated[
        list[str] | None, typer.Option(help="A dense retriever for the parts methods and backbones; repeatable.")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="retrievers, bias, methods, extraction, backbones, places or all; repeatable."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The language model for the part extraction, such as llm.")] = None,
    sample: Annotated[int, typer.Option(help="Number of queries per task for the part extraction.")] = 50,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of that sample.")] = 0,
    k: Annotated[int, typer.Option("--k", "-k", help="Number of top passages that count.")] = 5,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compute how well rankings follow the requested perspective: PIR's tables 2, 3, 4, 6, 8, 9, 10 and heat maps.

    With --json, the command prints p-Recall@k and Recall@k, as one object for one task and pipeline, or as a list for several.
    That requires no workspace and stores nothing.

    Example: `berdseye study pir perspectrum.json --task perspectrum --pipeline bm25 --k 5 --json`
    """
    from berdseye.evaluation.studies.pir.study import PARTS, USUAL

    not_with("--json", json, "form", "part", "encoder", "model", "sample", "seed", why="which prints only recalls")
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

    ws = open_workspace(workspace)
    with counting("pir") as progress:
        setting = Setting(
            [TaskSearch(t, ws) for t in tasks],
            [str(pipeline_of(ws, name)) for name in names],
            [str(pipeline_of(ws, name)) for name in encoder or [_ENCODER]],
            lambda name: pipeline_of(ws, name),
            k,
            sample,
            seed,
            open_language_model(model, ws) if model else None,
            CompletionCache(ws),
            progress,
        )
        result = pir_study(setting, parts)
    finish(ws, result, form)


def _tasks(files: list[Path], names: list[str], workspace: Path | None) -> "list[PirTask]":
    from berdseye.data.datasets.pir_tasks import read_pir_task

    if len(names) > len(files):
        raise BadInputError(
            f"--task is given {len(names)} times for {len(files)} files.",
            hint="Give --task at most once per file, in the same order.",
        )
    padded = [*names, *[""] * (len(files) - len(names))]
    return [read_pir_task(*_task_file(path, name, workspace)) for path, name in zip(files, padded, strict=True)]


def _task_file(path: Path, name: str, workspace: Path | None) -> tuple[Path, str]:
    """The file `path`, or the one that `dataset fetch` stored under this name, and the name of the task."""
    from berdseye.data.datasets.pir_tasks import kept_task

    if path.exists():
        return path, name
    ws = _workspace(workspace)
    fetched = kept_task(ws.downloads_folder / path) if ws is not None else None
    if fetched is None:
        raise BadInputError(
            "There is no such task file.", where=path, hint="Check the path, or run `berdseye dataset fetch pir`."
        )
    return fetched, name or path.name.removeprefix("pir-")


def _print_recalls(tasks: "list[PirTask]", names: list[str], k: int, workspace: Path | None) -> None:
    from berdseye.app.pipelines import pipeline_of
    from berdseye.evaluation.pir.measures import perspective_recalls
    from berdseye.retrieval.pipeline_registry import parse_pipeline

    ws = _workspace(workspace)
    parsed = [pipeline_of(ws, name) if ws else parse_pipeline(name) for name in names]
    rows = []
    for one in tasks:
        for pipe, recalls in zip(parsed, perspective_recalls(one, parsed, k), strict=True):
            values = {key: value for key, value in recalls._asdict().items() if key != "root_recall"}
            rows.append({"task": one.name, "pipeline": str(pipe), "k": k, **values})
    if len(rows) == 1:
        print_json({key: value for key, value in rows[0].items() if key not in ("task", "pipeline", "k")})
        return
    print_json(rows)


def _workspace(folder: Path | None) -> Workspace | None:
    """The workspace in `folder`, or the default one; None where `folder` is None and no default workspace exists."""
    try:
        return open_workspace(folder)
    except UnavailableError:
        if folder is not None:
            raise
        return None


def register_downstream(group: typer.Typer) -> None:
    """Add the command."""
    group.command("pir-downstream")(pir_downstream)


def pir_downstream(
    ambigqa: Annotated[Path | None, typer.Option(help="PIR's AmbigQA task, for answers from the best passage.")] = None,
    answers: Annotated[
        Path | None, typer.Option(help='The accepted answers of AmbigQA, JSONL: {"question", "answers": ["…"]}.')
    ] = None,
    perspectrum: Annotated[
        Path | None, typer.Option(help="PIR's Perspectrum task, for essays from the best five passages.")
    ] = None,
    pipeline: Annotated[list[str] | None, typer.Option(help="A pipeline; repeatable.")] = None,
    model: ModelOption = DEFAULT_MODEL,
    judge: Annotated[
        str | None, typer.Option(help="A language model that classifies the side of an essay. Default: --model.")
    ] = None,
    detector: Annotated[
        str | None, typer.Option(help="A detector that classifies the side of an essay instead.")
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Maximum number of questions.")] = 120,
    essays: Annotated[int, typer.Option(min=4, help="Maximum number of essays, half of them for each stance.")] = 30,
    temperature: Annotated[
        float, typer.Option(min=0.0, max=2.0, help="Sampling temperature; 0 is greedy decoding.")
    ] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the sample, and of texts at temperatures above 0.")
    ] = 0,
    window: Annotated[
        int | None, typer.Option(help="Context window of the model in tokens, where the model does not report it.")
    ] = None,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Compute PIR's table 5: exact-match accuracy with the best passage, and correlation of essays with the requested stance.

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
        raise BadInputError("--judge and --detector exclude each other.", hint="Give one of them.")
    if ambigqa is not None and answers is None:
        raise BadInputError(
            "PIR's AmbigQA file has no answers.",
            where=ambigqa,
            hint="Give them with --answers, or omit --ambigqa.",
        )
    only_with("--ambigqa", ambigqa, "answers", "examples")
    only_with("--perspectrum", perspectrum, "judge", "detector", "essays")
    ws = open_workspace(workspace)
    opened_model, cache = open_language_model(model, ws), CompletionCache(ws)
    judge_model = open_language_model(judge, ws) if judge else opened_model
    side_detector = parse_detector(detector, ws) if detector else None
    with counting("pir-downstream") as progress:

        def polarity(essay_pairs: "Sequence[Pair]") -> Floats:
            if not essay_pairs:
                return np.zeros(0)
            if side_detector is not None:
                return polarities_by_detector(LabelStore(ws), side_detector, essay_pairs, progress=progress)
            return polarities_by_model(judge_model, cache, essay_pairs, progress=progress)

        result = study(
            Downstream(
                Asker(opened_model, cache, sampling=Sampling(temperature=temperature, seed=seed), window=window),
                [str(pipeline_of(ws, name)) for name in pipeline or _DOWNSTREAM_PIPELINES],
                lambda name: pipeline_of(ws, name),
                polarity,
                side_detector.name if side_detector is not None else judge_model.name,
                side_detector.version if side_detector is not None else judge_model.version,
                None if ambigqa is None else _task(ambigqa, ws),
                {} if answers is None else read_accepted(answers),
                None if perspectrum is None else _task(perspectrum, ws),
                examples,
                essays,
                seed,
                progress,
            )
        )
    finish(ws, result, form)


def _task(path: Path, ws: Workspace) -> "TaskSearch":
    from berdseye.data.datasets.pir_tasks import read_pir_task
    from berdseye.evaluation.pir.task_search import TaskSearch

    return TaskSearch(read_pir_task(path), ws)

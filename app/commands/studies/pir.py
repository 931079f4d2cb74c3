"""`study pir`: PIR's measures and tables over task files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.arguments import not_with, only_with
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, opened
from berdseye.app.commands.studies.results import Form, FormOption, finish
from berdseye.app.console import counting, print_json
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.data.pir_tasks import PirTask

_ENCODER = "dense(static)"
_PIPELINES = ("bm25(okapi-notebook)", "bm25", _ENCODER)


def register(group: typer.Typer) -> None:
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
    from berdseye.data.language_models.registry import open_language_model
    from berdseye.evaluation.pir.task_search import TaskSearch
    from berdseye.evaluation.studies.pir.setting import Setting
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
    from berdseye.data.pir_tasks import read_pir_task

    if len(names) > len(files):
        raise BadInputError(
            f"{len(names)} names for {len(files)} files.", hint="Give --task once a file, in their order."
        )
    padded = [*names, *[""] * (len(files) - len(names))]
    return [read_pir_task(*_found(path, name, workspace)) for path, name in zip(files, padded, strict=True)]


def _found(path: Path, name: str, workspace: Path | None) -> tuple[Path, str]:
    """The file itself, or what `dataset fetch` keeps under this name, and the task's name."""
    from berdseye.data.pir_tasks import kept_task

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
    from berdseye.evaluation.pir.recall import perspective_recalls
    from berdseye.retrieval.registry import parse_pipeline

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

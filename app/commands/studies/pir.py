"""`berdseye study pir` and `pir-downstream`: PIR's measures and tables over tasks, and the effect on answers and essays."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from berdseye.app.commands.console import print_json
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, workspace_if_any
from berdseye.app.commands.studies.options import Form, FormOption, run, study_command
from berdseye.data.given_options import not_with
from berdseye.evaluation.studies.by_name.pir import PIPELINES


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
    prompt: Annotated[
        Path | None,
        typer.Option(
            help="A file with another prompt for the part extraction: a text with [Query] that asks for a JSON object with root "
            "and perspective."
        ),
    ] = None,
    sample: Annotated[int, typer.Option(help="Number of queries per task for the part extraction.")] = 50,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of that sample.")] = 0,
    k: Annotated[int, typer.Option("--k", "-k", help="Number of top passages that count.")] = 5,
    variant: Annotated[
        Literal["paper", "released"],
        typer.Option(
            help="Recalls as the paper defines them, or with the lists that the released notebook shares among the queries of a "
            "root, as its printed figures have them."
        ),
    ] = "paper",
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compute how well rankings follow the requested perspective: PIR's tables 2, 3, 4, 6, 8, 9, 10 and figures 2, 4, 5.

    With --json, the command prints p-Recall@k and Recall@k, as one object for one task and pipeline, or as a list for several.
    That requires no workspace and stores nothing.

    Example: `berdseye study pir perspectrum.json --task perspectrum --pipeline bm25 --k 5 --json`
    """
    not_with(
        "--json", json, "form", "part", "encoder", "model", "prompt", "sample", "seed", why="which prints only recalls"
    )
    if json:
        _print_recalls(files, task or [], pipeline or PIPELINES, k, variant, workspace)
        return
    run(
        "pir",
        workspace,
        form,
        files=files,
        task=task,
        pipeline=pipeline,
        encoder=encoder,
        part=part,
        model=model,
        prompt=prompt,
        sample=sample,
        seed=seed,
        k=k,
        variant=variant,
    )


def _print_recalls(
    files: list[Path],
    tasks: list[str],
    pipelines: Sequence[str],
    k: int,
    variant: Literal["paper", "released"],
    folder: Path | None,
) -> None:
    from berdseye.data.datasets.pir_tasks import read_pir_tasks
    from berdseye.evaluation.pipelines import pipeline_of
    from berdseye.evaluation.pir.measures import perspective_recalls
    from berdseye.retrieval.pipeline_registry import parse_pipeline

    ws = workspace_if_any(folder)
    parsed = [pipeline_of(ws, name) if ws else parse_pipeline(name) for name in pipelines]
    rows = []
    for one in read_pir_tasks(files, tasks, ws):
        for pipe, recalls in zip(parsed, perspective_recalls(one, parsed, k, variant), strict=True):
            values = {key: value for key, value in recalls._asdict().items() if key != "root_recall"}
            rows.append({"task": one.name, "pipeline": str(pipe), "k": k, **values})
    if len(rows) == 1:
        print_json({key: value for key, value in rows[0].items() if key not in ("task", "pipeline", "k")})
        return
    print_json(rows)


def register_downstream(group: typer.Typer) -> None:
    """Add the command."""
    group.command("pir-downstream")(pir_downstream)


@study_command("pir-downstream")
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
        str | None,
        typer.Option(
            help="The judge of essays: textblob, for the polarity of an essay's words as in the paper, or a language model that "
            "classifies the side of an essay. Default: textblob.",
        ),
    ] = None,
    detector: Annotated[
        str | None, typer.Option(help="A detector that classifies the side of an essay instead.")
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STEP=FILE",
            help="Another prompt of the step answer or essay: a file with a system prompt, or a text with [Question] and "
            "[Passages]; repeatable.",
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Maximum number of questions.")] = 120,
    essays: Annotated[int, typer.Option(min=4, help="Maximum number of essays, half of them for each stance.")] = 30,
    temperature: Annotated[
        float, typer.Option(min=0.0, max=2.0, help="Sampling temperature of answers; 0 is greedy decoding.")
    ] = 0.0,
    essay_temperature: Annotated[
        float, typer.Option(min=0.0, max=2.0, help="Sampling temperature of essays; 0 is greedy decoding.")
    ] = 1.0,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the sample, and of texts at temperatures above 0.")
    ] = 0,
    window: Annotated[
        int | None, typer.Option(help="Context window of the model in tokens, where the model does not report it.")
    ] = None,
) -> None:
    """Compute PIR's table 5: exact-match accuracy with the best passage, and correlation of essays with the requested stance.

    For AmbigQA, pap and pap+ use the difference of the query and its root as the perspective, as the paper's notebook does.

    Example: `berdseye study pir-downstream --perspectrum perspectrum.json --model llm --pipeline bm25`
    """

"""`answer`: a language model answers the questions of a data set, from what it knows or from what retrieval finds."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from berdseye.app.commands.arguments import not_with, only_with, written
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, opened
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.data.answers import AnswerManifest

_SHOWN = 300
_ASKING = (
    "dataset", "model", "style", "prompt_file", "strategy", "corpus", "pipeline", "trusted_only", "chunks", "characters",
    "retrievals", "max_tokens", "temperature", "seed", "window", "day", "limit", "name",
)  # fmt: skip
"""What is for writing answers, and not for reading those that are kept."""


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(answer)


def answer(
    dataset: Annotated[str | None, typer.Argument(help="A data set of the workspace.")] = None,
    model: ModelOption = DEFAULT_MODEL,
    style: Annotated[Literal["basic", "comprehensive", "detailed"], typer.Option(help="Our prompt.")] = "basic",
    prompt_file: Annotated[
        Path | None, typer.Option(help="A prompt of a paper instead: a system prompt, or one with [Question].")
    ] = None,
    strategy: Annotated[
        Literal["plain", "vanilla", "react"], typer.Option(help="Without retrieval, one retrieval, or several in turn.")
    ] = "plain",
    corpus: Annotated[str | None, typer.Option(help="The corpus to read, which may be one of the web.")] = None,
    pipeline: Annotated[str, typer.Option(help="The pipeline that finds chunks.")] = "bm25",
    trusted_only: Annotated[
        bool, typer.Option("--trusted-only", help="Read trusted sites alone: .gov, .edu, .org and the like.")
    ] = False,
    chunks: Annotated[int | None, typer.Option(help="Chunks of a retrieval; 10 for vanilla, 3 for react.")] = None,
    characters: Annotated[int, typer.Option(help="Characters of a chunk, at most.")] = 2000,
    retrievals: Annotated[int, typer.Option(help="Retrievals of react, the first with the question.")] = 3,
    max_tokens: Annotated[int, typer.Option(help="Tokens of an answer, at most.")] = 512,
    temperature: Annotated[float, typer.Option(help="0 is greedy.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="For temperatures above 0.")] = 0,
    window: Annotated[
        int | None, typer.Option(help="Tokens that the model reads and writes at most, where it does not tell.")
    ] = None,
    day: Annotated[str | None, typer.Option(help="For a corpus of the web: the day it was asked on.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.")] = None,
    name: Annotated[str | None, typer.Option(help="What the answers are called.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the sets of answers.")] = False,
    show: Annotated[str | None, typer.Option(help="Print a set of answers, and what each was written from.")] = None,
    question: Annotated[str | None, typer.Option(help="With --show: the id of one question, shown whole.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Have a language model answer the questions of a data set.

    A prompt that is too long for the model loses its last chunks, which is said. Cut off, the same command goes on where it
    stopped: what was written is kept.

    Example: `berdseye answer debate --model "api(gpt-4o-mini)" --strategy vanilla --corpus web --trusted-only`;
    `berdseye answer --list`; `berdseye answer --show NAME --question ID`
    """
    asking = [name for name in _ASKING if written(name)]
    not_with("--list", list_all, "show", *asking)
    not_with("--show", show is not None, *asking)
    only_with("--show", show is not None, "question")
    not_with("--prompt-file", prompt_file is not None, "style", why="which is a prompt of its own")
    only_with("--strategy vanilla or react", strategy != "plain", "pipeline", "chunks", "characters")
    only_with("--strategy react", strategy == "react", "retrievals")
    only_with("--temperature above 0", temperature > 0, "seed")
    held = opened(workspace)
    if list_all:
        _list(held, json)
        return
    if show is not None:
        _show(held, show, question, json)
        return
    if dataset is None:
        raise BadInputError("No data set is named.", hint="Write `berdseye answer DATASET`, or --list or --show NAME.")
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.detectors.labelling import label_function
    from berdseye.evaluation.answering.asking import Sampling
    from berdseye.evaluation.answering.running import AnsweringPlan, answer_dataset
    from berdseye.evaluation.answering.styles import STYLES, read_style

    plan = AnsweringPlan(
        strategy,
        STYLES[style] if prompt_file is None else read_style(prompt_file),
        Sampling(max_tokens, temperature, seed),
        corpus,
        pipeline,
        chunks,
        characters,
        retrievals,
        trusted_only,
        day,
        window,
    )
    before, started = CompletionCache(held).spent(), time.perf_counter()
    with counting(f"{dataset} by {model}") as progress:
        made = answer_dataset(
            held, dataset, model, plan, name=name, limit=limit, label_function=label_function(held), progress=progress
        )
    seconds, after = time.perf_counter() - started, CompletionCache(held).spent()
    if json:
        print_json({**_row(made), "settings": made.settings, "seconds": seconds})
        return
    _tell(made, after.calls - before.calls, seconds)


def _tell(made: "AnswerManifest", calls: int, seconds: float) -> None:
    took = made.settings
    note(f"{made.name}: {made.answers} answers by {made.model} ({took['model_version']}), {seconds:.1f} s")
    note(f"{_spent(took)}; {calls} of {took['calls']} completions were made now")
    for key, what in (
        ("empty_answers", "answers are empty"),
        ("answers_with_chunks_left_out", "prompts were too long and lost their last chunks"),
    ):
        if took[key]:
            note(f"{took[key]} {what}")
    if took["strategy"] != "plain" and took["answers_without_chunks"]:
        note(f"{took['answers_without_chunks']} answers had no chunk to read")
    if took.get("day"):
        note(f"The web was asked on {took['day']}: pass --day {took['day']} to go on or repeat this later.")


def _spent(took: Mapping[str, Any]) -> str:
    unpriced = f" and {took['unpriced']} calls of unknown price" if took["unpriced"] else ""
    untold = f" ({took['untold']} calls did not tell)" if took["untold"] else ""
    read, written = took["prompt_tokens"], took["completion_tokens"]
    return f"{read:,} tokens read, {written:,} written{untold}, ${took['cost']:.4f}{unpriced}"


def _row(made: "AnswerManifest") -> dict[str, Any]:
    shown = {key: made.settings.get(key) for key in ("style", "strategy", "corpus", "pipeline")}
    return {"name": made.name, "dataset": made.dataset, "model": made.model, **shown, "answers": made.answers}


def _list(held: Workspace, json: bool) -> None:
    from berdseye.data.answers import list_answers

    rows = [_row(made) for made in list_answers(held)]
    if json:
        print_json(rows)
        return
    for row in rows:
        print("\t".join("" if value is None else str(value) for value in row.values()))


def _show(held: Workspace, name: str, question: str | None, json: bool) -> None:
    from berdseye.data.answers import load_answers
    from berdseye.data.datasets.stored import load_dataset
    from berdseye.data.errors import UnknownNameError
    from berdseye.evaluation.answering.running import Read, load_read

    answers = load_answers(held, name)
    asked = {q.id: q.text for q in load_dataset(held, answers.dataset)} if answers.dataset in held.datasets() else {}
    read = load_read(held, name)
    if question is not None and question not in answers.texts:
        raise UnknownNameError("question in these answers", question, answers.texts)
    rows = []
    for id_, text in answers.texts.items():
        if question in (None, id_):
            seen = read.get(id_, Read((), (), ()))
            rows.append({"id": id_, "question": asked.get(id_, ""), "answer": text, **seen._asdict()})
    if json:
        sides = ("chunks", "left_out")
        print_json([{**row, **{side: [c._asdict() for c in row[side]] for side in sides}} for row in rows])
        return
    for row in rows:
        print(f"[{row['id']}] {row['question']}\n\n{row['answer'] or '(empty)'}\n")
        for search in row["searches"]:
            print(f"  searched: {search}")
        for side, mark in (("chunks", "read"), ("left_out", "left out")):
            for number, chunk in enumerate(row[side], start=1):
                text = chunk.text if question is not None or len(chunk.text) <= _SHOWN else f"{chunk.text[:_SHOWN]}…"
                print(f"  {mark} {number}: {chunk.title} {chunk.url}\n    {text}")
        print()

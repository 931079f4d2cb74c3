"""`berdseye answer`: have a language model answer the questions of a data set, with or without retrieved chunks."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import (
    LARGEST_SEED,
    JsonOption,
    LimitOption,
    SampleOption,
    SampleSeedOption,
    WorkspaceOption,
    open_workspace,
)
from berdseye.data.datasets.subsets import Subset
from berdseye.data.errors import BadInputError
from berdseye.data.given_options import given_options, not_with, only_with
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.data.answers import AnswerManifest

_SHOWN = 300
_ASKING = (
    "dataset", "model", "style", "prompt_file", "search_prompt", "strategy", "corpus", "pipeline", "trusted_only",
    "trusted_list", "chunks", "characters", "retrievals", "words", "max_tokens", "temperature", "top_p", "seed",
    "window", "day", "limit", "sample", "sample_seed", "name",
)  # fmt: skip
"""The parameters that apply to writing answers, and not to listing or showing stored ones."""


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(answer)


def answer(
    dataset: Annotated[str | None, typer.Argument(help="A data set of the workspace.")] = None,
    model: ModelOption = DEFAULT_MODEL,
    style: Annotated[
        Literal["basic", "comprehensive", "detailed"], typer.Option(help="The built-in prompt.")
    ] = "basic",
    prompt_file: Annotated[
        Path | None,
        typer.Option(help="A file with another prompt, such as a paper's: a system prompt, or a text with [Question]."),
    ] = None,
    search_prompt: Annotated[
        Path | None,
        typer.Option(
            help="With react: a file with another prompt for the next search: a text with [Question], and [Searches] and "
            "[Passages] for what was searched and found."
        ),
    ] = None,
    strategy: Annotated[
        Literal["plain", "vanilla", "react"],
        typer.Option(help="plain: no retrieval; vanilla: one retrieval; react: several retrievals in turn."),
    ] = "plain",
    corpus: Annotated[str | None, typer.Option(help="The corpus to retrieve from, which may be a web corpus.")] = None,
    pipeline: Annotated[str, typer.Option(help="The pipeline that retrieves chunks.")] = "bm25",
    trusted_only: Annotated[
        bool, typer.Option("--trusted-only", help="Read only sites with trusted domain endings.")
    ] = False,
    trusted_list: Annotated[
        Literal["debateqa", "institutions"],
        typer.Option(
            help="The trusted domain endings. debateqa: .edu, .org, .gov, .info and .pro, as in the paper; institutions: those "
            "of authorities, universities and organisations of every country. A web corpus with endings of its own keeps these."
        ),
    ] = "debateqa",
    chunks: Annotated[
        int | None, typer.Option(help="Chunks per retrieval. Default: 10 for vanilla, 3 for react.")
    ] = None,
    characters: Annotated[int, typer.Option(help="Maximum length of a chunk in characters.")] = 2000,
    retrievals: Annotated[
        int, typer.Option(help="Number of retrievals with react; the first one searches for the question.")
    ] = 3,
    words: Annotated[
        int | None, typer.Option(min=1, help="Length in words that the prompt asks for.", show_default="none")
    ] = None,
    max_tokens: Annotated[int, typer.Option(help="Maximum length of an answer in tokens.")] = 512,
    temperature: Annotated[float, typer.Option(help="Sampling temperature; 0 is greedy decoding.")] = 0.0,
    top_p: Annotated[
        float, typer.Option(help="Share of the probability from which tokens are drawn (nucleus sampling).")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed for temperatures above 0.")] = 0,
    window: Annotated[
        int | None, typer.Option(help="Context window of the model in tokens, where the model does not report it.")
    ] = None,
    day: Annotated[
        str | None, typer.Option(help="For a web corpus: the day (YYYY-MM-DD) whose search results are used.")
    ] = None,
    limit: LimitOption = None,
    sample: SampleOption = None,
    sample_seed: SampleSeedOption = 0,
    name: Annotated[str | None, typer.Option(help="Name of the set of answers.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the stored sets of answers.")] = False,
    show: Annotated[
        str | None, typer.Option(help="Print a set of answers, with the chunks that each answer was written from.")
    ] = None,
    question: Annotated[
        str | None, typer.Option(help="With --show: the id of one question, whose chunks are printed in full.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Have a language model answer the questions of a data set.

    Where a prompt is too long for the model, its last chunks are dropped, and the command reports how many prompts that
    affects. Finished answers are kept: after an interruption, the same command resumes.

    Example: `berdseye answer debate --model "api(gpt-4o-mini)" --strategy vanilla --corpus web --trusted-only`;
    `berdseye answer --list`; `berdseye answer --show NAME --question ID`
    """
    asking = [name for name in _ASKING if given_options(name)]
    not_with("--list", list_all, "show", *asking)
    not_with("--show", show is not None, *asking)
    only_with("--show", show is not None, "question")
    not_with("--prompt-file", prompt_file is not None, "style", why="which replaces the built-in prompt")
    only_with("--strategy vanilla or react", strategy != "plain", "pipeline", "chunks", "characters")
    only_with("--trusted-only", trusted_only, "trusted_list")
    only_with("--strategy react", strategy == "react", "retrievals", "search_prompt")
    only_with("--temperature above 0", temperature > 0, "seed", "top_p")
    Subset(limit, sample, sample_seed).check()
    ws = open_workspace(workspace)
    if list_all:
        _list(ws, json)
        return
    if show is not None:
        _show(ws, show, question, json)
        return
    if dataset is None:
        raise BadInputError("No data set is given.", hint="Use `berdseye answer DATASET`, --list or --show NAME.")
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.detectors.labelling import label_function
    from berdseye.evaluation.answering.asking import Sampling
    from berdseye.evaluation.answering.running import AnsweringPlan, answer_dataset
    from berdseye.evaluation.answering.styles import NEXT_SEARCH, STYLES, read_next_search, read_style

    plan = AnsweringPlan(
        strategy,
        STYLES[style] if prompt_file is None else read_style(prompt_file),
        Sampling(max_tokens, temperature, seed, top_p),
        corpus,
        pipeline,
        chunks,
        characters,
        retrievals,
        trusted_only,
        day,
        window,
        trusted_list,
        words,
        NEXT_SEARCH if search_prompt is None else read_next_search(search_prompt),
    )
    before, started = CompletionCache(ws).spent(), time.perf_counter()
    with counting(f"{dataset} by {model}") as progress:
        answers = answer_dataset(
            ws,
            dataset,
            model,
            plan,
            name=name,
            limit=limit,
            sample=sample,
            sample_seed=sample_seed,
            label_function=label_function(ws),
            progress=progress,
        )
    seconds, after = time.perf_counter() - started, CompletionCache(ws).spent()
    if json:
        print_json({**_row(answers), "settings": answers.settings, "seconds": seconds})
        return
    _print_summary(answers, after.calls - before.calls, seconds)


def _print_summary(answers: "AnswerManifest", calls: int, seconds: float) -> None:
    settings = answers.settings
    note(f"{answers.name}: {answers.answers} answers by {answers.model} ({settings['model_version']}), {seconds:.1f} s")
    note(f"{_usage(settings)}; {calls} of {settings['calls']} completions were generated now")
    for key, problem in (
        ("empty_answers", "answers are empty"),
        ("answers_with_chunks_left_out", "prompts were too long, so their last chunks were dropped"),
    ):
        if settings[key]:
            note(f"{settings[key]} {problem}")
    if settings["strategy"] != "plain" and settings["answers_without_chunks"]:
        note(f"{settings['answers_without_chunks']} answers had no chunk to read")
    if settings.get("day"):
        note(f"The web was searched on {settings['day']}: pass --day {settings['day']} to resume or repeat this later.")


def _usage(settings: Mapping[str, Any]) -> str:
    unpriced = f" and {settings['unpriced']} calls of unknown price" if settings["unpriced"] else ""
    unreported = settings.get("unreported", settings.get("untold", 0))  # earlier versions: untold
    uncounted = f" ({unreported} calls did not report tokens)" if unreported else ""
    prompt, completion = settings["prompt_tokens"], settings["completion_tokens"]
    return f"{prompt:,} prompt tokens, {completion:,} completion tokens{uncounted}, ${settings['cost']:.4f}{unpriced}"


def _row(answers: "AnswerManifest") -> dict[str, Any]:
    settings = {key: answers.settings.get(key) for key in ("style", "strategy", "corpus", "pipeline")}
    return {
        "name": answers.name,
        "dataset": answers.dataset,
        "model": answers.model,
        **settings,
        "answers": answers.answers,
    }


def _list(ws: Workspace, json: bool) -> None:
    from berdseye.data.answers import list_answers

    rows = [_row(answers) for answers in list_answers(ws)]
    if json:
        print_json(rows)
        return
    for row in rows:
        print("\t".join("" if value is None else str(value) for value in row.values()))


def _show(ws: Workspace, name: str, question: str | None, json: bool) -> None:
    from berdseye.data.answers import load_answers
    from berdseye.data.datasets.stored import load_dataset
    from berdseye.data.errors import UnknownNameError
    from berdseye.evaluation.answering.running import Read, load_read

    answers = load_answers(ws, name)
    questions = {q.id: q.text for q in load_dataset(ws, answers.dataset)} if answers.dataset in ws.datasets() else {}
    read = load_read(ws, name)
    if question is not None and question not in answers.texts:
        raise UnknownNameError("question in these answers", question, answers.texts)
    rows = []
    for id_, text in answers.texts.items():
        if question in (None, id_):
            seen = read.get(id_, Read((), (), ()))
            rows.append({"id": id_, "question": questions.get(id_, ""), "answer": text, **seen._asdict()})
    if json:
        sides = ("chunks", "left_out")
        print_json([{**row, **{side: [c._asdict() for c in row[side]] for side in sides}} for row in rows])
        return
    for row in rows:
        print(f"[{row['id']}] {row['question']}\n\n{row['answer'] or '(empty)'}\n")
        for search in row["searches"]:
            print(f"  searched: {search}")
        for side, mark in (("chunks", "read"), ("left_out", "dropped")):
            for number, chunk in enumerate(row[side], start=1):
                text = chunk.text if question is not None or len(chunk.text) <= _SHOWN else f"{chunk.text[:_SHOWN]}…"
                print(f"  {mark} {number}: {chunk.title} {chunk.url}\n    {text}")
        print()

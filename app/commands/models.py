"""`berdseye encoders` and `berdseye llm`: the known encoders, the cost of language models, and single judgments by them."""

from typing import Annotated, Any

import typer

from berdseye.app.commands.console import print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace

DEFAULT_MODEL = "llm"
llm = typer.Typer(
    no_args_is_help=True, help="Show what language models have cost, and ask one about sides or disputes."
)
ModelOption = Annotated[
    str, typer.Option(help="A language model: api(NAME), local(NAME), or llm, the workspace's default model.")
]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(encoders)
    for command in (generated, sides, disputed):
        llm.command()(command)
    cli.add_typer(llm, name="llm")


def encoders(json: JsonOption = False) -> None:
    """List the encoders whose pooling, prefixes and similarity Berdseye knows; others use their own configuration.

    Example: `berdseye encoders --json`
    """
    from dataclasses import asdict

    from berdseye.retrieval.encoders.encoder_registry import known_encoders

    rows: list[dict[str, Any]] = [asdict(model) for model in known_encoders()]
    if json:
        print_json(rows)
        return
    columns = (
        "name",
        "kind",
        "pooling",
        "similarity",
        "dimension",
        "max_length",
        "query_prefix",
        "passage_prefix",
        "licence",
    )
    print("\t".join(columns))
    for row in rows:
        print("\t".join(str(row[column]) for column in columns))


def generated(
    model: Annotated[
        str | None, typer.Option(help="Only this model, such as api(gpt-4o-mini). Default: all models.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show how many tokens language models have read and written for this workspace, and the cost in dollars.

    Example: `berdseye llm generated --json`
    """
    from berdseye.data.language_models.cache import CompletionCache

    ws = open_workspace(workspace)
    usage = CompletionCache(ws).spent(model)
    cap = ws.settings["language_models"]["cap"]
    if json:
        counts = {name: value for name, value in usage._asdict().items() if name != "cost"}
        print_json({**counts, "cost_dollars": usage.cost, "cap_dollars": cap or None})
        return
    unpriced = f", {usage.unpriced:,} calls of unknown price" if usage.unpriced else ""
    print(
        f"{usage.calls:,} calls, {usage.prompt_tokens:,} prompt tokens, {usage.completion_tokens:,} completion tokens, "
        f"${usage.cost:.2f}{f' of at most ${cap:.2f} for all models' if cap else ''}{unpriced}"
    )


def sides(
    question: Annotated[str, typer.Argument(help="A question with two sides.")],
    first: Annotated[str, typer.Argument(help="A perspective on one side of it.")],
    second: Annotated[str, typer.Argument(help="A perspective on the other side.")],
    model: ModelOption = DEFAULT_MODEL,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Ask a language model which of two perspectives is the supporting one.

    Example: `berdseye llm sides "Should cars be banned?" "Streets get safer." "People need them." --model "api(gpt-4o-mini)"`
    """
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.detectors.sides import TwoSides, supporting_sides

    ws = open_workspace(workspace)
    judge = open_language_model(model, ws)
    (place,) = supporting_sides(judge, CompletionCache(ws), [TwoSides(question, first, second)])
    supporting, opposing = (first, second) if place == 0 else (second, first)
    if json:
        print_json({"supporting": supporting, "opposing": opposing, "model": judge.name, "version": judge.version})
        return
    print(f"supporting: {supporting}\nopposing: {opposing}")


def disputed(
    question: Annotated[str, typer.Argument(help="A question.")],
    answer: Annotated[str, typer.Argument(help="An answer to it.")],
    model: ModelOption = DEFAULT_MODEL,
    prompt: Annotated[
        str | None, typer.Option(help="A prompt file with [Question] and [Answer]. Default: the built-in prompt.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Ask a language model whether an answer makes clear that its question is disputed.

    Example: `berdseye llm disputed "Should cars be banned?" "Opinions differ widely." --model "api(gpt-4o-mini)"`
    """
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.detectors.disputes import Answered, dispute_awareness, dispute_prompt

    ws = open_workspace(workspace)
    judge = open_language_model(model, ws)
    chosen = dispute_prompt(prompt, ws)
    (probability,) = dispute_awareness(judge, CompletionCache(ws), [Answered(question, answer)], prompt=chosen).tolist()
    if json:
        print_json(
            {
                "disputed": probability >= 0.5,
                "probability": probability,
                "model": judge.name,
                "version": judge.version,
                "prompt_version": chosen.version,
            }
        )
        return
    print(f"{'disputed' if probability >= 0.5 else 'not disputed'}  {probability:.3f}")

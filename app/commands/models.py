"""`encoders` and `llm generated | sides | disputed`: which models there are, what language models cost, and what they judge."""

from typing import Annotated, Any

import typer

from berdseye.app.commands.console import print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened

DEFAULT_MODEL = "llm"
llm = typer.Typer(no_args_is_help=True, help="What language models have written here, and what they judge.")
ModelOption = Annotated[
    str, typer.Option(help="A language model: api(NAME), local(NAME), or llm, the one that is set.")
]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(encoders)
    for command in (generated, sides, disputed):
        llm.command()(command)
    cli.add_typer(llm, name="llm")


def encoders(json: JsonOption = False) -> None:
    """List the encoders whose pooling, prefixes and similarity are known; others go by their own configuration.

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
    model: Annotated[str | None, typer.Option(help="Of one model, such as api(gpt-4o-mini).")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Tell how much language models have written for this workspace, and what it cost.

    Example: `berdseye llm generated --json`
    """
    from berdseye.data.language_models.cache import CompletionCache

    held = opened(workspace)
    spent = CompletionCache(held).spent(model)
    cap = held.settings["language_models"]["cap"]
    if json:
        counts = {name: value for name, value in spent._asdict().items() if name != "cost"}
        print_json({**counts, "cost_dollars": spent.cost, "cap_dollars": cap or None})
        return
    unpriced = f", {spent.unpriced:,} calls of unknown price" if spent.unpriced else ""
    print(
        f"{spent.calls:,} calls, {spent.prompt_tokens:,} tokens read, {spent.completion_tokens:,} written, "
        f"${spent.cost:.2f}{f' of at most ${cap:.2f} for all models' if cap else ''}{unpriced}"
    )


def sides(
    question: Annotated[str, typer.Argument(help="A question with two sides.")],
    first: Annotated[str, typer.Argument(help="A perspective on one side of it.")],
    second: Annotated[str, typer.Argument(help="A perspective on the other side.")],
    model: ModelOption = DEFAULT_MODEL,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Say which of two perspectives is the supporting one, by a language model.

    Example: `berdseye llm sides "Should cars be banned?" "Streets would be safer." "People need them." --model
    "api(gpt-4o-mini)"`
    """
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.detectors.sides import TwoSides, supporting_sides

    held = opened(workspace)
    asked = open_language_model(model, held)
    (place,) = supporting_sides(asked, CompletionCache(held), [TwoSides(question, first, second)])
    supporting, opposing = (first, second) if place == 0 else (second, first)
    if json:
        print_json({"supporting": supporting, "opposing": opposing, "model": asked.name, "version": asked.version})
        return
    print(f"supporting: {supporting}\nopposing: {opposing}")


def disputed(
    question: Annotated[str, typer.Argument(help="A question.")],
    answer: Annotated[str, typer.Argument(help="An answer to it.")],
    model: ModelOption = DEFAULT_MODEL,
    prompt: Annotated[str | None, typer.Option(help="A prompt file with [Question] and [Answer].")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Say whether an answer makes clear that its question is disputed, by a language model.

    Example: `berdseye llm disputed "Should cars be banned?" "Opinions differ widely." --model "api(gpt-4o-mini)"`
    """
    from berdseye.data.language_models.cache import CompletionCache
    from berdseye.data.language_models.model_registry import open_language_model
    from berdseye.detectors.disputes import Answered, dispute_awareness, dispute_prompt

    held = opened(workspace)
    asked = open_language_model(model, held)
    chosen = dispute_prompt(prompt, held)
    (probability,) = dispute_awareness(
        asked, CompletionCache(held), [Answered(question, answer)], prompt=chosen
    ).tolist()
    if json:
        print_json(
            {
                "disputed": probability >= 0.5,
                "probability": probability,
                "model": asked.name,
                "version": asked.version,
                "prompt_version": chosen.version,
            }
        )
        return
    print(f"{'disputed' if probability >= 0.5 else 'not disputed'}  {probability:.3f}")

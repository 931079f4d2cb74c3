"""`encoders` and `generated`: which models there are, and what language models have written and cost."""

from typing import Annotated, Any

import typer

from app.commands.options import JsonOption, WorkspaceOption, opened
from app.console import print_json


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(encoders)
    cli.command()(generated)


def encoders(json: JsonOption = False) -> None:
    """List the encoders whose pooling, prefixes and similarity are known; others go by their own configuration.

    Example: `berdseye encoders --json`
    """
    from dataclasses import asdict

    from retrieval.encoders.registry import known_encoders

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

    Example: `berdseye generated --json`
    """
    from data.language_models.cache import CompletionCache

    spent = CompletionCache(opened(workspace)).spent(model)
    if json:
        print_json(spent._asdict())
        return
    unpriced = f", {spent.unpriced:,} calls of unknown price" if spent.unpriced else ""
    print(
        f"{spent.calls:,} calls, {spent.prompt_tokens:,} tokens read, {spent.completion_tokens:,} written, "
        f"${spent.cost:.2f}{unpriced}"
    )

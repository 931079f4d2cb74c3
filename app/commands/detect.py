"""`detect`: what a detector says of one passage."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector
from berdseye.app.console import print_json


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(detect)


def detect(
    passage: Annotated[str, typer.Argument(help="A passage, or a file of it.")],
    perspective: Annotated[list[str], typer.Argument(help="One or more perspectives.")],
    title: Annotated[str, typer.Option(help="The title of the passage's document.")] = "",
    detector: Annotated[str | None, typer.Option(help="The detector; else the adopted one.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Say of each perspective whether the passage supports it, and with which probability.

    Example: `berdseye detect "Mornings are calmer since the blazers came." "School uniforms should be compulsory." --json`
    """
    from berdseye.data.records import Pair

    chosen = chosen_detector(detector, workspace)
    path = Path(passage) if len(passage) < 250 else None
    text = path.read_text(encoding="utf-8") if path is not None and path.is_file() else passage
    probabilities = chosen.predict([Pair(text, p, title) for p in perspective]).tolist()
    rows = [
        {
            "perspective": p,
            "probability": v,
            "supports": v >= chosen.threshold,
            "detector": chosen.name,
            "version": chosen.version,
        }
        for p, v in zip(perspective, probabilities, strict=True)
    ]
    if json:
        print_json(rows)
        return
    for row in rows:
        print(
            f"{'supports' if row['supports'] else 'does not support'}  {row['probability']:.3f}  {row['perspective']}"
        )

"""The option `--unjudged` of the commands that score runs."""

from typing import Annotated

import typer

from berdseye.evaluation.scores.unjudged import Unjudged

UnjudgedOption = Annotated[
    Unjudged | None,
    typer.Option(
        help="How a question counts if a run's top k has no label for it: zero, or left-out, which leaves it out of that run's "
        "mean. Default: the setting unjudged (zero)."
    ),
]

"""What several commands of `berdseye construct` share: an argument, the printed funnel, and the reading of NAME=VALUE."""

from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.console import note, print_json
from berdseye.data.errors import BadInputError

if TYPE_CHECKING:
    from berdseye.evaluation.construction.stored import Construction

NameArgument = Annotated[str, typer.Argument(help="The name of the construction.")]


def print_funnel(opened: "Construction", json: bool) -> None:
    """Print what each step kept and rejected, beside the paper's counts, with reasons and costs."""
    from berdseye.evaluation.construction.reporting import funnel, reasons, spent, spent_text

    stages, why, costs = funnel(opened), reasons(opened), spent(opened)
    if json:
        print_json(
            {
                "name": opened.name,
                "kind": opened.kind.name,
                "settings": dict(opened.settings),
                "stages": [stage._asdict() for stage in stages],
                "reasons": why,
                "cost_dollars": sum(cost.dollars for cost in costs),
                "rows_of_unknown_price": sum(cost.unpriced for cost in costs),
            }
        )
        return
    for stage in stages:
        if stage.rows is None:
            print(f"{stage.step}\tnot finished")
            continue
        paper = f"\t{stage.place}: {stage.printed:,.0f}" if stage.printed is not None else ""
        print(f"{stage.step}\t{stage.rows:,} in\t{stage.kept:,} {stage.title}\t{stage.rejected:,} rejected{paper}")
        for reason, count in why.get(stage.step, {}).items():
            print(f"\t{count:,} × {reason}")
    if cost := spent_text(costs):
        note(cost)


def name_and_value(text: str, option: str) -> tuple[str, str]:
    """Return the two parts of `NAME=VALUE`, as given with an option; raises `BadInputError`."""
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise BadInputError(f"'{text}' is not NAME=VALUE.", hint=f"Write {option} NAME=VALUE.")
    return name, value

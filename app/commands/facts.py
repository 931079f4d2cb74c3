"""Printing the figures of a data set or corpus."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from berdseye.app.commands.console import print_json

if TYPE_CHECKING:
    from berdseye.evaluation.describing import Fact


def print_facts(facts: Sequence["Fact"], json: bool) -> None:
    """Print one figure a line: its name, ours (– if unknown), the paper's with its place if there is one, and a note."""
    if json:
        print_json([fact._asdict() for fact in facts])
        return
    for fact in facts:
        printed = [] if fact.paper is None else [f"{fact.paper:.12g}", fact.place]
        print("\t".join([fact.fact, _ours(fact.value), *printed, *([fact.note] if fact.note else [])]))


def _ours(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.12g}" if value.is_integer() else f"{value:.2f}"

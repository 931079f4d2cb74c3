"""How the command line speaks: progress and notes to standard error, results to standard output."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

Report = Callable[[int, str], None]

notes = Console(stderr=True, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """A line for the person, kept out of what scripts read."""
    notes.print(text, markup=False)


def print_json(value: Any) -> None:
    """One JSON value on standard output; numbers that are not numbers become null."""
    print(json.dumps(_finite(value), ensure_ascii=False, indent=2))


@contextmanager
def counting(what: str) -> Iterator[Report]:
    """A line that counts while long work goes on."""
    columns = (TextColumn("{task.description}"), TextColumn("{task.completed:,}"), TimeElapsedColumn())
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda count, unit: progress.update(task, completed=count, description=f"{what}: {unit}")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value

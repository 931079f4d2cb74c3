"""The processes of test_typed_perspectives.py."""

from pathlib import Path

from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.manual import ManualPerspectives


def type_many(folder: Path, name: str, count: int) -> None:
    """One question after another, a perspective each."""
    typed = ManualPerspectives(Workspace.open(folder))
    for number in range(count):
        typed.put(f"Question {number} of {name}?", [f"View {number}."])

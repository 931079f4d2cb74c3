"""Analogies as a PIR task: find a story that is like another in one respect.

Source: JSON Lines `{"story", "aspect", "match"}`: `match` is like `story` in its `aspect`, which is analogy (the same course
of events), entity (the same people and things), or another word. The story is the root query. The wording of queries is ours.
"""

from pathlib import Path

from berdseye.data.pir_reformat.task_file import TaskFile, read_fields

_ASKED = {
    "analogy": "a story that is an analogy of this one",
    "entity": "a story with similar entities",
}


def reformat_analogy(source: Path) -> TaskFile:
    """Raises `BadInputError` with file and line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for _, (story, aspect, match) in read_fields(source, ("story", "aspect", "match")):
        groups.setdefault((story, aspect.lower()), []).append(match)
    task = TaskFile()
    for (story, aspect), matches in groups.items():
        perspective = _ASKED.get(aspect, f"a story with a similar {aspect}")
        task.ask(f"Find {perspective}: {story}", story, perspective, aspect, task.add(matches))
    return task

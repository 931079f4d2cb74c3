"""PIR's tasks as questions: root queries with the perspectives their queries ask for, and gold labels of the passages."""

from typing import Any

from berdseye.data.datasets.layouts.rows import SIDES, Imported
from berdseye.data.datasets.pir_tasks import PirTask
from berdseye.data.records import Pair, Perspective, Question


def is_pir(value: Any) -> bool:
    """Whether the content of a JSON file is one PIR task, or the released file of several tasks by name."""
    return isinstance(value, dict) and (
        "source_queries" in value or any(isinstance(v, dict) and "source_queries" in v for v in value.values())
    )


def questions_of(task: PirTask) -> Imported:
    """Convert root queries to questions.

    The gold label of a passage is positive for the perspective it is relevant to, and negative for the other perspectives
    of that root query. Questions, perspectives and passages have no whitespace at their ends, unlike those of the task.
    """
    by_root: dict[str, list[tuple[Perspective, list[str]]]] = {}
    for query in task.queries:
        passages = [task.passages[i].text.strip() for i in sorted(query.relevant)]
        perspective = Perspective(query.perspective.strip(), SIDES.get(query.label))
        by_root.setdefault(query.root.strip(), []).append((perspective, passages))
    gold: dict[Pair, bool] = {}
    for entries in by_root.values():
        for perspective, _ in entries:
            for other, passages in entries:
                for passage in passages:
                    pair = Pair(passage, perspective.text)
                    gold[pair] = gold.get(pair, False) or other is perspective
    questions = [
        Question(str(n), "", root, tuple(dict.fromkeys(p for p, _ in entries)))
        for n, (root, entries) in enumerate(by_root.items())
    ]
    return Imported("PIR", questions, gold)

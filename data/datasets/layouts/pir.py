"""PIR's tasks as questions: a root query with the perspectives that are asked for, and gold from the relevant passages."""

from typing import Any

from berdseye.data.datasets.layouts.rows import SIDES, Imported
from berdseye.data.datasets.pir_tasks import PirTask
from berdseye.data.records import Pair, Perspective, Question


def is_pir(value: Any) -> bool:
    """Whether what a JSON file holds is one task, or the released file of several by their names."""
    return isinstance(value, dict) and (
        "source_queries" in value or any(isinstance(v, dict) and "source_queries" in v for v in value.values())
    )


def questions_of(task: PirTask) -> Imported:
    """A root query is a question. A passage is gold for the perspective it is relevant to, and not for the root's others."""
    by_root: dict[str, list[tuple[Perspective, list[str]]]] = {}
    for query in task.queries:
        passages = [task.passages[i].text for i in sorted(query.relevant)]
        perspective = Perspective(query.perspective, SIDES.get(query.label))
        by_root.setdefault(query.root, []).append((perspective, passages))
    gold: dict[Pair, bool] = {}
    for asked in by_root.values():
        for perspective, _ in asked:
            for other, passages in asked:
                for passage in passages:
                    pair = Pair(passage, perspective.text)
                    gold[pair] = gold.get(pair, False) or other is perspective
    questions = [
        Question(str(n), "", root, tuple(dict.fromkeys(p for p, _ in asked)))
        for n, (root, asked) in enumerate(by_root.items())
    ]
    return Imported("PIR", questions, gold)

"""The inspection of a construction of BERDS: random questions with their perspectives, beside the documents that they come from.

BERDS inspected 20 questions of each data set, and found 1, 1 and 0 errors (table 19 of its second version).
"""

import random
from typing import Any

from berdseye.annotation.batches.check_items import CheckItem
from berdseye.evaluation.construction.berds.statements import inspection_text
from berdseye.evaluation.construction.steps import Built, Check

_SOURCES = ("document1", "document2", "asked", "statement", "options", "answers")
"""The fields that a question was made from."""


def inspection_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return `size` random questions of the last step (all if there are fewer), each beside what it was made from."""
    kept = built.kept(built.step_names[-1])
    return [
        CheckItem(
            row.id,
            "\n\n".join(_shown(row.fields[name]) for name in _SOURCES if row.fields.get(name)) or "The question alone.",
            inspection_text(row),
            str(row.fields["question"]),
        )
        for row in random.Random(seed).sample(kept, min(size, len(kept)))
    ]


INSPECTION = Check(
    "inspection",
    "inspect",
    "Inspect random questions and their perspectives beside their sources",
    inspection_items,
    printed="BERDS, table 19: 1, 1 and 0 errors of 20 questions",
)


def _shown(value: Any) -> str:
    return " / ".join(map(str, value)) if isinstance(value, list) else str(value)

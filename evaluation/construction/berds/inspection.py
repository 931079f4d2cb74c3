"""The inspection of a construction of BERDS: random questions with their perspectives, beside the documents that they come from.

BERDS inspected 20 questions of each data set, and found 1, 1 and 0 errors (table 19 of its second version).
"""

import random
from collections.abc import Sequence
from typing import Any

from berdseye.evaluation.construction.berds.statements import inspection_text
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Check

_SOURCES = ("document1", "document2", "asked", "statement", "options", "answers")
"""The fields that a question was made from."""


def inspection_items(rows: Sequence[Row], size: int, seed: int) -> list[dict[str, Any]]:
    """Return `size` random questions of the last step (all if there are fewer) as items of the form `inspect`."""
    kept = [row for row in rows if not row.rejected]
    drawn = random.Random(seed).sample(kept, min(size, len(kept)))
    return [
        {
            "id": row.id,
            "read": "\n\n".join(_shown(row.fields[name]) for name in _SOURCES if row.fields.get(name)) or row.id,
            "statement": inspection_text(row),
            "question": str(row.fields["question"]),
            "title": row.id,
        }
        for row in drawn
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

"""Debates: JSON claims with arguments for and against; gold labels say that an argument supports its own perspective."""

from typing import Any

from berdseye.data.datasets.layouts.rows import Imported, read_perspectives
from berdseye.data.records import Pair, Question
from berdseye.data.texts.passages import clean, cut


def is_debates(value: Any) -> bool:
    """Whether the content of a JSON file is a list of debates."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "claim_title" in value[0]


def read_debates(debates: list[dict[str, Any]]) -> Imported:
    """Read claims as questions and the titles of their arguments as perspectives."""
    questions, gold = [], {}
    for number, debate in enumerate(debates):
        perspectives = []
        for side in ("for", "against"):
            for entry in debate.get(f"perspectives_{side}") or []:
                title = clean(str(entry.get("perspective_title") or ""))
                if not title:
                    continue
                perspectives.append({"text": title, "stance": side})
                argument = (entry.get("argument") or {}).get("description") or []
                for passage in cut("\n".join(p.strip() for p in argument if p and p.strip())):
                    gold[Pair(passage, title)] = True
        claim = clean(str(debate.get("claim_title") or ""))
        if claim and perspectives:
            questions.append(Question(str(number), "", claim, read_perspectives(perspectives)))
    return Imported("debates", questions, gold)

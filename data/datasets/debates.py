"""Debate collections (claims with arguments for and against) as documents.

The layout is that of the material released with Perspectrum: `claim_title`, `perspectives_for`, `perspectives_against`,
each perspective with a `perspective_title` and an `argument` whose `description` is a list of paragraphs.
"""

from collections.abc import Iterator, Sequence
from typing import Any


def debate_documents(debates: Sequence[dict[str, Any]], collection: str) -> Iterator[dict[str, str]]:
    """Yield one document per argument: its title is the claim, its text the argument's paragraphs.

    The title of the perspective is omitted, since it would reveal what the argument supports. Ids begin with the name of
    the collection.
    """
    for number, debate in enumerate(debates):
        for side in ("perspectives_for", "perspectives_against"):
            for place, perspective in enumerate(debate.get(side) or []):
                argument = perspective.get("argument") or {}
                text = "\n".join(p.strip() for p in argument.get("description") or [] if p and p.strip())
                if text:
                    yield {
                        "id": f"{collection}-{number}-{side.removeprefix('perspectives_')}-{place}",
                        "title": str(debate.get("claim_title") or "").strip(),
                        "text": text,
                        "url": str(debate.get("url") or ""),
                    }

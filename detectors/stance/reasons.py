"""The reason that a perspective gives: what follows its claim, as in "Zoos should be closed, because animals suffer there".

`stance` has learned from claims and from titles, and follows the claim of such a perspective: a passage that gives another reason
seems to support it as well. The reason is therefore also read by itself, and both are separate sentences.
"""

import re

from berdseye.data.texts.chunkers import sentence_spans

_FEWEST_WORDS = 3
_REASON = re.compile(
    r"(?<!\bnot)(?<!\bonly)(?<!\bjust)(?<!\bsimply)(?<!\bmerely)(?<!\bpartly)(?:,?\s+but)?\s+because\s+"
    r"(?:of\s+the\s+fact\s+that\s+)?(?!of\b)|,\s+since\s+(?!\d)|,?\s+so\s+that\s+|[:;]\s+",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?][\"”’')\]]*$")


def claim_and_reason(perspective: str) -> tuple[str, str] | None:
    """Return the claim of a perspective and the reason that follows it, as two sentences.

    A reason follows "because", ", since", "so that", a colon or a semicolon, or is all sentences but the first; "not because",
    "only because" and the like begin none. None if there is no reason, or if it or the claim has fewer than three words.
    """
    first = sentence_spans(perspective)[:2]
    parts = [(first[0][1], first[1][0])] if len(first) > 1 else []
    parts += [match.span() for match in _REASON.finditer(perspective)]
    for end, start in sorted(parts):
        claim, reason = perspective[:end].strip(" ,"), perspective[start:].strip()
        if min(len(claim.split()), len(reason.split())) >= _FEWEST_WORDS:
            return claim if _ENDED.search(claim) else f"{claim}.", reason[0].upper() + reason[1:]
    return None


def readings_of(perspective: str) -> list[str]:
    """Return the texts whose readings count alike for a perspective: with a reason, its claim and reason, and the reason alone;
    otherwise the perspective."""
    parts = claim_and_reason(perspective)
    return [perspective] if parts is None else [" ".join(parts), parts[1]]

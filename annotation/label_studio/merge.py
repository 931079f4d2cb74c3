"""The three-way rule: what both sides agreed on last, what we hold, what Label Studio holds."""

from enum import Enum

from berdseye.annotation.label_studio.config import Word


class Step(Enum):
    """What brings one annotator's word on one pair into agreement."""

    NOTHING = "both sides hold what they agreed on"
    AGREED = "both sides changed to the same: only remember it"
    RECEIVE = "only Label Studio changed"
    SEND = "only we changed"
    OURS_STANDS = "both changed differently, and ours is the later word"
    THEIRS_STANDS = "both changed differently, and theirs is the later word"


def step(base: Word | None, local: Word | None, remote: Word | None, *, ours_at: str, theirs_at: str | None) -> Step:
    """The step for one annotator and pair; moments are ISO texts in UTC.

    `theirs_at` is None for an annotation deleted there, whose moment nobody knows: then a word of ours
    stands.
    """
    if local == remote:
        return Step.NOTHING if base == local else Step.AGREED
    if base == local:
        return Step.RECEIVE
    if base == remote:
        return Step.SEND
    return Step.OURS_STANDS if theirs_at is None or ours_at > theirs_at else Step.THEIRS_STANDS

"""Labelled pairs as chats, the form in which language models are fine-tuned elsewhere: what a detector would be asked, and
the answer it ought to give."""

from collections.abc import Iterator, Sequence
from typing import Any

from berdseye.data.labelled_pairs import LabelledPair
from berdseye.detectors.prompts import NO, YES, ZERO_SHOT, detection_slots


def chats(pairs: Sequence[LabelledPair]) -> Iterator[dict[str, Any]]:
    """A chat a pair, in the layout of TRL and of most servers: `messages` of system, user and assistant.

    The passage is fenced as it is when the detector asks, so instructions inside it stay part of what is judged.
    """
    for pair in pairs:
        asked = [message._asdict() for message in ZERO_SHOT.fill(detection_slots(pair.pair))]
        yield {"messages": [*asked, {"role": "assistant", "content": YES if pair.supports else NO}]}

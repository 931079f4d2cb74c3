"""Experiments on anchoring: which person sees the detector's label of which pair before judging it, drawn once and for all."""

from hashlib import blake2b
from typing import Literal, get_args

from berdseye.annotation.batches import Batch
from berdseye.annotation.judgments import Annotator

Arm = Literal["blind", "shown"]
ARMS: tuple[Arm, ...] = get_args(Arm)


def arm(batch: Batch, pair: str, person: Annotator) -> Arm:
    """Whether this person judges the pair blind or with the detector's label in sight.

    In an experiment it is drawn by the batch's seed for each pair and person alone, `shown` with the chance `shown_share`: the
    same at every call, on every machine. Without one it is what the batch says of all pairs.
    """
    if batch.shown_share is None:
        return "blind" if batch.blind else "shown"
    drawn = blake2b(f"{batch.seed}\0{pair}\0{person.name.casefold()}".encode(), digest_size=8).digest()
    return "shown" if int.from_bytes(drawn, "big") / 2**64 < batch.shown_share else "blind"

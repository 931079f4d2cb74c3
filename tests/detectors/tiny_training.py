"""A training of `stance` that is small enough for a test: its examples, its settings, and a command that measures nothing."""

from pathlib import Path

import pytest

from berdseye.detectors.stance import batches, publishing
from berdseye.detectors.stance import train as command
from berdseye.detectors.stance.examples import CONTRADICTED, ENTAILED, Example, Statement
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork
from berdseye.detectors.stance.training import StanceSettings, untrained

SIDES = [
    ("zoos are cruel", "zoos are good", "zoos should be banned"),
    ("trams are clean", "trams are bad", "trams are good"),
]
"""Passages, each with a perspective that it opposes and one that it supports."""
TRAINING = StanceSettings(steps=200, learning_rate=2e-3, batch_tokens=192)


def labelled() -> dict[str, list[Example]]:
    """Return `SIDES` as training examples."""
    return {"claims": [Example(p, (Statement(no, CONTRADICTED), Statement(yes, ENTAILED))) for p, no, yes in SIDES]}


def begun(base: Path) -> tuple[StanceNetwork, PairTokenizer]:
    """Return an untrained network and its tokenizer."""
    return untrained(base, 0), PairTokenizer(base)


def measure_nothing(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the command train on `labelled` in a folder whose files of data are empty, and write a card without figures."""
    patch.setattr(batches, "_POOL", 32)
    patch.setattr(command, "training_examples", lambda *_: labelled())
    patch.setattr(command, "written_examples", dict)
    patch.setattr(publishing, "held_out", lambda *_: {})
    patch.setattr(publishing, "claims_with_reasons", lambda *_: [])
    patch.setattr(publishing, "against", lambda *_: {})
    patch.setattr(publishing, "calibrated", lambda *_, **__: (1.0, 0.0))
    patch.setattr(publishing, "measured", lambda *_: {"threshold": 0.5, "threshold_source": "", "measured": ""})
    for file in publishing.DATA_FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()

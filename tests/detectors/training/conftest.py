"""Tiny models train fastest on one thread."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from berdseye.detectors.training import cards

sys.path.append(str(Path(__file__).parents[2] / "retrieval" / "encoders"))


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "RESAMPLES", 20)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)

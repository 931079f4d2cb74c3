"""Tiny models below BERDSEYE_MODELS in place of the hub, on the processor."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in BERDSEYE_MODELS, empty."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setenv("BERDSEYE_MODELS", str(folder))
    monkeypatch.setenv("BERDSEYE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BERDSEYE_DEVICE", "cpu")
    monkeypatch.delenv("BERDSEYE_REMOTE_CODE", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the models are too small to share out
    yield folder
    torch.set_num_threads(threads)

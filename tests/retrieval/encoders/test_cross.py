"""Cross-encoders, against sentence-transformers' own and TART's published layout."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder
from transformers import AutoTokenizer

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.encoder_registry import open_cross_encoder

QUERY = "should zoos be banned?"
TEXTS = ["zoos are cars", "the city of trams and of schools and of cars", "", "uniforms"]
PASSAGES = [Passage(n, str(n), "city" if n % 2 else "", text) for n, text in enumerate(TEXTS)]
JOINED = [f"{p.title} {p.text}" if p.title else p.text for p in PASSAGES]


@pytest.mark.parametrize("name", ["cross-encoder/ms-marco-MiniLM-L6-v2", "mine"])
def test_scores_are_the_library_s(name: str, models: Path) -> None:
    folder = tiny_models.classifying_bert(models / name.rpartition("/")[2])
    plain, encoder = CrossEncoder(str(folder), device="cpu"), open_cross_encoder(name)
    assert encoder.name == name
    wanted = plain.predict([(QUERY, text) for text in JOINED])
    assert np.allclose(encoder.score(QUERY, PASSAGES), wanted, atol=1e-6)
    assert len(set(wanted.round(5))) == len(TEXTS)
    plain.save(str(models / "kept"), create_model_card=False)
    assert np.allclose(open_cross_encoder("kept").score(QUERY, PASSAGES), wanted, atol=1e-6)


def test_tart_reads_instruction_query_and_passage(models: Path) -> None:
    """softmax of a linear layer on the first token of `<s> instruction [SEP] query </s> passage </s>`, the second class."""
    folder = models / "tart-full-flan-t5-xl"
    model, weight, bias = tiny_models.tart(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    asked = f"retrieve a passage that answers this question [SEP] {QUERY}"

    def score(text: str) -> float:
        begin, end = tokenizer.convert_tokens_to_ids(["<s>", "</s>"])
        one, other = (tokenizer(part, add_special_tokens=False)["input_ids"] for part in (asked, text))
        states = model(torch.tensor([[begin, *one, end, *other, end]])).last_hidden_state
        return float(torch.softmax(states[0, 0] @ weight.T + bias, 0)[1].detach())

    encoder = open_cross_encoder("facebook/tart-full-flan-t5-xl")
    found = encoder.score(QUERY, PASSAGES)
    assert found.dtype == np.float32
    assert np.allclose(found, [score(text) for text in JOINED], atol=1e-5)
    assert len(set(found.round(5))) == len(TEXTS)


def test_tart_s_files_are_read_as_they_are_published(models: Path, tmp_path: Path) -> None:
    """A SentencePiece model, `<s>` numbered after T5's 100 extra tokens, and a tokenizer class nobody else has."""
    sentencepiece = pytest.importorskip("sentencepiece")
    folder = models / "tart-full-flan-t5-xl"
    tiny_models.tart(folder)
    pieces = tiny_models.publish_tokenizer(folder, sentencepiece, tmp_path)
    tokenizer = open_cross_encoder("tart-full-flan-t5-xl").model.tokenizer  # type: ignore[attr-defined]
    begin, one, other = pieces.get_piece_size() + 100, pieces.encode("zoos of"), pieces.encode("the city")
    assert tokenizer.encode("zoos of", "the city") == [begin, *one, 1, *other, 1]


def test_many_passages_keep_their_order(models: Path) -> None:
    tiny_models.classifying_bert(models / "mine")
    encoder = open_cross_encoder("mine")
    passages = [Passage(n, str(n), "", " ".join(["zoo"] * (1 + 11 * n % 40))) for n in range(80)]
    found = encoder.score(QUERY, passages)
    for n in (0, 31, 32, 79):
        assert np.allclose(found[n], encoder.score(QUERY, [passages[n]])[0], atol=1e-6)


def test_odd_texts(models: Path) -> None:
    tiny_models.classifying_bert(models / "mine")
    encoder = open_cross_encoder("mine")
    assert encoder.score(QUERY, []).shape == (0,)
    odd = [Passage(0, "a", "", text) for text in ("", "\ud800", "zoo " * 10_000)]
    assert np.isfinite(encoder.score("cars " * 10_000, odd)).all()


def test_scores_that_are_not_finite_are_an_error(models: Path) -> None:
    folder = tiny_models.classifying_bert(models / "mine")
    weights = load_file(folder / "model.safetensors")
    weights["bert.embeddings.word_embeddings.weight"][tiny_models.VOCABULARY.index("uniforms")] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInputError, match=r"mine returned .* for 1 of 4 texts.*'city uniforms'"):
        open_cross_encoder("mine").score("zoos", PASSAGES)


def test_models_that_do_not_rank_are_refused(models: Path) -> None:
    tiny_models.classifying_bert(models / "nli", labels=3)
    with pytest.raises(BadInputError, match="3 scores"):
        open_cross_encoder("nli")
    tiny_models.bert(models / "headless")
    with pytest.raises(BadInputError, match="another kind"):
        open_cross_encoder("headless")

"""Learned sparse encoders, against sentence-transformers' own and the formulas of the papers."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer, SparseEncoder
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from sentence_transformers.sparse_encoder.modules import SpladePooling
from transformers import AutoModelForMaskedLM, AutoTokenizer

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.encoder_registry import open_sparse_encoder
from berdseye.retrieval.encoders.known_models import SPARSE

TEXTS = ["should zoos be banned?", "the cars and the trams and the cars of the city", "", "zoo " * 40]
PASSAGES = [Passage(n, str(n), "zoos" if n % 2 else "", text) for n, text in enumerate(TEXTS)]
JOINED = [f"{p.title} {p.text}" if p.title else p.text for p in PASSAGES]
TERMS = len(tiny_models.VOCABULARY)


@pytest.mark.parametrize("name", [row.name for row in SPARSE if row.pooling == "splade"])
def test_splade_is_the_library_s(name: str, models: Path) -> None:
    folder = tiny_models.masked_bert(models / name.rpartition("/")[2])
    plain = SparseEncoder(
        modules=[Transformer(str(folder), transformer_task="fill-mask"), SpladePooling("max")], device="cpu"
    )
    encoder = open_sparse_encoder(name)
    assert encoder.terms == TERMS
    assert np.allclose(encoder.encode_queries(TEXTS).toarray(), plain.encode(TEXTS).to_dense().numpy(), atol=1e-5)
    assert np.allclose(encoder.encode_passages(PASSAGES).toarray(), plain.encode(JOINED).to_dense().numpy(), atol=1e-5)


def test_splade_is_the_papers_formula(models: Path) -> None:
    """w_j = max over tokens i of log(1 + ReLU(logit_ij)) (Formal et al. 2021, SPLADE v2, section 3.1)."""
    folder = tiny_models.masked_bert(models / "splade_v2_max")
    model, tokenizer = AutoModelForMaskedLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    found = open_sparse_encoder("splade_v2_max").encode_queries(TEXTS)
    assert found.dtype == np.float32
    assert 0 < found.nnz < found.shape[0] * found.shape[1]
    for row, text in zip(found.toarray(), TEXTS, strict=True):
        logits = model(**tokenizer(text, return_tensors="pt")).logits[0]
        assert np.allclose(row, torch.log1p(torch.relu(logits)).max(0).values.detach().numpy(), atol=1e-5)


def test_a_kept_sparse_model_is_used_as_it_is(models: Path) -> None:
    backbone = tiny_models.masked_bert(models / "backbone")
    tower = Transformer(str(backbone), transformer_task="fill-mask")
    SparseEncoder(modules=[tower, SpladePooling("sum")], device="cpu").save(
        str(models / "mine"), create_model_card=False
    )
    plain = SparseEncoder(str(models / "mine"), device="cpu")
    found = open_sparse_encoder("mine").encode_queries(TEXTS).toarray()
    assert np.allclose(found, plain.encode_query(TEXTS).to_dense().numpy(), atol=1e-5)


@pytest.mark.parametrize("name", [row.name for row in SPARSE if row.pooling == "unicoil"])
def test_unicoil_by_hand(name: str, models: Path) -> None:
    """A term's weight is ReLU(w . state + b): added up over its places in a query, the largest in a passage."""
    folder = models / name.rpartition("/")[2]
    model, weight, bias = tiny_models.unicoil(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def weights(text: str, *, query: bool) -> np.ndarray:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        values = torch.relu(model(ids).last_hidden_state[0] @ weight[0] + bias).tolist()
        out = np.zeros(TERMS, dtype=np.float32)
        for term, value in list(zip(ids[0].tolist(), values, strict=True))[1:]:
            out[term] = out[term] + value if query else max(out[term], value)
        return out

    encoder = open_sparse_encoder(name)
    queries, passages = encoder.encode_queries(TEXTS), encoder.encode_passages(PASSAGES)
    assert np.allclose(queries.toarray(), [weights(t, query=True) for t in TEXTS], atol=1e-4)
    assert np.allclose(passages.toarray(), [weights(t, query=False) for t in JOINED], atol=1e-4)
    assert not np.allclose(queries.toarray(), passages.toarray())
    assert queries.toarray()[:, tiny_models.SPECIAL.index("[CLS]")].max() == 0


def test_unicoil_without_expansion_is_known() -> None:
    assert {row.name for row in SPARSE if row.pooling == "unicoil"} == {
        "castorini/unicoil-noexp-msmarco-passage", "castorini/unicoil-msmarco-passage"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["splade_v2_max", "unicoil-noexp-msmarco-passage"])
def test_nothing_is_nothing(name: str, models: Path) -> None:
    if name.startswith("splade"):
        tiny_models.masked_bert(models / name)
    else:
        tiny_models.unicoil(models / name)
    encoder = open_sparse_encoder(name)
    assert encoder.encode_queries([]).shape == encoder.encode_passages([]).shape == (0, TERMS)


def test_weights_that_are_not_finite_are_an_error(models: Path) -> None:
    folder = tiny_models.masked_bert(models / "splade_v2_max")
    weights = load_file(folder / "model.safetensors")
    weights["bert.embeddings.word_embeddings.weight"][tiny_models.VOCABULARY.index("cars")] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInputError, match=r"naver/splade_v2_max returned"):
        open_sparse_encoder("splade_v2_max").encode_queries(["zoos", "cars"])


def test_models_of_other_kinds_are_refused(models: Path) -> None:
    tiny_models.bert(models / "splade_v2_max")
    with pytest.raises(BadInputError, match="another kind"):
        open_sparse_encoder("splade_v2_max")
    tower = Transformer(str(models / "splade_v2_max"))
    SentenceTransformer(modules=[tower, Pooling(16, "mean")], device="cpu").save(
        str(models / "dense"), create_model_card=False
    )
    with pytest.raises(BadInputError, match="not a SparseEncoder"):
        open_sparse_encoder("dense")

"""Late interaction encoders of the three published layouts, against transformers and the papers' description."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder, SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_transformers.sentence_transformer.modules import Pooling
from torch.nn.functional import normalize
from transformers import AutoModel, AutoTokenizer

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.encoder_registry import open_token_encoder
from berdseye.retrieval.encoders.known_models import LATE

TEXTS = ["should zoos be banned?", "the cars, and the trams: of the city", "zoo " * 40, ""]
PASSAGES = [Passage(n, str(n), "zoos" if n % 2 else "", text) for n, text in enumerate(TEXTS)]
JOINED = [f"{p.title} {p.text}" if p.title else p.text for p in PASSAGES]
MASK = tiny_models.SPECIAL.index("[MASK]")


def test_stanford_s_layout_is_the_paper_s_encoder(models: Path) -> None:
    """Khattab and Zaharia 2020, section 3.2: a marker after [CLS], queries filled up with [MASK], passages without punctuation.

    The masks are not attended to, which is the default of Stanford's library.
    """
    folder = models / "colbertv2.0"
    model, projection = tiny_models.stanford_colbert(folder, query_length=12, document_length=10)
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def vectors(text: str, *, query: bool) -> torch.Tensor:
        marker = tiny_models.VOCABULARY.index("##0" if query else "##1")
        most = 12 if query else 10
        words = tokenizer(text, add_special_tokens=False)["input_ids"][: most - 3]
        ids = [tokenizer.cls_token_id, marker, *words, tokenizer.sep_token_id]
        attended = [1] * len(ids)
        if query:
            attended += [0] * (most - len(ids))
            ids += [MASK] * (most - len(ids))
        states = model(torch.tensor([ids]), attention_mask=torch.tensor([attended])).last_hidden_state[0]
        skipped = {tiny_models.VOCABULARY.index(letter) for letter in "[]:?.,!-'"}
        kept = [query or token not in skipped for token in ids]
        return normalize((states @ projection.T)[kept], dim=1).detach()

    encoder = open_token_encoder("colbertv2.0")
    assert encoder.name == "colbert-ir/colbertv2.0"
    assert encoder.dimension == 6
    for found, text in zip(encoder.encode_queries(TEXTS), TEXTS, strict=True):
        assert found.dtype == np.float32
        assert found.shape == (12, 6)
        assert np.allclose(found, vectors(text, query=True), atol=1e-5)
    for found, text in zip(encoder.encode_passages(PASSAGES), JOINED, strict=True):
        assert np.allclose(found, vectors(text, query=False), atol=1e-5)


def own_layout(models: Path, **settings: str) -> MultiVectorEncoder:
    tower = Transformer(str(tiny_models.bert(models / "backbone")), query_length=8, document_length=16)
    dense = Dense(16, 6, bias=False, activation_function=torch.nn.Identity(), module_input_name="token_embeddings")
    modules = [tower, dense, MultiVectorMask(["?"]), Normalize(module_input_name="token_embeddings")]
    model = MultiVectorEncoder(
        modules=modules, device="cpu", prompts={"query": "what is ", "document": "the "}, **settings
    )
    model.save(str(models / "mine"), create_model_card=False)
    return model


def test_a_saved_model_is_used_as_it_is(models: Path) -> None:
    plain = own_layout(models)
    encoder = open_token_encoder("mine")
    for found, expected in zip(encoder.encode_queries(TEXTS), plain.encode_query(TEXTS), strict=True):
        assert np.allclose(found, expected.numpy(), atol=1e-5)
        assert len(found) <= 8
    for found, expected in zip(encoder.encode_passages(PASSAGES), plain.encode_document(JOINED), strict=True):
        assert np.allclose(found, expected.numpy(), atol=1e-5)


def test_the_sum_of_largest_similarities_is_the_model_s_own_similarity(models: Path) -> None:
    plain = own_layout(models, similarity_fn_name="meanmaxsim")
    encoder = open_token_encoder("mine")
    expected = plain.similarity(plain.encode_query(TEXTS), plain.encode_document(JOINED)).numpy()
    passages = encoder.encode_passages(PASSAGES)
    found = [[(q @ p.T).max(axis=1).sum() for p in passages] for q in encoder.encode_queries(TEXTS)]
    assert np.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["ColBERT", None])
def test_pylate_s_layout(kind: str | None, models: Path) -> None:
    """Two modules, with prefixes and lengths beside them; older versions record no kind."""
    own_layout(models)
    folder = models / "mine"
    parts = json.loads((folder / "modules.json").read_text())[:2]
    parts[1]["type"] = "pylate.models.Dense.Dense"
    (folder / "modules.json").write_text(json.dumps(parts))
    settings = {"query_prefix": "what ", "document_prefix": "the ", "query_length": 9, "document_length": 12}
    settings |= {"do_query_expansion": True, "attend_to_expansion_tokens": False, "skiplist_words": ["?"]}
    settings |= {"model_type": kind} if kind else {}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    path = folder / parts[0]["path"] / "sentence_bert_config.json"
    saved = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in saved.items() if k not in ("query_length", "document_length")}))
    encoder = open_token_encoder("mine")
    model, tokenizer = AutoModel.from_pretrained(models / "backbone").eval(), AutoTokenizer.from_pretrained(folder)
    weight = load_file(folder / parts[1]["path"] / "model.safetensors")["linear.weight"]
    ids = tokenizer(["what " + text for text in TEXTS], truncation=True, padding="max_length", max_length=9,
                    return_tensors="pt")  # fmt: skip
    filled = torch.where(ids["attention_mask"] == 1, ids["input_ids"], MASK)
    states = model(filled, attention_mask=ids["attention_mask"]).last_hidden_state
    expected = normalize(states @ weight.T, dim=2).detach().numpy()
    assert np.allclose(np.stack(encoder.encode_queries(TEXTS)), expected, atol=1e-5)
    assert [len(p) for p in encoder.encode_passages(PASSAGES[:1])] == [
        len([i for i in tokenizer("the " + TEXTS[0], truncation=True, max_length=12)["input_ids"]
             if i != tiny_models.VOCABULARY.index("?")])
    ]  # fmt: skip


def test_nothing_is_nothing(models: Path) -> None:
    own_layout(models)
    encoder = open_token_encoder("mine")
    assert encoder.encode_queries([]) == encoder.encode_passages([]) == []


def test_models_of_other_kinds_are_refused(models: Path) -> None:
    """The library would give them a projection of random numbers."""
    tiny_models.bert(models / "plain")
    with pytest.raises(BadInputError, match="is a BertModel, not a late interaction model"):
        open_token_encoder("plain")
    tower = Transformer(str(models / "plain"))
    SentenceTransformer(modules=[tower, Pooling(16, "mean")], device="cpu").save(
        str(models / "dense"), create_model_card=False
    )
    with pytest.raises(BadInputError, match="is a SentenceTransformer, not a late interaction model"):
        open_token_encoder("dense")
    with pytest.raises(UnknownNameError, match=r"colbertv2\.0"):
        open_token_encoder("colbertv2.1")


@pytest.mark.parametrize("layout", ["stanford", "own"])
def test_weights_that_are_missing_are_an_error(layout: str, models: Path) -> None:
    """The library initialises them at random."""
    if layout == "own":
        own_layout(models)
        folder = models / "mine"
    else:
        folder = models / "mine"
        tiny_models.stanford_colbert(folder)
    (path,) = (p for p in folder.rglob("model.safetensors") if "Dense" not in str(p))
    weights = load_file(path)
    (name,) = (name for name in weights if name.endswith("layer.1.output.dense.weight") and "attention" not in name)
    del weights[name]
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(BadInputError, match="lack 1 required tensors"):
        open_token_encoder("mine")


def test_vectors_that_are_not_finite_are_an_error(models: Path) -> None:
    folder = models / "mine"
    tiny_models.stanford_colbert(folder)
    weights = load_file(folder / "model.safetensors")
    weights["bert.embeddings.word_embeddings.weight"][tiny_models.VOCABULARY.index("cars")] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInputError, match=r"mine returned numbers that are not finite for 1 of 2 texts; .*'cars'"):
        open_token_encoder("mine").encode_queries(["zoos", "cars"])


def test_the_version_changes_with_the_files(models: Path) -> None:
    own_layout(models)
    shutil.copytree(models / "mine", models / "other")
    path = models / "other" / "config_sentence_transformers.json"
    path.write_text(path.read_text().replace("what is ", "what "))
    assert open_token_encoder("mine").version != open_token_encoder("other").version


def test_the_known_models_are_named_by_their_files() -> None:
    assert all(row.pooling == "tokens" and row.kind == "late" for row in LATE)

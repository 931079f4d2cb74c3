"""Bi-encoders that no table knows, and what must hold for all of them."""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tokenizers import processors
from transformers import AutoModel, AutoTokenizer, BertModel

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.encoder_registry import open_encoder

TEXTS = ["zoos", "should cars be banned from the city, and what of trams?", "", "a tram", "the the the zoo"]


def passage(text: str, title: str = "") -> Passage:
    return Passage(0, "a", title, text)


def kept(folder: Path, backbone: Path, **said: object) -> Path:
    """A model as sentence-transformers keeps it, with `said` in its configuration."""
    SentenceTransformer(modules=[Transformer(str(backbone)), Pooling(16, "cls")], device="cpu").save(
        str(folder), create_model_card=False
    )
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | said))
    return folder


def test_a_bare_transformer_is_mean_pooled(tmp_path: Path) -> None:
    folder = tiny_models.bert(tmp_path / "somebody")
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    wanted = [model(**tokenizer(t, return_tensors="pt")).last_hidden_state[0].mean(0).detach().numpy() for t in TEXTS]
    encoder = open_encoder(str(folder))
    assert (encoder.name, encoder.similarity, encoder.dimension) == (str(folder), "cosine", 16)
    rows = np.stack(wanted)
    assert np.allclose(encoder.encode_queries(TEXTS), rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-5)


def test_the_table_is_right_where_the_files_of_a_known_model_say_otherwise(models: Path) -> None:
    backbone = tiny_models.bert(models / "backbone")
    kept(models / "contriever", backbone, similarity_fn_name="cosine", prompts={"query": "what of "})
    assert open_encoder("contriever").similarity == "dot"
    found = open_encoder("contriever").encode_queries(TEXTS)
    tower = SentenceTransformer(modules=[Transformer(str(backbone)), Pooling(16, "mean")], device="cpu")
    assert np.allclose(found, tower.encode(TEXTS), atol=1e-5)


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_a_kept_model_is_used_as_its_own_files_say(similarity: str, models: Path) -> None:
    backbone = tiny_models.bert(models / "backbone")
    prompts = {"query": "what of ", "document": "a "}
    folder = kept(models / "mine", backbone, similarity_fn_name=similarity, prompts=prompts)
    plain, encoder = SentenceTransformer(str(folder), device="cpu"), open_encoder("mine")
    assert encoder.similarity == similarity
    same = similarity == "cosine"
    assert np.allclose(encoder.encode_queries(TEXTS), plain.encode_query(TEXTS, normalize_embeddings=same), atol=1e-5)
    found = encoder.encode_passages([passage(t, "zoo") for t in TEXTS])
    wanted = plain.encode_document([f"zoo {t}" for t in TEXTS], normalize_embeddings=same)
    assert np.allclose(found, wanted, atol=1e-5)


def test_a_similarity_that_no_index_has_is_refused(models: Path) -> None:
    kept(models / "mine", tiny_models.bert(models / "backbone"), similarity_fn_name="manhattan")
    with pytest.raises(BadInputError, match="manhattan"):
        open_encoder("mine")


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(alphabet="abcz ?", max_size=120), max_size=6))
def test_batches_change_nothing(models: Path, texts: list[str]) -> None:
    """Texts of all lengths together give what each gives alone, in the order they came."""
    if not (models / "contriever").exists():
        tiny_models.bert(models / "contriever")
    encoder = open_encoder("contriever")
    together = encoder.encode_queries(texts)
    assert together.shape == (len(texts), 16)
    assert together.dtype == np.float32
    for text, found in zip(texts, together, strict=True):
        assert np.allclose(found, encoder.encode_queries([text])[0], atol=1e-5)


def test_long_lists_keep_their_order(models: Path) -> None:
    tiny_models.bert(models / "contriever")
    encoder = open_encoder("contriever")
    texts = [" ".join(["zoo"] * (1 + number * 7 % 50)) for number in range(150)]
    found = encoder.encode_passages([passage(t) for t in texts])
    for number in (0, 31, 32, 77, 149):
        assert np.allclose(found[number], encoder.encode_queries([texts[number]])[0], atol=1e-5)


def test_a_question_of_ten_thousand_words_is_cut_and_quick(models: Path) -> None:
    tiny_models.bert(models / "contriever")
    encoder = open_encoder("contriever")
    question = "should cars be banned " * 2500
    started = time.perf_counter()
    found = encoder.encode_queries([question, question * 50])
    assert time.perf_counter() - started < 5
    assert np.allclose(found, encoder.encode_queries([" ".join(question.split()[: tiny_models.LENGTH])]), atol=1e-5)


def test_a_tokenizer_without_a_length_does_not_overrun_the_positions(models: Path) -> None:
    tokenizer = tiny_models.wordpiece()
    tokenizer.model_max_length = int(1e30)
    tiny_models.roberta(models / "somebody", tokenizer)
    assert np.isfinite(open_encoder("somebody").encode_queries(["cars " * 1000])).all()


def test_a_tokenizer_that_makes_nothing_of_an_empty_text(models: Path) -> None:
    tokenizer = tiny_models.wordpiece()
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing("$A", "$A $B", [])
    tiny_models.saved(tiny_models.spread(BertModel(tiny_models.bert_config())), models / "bare", tokenizer)
    encoder = open_encoder("bare")
    for texts in ([""], ["  ", "zoo"], ["zoo", ""]):
        assert np.isfinite(encoder.encode_queries(texts)).all()


def test_many_people_at_once(models: Path) -> None:
    tiny_models.bert(models / "contriever")
    encoder = open_encoder("contriever")
    texts = [" ".join(["zoo"] * n) for n in range(1, 60)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda text: encoder.encode_queries([text])[0], texts))
    assert np.allclose(found, encoder.encode_queries(texts), atol=1e-5)


def test_odd_texts(models: Path) -> None:
    tiny_models.bert(models / "contriever")
    encoder = open_encoder("contriever")
    odd = ["", "   ", "\ud800", "a\ud800b", "\0", "x" * 200_000, "🐅", "[PAD] [MASK]"]
    assert np.isfinite(encoder.encode_queries(odd)).all()
    assert np.allclose(encoder.encode_queries(["a\ud800b"]), encoder.encode_queries(["a?b"]), atol=1e-6)
    assert encoder.encode_queries([]).shape == encoder.encode_passages([]).shape == (0, 16)


def test_numbers_that_are_not_finite_are_an_error(models: Path) -> None:
    folder = tiny_models.bert(models / "contriever")
    weights = load_file(folder / "model.safetensors")
    row = tiny_models.VOCABULARY.index("zoo")
    weights["embeddings.word_embeddings.weight"][row] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    encoder = open_encoder("contriever")
    assert np.isfinite(encoder.encode_queries(["cars", "trams"])).all()
    with pytest.raises(BadInputError, match=r"facebook/contriever returned .* for 1 of 3 texts.* 'the zoo'"):
        encoder.encode_queries(["cars", "the zoo", "trams"])
    with pytest.raises(BadInputError, match="zoo"):
        encoder.encode_passages([passage("cars", "zoo")])


def test_weights_that_are_missing_are_not_made_up(models: Path) -> None:
    folder = tiny_models.bert(models / "contriever")
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInputError, match=r"lack 1 required tensors.*encoder\.layer\.1\.output\.dense\.weight"):
        open_encoder("contriever")


def test_a_pooler_may_be_missing_where_it_is_not_read(models: Path) -> None:
    for name in ("contriever", "sup-simcse-bert-base-uncased"):
        folder = tiny_models.bert(models / name)
        weights = {k: v for k, v in load_file(folder / "model.safetensors").items() if not k.startswith("pooler")}
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert open_encoder("contriever").dimension == 16
    with pytest.raises(BadInputError, match="pooler"):
        open_encoder("sup-simcse-bert-base-uncased")


def test_a_damaged_file_is_reported_with_the_model_and_a_hint(models: Path) -> None:
    folder = tiny_models.bert(models / "contriever")
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(UnavailableError, match=r"'facebook/contriever' cannot be loaded: .") as error:
        open_encoder("contriever")
    assert error.value.hint
    assert "\n" not in str(error.value)


def test_the_version_is_of_files_and_wiring(models: Path) -> None:
    folder = tiny_models.bert(models / "contriever")
    first = open_encoder("contriever").version
    shutil.copytree(folder, models / "unsup-simcse-bert-base-uncased")
    assert open_encoder("unsup-simcse-bert-base-uncased").version != first
    open_encoder.cache_clear()
    assert open_encoder("contriever").version == first
    shutil.rmtree(folder)
    tiny_models.bert(folder, seed=1)
    open_encoder.cache_clear()
    assert open_encoder("contriever").version != first


def test_the_pooling_of_any_transformer_can_be_chosen(models: Path) -> None:
    folder = tiny_models.bert(models / "mine")
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    rows = np.stack([model(**tokenizer(t, return_tensors="pt")).pooler_output[0].detach().numpy() for t in TEXTS])
    encoder = open_encoder("mine", "pooler")
    assert np.allclose(encoder.encode_queries(TEXTS), rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-5)
    assert len({open_encoder("mine", pooling).version for pooling in (None, "cls", "pooler")}) == 3
    saved = kept(models / "saved", folder)
    found = open_encoder("saved", "mean").encode_queries(TEXTS)
    assert np.allclose(found, open_encoder("mine").encode_queries(TEXTS), atol=1e-5)
    with pytest.raises(BadInputError, match="have no pooler") as error:
        open_encoder(str(saved), "pooler")
    assert error.value.hint == "Write pooling=mean or pooling=cls."
    with pytest.raises(BadInputError, match="pooling of the encoder 'static' cannot be chosen"):
        open_encoder("static", "mean")


def test_the_version_knows_both_towers(models: Path) -> None:
    names = "dpr-question_encoder-single-nq-base", "dpr-ctx_encoder-single-nq-base"
    tiny_models.dpr(models, *names)
    first = open_encoder(names[0]).version
    config = models / names[1] / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"layer_norm_eps": 1e-6}))
    open_encoder.cache_clear()
    assert open_encoder(names[0]).version != first


def test_a_gpu_without_memory_is_reported_with_the_setting_that_helps(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        del args, kwargs
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 20 GiB")

    tiny_models.bert(models / "contriever")
    encoder = open_encoder("contriever")
    monkeypatch.setattr(encoder.query_tower, "encode_query", full)  # type: ignore[attr-defined]
    with pytest.raises(UnavailableError, match="BERDSEYE_DEVICE=cpu"):
        encoder.encode_queries(["zoos"])
    assert encoder.encode_passages([passage("zoos")]).shape == (1, 16)


def test_a_device_that_is_not_there_is_named(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_models.bert(models / "contriever")
    monkeypatch.setenv("BERDSEYE_DEVICE", "gpu7")
    with pytest.raises(BadInputError, match="gpu7"):
        open_encoder("contriever")

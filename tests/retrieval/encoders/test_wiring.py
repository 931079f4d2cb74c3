"""Every known bi-encoder does what its paper says, on tiny weights; what is expected is worked out by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import tiny_models
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from torch import Tensor
from transformers import AutoModel, AutoTokenizer, DPRContextEncoder, DPRQuestionEncoder, T5EncoderModel

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.encoders.known_models import DENSE, DensePooling
from berdseye.retrieval.encoders.protocol import InstructedEncoder, ScalingEncoder

QUERIES = ["should zoos be banned?", "what of the tram", ""]
PASSAGES = [
    Passage(0, "a", "city cars", "cars are to be banned from the city"),
    Passage(1, "b", "", "zoos"),
    Passage(2, "c", "uniforms", "a school uniform is for school, and a uniform is what the school is for"),
]
SEARCH = "Represent this sentence for searching relevant passages: "

Pool = Callable[[Tensor], Tensor]


def mean(states: Tensor) -> Tensor:
    return states.mean(0)


def first(states: Tensor) -> Tensor:
    return states[0]


class Case(NamedTuple):
    """How one text becomes a vector: with one text at a time there is nothing to pad or to mask."""

    pool: Pool
    query: str = "{}"
    passage: str = "{}"
    separator: str = " "
    cosine: bool = False


CASES = {
    "facebook/contriever": Case(mean),
    "facebook/contriever-msmarco": Case(mean),
    "princeton-nlp/unsup-simcse-bert-base-uncased": Case(first, cosine=True),
    "princeton-nlp/unsup-simcse-bert-large-uncased": Case(first, cosine=True),
    "princeton-nlp/unsup-simcse-roberta-base": Case(first, cosine=True),
    "princeton-nlp/unsup-simcse-roberta-large": Case(first, cosine=True),
    "orionweller/tart-dual-contriever-msmarco": Case(
        mean, query="retrieve a passage that answers this question [SEP] {}"
    ),
    "Luyu/co-condenser-marco-retriever": Case(first, separator=" [SEP] "),
    "Luyu/co-condenser-wiki": Case(first, separator=" [SEP] "),
    "sentence-transformers/msmarco-bert-co-condensor": Case(first),
    "Shitao/RetroMAE_MSMARCO_finetune": Case(first, separator=" [SEP] "),
    "Shitao/RetroMAE_MSMARCO_distill": Case(first, separator=" [SEP] "),
    "Shitao/RetroMAE_BEIR": Case(first, separator=" [SEP] "),
    "WhereIsAI/UAE-Large-V1": Case(first, query=SEARCH + "{}", cosine=True),
    "BAAI/bge-small-en-v1.5": Case(first, query=SEARCH + "{}", cosine=True),
    "BAAI/bge-base-en-v1.5": Case(first, query=SEARCH + "{}", cosine=True),
    "BAAI/bge-large-en-v1.5": Case(first, query=SEARCH + "{}", cosine=True),
    "intfloat/e5-small-v2": Case(mean, "query: {}", "passage: {}", cosine=True),
    "intfloat/e5-base-v2": Case(mean, "query: {}", "passage: {}", cosine=True),
    "intfloat/e5-large-v2": Case(mean, "query: {}", "passage: {}", cosine=True),
    "sentence-transformers/all-MiniLM-L6-v2": Case(mean, cosine=True),
    "sentence-transformers/all-mpnet-base-v2": Case(mean, cosine=True),
}
SUPERVISED = [
    f"princeton-nlp/sup-simcse-{kind}"
    for kind in ("bert-base-uncased", "bert-large-uncased", "roberta-base", "roberta-large")
]
TCT = [f"castorini/tct_colbert-{kind}" for kind in ("v2-msmarco", "v2-hn-msmarco", "v2-hnp-msmarco")]
DPR = ["single-nq", "multiset"]
INSTRUCTORS = [f"hkunlp/instructor-{size}" for size in ("base", "large", "xl")]


def test_every_known_model_is_tested() -> None:
    tested = {*CASES, *SUPERVISED, *TCT, *INSTRUCTORS, "nvidia/NV-Embed-v2"}
    tested |= {f"facebook/dpr-question_encoder-{data}-base" for data in DPR}
    assert {row.name for row in DENSE} == tested


def built(name: str, models: Path) -> Path:
    folder = models / name.rpartition("/")[2]
    make = tiny_models.roberta if "roberta" in name else tiny_models.mpnet if "mpnet" in name else tiny_models.bert
    return make(folder)


def joined(passage: Passage, separator: str) -> str:
    return passage.title + separator + passage.text if passage.title else passage.text


def same(found: np.ndarray, expected: list[Tensor], *, cosine: bool = False) -> None:
    rows = torch.stack(expected).detach()
    wanted = torch.nn.functional.normalize(rows) if cosine else rows
    assert found.dtype == np.float32
    assert np.allclose(found, wanted.numpy(), atol=1e-5)
    assert len(np.unique(found.round(4), axis=0)) == len(found)


@pytest.mark.parametrize("name", CASES)
def test_pooling_prefix_and_norm(name: str, models: Path) -> None:
    case, folder = CASES[name], built(name, models)
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    model.eval()

    def vector(text: str) -> Tensor:
        return case.pool(model(**tokenizer(text, return_tensors="pt", truncation=True)).last_hidden_state[0])

    encoder = open_encoder(name.rpartition("/")[2])
    assert encoder.name == name
    assert encoder.similarity == ("cosine" if case.cosine else "dot")
    same(encoder.encode_queries(QUERIES), [vector(case.query.format(q)) for q in QUERIES], cosine=case.cosine)
    wanted = [vector(case.passage.format(joined(p, case.separator))) for p in PASSAGES]
    same(encoder.encode_passages(PASSAGES), wanted, cosine=case.cosine)


@pytest.mark.parametrize("name", SUPERVISED)
def test_supervised_simcse_goes_through_the_pooler(name: str, models: Path) -> None:
    folder = built(name, models)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)

    def vector(text: str) -> Tensor:
        state = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 0]
        return torch.tanh(model.pooler.dense(state))

    encoder = open_encoder(name)
    same(encoder.encode_queries(QUERIES), [vector(q) for q in QUERIES], cosine=True)
    same(encoder.encode_passages(PASSAGES), [vector(joined(p, " ")) for p in PASSAGES], cosine=True)


@pytest.mark.parametrize("kind", ["sup", "unsup"])
@pytest.mark.parametrize("pooling", ["mean", "cls", "pooler"])
def test_the_pooling_of_simcse_can_be_chosen(kind: str, pooling: DensePooling, models: Path) -> None:
    """PIR's paper has the mean of the token states; its notebook, and SimCSE's own code, have the pooler's output."""
    name = f"princeton-nlp/{kind}-simcse-bert-base-uncased"
    folder = built(name, models)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)

    def vector(text: str) -> Tensor:
        out = model(**tokenizer(text, return_tensors="pt"))
        state = out.last_hidden_state[0]
        return {"mean": state.mean(0), "cls": state[0], "pooler": out.pooler_output[0]}[pooling]

    encoder, usual = open_encoder(name, pooling), open_encoder(name)
    expected = [vector(q) for q in QUERIES]
    same(encoder.encode_queries(QUERIES), expected, cosine=True)
    assert isinstance(encoder, ScalingEncoder)
    raw = encoder.unscaled()
    same(raw.encode_queries(QUERIES), expected)
    same(raw.encode_passages(PASSAGES), [vector(joined(p, " ")) for p in PASSAGES])
    assert (raw.similarity, encoder.similarity, raw.version) == ("dot", "cosine", encoder.version)
    assert (encoder.version == usual.version) == (pooling == {"sup": "pooler", "unsup": "cls"}[kind])


@pytest.mark.parametrize("data", DPR)
def test_dpr_has_two_towers(data: str, models: Path) -> None:
    names = f"dpr-question_encoder-{data}-base", f"dpr-ctx_encoder-{data}-base"
    tiny_models.dpr(models, *names)
    question = DPRQuestionEncoder.from_pretrained(models / names[0]).eval()
    context = DPRContextEncoder.from_pretrained(models / names[1]).eval()
    tokenizer = AutoTokenizer.from_pretrained(models / names[0])

    def passage(p: Passage) -> Tensor:
        pair = [p.title, p.text] if p.title else [p.text]
        ids = tokenizer(*pair, return_tensors="pt")["input_ids"]
        return context(ids).pooler_output[0]

    encoder = open_encoder(f"facebook/{names[0]}")
    wanted = [question(tokenizer(q, return_tensors="pt")["input_ids"]).pooler_output[0] for q in QUERIES]
    same(encoder.encode_queries(QUERIES), wanted)
    same(encoder.encode_passages(PASSAGES), [passage(p) for p in PASSAGES])
    assert encoder.similarity == "dot"


def test_a_dpr_tower_that_is_not_in_the_table_is_recognised_by_its_class(models: Path) -> None:
    names = "dpr_web_query_encoder", "dpr_web_ctx_encoder"
    tiny_models.dpr(models, *names)
    question = DPRQuestionEncoder.from_pretrained(models / names[0]).eval()
    context = DPRContextEncoder.from_pretrained(models / names[1]).eval()
    tokenizer = AutoTokenizer.from_pretrained(models / names[0])
    encoder = open_encoder(str(models / names[0]))
    assert encoder.similarity == "dot"
    wanted = [question(tokenizer(q, return_tensors="pt")["input_ids"]).pooler_output[0] for q in QUERIES]
    same(encoder.encode_queries(QUERIES), wanted)
    found = encoder.encode_passages([PASSAGES[1]])
    same(found, [context(tokenizer(PASSAGES[1].text, return_tensors="pt")["input_ids"]).pooler_output[0]])


@pytest.mark.parametrize("name", TCT)
def test_tct_colbert_marks_and_fills(name: str, models: Path) -> None:
    """The mean begins after [CLS] and the three pieces of the marker; queries are filled with [MASK] to 36 tokens."""
    folder = built(name, models)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)

    def vector(marker: str, text: str, fill: int = 0) -> Tensor:
        ids = tokenizer.convert_tokens_to_ids(
            ["[CLS]", "[", marker, "]", *tokenizer.tokenize(text), *["[MASK]"] * fill]
        )
        return model(torch.tensor([ids[:36] if fill else ids])).last_hidden_state[0, 4:].mean(0)

    encoder = open_encoder(name)
    long = " ".join(["cars"] * 50)
    same(encoder.encode_queries([*QUERIES, long]), [vector("q", q, 36) for q in [*QUERIES, long]])
    same(encoder.encode_passages(PASSAGES), [vector("d", joined(p, " ")) for p in PASSAGES])


@pytest.mark.parametrize("name", INSTRUCTORS)
def test_instructor_reads_the_instruction_but_does_not_pool_it(name: str, models: Path) -> None:
    folder = models / name.rpartition("/")[2]
    backbone = tiny_models.t5(models / "backbone")
    torch.manual_seed(0)
    tower = Transformer(str(backbone), max_seq_length=tiny_models.LENGTH * 2)
    dense = Dense(16, 8, bias=False, activation_function=torch.nn.Identity())
    SentenceTransformer(modules=[tower, Pooling(16, "mean"), dense, Normalize()], device="cpu").save(
        str(folder), create_model_card=False
    )
    model, tokenizer = T5EncoderModel.from_pretrained(backbone).eval(), AutoTokenizer.from_pretrained(backbone)

    def vector(instruction: str, text: str) -> Tensor:
        states = model(**tokenizer(instruction + text, return_tensors="pt")).last_hidden_state[0]
        begin = len(tokenizer(instruction, add_special_tokens=False)["input_ids"])
        return states[begin:].mean(0) @ dense.linear.weight.T

    encoder = open_encoder(name)
    asked = "Represent the question for retrieving supporting documents: "
    held = "Represent the document for retrieval: "
    same(encoder.encode_queries(QUERIES[:2]), [vector(asked, q) for q in QUERIES[:2]], cosine=True)
    same(encoder.encode_passages(PASSAGES), [vector(held, joined(p, " ")) for p in PASSAGES], cosine=True)
    # With the perspective as the instruction (PIR): one for each query, and the usual one for a query without.
    assert isinstance(encoder, InstructedEncoder)
    perspectives = ["for the zoos", "", "against the zoos:"]
    found = encoder.encode_instructed([QUERIES[0], QUERIES[1], QUERIES[0]], perspectives)
    wanted = [
        vector("for the zoos: ", QUERIES[0]), vector(asked, QUERIES[1]), vector("against the zoos: ", QUERIES[0])
    ]  # fmt: skip
    same(found, wanted, cosine=True)


def test_other_models_take_no_instruction(models: Path) -> None:
    tiny_models.bert(models / "contriever")
    encoder = open_encoder("contriever")
    assert isinstance(encoder, InstructedEncoder)
    with pytest.raises(BadInputError, match=r"facebook/contriever was not trained .*hkunlp/instructor-base"):
        encoder.encode_instructed(["zoos"], ["for"])


def test_nv_embed_keeps_its_own_modules_and_ends_texts_itself(models: Path) -> None:
    """Its pooling is code on the hub, which another pooling stands in for here."""
    tower = Transformer(str(tiny_models.bert(models / "backbone")))
    SentenceTransformer(modules=[tower, Pooling(16, "max", include_prompt=False)], device="cpu").save(
        str(models / "NV-Embed-v2")
    )
    plain = SentenceTransformer(str(models / "NV-Embed-v2"), device="cpu")
    task = "Instruct: Given a question, retrieve passages that answer the question\nQuery: "
    encoder = open_encoder("NV-Embed-v2")
    queries = plain.encode([f"{q}</s>" for q in QUERIES[:2]], prompt=task, convert_to_tensor=True)
    passages = plain.encode([f"{joined(p, ' ')}</s>" for p in PASSAGES], convert_to_tensor=True)
    same(encoder.encode_queries(QUERIES[:2]), list(queries), cosine=True)
    same(encoder.encode_passages(PASSAGES), list(passages), cosine=True)


def test_queries_may_be_shorter_than_passages(models: Path) -> None:
    folder = tiny_models.bert(models / "co-condenser-marco-retriever")
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    long = " ".join(f"cars {number}" for number in range(90))

    def vector(most: int) -> Tensor:
        ids = tokenizer(long, return_tensors="pt", truncation=True, max_length=most)
        return model(**ids).last_hidden_state[0, 0]

    encoder = open_encoder("co-condenser-marco-retriever")
    same(encoder.encode_queries([long]), [vector(32)])
    same(encoder.encode_passages([Passage(0, "a", "", long)]), [vector(128)])
    assert not torch.allclose(vector(32), vector(128), atol=1e-3)

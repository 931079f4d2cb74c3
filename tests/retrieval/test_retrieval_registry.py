"""Names of pipelines."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError, BerdseyeError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.lexical.bm25 import VARIANTS
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES, parse_pipeline
from berdseye.retrieval.projection.forms import FORMS
from berdseye.retrieval.protocol import PipelineContext

CANONICAL = [
    "bm25",
    "bm25(k1=1.2)",
    "bm25(k1=0.12345678,b=0)",
    "bm25(k1=1.2,b=0.75,variant=robertson,tokenizer=porter)",
    "bm25(variant=atire)",
    "bm25(tokenizer=spaces)",
    "bm25(okapi-notebook)",
    "bm25(b=0.75,variant=okapi,tokenizer=spaces)",
    "qld",
    "qld(mu=2000)",
    "qld(mu=0.5,tokenizer=words)",
    "dense(static)",
    "dense(facebook/contriever-msmarco)",
    "dense(api(text-embedding-3-small))",
    'dense("my models/one")',
    'dense("3b-model")',
    "dense(static,index=fp16)",
    "dense(static,index=ivf,probes=32)",
    "dense(static,index=hnsw,similarity=dot,probes=1)",
    "dense(./model,similarity=cosine)",
    "dense(static,pooling=cls)",
    "dense(princeton-nlp/sup-simcse-bert-base-uncased,index=sq8,pooling=mean)",
    "sparse(naver/splade-cocondenser-ensembledistil)",
    "hybrid(bm25,dense(static),alpha=0.1)",
    "hybrid(bm25(k1=1.2),dense(a/b),alpha=0,norm=minmax)",
    "hybrid(qld,sparse(a/b),alpha=1,norm=z)",
    "hybrid(bm25,dense(static),rrf=60)",
    "hybrid(bm25,qld,dense(static),rrf=0)",
    "hybrid(hybrid(bm25,qld,alpha=0.5),dense(static),alpha=2)",
    "hybrid(hybrid(bm25,qld,rrf=1),hybrid(bm25,dense(static),rrf=2),rrf=3)",
    "dense(static) >> pap",
    "dense(static) >> pap+(0.5)",
    "dense(static,index=ivf) >> dual-sum",
    "dense(static) >> add(perspective=difference)",
    "dense(static) >> tri-sum(2,perspective=difference)",
    "dense(static) >> cast+%50 >> mmr(1)",
    "dense(static) >> add+(0.5,perspective=difference,vectors=raw)",
    "dense(sup-simcse-bert-base-uncased) >> add+(vectors=unit)",
    "bm25 >> mmr(0.95)",
    "bm25 >> mmr(tuned)",
    "bm25 >> mmr(0.5,variant=paper)",
    "dense(instructor-base,instruction=perspective)",
    "faiss(sphere/dense,encoder=dpr_web_query_encoder,probes=128)",
    "bm25 >> mmr(0.123456789,embedder=WhereIsAI/UAE-Large-V1)",
    'bm25 >> mmr(tuned,embedder="a b")',
    "dense(static)%50 >> mmr(1) >> mmr(0)",
    "bm25%1000 >> crossencoder(cross-encoder/ms-marco-MiniLM-L6-v2)",
    'bm25 >> crossencoder("my reranker")',
    "bm25%20 >> crossencoder(x) >> mmr(0.5) >> cover(embedded)",
    "bm25 >> cover(embedded)",
    "bm25 >> cover(similarity(static),weight=0.5)",
    "bm25 >> cover(embedded,weight=0,perspectives=manual)",
    "bm25 >> cover(embedded,perspectives=file(said.jsonl))",
    "expand(manual) >> bm25",
    "expand(file(said.jsonl)) >> dense(static)",
    "expand(api(gpt-4o-mini)) >> hybrid(bm25,dense(static),alpha=0.1)",
    "expand(file(said.jsonl)) >> dense(static) >> pap+%20 >> crossencoder(x) >> cover(embedded,perspectives=manual)",
    'expand(file("said again.jsonl")) >> bm25%50 >> mmr(0.5)',
]


@pytest.fixture
def around(workspace: Workspace) -> PipelineContext:
    for name in ("said.jsonl", "said again.jsonl"):
        (workspace.folder / name).write_text('{"question": "q", "perspectives": ["yes it is"]}\n')
    return PipelineContext(workspace)


@pytest.mark.parametrize("name", CANONICAL)
def test_a_canonical_name_reads_back_as_itself(name: str, around: PipelineContext) -> None:
    pipeline = parse_pipeline(name, around)
    assert str(pipeline) == name
    # A language model is opened anew each time, and is no other's equal.
    assert parse_pipeline(name, around) == pipeline or "api(gpt" in name


def test_names_that_differ_are_pipelines_that_differ(around: PipelineContext) -> None:
    assert len(set(CANONICAL)) == len(CANONICAL) > 40
    pipelines = [parse_pipeline(name, around) for name in CANONICAL]
    assert all(one != other for n, one in enumerate(pipelines) for other in pipelines[:n])


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("bm25()", "bm25"),
        (" bm25 ( k1=0.9, b=0.40 ) ", "bm25"),
        ("bm25(b=0.75,k1=1.2)", "bm25(k1=1.2,b=0.75)"),
        ("bm25(preset=okapi-notebook)", "bm25(okapi-notebook)"),
        ("bm25(okapi-notebook,k1=1.5)", "bm25(okapi-notebook)"),
        ("bm25(okapi-notebook,k1=0.9)", "bm25(b=0.75,variant=okapi,tokenizer=spaces)"),
        ("bm25(variant=okapi,k1=1.5,b=.75,tokenizer=spaces)", "bm25(okapi-notebook)"),
        ("bm25(tokenizer=whitespace)", "bm25(tokenizer=spaces)"),
        ("bm25(variant=okapi,k1=1.5,b=.75,tokenizer=whitespace)", "bm25(okapi-notebook)"),
        ("qld(tokenizer=whitespace)", "qld(tokenizer=spaces)"),
        ("qld(mu=1000)", "qld"),
        ("dense", "dense(static)"),
        ("dense( static )", "dense(static)"),
        ('dense("static")', "dense(static)"),
        ("dense(index=flat,encoder=static)", "dense(static)"),
        ("dense(index=ivf,probes=512)", "dense(static,index=ivf)"),
        ("hybrid(dense,bm25)", "hybrid(dense(static),bm25,alpha=0.1)"),
        ("hybrid(bm25,dense,norm=none,alpha=.10)", "hybrid(bm25,dense(static),alpha=0.1)"),
        ("dense(contriever,pooling=mean)", "dense(contriever)"),
        ("dense(sup-simcse-bert-base-uncased,pooling=pooler)", "dense(sup-simcse-bert-base-uncased)"),
        ("dense(sup-simcse-bert-base-uncased) >> add(vectors=raw)", "dense(sup-simcse-bert-base-uncased) >> add"),
        ("dense >> pap(1)", "dense(static) >> pap"),
        ("dense >> pap(weight=2)", "dense(static) >> pap(2)"),
        ("dense%50 >> pap >> mmr(1)", "dense(static) >> pap%50 >> mmr(1)"),
        ("dense%50 >> pap%20 >> mmr(1)", "dense(static) >> pap%20 >> mmr(1)"),
        ("bm25>>mmr(.95)", "bm25 >> mmr(0.95)"),
        ("bm25 > mmr(weight=1e-1)", "bm25 >> mmr(0.1)"),
        ("bm25%100 >> mmr(0.5)", "bm25 >> mmr(0.5)"),
        ("bm25 >> mmr(0.5,embedder=static)", "bm25 >> mmr(0.5)"),
        ("bm25 >> cover(embedded,weight=1)", "bm25 >> cover(embedded)"),
        ("expand(said.jsonl) >> bm25", "expand(file(said.jsonl)) >> bm25"),
        ('expand("said again.jsonl") >> bm25', 'expand(file("said again.jsonl")) >> bm25'),
    ],
)
def test_other_spellings(text: str, canonical: str, around: PipelineContext) -> None:
    assert str(parse_pipeline(text, around)) == canonical
    assert parse_pipeline(canonical, around) == parse_pipeline(text, around)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0, 100).map(lambda v: round(v, 6)),
    st.floats(0, 1),
    st.sampled_from(sorted(VARIANTS)),
    st.sampled_from(sorted(TOKENIZERS)),
)
def test_every_number_survives(k1: float, b: float, variant: str, tokenizer: str) -> None:
    written = f"bm25(k1={k1!r},b={b!r},variant={variant},tokenizer={tokenizer})"
    name = str(parse_pipeline(written))
    assert str(parse_pipeline(name)) == name
    assert parse_pipeline(name) == parse_pipeline(written)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bm52", "Unknown retriever 'bm52'. Did you mean bm25?"),
        ("xyz", "Unknown retriever 'xyz'. Known: bm25, colbert, dense, faiss,"),
        ("mmr(0.5)", "Unknown retriever 'mmr'"),
        ("hybrid(bm52,dense)", "Unknown retriever 'bm52'. Did you mean bm25?"),
        ("bm25 >> mrm(0.5)", "Unknown stage 'mrm'. Did you mean mmr"),
        ("dense >> papp", "Unknown stage 'papp'. Did you mean pap"),
        ("bm25 >> mmr(1) >> pap", "Unknown stage 'pap'"),
        ("bm25(okapi)", "Unknown preset of bm25 'okapi'. Did you mean okapi-notebook?"),
        ("bm25(variant=okap)", "Unknown variant of bm25 'okap'. Did you mean okapi?"),
        ("bm25(tokenizer=space)", "Unknown tokenizer of bm25 'space'. Did you mean spaces or whitespace?"),
        ("bm25(k2=1)", "Unknown parameter of bm25 'k2'. Did you mean k1?"),
        ("qld(mo=1)", "Unknown parameter of qld 'mo'. Did you mean mu?"),
        ("dense(index=ivp)", "Unknown index of dense 'ivp'. Did you mean ivfpq or ivf?"),
        ("dense(similarity=cos)", "Unknown similarity of dense 'cos'. Did you mean cosine?"),
        ("hybrid(bm25,dense,norm=max)", "Unknown norm of hybrid 'max'. Did you mean minmax?"),
        ("bm25 >> mmr(0.5,embeder=x)", "Unknown parameter of mmr 'embeder'. Did you mean embedder?"),
        ("dense >> pap(perspective=openai)", "Unknown language model 'openai'"),
        ("expand(manul) >> bm25", "Unknown source of perspectives 'manul'. Did you mean manual?"),
    ],
)
def test_wrong_names_are_answered_with_the_nearest(text: str, said: str, around: PipelineContext) -> None:
    with pytest.raises(UnknownNameError) as error:
        parse_pipeline(text, around)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bm25(okapi-notebook,1)", "too many arguments"),
        ("dense(static,static)", "too many arguments"),
        ("bm25(k1=high)", "'k1' of bm25 must be a number, got 'high'"),
        ("bm25(k1=-1)", "'bm25(k1=-1)' is out of range. k1 must be from 0 to"),
        ("bm25(k1=1e400)", "out of range"),
        ("bm25(b=1.5)", "b must be from 0 to 1"),
        ("bm25(k1=1,k1=2)", "'k1' of bm25 is given twice"),
        ("qld(mu=0)", "out of range"),
        ("sparse", "requires the argument encoder. Write it like sparse(NAME)"),
        ("dense(index=flat,probes=8)", "has no lists"),
        ("dense(index=ivf,probes=0)", "probes must be from 1"),
        ("dense(index=ivf,probes=1.5)", "must be an integer"),
        ("hybrid(bm25)", "requires two retrievers, or two or more with rrf=60"),
        ("hybrid(bm25,dense,qld)", "requires two retrievers, or two or more with rrf=60"),
        ("hybrid(bm25,3)", "requires two retrievers"),
        ('hybrid("bm25",dense)', "requires two retrievers"),
        ("hybrid(bm25,dense,rrf=-1)", "rrf must be from 0"),
        ("hybrid(bm25,dense,rrf=60,alpha=0.5)", "must not combine rrf"),
        ("hybrid(bm25,dense,rrf=60,norm=z)", "must not combine rrf"),
        ("hybrid(bm25%10,dense)", "'bm25%10' must not end with"),
        ("bm25 >> pap", "'pap' must follow a dense retriever, not bm25"),
        ("dense >> pap >> add", "'add' must follow a dense retriever"),
        ("dense >> pap(-1)", "out of range"),
        ("dense >> pap(perspective=3)", "'3' is not a source of perspectives"),
        ("bm25 >> mmr", "requires a weight between 0 and 1"),
        ("bm25 >> mmr(2)", "weight must be from 0 to 1"),
        ("bm25 >> mmr(-1)", "weight must be from 0 to 1"),
        ("bm25 >> mmr(static)", "'weight' of mmr must be a number, got 'static'"),
        ("bm25 >> mmr(tuned,0.5)", "too many arguments"),
        ("bm25 >> crossencoder", "requires the argument model"),
        ("bm25 >> cover", "requires the argument detector"),
        ("bm25 >> cover(embedded,weight=1.5)", "weight must be from 0 to 1"),
        ("expand(typed)", "allowed only once, before the retriever"),
        ("expand(typed) >> expand(typed) >> bm25", "allowed only once, before the retriever"),
        ("bm25 >> expand(typed)", "allowed only once, before the retriever"),
        ("expand() >> bm25", "requires one source of perspectives"),
        ("expand(typed,typed) >> bm25", "requires one source of perspectives"),
        ("expand(typed)%5 >> bm25", "must not end with"),
        ("expand(nowhere.jsonl) >> bm25", "The file does not exist"),
        ("bm25%10", "requires a stage after it"),
        ("bm25@5", "'bm25@5' must not end with"),
        ("bm25 >> mmr(0.5)%10", "'mmr(0.5)%10' must not end with"),
        ("bm25%0 >> mmr(1)", "got 0"),
        ("bm25%1001 >> mmr(1)", "got 1001"),
        ("bm25 >>", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_wrong_arguments_are_refused(text: str, said: str, around: PipelineContext) -> None:
    with pytest.raises(BadInputError) as error:
        parse_pipeline(text, around)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.hint


def test_a_part_that_needs_a_workspace_reports_it() -> None:
    for text in (
        "expand(manual) >> bm25",
        "dense >> pap(perspective=llm)",
        "bm25 >> cover(embedded,perspectives=manual)",
    ):
        with pytest.raises(BadInputError, match="workspace"):
            parse_pipeline(text)


@settings(max_examples=150, deadline=None)
@given(st.text('bm25dense()%>,=.01kexpand@hybrid" ', max_size=30) | st.sampled_from(CANONICAL).map(lambda t: t[:-2]))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        name = str(parse_pipeline(text))
    except BerdseyeError:
        return
    assert str(parse_pipeline(name)) == name


def test_the_default_pipelines_are_canonical() -> None:
    assert tuple(str(parse_pipeline(name)) for name in DEFAULT_PIPELINES) == DEFAULT_PIPELINES


def test_every_form_is_a_name() -> None:
    for form in FORMS:
        assert str(parse_pipeline(f"dense(static) >> {form}")) == f"dense(static) >> {form}"

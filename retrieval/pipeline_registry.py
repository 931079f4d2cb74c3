"""The names of retrievers and stages, and the parsing of pipeline names, which have the form

[expand(SOURCE) >>] RETRIEVER [>> PROJECTION] [%N] [>> STAGE ...]
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import Arguments, Call, parse
from berdseye.data.plugins import plugin, plugin_names
from berdseye.retrieval.dense.existing_ranker import existing_faiss
from berdseye.retrieval.dense.layouts import DEFAULT_LAYOUT, LAYOUTS
from berdseye.retrieval.dense.ranker import INSTRUCTIONS, Dense, Instruction
from berdseye.retrieval.encoders.known_models import DENSE_POOLINGS, DensePooling, find_known
from berdseye.retrieval.encoders.protocol import Similarity
from berdseye.retrieval.expansion.protocol import QUERIES, ExpansionSource, Queries
from berdseye.retrieval.expansion.ranker import Expanded
from berdseye.retrieval.expansion.source_registry import parse_source
from berdseye.retrieval.fusion import NORMALISATIONS, Hybrid
from berdseye.retrieval.late_interaction.ranker import LateInteraction
from berdseye.retrieval.learned_sparse import Sparse
from berdseye.retrieval.lexical.bm25 import BM25, VARIANTS
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lexical.ranker import DEFAULT_TOKENIZER, PRESETS, bm25, query_likelihood
from berdseye.retrieval.lexical.tokenizers import SYNONYMS, TOKENIZERS
from berdseye.retrieval.lucene.ranker import lucene_ranker
from berdseye.retrieval.pipeline import DEFAULT_DEPTH, Pipeline
from berdseye.retrieval.projection.forms import FORMS, ROOTED
from berdseye.retrieval.projection.perspectives import perspective_source
from berdseye.retrieval.projection.ranker import LENGTHS, Lengths, Projected, usual_lengths
from berdseye.retrieval.protocol import PipelineContext, Ranker, Stage
from berdseye.retrieval.ranking import checked_k
from berdseye.retrieval.rerank.contradiction import Contradicting
from berdseye.retrieval.rerank.cover import Cover
from berdseye.retrieval.rerank.cross_encoder import CrossEncoded
from berdseye.retrieval.rerank.late_interaction import LateReranked
from berdseye.retrieval.rerank.mmr import DEFAULT_EMBEDDER, MMR
from berdseye.retrieval.rerank.mmr import VARIANTS as DIVISORS
from berdseye.retrieval.rerank.mmr import Variant as Divisor

DEFAULT_PIPELINES = ("bm25", "dense(static)")
_EXPAND = "expand"
_MOST_PROBES = 65_536
_MOST_CANDIDATES = 1_000_000


def parse_pipeline(text: str, context: PipelineContext | None = None) -> Pipeline:
    """Parse the name of a pipeline; raises `BadInputError`, or `UnknownNameError` with the closest names."""
    context = context or PipelineContext()
    calls = parse(text)
    expansion = calls.pop(0) if calls[0].name == _EXPAND and len(calls) > 1 else None
    first = calls.pop(0)
    ranker = _ranker(replace(first, keep=None), context)
    keep = first.keep
    while calls and calls[0].name in FORMS:
        projection = calls.pop(0)
        ranker = _projected(ranker, replace(projection, keep=None), context)
        keep = projection.keep if projection.keep is not None else keep
    if expansion is not None:
        ranker = _expanded(ranker, expansion, context)
    makers = [_stage_maker(call) for call in calls]
    stages = tuple(make(call, context) for make, call in zip(makers, calls, strict=True))
    if keep is not None and not stages:
        raise BadInputError(f"'%{keep}' requires a stage after it.", hint="Write it like bm25%100 >> mmr(0.95).")
    return Pipeline(ranker, stages, DEFAULT_DEPTH if keep is None else checked_k(keep))


def _ranker(call: Call, context: PipelineContext) -> Ranker:
    _refuse_expansion(call)
    make = RANKERS.get(call.name) or plugin("retrievers", call.name)
    if make is None:
        raise UnknownNameError("retriever", call.name, [*RANKERS, *plugin_names("retrievers")])
    return cast(Ranker, make(call, context))


def _stage_maker(call: Call) -> Callable[[Call, PipelineContext], Stage]:
    _refuse_expansion(call)
    make = STAGES.get(call.name) or plugin("stages", call.name)
    if make is None:
        raise UnknownNameError("stage", call.name, [*STAGES, *FORMS, *plugin_names("stages")])
    return cast(Callable[[Call, PipelineContext], Stage], make)


def _refuse_expansion(call: Call) -> None:
    if call.name == _EXPAND:
        raise BadInputError(
            f"'{call}' is allowed only once, before the retriever.", hint="Write it like expand(llm) >> bm25."
        )


def _bm25(call: Call, _context: PipelineContext) -> Ranker:
    arguments = Arguments(call)
    preset, tokenizer = PRESETS[arguments.name("preset", "", among=PRESETS, place=True)]
    scoring = BM25(
        arguments.number("k1", preset.k1),
        arguments.number("b", preset.b, high=1),
        arguments.name("variant", preset.variant, among=VARIANTS),
    )
    tokenizer = _tokenizer(arguments, tokenizer)
    arguments.finish()
    return bm25(scoring, tokenizer)


def _tokenizer(arguments: Arguments, default: str) -> str:
    name = arguments.name("tokenizer", default, among=[*TOKENIZERS, *SYNONYMS])
    return SYNONYMS.get(name, name)


def _qld(call: Call, _context: PipelineContext) -> Ranker:
    arguments = Arguments(call)
    scoring = QueryLikelihood(arguments.number("mu", QueryLikelihood.mu, low=1e-6))
    tokenizer = _tokenizer(arguments, DEFAULT_TOKENIZER)
    arguments.finish()
    return query_likelihood(scoring, tokenizer)


def _dense(call: Call, _context: PipelineContext) -> Ranker:
    arguments = Arguments(call)
    encoder = arguments.name("encoder", Dense.encoder, place=True)
    layout = arguments.name("index", DEFAULT_LAYOUT, among=LAYOUTS)
    similarity = arguments.name("similarity", "", among=("", "cosine", "dot", "euclidean"))
    pooling = arguments.name("pooling", "", among=("", *DENSE_POOLINGS))
    probes, default_probes = arguments.count("probes", high=_MOST_PROBES), LAYOUTS[layout].probes
    instruction = cast(Instruction, arguments.name("instruction", "", among=INSTRUCTIONS))
    arguments.finish()
    if probes and default_probes is None:
        raise BadInputError(
            f"'{call}' must not set probes, since index={layout} has no lists.",
            hint="Write it like dense(static,index=ivf,probes=32).",
        )
    chosen_similarity = cast(Similarity, similarity) if similarity else None
    known = find_known("dense", encoder)
    chosen_pooling = None if pooling in ("", known and known.pooling) else cast(DensePooling, pooling)
    chosen_probes = None if probes == default_probes else probes
    return Dense(encoder, layout, chosen_similarity, chosen_probes, instruction, chosen_pooling)


def _sparse(call: Call, _context: PipelineContext) -> Ranker:
    arguments = Arguments(call)
    encoder = arguments.name("encoder", None, place=True)
    arguments.finish()
    return Sparse(encoder)


def _colbert(call: Call, _context: PipelineContext) -> Ranker:
    arguments = Arguments(call)
    encoder = arguments.name("encoder", None, place=True)
    candidates = arguments.count("candidates", high=_MOST_CANDIDATES) or LateInteraction.candidates
    probes = arguments.count("probes", high=_MOST_PROBES) or LateInteraction.probes
    arguments.finish()
    return LateInteraction(encoder, candidates, probes)


def _hybrid(call: Call, context: PipelineContext) -> Ranker:
    arguments = Arguments(call)
    places = arguments.places()
    alpha = arguments.number("alpha", Hybrid.alpha)
    norm = arguments.name("norm", Hybrid.norm, among=NORMALISATIONS)
    rrf = arguments.optional_number("rrf")
    arguments.finish()
    if rrf is not None and call.kwargs.keys() - {"rrf"}:
        raise BadInputError(
            f"'{call}' must not combine rrf, which fuses ranks, with alpha or norm, which fuse scores.",
            hint="Remove rrf, or alpha and norm.",
        )
    rankers = tuple(_ranker(p, context) for p in places if isinstance(p, Call))
    if len(rankers) != len(places) or len(rankers) < 2 or (len(rankers) > 2 and rrf is None):
        raise BadInputError(
            f"'{call}' requires two retrievers, or two or more with rrf=60.",
            hint="Write it like hybrid(bm25,dense(static),alpha=0.1).",
        )
    return Hybrid(rankers, alpha, norm, rrf)


def _projected(ranker: Ranker, call: Call, context: PipelineContext) -> Ranker:
    arguments = Arguments(call)
    weight = arguments.number("weight", 1.0, place=True)
    source = perspective_source(arguments.value("perspective"), context.workspace, rooted=call.name in ROOTED)
    lengths = arguments.name("vectors", "", among=("", *LENGTHS))
    arguments.finish()
    if not isinstance(ranker, Dense):
        raise BadInputError(
            f"'{call.name}' must follow a dense retriever, not {ranker.name}.",
            hint="Write it like dense(static) >> pap.",
        )
    if ranker.instruction:
        raise BadInputError(
            f"'{call.name}' projects the perspective out of the query's vector, so the perspective must not be its instruction.",
            hint=f"Leave out instruction={ranker.instruction}.",
        )
    usual = usual_lengths(ranker.encoder)
    return Projected(ranker, call.name, weight, source, None if lengths in ("", usual) else cast(Lengths, lengths))


def _expanded(ranker: Ranker, call: Call, context: PipelineContext) -> Ranker:
    arguments = Arguments(call)
    variant = cast(Queries, arguments.name("variant", Expanded.variant, among=QUERIES))
    source = _source(replace(call, kwargs={k: v for k, v in call.kwargs.items() if k != "variant"}), context)
    return Expanded(source, ranker, variant)


def _source(call: Call, context: PipelineContext) -> ExpansionSource:
    arguments = Arguments(call)
    places = arguments.places()
    arguments.finish()
    if len(places) != 1:
        raise BadInputError(f"'{call}' requires one source of perspectives.", hint="Write it like expand(llm).")
    if context.workspace is None:
        raise BadInputError(
            f"'{call}' requires a workspace, which stores generated perspectives.", hint="Open a workspace."
        )
    return parse_source(places[0], context.workspace)


def _mmr(call: Call, _context: PipelineContext) -> Stage:
    arguments = Arguments(call)
    tuned = bool(call.args) and str(call.args[0]) == "tuned"
    weight = None if tuned else arguments.optional_number("weight", high=1, place=True)
    if weight is None and not tuned:
        raise BadInputError(
            f"'{call}' requires a weight between 0 and 1.", hint="Write it like mmr(0.95) or mmr(tuned)."
        )
    if tuned:
        arguments.name("weight", None, place=True)
    embedder = arguments.name("embedder", DEFAULT_EMBEDDER)
    variant = cast(Divisor, arguments.name("variant", MMR.variant, among=DIVISORS))
    arguments.finish()
    return MMR(weight, embedder, variant)


def _crossencoder(call: Call, _context: PipelineContext) -> Stage:
    arguments = Arguments(call)
    model = arguments.name("model", None, place=True)
    arguments.finish()
    return CrossEncoded(model)


def _late_reranked(call: Call, _context: PipelineContext) -> Stage:
    arguments = Arguments(call)
    model = arguments.name("model", None, place=True)
    arguments.finish()
    return LateReranked(model)


def _sparsecl(call: Call, _context: PipelineContext) -> Stage:
    arguments = Arguments(call)
    model = arguments.name("model", None, place=True)
    alpha = arguments.optional_number("alpha")
    embedder = arguments.name("embedder", Contradicting.embedder)
    arguments.finish()
    if alpha is None:
        raise BadInputError(
            f"'{call}' requires alpha, the weight of sparsity, which depends on the model.",
            hint="Write it like sparsecl(MODEL,alpha=2); the authors choose it on held-out data, between 0 and 10.",
        )
    return Contradicting(model, alpha, embedder)


def _cover(call: Call, context: PipelineContext) -> Stage:
    arguments = Arguments(call)
    detector = arguments.name("detector", None, place=True)
    weight = arguments.number("weight", Cover.weight, high=1)
    source = arguments.value("perspectives")
    arguments.finish()
    generated = None if source is None else _source(Call(_EXPAND, (source,)), context)
    return Cover(detector, weight, generated, context.label_function)


RANKERS: Mapping[str, Callable[[Call, PipelineContext], Ranker]] = {
    "bm25": _bm25,
    "qld": _qld,
    "dense": _dense,
    "sparse": _sparse,
    "colbert": _colbert,
    "lucene": lambda call, _: lucene_ranker(call),
    "faiss": lambda call, _: existing_faiss(call),
    "hybrid": _hybrid,
}
STAGES: Mapping[str, Callable[[Call, PipelineContext], Stage]] = {
    "mmr": _mmr,
    "crossencoder": _crossencoder,
    "colbert": _late_reranked,
    "sparsecl": _sparsecl,
    "cover": _cover,
}

"""Names of retrievers and stages, and the parsing of a pipeline's name into the pipeline."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from data.errors import BadInputError, UnknownNameError
from data.grammar import Call, parse
from retrieval.bm25 import BM25
from retrieval.dense import Dense
from retrieval.mmr import MMR
from retrieval.protocol import Retriever, Stage
from retrieval.ranking import checked_k

DEFAULT_PIPELINES = ("bm25", "dense(static)")


@dataclass(frozen=True)
class Pipeline:
    """A retriever and what follows it; `depth` is how many of its passages go on to the stages."""

    retriever: Retriever
    stages: tuple[Stage, ...] = ()
    depth: int = 100

    def __str__(self) -> str:
        first = self.retriever.name + (f"%{self.depth}" if self.stages and self.depth != 100 else "")
        return " >> ".join([first, *(s.name for s in self.stages)])


def parse_pipeline(text: str) -> Pipeline:
    """The pipeline of a name; raises `BadInputError` or, with the nearest right names, `UnknownNameError`."""
    first, *rest = parse(text)
    if first.name not in RETRIEVERS:
        raise UnknownNameError("retriever", first.name, RETRIEVERS)
    for call in rest:
        if call.name not in STAGES:
            raise UnknownNameError("stage", call.name, STAGES)
    retriever = RETRIEVERS[first.name](first)
    stages = tuple(STAGES[call.name](call) for call in rest)
    if first.keep is not None and not stages:
        raise BadInputError(f"'%{first.keep}' needs a stage after it.", hint="Write it like bm25%100 >> mmr(0.95).")
    return Pipeline(retriever, stages, 100 if first.keep is None else checked_k(first.keep))


def _bm25(call: Call) -> Retriever:
    _only(call, places=0, keywords=("k1", "b"))
    k1, b = (_number(call, key, default) for key, default in (("k1", BM25.k1), ("b", BM25.b)))
    if k1 < 0 or not 0 <= b <= 1:
        raise BadInputError(f"'{call}' is out of range.", hint="k1 is at least 0, and b between 0 and 1.")
    return BM25(k1, b)


def _dense(call: Call) -> Retriever:
    _only(call, places=1, keywords=())
    encoder = str(call.args[0]) if call.args else "static"
    if encoder not in ENCODERS:
        raise UnknownNameError("encoder", encoder, ENCODERS)
    return Dense(encoder)


def _mmr(call: Call) -> Stage:
    _only(call, places=1, keywords=())
    weight = call.args[0] if call.args else None
    if not isinstance(weight, float) or not 0 <= weight <= 1:
        raise BadInputError(f"'{call}' needs a weight between 0 and 1.", hint="Write it like mmr(0.95).")
    return MMR(weight)


RETRIEVERS: Mapping[str, Callable[[Call], Retriever]] = {"bm25": _bm25, "dense": _dense}
STAGES: Mapping[str, Callable[[Call], Stage]] = {"mmr": _mmr}
ENCODERS = ("static",)


def _only(call: Call, *, places: int, keywords: tuple[str, ...]) -> None:
    for key in call.kwargs:
        if key not in keywords:
            raise UnknownNameError(f"parameter of {call.name}", key, keywords)
    if len(call.args) > places:
        raise BadInputError(f"'{call}' has too many arguments.", hint=f"{call.name} takes {places} without a name.")


def _number(call: Call, key: str, default: float) -> float:
    value = call.kwargs.get(key, default)
    if not isinstance(value, float | int):
        raise BadInputError(f"'{key}' of {call.name} must be a number, not '{value}'.", hint="Write it like k1=0.9.")
    return float(value)

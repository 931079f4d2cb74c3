"""Strategies of answering: without retrieval (plain), with one retrieval (vanilla), and with several (ReAct; DebateQA, section
5.4).

ReAct is a small loop instead of an agent library: a fixed number of retrievals, the first with the question itself, and between
them one completion that names the next search. Agent libraries call tools by a protocol that models without function calling do
not support, use their own clients and retries, and restart a question from the beginning after an interruption. This loop works
with every model that generates text, sends all questions of a round at once, and stores each completion in the workspace, so it
can be resumed call by call and tested without a server.
"""

from collections.abc import Sequence

from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.evaluation.answering.asking import Asker, Spending, Written
from berdseye.evaluation.answering.chunks import Chunk, ChunkSource
from berdseye.retrieval.protocol import Query

STRATEGIES = ("plain", "vanilla", "react")
CHUNKS = 10
RETRIEVALS, CHUNKS_A_RETRIEVAL = 3, 3


def plain(asker: Asker, questions: Sequence[str], *, progress: Progress = silent) -> list[Written]:
    """Answer questions without retrieval."""
    return asker.answer(questions, progress=progress)


def vanilla(
    asker: Asker, questions: Sequence[str], source: ChunkSource, *, chunks: int = CHUNKS, progress: Progress = silent
) -> list[Written]:
    """Answer questions from the `chunks` best chunks for the question."""
    _check(chunks)
    retrieved = source.find(_queries(questions), chunks, progress=progress)
    written = asker.answer(questions, retrieved, progress=progress)
    return [w._replace(searches=(q,)) for w, q in zip(written, questions, strict=True)]


def react(
    asker: Asker,
    questions: Sequence[str],
    source: ChunkSource,
    *,
    retrievals: int = RETRIEVALS,
    chunks: int = CHUNKS_A_RETRIEVAL,
    progress: Progress = silent,
) -> list[Written]:
    """Answer questions from `retrievals` retrievals of `chunks` chunks each, without repeated chunks of a question.

    The first retrieval searches for the question; before each further retrieval, the model reads the chunks so far and names the
    next search. Raises `BadInputError` for fewer than one retrieval or chunk.
    """
    _check(chunks)
    if retrievals < 1:
        raise BadInputError(f"The number of retrievals must be at least 1, got {retrievals}.", hint="The default is 3.")
    searches: list[list[str]] = [[question] for question in questions]
    read: list[list[Chunk]] = [[] for _ in questions]
    spent = [Spending() for _ in questions]
    for retrieval in range(retrievals):
        if retrieval:
            for place, (search, cost) in enumerate(asker.next_searches(questions, searches, read, progress=progress)):
                searches[place].append(search)
                spent[place] = spent[place].plus(cost)
        seen = [{i for chunk in own for i in chunk.passages} for own in read]
        retrieved = source.find(_queries([own[-1] for own in searches]), chunks, seen, progress=progress)
        for own, new in zip(read, retrieved, strict=True):
            own += new
    written = asker.answer(questions, read, progress=progress)
    return [
        w._replace(searches=tuple(own_searches), spent=cost.plus(w.spent))
        for w, own_searches, cost in zip(written, searches, spent, strict=True)
    ]


def _queries(texts: Sequence[str]) -> list[Query]:
    """Return queries without the question's perspectives, because answers are measured by them."""
    return [Query(text, root=text) for text in texts]


def _check(chunks: int) -> None:
    if chunks < 1:
        raise BadInputError(
            f"The number of chunks must be at least 1, got {chunks}.", hint="For no chunks, use the strategy plain."
        )

"""Answers from what the model knows, from one retrieval, and from several in turn (DebateQA, section 5.4).

ReAct here is a small loop rather than an agent library. What it does is fixed: a given number of retrievals, the first with
the question itself, and between them one completion that names the next search. Agent libraries call tools by a protocol that
models without function calling do not speak, keep their own clients and retries, and run a question from its beginning when
they are cut off. This loop works with every model that writes text, asks all questions of a round at once, and keeps each
completion in the workspace, so that it is resumed call by call and tested without a server.
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
    """Answers without retrieval."""
    return asker.answer(questions, progress=progress)


def vanilla(
    asker: Asker, questions: Sequence[str], source: ChunkSource, *, chunks: int = CHUNKS, progress: Progress = silent
) -> list[Written]:
    """Answers from the `chunks` best chunks that the question itself finds."""
    _check(chunks)
    found = source.find(_queries(questions), chunks, progress=progress)
    written = asker.answer(questions, found, progress=progress)
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
    """Answers from `retrievals` retrievals of `chunks` chunks each, none of them twice for one question.

    The first retrieval is of the question itself; before each of the others the model reads what was found so far and says
    what to search for.
    """
    _check(chunks)
    if retrievals < 1:
        raise BadInputError(f"There are {retrievals} retrievals.", hint="Give at least 1; 3 is usual.")
    searches: list[list[str]] = [[question] for question in questions]
    read: list[list[Chunk]] = [[] for _ in questions]
    spent = [Spending() for _ in questions]
    for retrieval in range(retrievals):
        if retrieval:
            for place, (search, took) in enumerate(asker.next_searches(questions, searches, read, progress=progress)):
                searches[place].append(search)
                spent[place] = spent[place].plus(took)
        seen = [{i for chunk in held for i in chunk.passages} for held in read]
        found = source.find(_queries([made[-1] for made in searches]), chunks, seen, progress=progress)
        for held, new in zip(read, found, strict=True):
            held += new
    written = asker.answer(questions, read, progress=progress)
    return [
        w._replace(searches=tuple(made), spent=took.plus(w.spent))
        for w, made, took in zip(written, searches, spent, strict=True)
    ]


def _queries(texts: Sequence[str]) -> list[Query]:
    """Queries that know nothing of a question's perspectives, which an answer is measured by."""
    return [Query(text, root=text) for text in texts]


def _check(chunks: int) -> None:
    if chunks < 1:
        raise BadInputError(f"There are {chunks} chunks to read.", hint="Give at least 1, or ask plainly.")

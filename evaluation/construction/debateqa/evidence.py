"""From questions to evidence: which questions are duplicates, search queries for each of the others, and their documents
(DebateQA, section 3, appendix A)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.data.texts.passages import clean
from berdseye.evaluation.construction.asking import Asking, UnreadableError
from berdseye.evaluation.construction.completions import completion_lines, without_number
from berdseye.evaluation.construction.debateqa.documents import FEWEST, Documents, Reference, chunks_of
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.sources import read_sources, source_text
from berdseye.evaluation.construction.steps import Step
from berdseye.evaluation.construction.working import Working

QUESTION = "Question"
MOST_QUERIES = 5
_LONGEST_QUERY = 40  # words
_BETWEEN_QUERIES = re.compile(r"[;\n]")
_QUERIES = PromptTemplate(
    "construction: search queries",
    (
        Message(
            "user",
            f"[{QUESTION}]\n\nThe text between the tags is a question on which people disagree. Somebody collects documents that "
            "show all sides of it. Write three to five search queries for a web search engine, which together find documents "
            "for it, against it, and on what the sides say about causes, consequences, costs and rights. Each query is short, "
            "can be understood alone, and differs from the others in more than wording. Write one query on each line, and "
            "nothing else.",
        ),
    ),
)


def read_questions(working: Working) -> list[Row]:
    """Return the questions of all sources with the name of the source; rows that cannot be read are rejected with the reason."""
    rows = read_sources(working, lambda found: {"question": source_text(found, QUESTION.lower())})
    return [row.with_fields(source=row.origin["sources"]["source"]) for row in rows]


def without_duplicates(working: Working, rows: Sequence[Row]) -> list[Row]:
    """Return the questions, those that a greedy vertex cover drops rejected with the question that is kept instead."""
    from berdseye.evaluation.construction.debateqa.duplicates import duplicates  # NumPy, which no help needs

    dropped = {
        one.id: one
        for one in duplicates(
            [row.id for row in rows],
            [str(row.fields["question"]) for row in rows],
            threshold=float(working.settings["threshold"]),
            encoder=str(working.settings["encoder"]),
            progress=working.progress,
        )
    }
    return [
        row.with_origin("duplicates", kept=one.kept, cosine=round(one.cosine, 6)).reject(
            f"a duplicate of another question: {one.kept}, cosine {one.cosine:.3f}"
        )
        if (one := dropped.get(row.id))
        else row
        for row in rows
    ]


def read_queries(row: Row, text: str) -> Mapping[str, Any]:
    """Return the search queries of a completion, at most 5, each once."""
    del row
    lines = (clean(without_number(line)) for line in completion_lines(text))
    queries = list(dict.fromkeys(line for line in lines if line and len(line.split()) <= _LONGEST_QUERY))
    if not queries:
        raise UnreadableError("no search query in the completion")
    return {"queries": queries[:MOST_QUERIES]}


def with_documents(working: Working, rows: Sequence[Row]) -> list[Row]:
    """Return the questions with their best documents, and with the mean cosine of the question and the documents' chunks.

    A question with fewer than three documents is rejected.
    """
    documents = Documents(working)
    found = []
    for place, row in enumerate(rows):
        question, queries = str(row.fields["question"]), row.fields["queries"]
        if isinstance(queries, str):  # written by a person who overruled a rejection
            queries = [query.strip() for query in _BETWEEN_QUERIES.split(queries) if query.strip()]
        references = documents.found(question, [question, *queries])
        cosine = relevance(question, [documents.text(r) for r in references], str(working.settings["encoder"]))
        row = row.with_fields(documents=references, cosine=cosine)
        if len(references) < FEWEST:
            row = row.reject(f"fewer than {FEWEST} documents: {len(references)}")
        found.append(row.with_origin("evidence", **_searched(documents, references)))
        working.progress(place + 1, "questions searched", len(rows))
    return found


def relevance(question: str, texts: Sequence[str], encoder: str) -> float:
    """Return the mean cosine of a question and the 1000-token chunks of texts, 0 without any; rounded to 6 digits."""
    from berdseye.evaluation.construction.debateqa.similarity import unit_vectors

    chunks = [chunk for text in texts for chunk in chunks_of(text)]
    if not chunks:
        return 0.0
    vectors = unit_vectors([question, *chunks], encoder)
    return round(float((vectors[1:] @ vectors[0]).mean()), 6)


def _searched(documents: Documents, references: Sequence[Reference]) -> dict[str, Any]:
    settings = documents.working.settings
    corpora = {name: source.corpus.manifest.hash for name, source in documents.sources.items()}
    urls = [str(reference["url"]) for reference in references]
    return {"corpora": corpora, "reranker": str(settings["reranker"]), "trusted": settings["trusted"], "urls": urls}


DUPLICATES = Step(
    "duplicates",
    "questions without duplicates",
    run=without_duplicates,
    needs=("question",),
    printed=3216,
    place="DebateQA, table 7",
)
QUERIES = Step(
    "queries",
    "questions with search queries",
    (
        Asking(
            "queries",
            _QUERIES,
            (QUESTION,),
            lambda row: {QUESTION: str(row.fields["question"])},
            read_queries,
            max_tokens=200,
        ),
    ),
    needs=("question", "queries"),
)
EVIDENCE = Step(
    "evidence",
    "questions with at least 3 documents",
    run=with_documents,
    needs=("question", "documents"),
    printed=2982,
    place="DebateQA, section 3",
)

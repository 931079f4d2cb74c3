"""What people check in a construction of DebateQA, as items of the forms of checks, and what their outcome rejects.

DebateQA's three people per partial answer reached Fleiss' kappas of 0.66 (grounded in the documents) and 0.60 (addresses the
question); a partial answer that two of three rejected in either task was removed, its question stayed (section 3, appendix A.4).
"""

import random
from collections.abc import Mapping, Sequence

import numpy as np

from berdseye.annotation.batches.check_items import CheckItem
from berdseye.evaluation.construction.debateqa.calibration import (
    JudgedPair,
    Suggestion,
    drawn_pairs,
    suggested_threshold,
)
from berdseye.evaluation.construction.debateqa.documents import DOCUMENTS, Documents, chunks_of, without_addresses
from berdseye.evaluation.construction.debateqa.evidence import DUPLICATES, EVIDENCE
from berdseye.evaluation.construction.debateqa.explanations import EXPLANATIONS, VERIFIED
from berdseye.evaluation.construction.debateqa.similarity import unit_vectors
from berdseye.evaluation.construction.debateqa.views import DISTINCT_VIEWS
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Built, Check

SOURCES = "sources"
"""The step that reads the sources (`stored.SOURCES`)."""


def debatable_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return drawn questions without duplicates; all if `size` is larger."""
    return [
        CheckItem(row.id, "", str(row.fields["question"])) for row in _drawn(built.kept(DUPLICATES.name), size, seed)
    ]


def duplicate_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return pairs of questions drawn evenly over their similarities; an item's id has both ids, and its title their cosine."""
    rows = built.kept(SOURCES)
    texts = {row.id: str(row.fields["question"]) for row in rows}
    pairs = drawn_pairs(
        list(texts), list(texts.values()), pairs=size, encoder=str(built.settings["encoder"]), seed=seed
    )
    return [CheckItem(f"{p.first}|{p.second}", texts[p.first], texts[p.second], title=f"{p.cosine:.4f}") for p in pairs]


def threshold_by_people(items: Sequence[CheckItem], counts: Mapping[str, Mapping[str, int]]) -> Suggestion:
    """Return the threshold that people's verdicts on `duplicate_items` suggest; `counts` gives the numbers of "yes" and "no" by
    the id of an item. Items without verdicts do not count."""
    judged = [
        JudgedPair(float(item.title), counts[item.id].get("yes", 0), counts[item.id].get("no", 0))
        for item in items
        if item.id in counts
    ]
    return suggested_threshold(judged)


def grounded_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return drawn partial answers beside the documents that they cite."""
    documents = Documents(built.working())
    return [
        CheckItem(row.id, documents.shown(row.fields["documents"]), partial_answer(row), str(row.fields["question"]))
        for row in _drawn(built.kept(EXPLANATIONS.name), size, seed)
    ]


def addressing_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return the partial answers that `grounded_items` draws, beside their questions."""
    return [
        CheckItem(row.id, str(row.fields["question"]), partial_answer(row))
        for row in _drawn(built.kept(EXPLANATIONS.name), size, seed)
    ]


def covered_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return, for drawn questions, the 5 chunks of 1000 tokens nearest to the question, each beside its points of view; `size`
    counts chunks."""
    documents, encoder = Documents(built.working()), str(built.settings["encoder"])
    views: dict[str, list[str]] = {}
    for row in built.kept(DISTINCT_VIEWS.name):
        views.setdefault(str(row.fields["question_id"]), []).append(str(row.fields["point_of_view"]))
    items = []
    for row in _drawn([row for row in built.kept(EVIDENCE.name) if row.id in views], max(1, size // DOCUMENTS), seed):
        question = str(row.fields["question"])
        texts = [without_addresses(documents.text(reference)) for reference in row.fields["documents"]]
        chunks = list(dict.fromkeys(chunk for text in texts for chunk in chunks_of(text)))
        vectors = unit_vectors([question, *chunks], encoder)
        nearest = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:DOCUMENTS]
        statement = "\n".join(f"{number}. {view}" for number, view in enumerate(views[row.id], start=1))
        items += [CheckItem(f"{row.id}#{place}", chunks[place], statement, question) for place in nearest.tolist()]
    return items


def partial_answer(row: Row) -> str:
    """Return a partial answer as people check it: the point of view, and its explanation below."""
    return f"{row.fields['point_of_view']}\n\n{row.fields['explanation']}"


def _drawn(rows: Sequence[Row], size: int, seed: int) -> list[Row]:
    places = sorted(random.Random(seed).sample(range(len(rows)), min(size, len(rows))))
    return [rows[place] for place in places]


CHECKS = (
    Check(
        "debatable",
        "debatable",
        "Is the question debatable?",
        debatable_items,
        outcome=DUPLICATES.name,
        size=100_000,
        printed="DebateQA, section 3: the authors reviewed all questions",
    ),
    Check(
        "duplicates",
        "duplicate",
        "Which pairs of questions are duplicates? Suggests the threshold",
        duplicate_items,
        size=500,
        printed="DebateQA, appendix A.1: 500 pairs, threshold 0.78",
    ),
    Check(
        "grounded",
        "grounded",
        "Is the partial answer grounded in its documents?",
        grounded_items,
        outcome=VERIFIED.name,
        people=3,
        size=100_000,
        printed="DebateQA, appendix A.4: Fleiss' kappa 0.66",
    ),
    Check(
        "addresses",
        "addresses",
        "Does the partial answer address the question from a perspective?",
        addressing_items,
        outcome=VERIFIED.name,
        people=3,
        size=100_000,
        printed="DebateQA, appendix A.4: Fleiss' kappa 0.60",
    ),
    Check(
        "covered",
        "covered",
        "Do the points of view cover all views of the best chunks?",
        covered_items,
        size=500,
        printed="DebateQA, appendix A.3: 90.4% of the chunks",
    ),
)

"""What people check in a construction of DebateQA, as items of the forms of checks, and what their outcome rejects.

DebateQA's three people per partial answer reached Fleiss' kappas of 0.66 (grounded in the documents) and 0.60 (addresses the
question); a partial answer that two of three rejected in either task was removed, its question stayed (section 3, appendix A.4).
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from berdseye.data.errors import UnknownNameError
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
from berdseye.evaluation.construction.steps import Check
from berdseye.evaluation.construction.stored import SOURCES, Construction

Item = dict[str, Any]


def debatable_items(construction: Construction, size: int, seed: int) -> list[Item]:
    """Return drawn questions without duplicates; all if `size` is larger."""
    return [
        {"id": row.id, "read": "", "statement": str(row.fields["question"])}
        for row in _drawn(construction.kept(DUPLICATES.name), size, seed)
    ]


def duplicate_items(construction: Construction, size: int, seed: int) -> list[Item]:
    """Return pairs of questions drawn evenly over their similarities; an item's id has both ids, and its title their cosine."""
    rows = construction.kept(SOURCES)
    texts = {row.id: str(row.fields["question"]) for row in rows}
    pairs = drawn_pairs(
        list(texts), list(texts.values()), pairs=size, encoder=str(construction.settings["encoder"]), seed=seed
    )
    return [
        {
            "id": f"{p.first}|{p.second}",
            "read": texts[p.first],
            "statement": texts[p.second],
            "title": f"{p.cosine:.4f}",
        }
        for p in pairs
    ]


def threshold_by_people(items: Sequence[Item], counts: Mapping[str, Mapping[str, int]]) -> Suggestion:
    """Return the threshold that people's verdicts on `duplicate_items` suggest; `counts` gives the numbers of "yes" and "no" by
    the id of an item. Items without verdicts do not count."""
    judged = [
        JudgedPair(float(item["title"]), counts[item["id"]].get("yes", 0), counts[item["id"]].get("no", 0))
        for item in items
        if item["id"] in counts
    ]
    return suggested_threshold(judged)


def grounded_items(construction: Construction, size: int, seed: int) -> list[Item]:
    """Return drawn partial answers beside the documents that they cite."""
    documents = Documents(construction.working())
    return [
        {
            "id": row.id,
            "read": documents.shown(row.fields["documents"]),
            "statement": partial_answer(row),
            "question": str(row.fields["question"]),
        }
        for row in _drawn(construction.kept(EXPLANATIONS.name), size, seed)
    ]


def addressing_items(construction: Construction, size: int, seed: int) -> list[Item]:
    """Return the partial answers that `grounded_items` draws, beside their questions."""
    return [
        {"id": row.id, "read": str(row.fields["question"]), "statement": partial_answer(row)}
        for row in _drawn(construction.kept(EXPLANATIONS.name), size, seed)
    ]


def covered_items(construction: Construction, size: int, seed: int) -> list[Item]:
    """Return, for drawn questions, the 5 chunks of 1000 tokens nearest to the question, each beside its points of view."""
    documents, encoder = Documents(construction.working()), str(construction.settings["encoder"])
    views: dict[str, list[str]] = {}
    for row in construction.kept(DISTINCT_VIEWS.name):
        views.setdefault(str(row.fields["question_id"]), []).append(str(row.fields["point_of_view"]))
    items = []
    for row in _drawn([row for row in construction.kept(EVIDENCE.name) if row.id in views], size, seed):
        question = str(row.fields["question"])
        texts = [without_addresses(documents.text(reference)) for reference in row.fields["documents"]]
        chunks = list(dict.fromkeys(chunk for text in texts for chunk in chunks_of(text)))
        vectors = unit_vectors([question, *chunks], encoder)
        nearest = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:DOCUMENTS]
        statement = "\n".join(f"{number}. {view}" for number, view in enumerate(views[row.id], start=1))
        items += [
            {"id": f"{row.id}#{place}", "read": chunks[place], "statement": statement, "question": question}
            for place in nearest.tolist()
        ]
    return items


def partial_answer(row: Row) -> str:
    """Return a partial answer as people check it: the point of view, and its explanation below."""
    return f"{row.fields['point_of_view']}\n\n{row.fields['explanation']}"


def apply_outcomes(
    construction: Construction, check: str, accepted: Mapping[str, bool | None], *, made_by: str
) -> list[str]:
    """Reject the rows that people's check rejects, and return their ids; `accepted` gives each item's outcome by its id.

    An item that two of three people reject has the outcome false (`annotation.batches.check_outcomes`). An undecided or unknown
    outcome rejects nothing. Rows that were rejected before, and items of rows that are gone, are skipped. Raises
    `UnknownNameError` for a check that the kind lacks, `StaleError` if the step that it rejects rows of is not finished.
    """
    by_name = {one.name: one for one in construction.kind.checks}
    if check not in by_name:
        raise UnknownNameError("check", check, by_name)
    step = by_name[check].outcome
    if not step:
        return []
    present = {row.id for row in construction.kept(step)}
    rejected = [row for row, outcome in accepted.items() if outcome is False and row in present]
    if rejected:
        reason = f"rejected by people: {check}"
        construction.overrule(step, dict.fromkeys(rejected, reason), keep=False, made_by=made_by)
    return rejected


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
        size=100,
        printed="DebateQA, appendix A.3: 90.4% of the chunks",
    ),
)

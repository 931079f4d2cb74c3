"""What people check in a construction of DebateQA, as items of the forms of checks, and what their outcome rejects.

DebateQA's three people per partial answer reached Fleiss' kappas of 0.66 (grounded in the documents) and 0.60 (addresses the
question); a partial answer that two of three rejected in either task was removed, its question stayed (section 3, appendix A).
"""

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from berdseye.annotation.batches.check_items import CheckItem
from berdseye.evaluation.construction.debateqa.documents import DOCUMENTS, Documents, chunks_of, without_addresses
from berdseye.evaluation.construction.debateqa.evidence import DUPLICATES, EVIDENCE
from berdseye.evaluation.construction.debateqa.explanations import EXPLANATIONS, VERIFIED
from berdseye.evaluation.construction.debateqa.views import DISTINCT_VIEWS
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Built, Check

if TYPE_CHECKING:
    from berdseye.evaluation.construction.debateqa.calibration import Suggestion

_BETWEEN = "|"
SOURCES = "sources"
"""The step that reads the sources (`stored.SOURCES`)."""


def debatable_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return drawn questions without duplicates; all if `size` is larger."""
    return [
        CheckItem(row.id, "", str(row.fields["question"])) for row in _drawn(built.kept(DUPLICATES.name), size, seed)
    ]


def duplicate_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return pairs of questions drawn evenly over their similarities, without those of the same words; an item's id has both ids.

    People do not see how similar the questions of a pair are.
    """
    from berdseye.data.datasets.stored import same_question
    from berdseye.evaluation.construction.debateqa.calibration import drawn_pairs

    named: dict[str, str] = {}
    texts = {row.id: str(row.fields["question"]) for row in built.kept(SOURCES)}
    for name, text in sorted(texts.items()):
        named.setdefault(same_question(text), name)
    ids = list(named.values())
    pairs = drawn_pairs(
        ids, [texts[name] for name in ids], pairs=size, encoder=str(built.settings["encoder"]), seed=seed
    )
    return [CheckItem(f"{pair.first}{_BETWEEN}{pair.second}", texts[pair.first], texts[pair.second]) for pair in pairs]


def threshold_by_people(built: Built, counts: Mapping[str, Mapping[str, int]]) -> "Suggestion":
    """Return the threshold that people's verdicts on `duplicate_items` suggest; `counts` gives the numbers of "yes" and "no" by
    the id of an item. Pairs without verdicts, and of questions that are gone, do not count."""
    from berdseye.evaluation.construction.debateqa.calibration import JudgedPair, suggested_threshold
    from berdseye.evaluation.construction.debateqa.similarity import unit_vectors

    texts = {row.id: str(row.fields["question"]) for row in built.kept(SOURCES)}
    pairs = {item: pair for item, given in counts.items() if any(given.values()) and (pair := _pair(item, texts))}
    names = sorted({name for pair in pairs.values() for name in pair})
    vectors = dict(
        zip(names, unit_vectors([texts[name] for name in names], str(built.settings["encoder"])), strict=True)
    )
    return suggested_threshold(
        [
            JudgedPair(float(vectors[a] @ vectors[b]), counts[item].get("yes", 0), counts[item].get("no", 0))
            for item, (a, b) in pairs.items()
        ]
    )


def threshold_text(built: Built, counts: Mapping[str, Mapping[str, int]]) -> str:
    """Return the suggested threshold in words, beside that of the construction."""
    found = threshold_by_people(built, counts)
    present = f"the construction has {float(built.settings['threshold']):g}"
    if found.threshold is None:
        return f"No pair is a duplicate to most people, so no threshold is suggested; {present}."
    return (
        f"Suggested threshold: {found.threshold:.3f}, the lowest cosine of {found.duplicates} duplicates; {found.joined} of "
        f"{found.different} other pairs are above it, and {present}."
    )


def _pair(item: str, texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the two ids that an item's id joins; ids may contain the sign that joins them."""
    parts = item.split(_BETWEEN)
    splits = ((_BETWEEN.join(parts[:n]), _BETWEEN.join(parts[n:])) for n in range(1, len(parts)))
    return next((pair for pair in splits if all(name in texts for name in pair)), None)


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
    from berdseye.evaluation.construction.debateqa.similarity import unit_vectors

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
        nearest = (-(vectors[1:] @ vectors[0])).argsort(kind="stable")[:DOCUMENTS]
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
        printed="DebateQA, appendix A: 500 pairs, threshold 0.78",
        concludes=threshold_text,
    ),
    Check(
        "grounded",
        "grounded",
        "Is the partial answer grounded in its documents?",
        grounded_items,
        outcome=VERIFIED.name,
        people=3,
        size=100_000,
        printed="DebateQA, appendix A: Fleiss' kappa 0.66",
    ),
    Check(
        "addresses",
        "addresses",
        "Does the partial answer address the question from a perspective?",
        addressing_items,
        outcome=VERIFIED.name,
        people=3,
        size=100_000,
        printed="DebateQA, appendix A: Fleiss' kappa 0.60",
    ),
    Check(
        "covered",
        "covered",
        "Do the points of view cover all views of the best chunks?",
        covered_items,
        size=500,
        printed="DebateQA, appendix A: 90.4% of the chunks",
    ),
)

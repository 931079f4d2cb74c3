"""The construction of a DebateQA: its steps, its options, and the data set that it makes."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import write_bytes
from berdseye.data.records import Perspective, Question
from berdseye.data.web.days import as_day
from berdseye.evaluation.construction.debateqa.checks import CHECKS
from berdseye.evaluation.construction.debateqa.documents import DOCUMENTS, FEWEST, Documents, Reference
from berdseye.evaluation.construction.debateqa.evidence import DUPLICATES, EVIDENCE, QUERIES, read_questions
from berdseye.evaluation.construction.debateqa.explanations import EXPLANATIONS, VERIFIED
from berdseye.evaluation.construction.debateqa.report import report_lines
from berdseye.evaluation.construction.debateqa.thresholds import DISTINCT, THRESHOLD, checked_threshold
from berdseye.evaluation.construction.debateqa.views import DISTINCT_VIEWS, POINTS, VIEWS
from berdseye.evaluation.construction.finishing import refuse_existing
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Kind, Option
from berdseye.evaluation.construction.working import Working
from berdseye.evaluation.topics import topics_of

TEST = 1_000
"""The number of questions in DebateQA's test split; the other 1,941 are dev."""


def questions_of(rows: Sequence[Row]) -> list[Question]:
    """Return the questions of partial answers, each with its points of view and explanations."""
    texts: dict[str, str] = {}
    answers: dict[str, dict[Perspective, None]] = {}
    for row in rows:
        name = str(row.fields["question_id"])
        texts[name] = str(row.fields["question"])
        answer = Perspective(str(row.fields["point_of_view"]), None, str(row.fields["explanation"]))
        answers.setdefault(name, {})[answer] = None
    return [Question(name, "", text, tuple(answers[name])) for name, text in texts.items()]


def check_settings(working: Working) -> None:
    """Raise an error for corpora, pipelines, an encoder or a day with which no step could work."""
    from berdseye.retrieval.encoders.encoder_registry import open_encoder

    if day := working.settings["day"]:
        as_day(str(day))
    checked_threshold(float(working.settings["threshold"]))
    Documents(working).check()
    open_encoder(str(working.settings["encoder"]))


def finish(working: Working, dataset: str, rows: Sequence[Row], replacing: bool = False) -> list[str]:
    """Write the questions in DebateQA's layout with their documents and origins, and add them as data sets.

    With the setting `test`, that many random questions are DATASET-test, and the others DATASET-dev; a construction with no more
    questions is one data set. The files stay in the folder `finished` of the construction. A question stays even if people have
    rejected all of its partial answers. Raises `BadInputError` if another data set of such a name exists, unless `replacing`;
    data sets with the same questions, as after an interrupted call, are written again.
    """
    from berdseye.data.datasets.stored import import_dataset

    entries = _entries(working, rows)
    if not entries:
        raise BadInputError(
            f"Nothing is left of '{working.folder.name}'.",
            hint=f"See why: `berdseye construct rejected {working.folder.name}`.",
        )
    parts = _split(entries, dataset, int(working.settings["test"]), int(working.settings["seed"]))
    paths = {name: working.folder / "finished" / f"{name}.jsonl" for name in parts}
    for name, part in parts.items():
        texts = (json.dumps(entry, ensure_ascii=False, sort_keys=True) for entry in part)
        write_bytes(paths[name], "".join(f"{text}\n" for text in texts).encode("utf-8", "replace"))
    if not replacing:
        others = [name for name, path in paths.items() if not _has_been_added(working, name, path)]
        refuse_existing(working.workspace, others)
    lines = []
    for name, path in paths.items():
        added = import_dataset(working.workspace, name, path).questions
        answers = sum(len(question.perspectives) for question in added)
        lines.append(f"{name}: {len(added):,} questions, {answers:,} perspectives; with documents in {path}")
    return lines


def _has_been_added(working: Working, name: str, path: Path) -> bool:
    """Return whether there is a data set with the questions of a file, as after an interrupted call."""
    from berdseye.data.datasets.layouts.debateqa import read_debateqa
    from berdseye.data.datasets.stored import load_dataset

    if name not in working.workspace.datasets():
        return False
    stored, written = load_dataset(working.workspace, name), read_debateqa(path).questions
    return [(q.id, q.text, q.perspectives) for q in stored] == [(q.id, q.text, q.perspectives) for q in written]


def _entries(working: Working, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the questions as objects: those of DebateQA's layout, with topic, source, documents and origins."""
    documents, questions = Documents(working), working.kept(VIEWS.name)
    topics = topics_of([str(row.fields["question"]) for row in questions], seed=int(working.settings["seed"]))
    answers: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        answers.setdefault(str(row.fields["question_id"]), []).append(
            {
                "point_of_view": row.fields["point_of_view"],
                "explanation": row.fields["explanation"],
                "documents": [reference["number"] for reference in row.fields["documents"]],
                "origin": {
                    step: _without_raw(row.origin[step])
                    for step in (EXPLANATIONS.name, "overruled")
                    if step in row.origin
                },
            }
        )
    return [
        {
            "id": row.id,
            "question": row.fields["question"],
            "source": row.fields["source"],
            "topic": topic,
            "partial_answers": answers.get(row.id, []),
            "documents": [_document(documents, reference) for reference in row.fields["documents"]],
            "origin": {step: _without_raw(made) for step, made in row.origin.items()},
        }
        for row, topic in zip(questions, topics, strict=True)
    ]


def _document(documents: Documents, reference: Reference) -> dict[str, Any]:
    shown = {name: reference[name] for name in ("number", "corpus", "source_id", "title", "url")}
    return {**shown, "text": documents.text(reference)}


def _without_raw(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return the origin of a field without raw completions, which the construction keeps."""
    return {name: value for name, value in made.items() if name != "raw"}


def _split(entries: list[dict[str, Any]], dataset: str, test: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    if not 0 < test < len(entries):
        return {dataset: entries}
    drawn = set(random.Random(seed).sample(range(len(entries)), test))
    return {
        f"{dataset}-{split}": [entry for place, entry in enumerate(entries) if (place in drawn) == (split == "test")]
        for split in ("test", "dev")
    }


DEBATEQA = Kind(
    "debateqa",
    "Debatable questions with points of view and explanations from documents",
    "JSON Lines or CSV with `question`; one file for each origin, with its name: `delphi=FILE`",
    (DUPLICATES, QUERIES, EVIDENCE, VIEWS, POINTS, DISTINCT_VIEWS, EXPLANATIONS, VERIFIED),
    read_questions,
    questions_of,
    finish=finish,
    report=report_lines,
    check=check_settings,
    options=(
        Option("corpora", "", "The corpora to search for documents, separated by spaces.", corpora=True),
        Option("threshold", THRESHOLD, "The cosine from which on two questions are duplicates.", least=0, most=1),
        Option("encoder", "static", "The encoder of questions, points of view and chunks."),
        Option("pipeline", "bm25", "The pipeline that searches the corpora."),
        Option("reranker", "dense(static)", "The pipeline, or crossencoder(NAME), that ranks the found documents."),
        Option(
            "trusted",
            "debateqa",
            "The list of trusted domain endings; all: every site.",
            choices=("debateqa", "institutions", "all"),  # data.web.settings.TRUSTED_LISTS, as a test says
        ),
        Option("day", None, "Use the pages of corpora of the web that were stored on this day, like 2025-06-01."),
        Option("documents", DOCUMENTS, "The largest number of documents of a question.", least=FEWEST),
        Option("document_tokens", 80_000, "The largest length of a document in a prompt, in tokens.", least=1),
        Option("total_tokens", 120_000, "The largest length of all documents in a prompt, in tokens.", least=1),
        Option(
            "distinct",
            DISTINCT,
            "The cosine from which on two points of view of a question are merged.",
            least=0,
            most=1,
        ),
        Option("test", TEST, "The number of questions in the test split; 0: one data set.", least=0),
        Option("seed", 0, "The seed of the split and the topics.", least=0, most=2**31 - 1),
    ),
    checks=CHECKS,
    paper="DebateQA (section 3, appendix A)",
)

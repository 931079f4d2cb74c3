"""Questions and perspectives from pairs of opposing arguments, as BERDS made Arguana (section 4.1, appendix B.1).

BERDS kept 1,000 questions, with 2.0 perspectives each.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import read_rows as read_objects
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.evaluation.construction.asking import Asking, UnreadableError
from berdseye.evaluation.construction.berds.inspection import INSPECTION
from berdseye.evaluation.construction.berds.questions import PERSPECTIVES
from berdseye.evaluation.construction.berds.statements import DUPLICATES, checked_question, questions_of
from berdseye.evaluation.construction.completions import completion_lines, without_number
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.sources import only_source, read_sources, source_text
from berdseye.evaluation.construction.steps import Kind, Step
from berdseye.evaluation.construction.working import Working

_FIRST, _SECOND = "Doc 1", "Doc 2"
_RULES = (
    "These are two texts that argue against each other. Find the issue that divides them, and write it as one short question "
    "that is answered with yes by one text and with no by the other. Use words of your own: nobody should be able to tell that "
    "the question was taken from a text. Write the question alone, on one line."
)
_EXAMPLES = (
    (
        "Ferries between the islands lose money every winter. The council should end the winter service and let people book "
        "places on the supply boat.",
        "Old people on the outer islands see a doctor only because of the winter ferry. A public service is not there to earn "
        "money, and it must go on.",
        "Should the council go on paying for ferries in winter?",
    ),
    (
        "A pupil who writes by hand remembers more of a lesson. Studies of note-taking say so, and handwriting belongs in every "
        "classroom.",
        "Nobody is asked to write a page by hand after school. The hours that go into handwriting are better spent on typing.",
        "Should schools still teach handwriting?",
    ),
)
_PROMPT = PromptTemplate(
    "construction: question from two documents",
    (
        *(
            message
            for first, second, question in _EXAMPLES
            for message in (
                Message("user", f"<doc 1>\n{first}\n</doc 1>\n\n<doc 2>\n{second}\n</doc 2>\n\n{_RULES}"),
                Message("assistant", question),
            )
        ),
        Message("user", f"[{_FIRST}]\n\n[{_SECOND}]\n\n{_RULES}"),
    ),
)


def _values(row: Row) -> Mapping[str, str]:
    return {_FIRST: row.fields["document1"], _SECOND: row.fields["document2"]}


def _read_question(row: Row, text: str) -> Mapping[str, Any]:
    lines = completion_lines(text)
    asked = next((line for line in lines if line.rstrip(' *_"”').endswith("?")), lines[0] if lines else "")
    if not asked:
        raise UnreadableError("the completion is empty")
    question = without_number(asked.partition("uestion:")[2] if "uestion:" in asked[:14] else asked)
    return {"question": checked_question(question, [row.fields["document1"], row.fields["document2"]])}


def _read(working: Working) -> Sequence[Row]:
    source = only_source(working)
    if source.is_dir():
        return _read_beir(source)
    return read_sources(
        working,
        lambda found: {
            "document1": source_text(found, "document1", "argument"),
            "document2": source_text(found, "document2", "counter_argument", "counter-argument"),
        },
    )


def _read_beir(folder: Path) -> list[Row]:
    """Return the pairs of a folder in the layout of BEIR: `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`.

    Each line of the qrels pairs an argument with its counter-argument. Raises `BadInputError` for a missing file.
    """
    corpus = {str(row["_id"]): _document(row) for _, row in read_objects(folder / "corpus.jsonl")}
    queries = {str(row["_id"]): _document(row) for _, row in read_objects(folder / "queries.jsonl")}
    tables = sorted((folder / "qrels").glob("*.tsv"))
    if not tables:
        raise BadInputError(
            "The folder has no qrels/*.tsv.", where=folder, hint="Give a folder in the layout of BEIR, or JSON Lines."
        )
    rows: dict[str, Row] = {}
    for table in tables:
        with table.open(encoding="utf-8", newline="") as file:
            for line, (query, document, *_) in enumerate(csv.reader(file, delimiter="\t"), start=1):
                if query == "query-id":
                    continue
                row = Row(f"{query} {document}", {"document1": queries.get(query), "document2": corpus.get(document)})
                if not all(row.fields.values()):
                    row = row._replace(fields={}).reject("cannot be read: a document of the pair is not in the folder")
                rows.setdefault(row.id, row.with_origin("sources", source=table.name, line=line))
    return list(rows.values())


def _document(row: Mapping[str, Any]) -> str:
    return " ".join(text for text in (str(row.get("title") or ""), str(row.get("text") or "")) if text)


ARGUANA = Kind(
    "arguana",
    "Questions from pairs of opposing arguments",
    "JSON Lines with `id`, `document1` and `document2`, or a folder in the layout of BEIR",
    (
        Step(
            "questions",
            "questions written",
            (Asking("questions", _PROMPT, (_FIRST, _SECOND), _values, _read_question, max_tokens=80, words=170),),
            needs=("question",),
        ),
        DUPLICATES,
        Step(
            PERSPECTIVES.name,
            PERSPECTIVES.title,
            PERSPECTIVES.asks,
            needs=PERSPECTIVES.needs,
            printed=1000,
            place="BERDS, table 1",
        ),
    ),
    _read,
    questions_of,
    checks=(INSPECTION,),
    paper="BERDS, Arguana (section 4.1)",
)

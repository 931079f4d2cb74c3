"""Queries with all of their evidence, and the wording in which people would search (D-MERIT, sections 2.4 and 2.5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.data.records import Perspective, Question
from berdseye.data.texts.passages import clean
from berdseye.evaluation.construction.asking import Asking, UnreadableError
from berdseye.evaluation.construction.dmerit.evidence import claim
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Option, Step
from berdseye.evaluation.construction.working import Working

_LIST = "List"
_LONGEST_QUERY = 200
OPTIONS = (Option("fewest_evidence", 5, "Leave out a query with fewer passages of evidence than this.", least=1),)
_PROMPT = PromptTemplate(
    "construction: natural query",
    (
        Message(
            "user",
            f"[{_LIST}]\n\nThe text between the tags names a list in an encyclopedia, from the general to the particular: an "
            "article, its sections if there are any, and a column of it. Somebody who looks for all of its entries types a "
            "few words into a search engine. Write these words as one line, with every condition that the list sets and without "
            "words that only describe the table.\nFor example, the list\nList of lighthouses in Norway » Finnmark » Name of the "
            "lighthouse\nbecomes\nlighthouses in Finnmark Norway\nAnswer with the line alone.",
        ),
    ),
)


def _queries(working: Working, rows: Sequence[Row]) -> list[Row]:
    """Join the evidence of all members of a list to one query."""
    fewest = int(working.settings["fewest_evidence"])
    by_list: dict[str, list[Row]] = {}
    for row in rows:
        by_list.setdefault(row.fields["list"], []).append(row)
    made = []
    for name, confirmed in by_list.items():
        passages: dict[str, dict[str, Any]] = {}
        for row in confirmed:
            fields = row.fields
            passage = passages.setdefault(
                fields["passage"],
                {
                    "passage": fields["passage"],
                    "article": fields["article"],
                    "popularity": fields["popularity"],
                    "members": [],
                },
            )
            passage["members"].append({"page": fields["page"], "title": fields["member"]})
        evidence = sorted(passages.values(), key=lambda one: int(one["passage"]))
        first = confirmed[0].fields
        row = Row(name, {"hierarchy": first["hierarchy"], "members": first["members"], "evidence": evidence})
        reason = f"fewer than {fewest} passages of evidence: {len(evidence)}"
        made.append(row.reject(reason) if len(evidence) < fewest else row)
    return made


def _values(row: Row) -> Mapping[str, str]:
    return {_LIST: row.fields["hierarchy"]}


def _read(row: Row, text: str) -> Mapping[str, Any]:
    del row
    lines = [line.strip(" \t\"'“”`*") for line in clean(text).splitlines() if line.strip(" \t\"'“”`*")]
    if len(lines) != 1:
        raise UnreadableError(f"{len(lines)} lines instead of one")
    if len(lines[0]) > _LONGEST_QUERY:
        raise UnreadableError(f"longer than {_LONGEST_QUERY} characters")
    if "»" in lines[0]:
        raise UnreadableError("the list is copied")
    return {"question": lines[0]}


def questions(rows: Sequence[Row]) -> list[Question]:
    """Return the queries as questions; their perspectives are that each of the confirmed members belongs to the list."""
    return [
        Question(
            row.id,
            "",
            row.fields["question"],
            tuple(Perspective(claim(member, row.fields["hierarchy"])) for member in confirmed_members(row)),
        )
        for row in rows
    ]


def confirmed_members(row: Row) -> list[str]:
    """Return the members of a query that a passage confirms, in the order of their page numbers."""
    found = {m["page"]: m["title"] for passage in row.fields["evidence"] for m in passage["members"]}
    return [found[page] for page in sorted(found)]


QUERIES = Step(
    "queries",
    "queries with enough evidence",
    run=_queries,
    needs=("hierarchy", "evidence"),
    growth=0.01,
    printed=1_196,
    place="D-MERIT, section 2.6",
)
NATURAL = Step(
    "natural",
    "queries in natural words",
    (Asking("natural", _PROMPT, (_LIST,), _values, _read, max_tokens=64),),
    needs=("question", "evidence"),
)

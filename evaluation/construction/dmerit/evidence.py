"""The passages that may confirm a member of a list, and those that do according to a language model (D-MERIT, sections 2.2, 2.3).

A candidate is the introduction of an article that links to the member or to an alias of it, or of the member's own article. The
model is asked once for each candidate of each member.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.data.language_models.choosing import YES_OR_NO, answers_first
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.evaluation.construction.asking import Asking, UnreadableError
from berdseye.evaluation.construction.dmerit.lists import wiki_of
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Step
from berdseye.evaluation.construction.working import Working

_PASSAGE, _MEMBER, _LIST = "Passage", "Member", "List"
_ROWS_AT_ONCE = 1_000
_PROMPT = PromptTemplate(
    "construction: evidence",
    (
        Message(
            "user",
            f"[{_PASSAGE}]\n\n[{_MEMBER}]\n\n[{_LIST}]\n\nThe passage between the first tags is the beginning of an encyclopedia "
            "article. The list is written from the general to the particular: the title of an article, its sections if there are "
            "any, and the column in which the member is named. Imagine a report that proves that the member belongs to this list "
            "and quotes its sources. Is the passage one of these sources? It is if it says, or strongly implies, that the "
            "member meets every condition that the list sets, such as what it is, where and when. It is not if it only mentions "
            "the member, or if one condition stays open. Answer with one word, Yes or No.",
        ),
    ),
)


def claim(member: str, hierarchy: str) -> str:
    """Return the statement that a passage confirms if it is evidence: that a member belongs to a list."""
    return f"{member} belongs to: {hierarchy}"


def _candidates(working: Working, rows: Sequence[Row]) -> list[Row]:
    wiki = wiki_of(working)
    lists: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        for member in row.fields["members"]:
            lists[member["page"]].append(row)
    found: dict[int, list[dict[str, Any]]] = {}
    own = {number: article for number, article in wiki.articles(lists).items() if article.introduction}
    popularity = wiki.popularity(own)
    for number, article in own.items():
        found[number] = [{"passage": str(number), "article": article.title, "popularity": popularity[number]}]
    for count, link in enumerate(wiki.linking(lists), start=1):
        candidate = {"passage": str(link.article.id), "article": link.article.title, "popularity": link.popularity}
        found.setdefault(link.target, []).append(candidate)
        if count % 10_000 == 0:
            working.progress(count, "links", None)
    made = []
    for row in rows:
        shared = {"list": row.id, "hierarchy": row.fields["hierarchy"], "members": len(row.fields["members"])}
        for member in row.fields["members"]:
            page, title = member["page"], member["title"]
            candidates = [
                Row(f"{row.id}/{page}/{c['passage']}", {**shared, "page": page, "member": title, **c})
                for c in found.get(page, ())
            ]
            made += candidates or [
                Row(f"{row.id}/{page}", {**shared, "page": page, "member": title}).reject(
                    "no passage mentions the member"
                )
            ]
    return made


def _values(row: Row) -> Mapping[str, str]:
    return {_PASSAGE: row.fields["text"], _MEMBER: row.fields["member"], _LIST: row.fields["hierarchy"]}


def _read(row: Row, text: str) -> Mapping[str, Any]:
    del row
    answer = answers_first(text, YES_OR_NO)
    if answer is None:
        raise UnreadableError("neither Yes nor No")
    return {"evidence": answer}


IDENTIFY = Asking("identified", _PROMPT, (_PASSAGE, _MEMBER, _LIST), _values, _read, max_tokens=16, words=60)


def _identified(working: Working, rows: Sequence[Row]) -> list[Row]:
    """Ask for a part of the rows at a time, so that the texts of all passages are never in memory together."""
    wiki = wiki_of(working)
    made: list[Row] = []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[start : start + _ROWS_AT_ONCE]
        articles = wiki.articles(int(row.fields["passage"]) for row in part)
        asked = working.ask(
            IDENTIFY, [row.with_fields(text=articles[int(row.fields["passage"])].introduction) for row in part]
        )
        for row in asked:
            row = row._replace(fields={name: value for name, value in row.fields.items() if name != "text"})
            is_evidence = row.fields.get("evidence")
            made.append(row if row.rejected or is_evidence else row.reject("does not confirm the member"))
        working.progress(len(made), "passages and members", len(rows))
    return made


CANDIDATES = Step(
    "candidates",
    "pairs of a member and a passage",
    run=_candidates,
    needs=("passage",),
    growth=100.0,
    printed=250_000,
    place="D-MERIT, section 2.2 (about; passages)",
)
IDENTIFIED = Step(
    "identified",
    "pairs in which the passage confirms the member",
    (IDENTIFY,),
    run=_identified,
    needs=("passage",),
)

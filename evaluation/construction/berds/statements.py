"""What the constructions of BERDS share: checks of questions and statements, near-duplicates, and the finished questions."""

import re
from collections.abc import Sequence

from berdseye.data.records import Perspective, Question
from berdseye.data.texts.passages import clean
from berdseye.evaluation.construction.asking import UnreadableError
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Step
from berdseye.evaluation.construction.working import Working

COPIED_WORDS = 8
"""A question that has so many words in a row from a document is copied from it."""
_NEAR = 0.7
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_NEGATION = re.compile(r"not|no|never|none|nor|cannot|\w+n't")
_FILLER = re.compile(r"do|does|did|it|is|that|the|case|false|untrue|wrong|true|any")


def checked_question(text: str, documents: Sequence[str] = ()) -> str:
    """Return a question; raises `UnreadableError` if it does not end in a question mark or copies words of a document."""
    question = clean(text)
    if not question.endswith("?"):
        raise UnreadableError("the question has no question mark")
    if len(question.split()) > 60:
        raise UnreadableError("the question is longer than 60 words")
    for document in documents:
        if copied := copied_words(question, document):
            raise UnreadableError(f"the question copies a document: {copied}")
    return question


def checked_statements(supporting: str, opposing: str, *, negation_is_enough: bool) -> tuple[str, str]:
    """Return two statements; raises `UnreadableError` if they are equal or questions, or, unless `negation_is_enough`, if one
    is the bare negation of the other."""
    pair = clean(supporting), clean(opposing)
    if _words(pair[0]) == _words(pair[1]):
        raise UnreadableError("both statements are the same")
    if any(text.endswith("?") for text in pair):
        raise UnreadableError("a statement is a question")
    if not negation_is_enough and is_bare_negation(*pair):
        raise UnreadableError("the opposing statement is a bare negation")
    return pair


def is_bare_negation(first: str, second: str) -> bool:
    """Whether two statements have the same words except for negations and words that come with them."""
    negations, others = [], []
    for text in (first, second):
        words = _words(text)
        negations.append(any(_NEGATION.fullmatch(word) for word in words))
        others.append({w for w in words if not _NEGATION.fullmatch(w) and not _FILLER.fullmatch(w)})
    return others[0] == others[1] and negations[0] != negations[1]


def copied_words(text: str, document: str) -> str:
    """Return the first eight words in a row that a text has from a document, or nothing."""
    words = _words(text)
    shown = f" {' '.join(_words(document))} "
    for start in range(len(words) - COPIED_WORDS + 1):
        run = " ".join(words[start : start + COPIED_WORDS])
        if f" {run} " in shown:
            return run
    return ""


def without_duplicates(working: Working, rows: Sequence[Row]) -> list[Row]:
    """Return the rows, with those rejected whose question nearly repeats an earlier one."""
    from berdseye.data.texts.near_duplicates import near_duplicates  # NumPy, which no help needs

    del working
    texts = [str(row.fields["question"]) for row in rows]
    first: dict[int, int] = {}
    by_words: dict[str, int] = {}
    for place, text in enumerate(texts):
        earlier = by_words.setdefault(" ".join(_words(text)), place)
        if earlier != place:
            first[place] = earlier
    for group in near_duplicates(texts, _NEAR):
        for place in group[1:]:
            first.setdefault(place, group[0])
    return [
        row.reject(f"nearly repeats an earlier question: {rows[first[place]].id}") if place in first else row
        for place, row in enumerate(rows)
    ]


DUPLICATES = Step("duplicates", "questions without near-duplicates", run=without_duplicates, needs=("question",))
"""The step that rejects questions which nearly repeat an earlier one."""


def questions_of(rows: Sequence[Row]) -> list[Question]:
    """Return finished rows as questions: statements for and against, or perspectives that take no side."""
    return [Question(row.id, "", str(row.fields["question"]), _perspectives(row)) for row in rows]


def _perspectives(row: Row) -> tuple[Perspective, ...]:
    if "perspectives" in row.fields:
        return tuple(Perspective(text) for text in row.fields["perspectives"])
    return (Perspective(row.fields["supporting"], "supporting"), Perspective(row.fields["opposing"], "opposing"))


def inspection_text(row: Row) -> str:
    """Return a question with its perspectives as a person inspects them."""
    marks = {"supporting": "+", "opposing": "−", None: "•"}
    lines = [f"{marks[p.stance]} {p.text}" for p in _perspectives(row)]
    return "\n".join([str(row.fields["question"]), *lines])


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]

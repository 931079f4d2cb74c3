"""Checks of constructed data: what people decide about a text that a construction wrote, each declared once.

A check is a pair of two texts. Its `passage` is what one reads against (documents, a chunk, a question), its `perspective` the
statement that is checked. The pair's field `corpus` names the form, so that a pair knows its check wherever it is read, and the
pair's key differs from those of labelled pairs, so that a check never mixes with a label.
"""

import hashlib
import unicodedata
from collections.abc import Mapping
from typing import Literal, NamedTuple

from berdseye.data.errors import UnknownNameError

CHECK = "check"
"""The key of the form's name in the recipe of a batch."""
PURPOSE = "purpose"
"""The key of a batch's purpose in its recipe, if it qualifies people."""
KNOWN = "known_answers"
"""The key of the known answers in the recipe of a batch: verdicts by pair key."""
Purpose = Literal["exam", "training"]
UNSURE = "unsure"
MARK = "check:"
"""What the keys and the field `corpus` of checks begin with; no corpus can have such a name."""
_KEY_BYTES = 13


class CheckVerdict(NamedTuple):
    """An answer to a check: the verdict as stored, what it means to people, and whether it accepts (None: it decides nothing)."""

    verdict: str
    means: str
    accepts: bool | None


class CheckForm(NamedTuple):
    """One kind of check: the question to people, what the two texts are called, and the verdicts by their keys 1, 2 and 3.

    `against` is the passage of an item that brings none. `fleiss` is the Fleiss' kappa that the paper reports for it (None: it
    reports none); `printed` is the figure in words with its place.
    """

    name: str
    title: str
    question: str
    passage: str
    statement: str
    verdicts: tuple[CheckVerdict, ...]
    printed: str = ""
    fleiss: float | None = None
    against: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """The verdicts as they are stored."""
        return tuple(one.verdict for one in self.verdicts)

    @property
    def accepted(self) -> tuple[str, ...]:
        """The verdicts that accept the statement."""
        return tuple(one.verdict for one in self.verdicts if one.accepts is True)

    @property
    def rejected(self) -> tuple[str, ...]:
        """The verdicts that reject the statement."""
        return tuple(one.verdict for one in self.verdicts if one.accepts is False)

    @property
    def corpus(self) -> str:
        """The field `corpus` of the pairs of this check."""
        return f"{MARK}{self.name}"

    @property
    def instructions(self) -> str:
        """The question and the verdicts as Markdown, as people read them before the guidelines for all checks."""
        lines = [f"- **{one.verdict.capitalize()}**: {one.means}" for one in self.verdicts]
        return "\n".join([f"**{self.question}**", "", *lines])


_UNSURE = CheckVerdict(UNSURE, "you have read it twice and cannot say.", None)
_FORMS = (
    CheckForm(
        "inspect",
        "Inspect questions and perspectives",
        "Is what was written faultless, given the documents it was written from?",
        "Documents",
        "Question and perspectives",
        (
            CheckVerdict("ok", "the question fits the documents, and each perspective is a clear answer to it.", True),
            CheckVerdict("minor error", "the wording has a fault, but nobody would misunderstand it.", True),
            CheckVerdict("error", "the question or a perspective is wrong, unclear, or about something else.", False),
        ),
        "1, 1 and 0 errors in 20 questions of each of three data sets (BERDS, second version, table 19)",
    ),
    CheckForm(
        "debatable",
        "Is the question debatable?",
        "Can informed people give different answers to this question, each with reasons?",
        "Criteria",
        "Question",
        (
            CheckVerdict("yes", "its meaning is clear, and at least two answers can be defended.", True),
            CheckVerdict("no", "it is unclear, has one answer, or only taste decides.", False),
            _UNSURE,
        ),
        against="1. The meaning of the question is clear. 2. It can be answered from several angles. 3. Personal taste alone "
        "does not settle it.",
    ),
    CheckForm(
        "duplicate",
        "Are these duplicates?",
        "Do both texts ask or say the same, so that one of them can be dropped?",
        "First",
        "Second",
        (
            CheckVerdict("yes", "every good answer to one is a good answer to the other.", True),
            CheckVerdict("no", "they differ in more than wording.", False),
            _UNSURE,
        ),
    ),
    CheckForm(
        "grounded",
        "Is it grounded in the documents?",
        "Do the documents alone say what is stated?",
        "Documents",
        "Point of view and explanation",
        (
            CheckVerdict("yes", "all of it can be found in the documents, said openly or implied.", True),
            CheckVerdict("no", "a part of it is missing there, or contradicts them.", False),
        ),
        "Fleiss' kappa 0.66 (DebateQA, verification by three people)",
        0.66,
    ),
    CheckForm(
        "addresses",
        "Does it address the question?",
        "Does the statement answer the question from a point of view?",
        "Question",
        "Point of view and explanation",
        (
            CheckVerdict("yes", "it takes a position on what is asked, and explains it.", True),
            CheckVerdict("no", "it is about something else, or takes no position.", False),
            CheckVerdict("harmful", "it offends morals or ethics, whether it answers or not.", False),
        ),
        "Fleiss' kappa 0.60 (DebateQA, verification by three people)",
        0.60,
    ),
    CheckForm(
        "covered",
        "Are all views of the passage covered?",
        "Does the list contain every view on the question that the passage holds?",
        "Passage",
        "Points of view",
        (
            CheckVerdict("yes", "each view in the passage is in the list, or the passage holds none.", True),
            CheckVerdict("no", "the passage holds a view on the question that the list lacks.", False),
        ),
        "90.4% of the chunks covered (DebateQA)",
    ),
    CheckForm(
        "relevant",
        "Is the passage relevant?",
        "Does the passage confirm that the thing it is about meets the whole query?",
        "Passage",
        "Query",
        (
            CheckVerdict("yes", "a report on the query would cite it: it says so, or strongly implies it.", True),
            CheckVerdict("no", "a part of the query is not confirmed.", False),
            _UNSURE,
        ),
    ),
    CheckForm(
        "dispute",
        "Does the answer acknowledge the debate?",
        "Does the answer say or clearly show that people disagree about the question?",
        "Question",
        "Answer",
        (
            CheckVerdict("yes", "a reader learns from it that the question is disputed.", True),
            CheckVerdict("no", "it answers as if the matter were settled.", False),
        ),
        "Fleiss' kappa 0.79 (DebateQA, Dispute Awareness)",
        0.79,
    ),
)
FORMS: Mapping[str, CheckForm] = {form.name: form for form in _FORMS}


def check_form(name: str) -> CheckForm:
    """Return the form of this name; raises `UnknownNameError`."""
    if name not in FORMS:
        raise UnknownNameError("check", name, FORMS)
    return FORMS[name]


def form_of(corpus: str) -> CheckForm | None:
    """Return the form that a pair's field `corpus` names; None for a pair that is no check.

    Raises `UnknownNameError` for a form that this version does not have.
    """
    return check_form(corpus.removeprefix(MARK)) if corpus.startswith(MARK) else None


def is_check(corpus: str) -> bool:
    """Return whether a pair with this field `corpus` is a check."""
    return corpus.startswith(MARK)


def check_key(corpus: str, question: str, passage: str, statement: str) -> str:
    """Return the key of a check: `check:` and a hash of its form and texts (26 hexadecimal digits), after NFC normalisation."""
    digest = hashlib.blake2b(digest_size=_KEY_BYTES)
    for text in (corpus, question, passage, statement):
        encoded = unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return f"{MARK}{digest.hexdigest()}"


def is_check_key(key: str) -> bool:
    """Return whether a pair's key is that of a check."""
    return key.startswith(MARK)

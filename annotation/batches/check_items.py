"""Batches of checks: the items that a construction hands to people, and how they become pairs.

An item may carry the known answer, by which a batch qualifies the people who judge it (annotation/batches/qualification.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from berdseye.annotation.checks import CHECK, KNOWN, PURPOSE, CheckForm, Purpose, check_form
from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import read_rows
from berdseye.data.texts.passages import clean

if TYPE_CHECKING:
    from berdseye.annotation.batches.stored import Batch, Item
    from berdseye.annotation.judgments.log import Judgments, PairRecord

MOST_KNOWN = 100
"""The items of a batch that may have a known answer, as in the training batches of D-MERIT (Rassin et al.)."""
PEOPLE_A_CHECK = 3
"""How many people check an item, as in DebateQA (Xu et al.)."""


class CheckItem(NamedTuple):
    """What people check: the `statement`, and the text to `read` for it (empty: that of the form).

    `expected` is the known answer, if there is one.
    """

    id: str
    read: str
    statement: str
    question: str = ""
    title: str = ""
    expected: str = ""

    def record(self, form: CheckForm, dataset: str) -> "PairRecord":
        """Return the item as a pair. Items with equal texts under one form are one pair."""
        from berdseye.annotation.judgments.log import PairRecord

        passage = self.read or form.against
        return PairRecord(dataset[:64], self.id, self.question, self.statement, None, form.corpus, self.title, passage)

    def key(self, form: CheckForm) -> str:
        """Return the key of the item's pair, by which `check_outcomes` gives its outcome."""
        return self.record(form, "").key


def read_check_items(path: Path, form: CheckForm) -> list[CheckItem]:
    """Read items from JSON Lines of `{"id", "read" or "document", "statement", "question"?, "title"?, "expected"?}`.

    `read` is a text, or a list of documents (each a text, or an object with `title` and `text`), which are numbered. Raises
    `BadInputError` with the line of a row that lacks a text, or whose `expected` is no verdict of the form.
    """
    items = []
    for line, row in read_rows(path):
        read = _documents(row.get("read") or row.get("document") or "", path, line)
        texts = {name: clean(str(row.get(name) or "")) for name in ("id", "statement", "question", "title", "expected")}
        if not texts["statement"]:
            raise BadInputError("The row has no statement.", where=path, line=line, hint="Add it.")
        if not read and not form.against:
            raise BadInputError(
                f"The row has nothing to check against ({form.passage.lower()}).",
                where=path,
                line=line,
                hint="Add `read`.",
            )
        if texts["expected"] not in ("", *form.values):
            raise BadInputError(
                f"'{texts['expected']}' is not a verdict of the check '{form.name}'.",
                where=path,
                line=line,
                hint=f"The verdicts are {', '.join(form.values)}.",
            )
        texts["id"] = texts["id"] or str(line)
        items.append(CheckItem(read=read, **texts))
    return items


def numbered(documents: Iterable[str]) -> str:
    """Return documents as one text, each under its number."""
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(documents, start=1))


def check_pairs(form: CheckForm, items: Sequence[CheckItem], dataset: str) -> "list[Item]":
    """Return the items of a batch; `dataset` names what they come from."""
    from berdseye.annotation.batches.stored import Item

    return [Item(item.record(form, dataset)) for item in items]


def check_recipe(form: CheckForm, items: Sequence[CheckItem], purpose: Purpose | None = None) -> dict[str, Any]:
    """Return the recipe of a batch of checks: the form, its purpose, and the known answers by pair key.

    Raises `BadInputError` if two items with equal texts have different answers, if more than 100 have an answer, and for a batch
    that qualifies people without knowing every answer.
    """
    known: dict[str, str] = {}
    for item in items:
        if item.expected and known.setdefault(item.key(form), item.expected) != item.expected:
            raise BadInputError(
                f"Item '{item.id}' has the texts of an earlier item, and another expected verdict.",
                hint="Correct one of them.",
            )
    if len(known) > MOST_KNOWN:
        raise BadInputError(
            f"A batch can have at most {MOST_KNOWN} known answers, got {len(known)}.",
            hint="Split the items over several batches.",
        )
    if purpose is not None and (without := [item.id for item in items if item.key(form) not in known]):
        raise BadInputError(
            f"{len(without)} items have no expected verdict, the first one is '{without[0]}'.",
            hint=f"Give every item of {'an exam' if purpose == 'exam' else 'a training batch'} an `expected` verdict.",
        )
    rest: Mapping[str, Any] = {} if purpose is None else {PURPOSE: purpose}
    return {CHECK: form.name, **rest, **({KNOWN: known} if known else {})}


def check_people(purpose: Purpose | None, people: Sequence[str]) -> None:
    """Raise `BadInputError` for a batch that qualifies people, but names nobody."""
    if purpose is not None and not people:
        raise BadInputError(
            "Each person of an exam or a training batch judges every item, but the batch names nobody.",
            hint="Name the people.",
        )


def create_check_batch(
    judgments: "Judgments",
    name: str,
    form: str,
    items: Sequence[CheckItem],
    *,
    dataset: str,
    per_pair: int = PEOPLE_A_CHECK,
    people: Sequence[str] = (),
    purpose: Purpose | None = None,
    seed: int = 0,
    made_by: str = "",
    recipe: Mapping[str, Any] | None = None,
) -> "Batch":
    """Create a batch in which people check these items by a form; `check_outcomes` returns what they decide.

    `dataset` names what the items come from; `recipe` adds to how they were chosen. A batch with a `purpose` qualifies its
    people: each of them judges every item. Raises `UnknownNameError` for an unknown form, and what `create_batch` raises.
    """
    from berdseye.annotation.batches.stored import BatchPlan, create_batch

    chosen = check_form(form)
    check_people(purpose, people)
    pairs = check_pairs(chosen, items, dataset)
    plan = BatchPlan(
        name,
        "check",
        per_pair if purpose is None else 1,
        tuple(people),
        0 if purpose is None else len({pair.record.key for pair in pairs}),
        seed=seed,
        made_by=made_by,
        recipe={**(recipe or {}), **check_recipe(chosen, items, purpose)},
    )
    return create_batch(judgments, plan, pairs)


def _documents(value: Any, path: Path, line: int) -> str:
    if isinstance(value, str):
        return clean(value)
    texts = []
    for document in value if isinstance(value, list) else [None]:
        if isinstance(document, dict) and isinstance(document.get("text"), str):
            texts.append(clean(f"{document.get('title') or ''}\n{document['text']}"))
        elif isinstance(document, str):
            texts.append(clean(document))
        else:
            raise BadInputError(
                "What is read must be a text, or a list of documents.",
                where=path,
                line=line,
                hint='Write each document as a text, or as {"title", "text"}.',
            )
    return numbered(texts) if any(texts) else ""

"""Adjudication: where people disagree, an adjudicator's word becomes the gold label. What led there stays in the log.

From several people's judgments of a pair to one word.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, select

from berdseye.annotation.batches.stored import Batch, Task
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgment, Judgments, PairRecord, Verdict, by_keys, event_row
from berdseye.annotation.judgments.recorded import PREFERENCES, Span, evidence_spans, is_verdict, verdicts_of
from berdseye.annotation.judgments.schema import adjudicated, annotators, batch_items, batch_words, events, present
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.texts.passages import clean


def majority_labels(
    judgments: Iterable[Judgment], *, first: int | None = None, gold: Mapping[str, Verdict] | None = None
) -> dict[str, bool]:
    """Whether people say that a pair supports, by pair key.

    An adjudicator's word (`gold`: annotation/judgments/adjudication.py) decides; one who is unsure says that nobody can
    tell. Else the
    majority of those who are sure decides; on a tie, and where nobody is sure, people say nothing. With `first` (an
    annotator's id) that person's own word comes before the majority: what someone corrects, they see corrected.
    """
    sure = [j for j in judgments if j.verdict != "unsure"]
    balance: Counter[str] = Counter()
    for judgment in sure:
        balance[judgment.pair] += 1 if judgment.verdict == "supports" else -1
    said = {pair: total > 0 for pair, total in balance.items() if total != 0}
    said.update({j.pair: j.verdict == "supports" for j in sure if j.annotator.id == first})
    decided = gold or {}
    said.update({pair: verdict == "supports" for pair, verdict in decided.items()})
    return {pair: word for pair, word in said.items() if decided.get(pair) != "unsure"}


_UNDECIDED = ("unsure", "neither")


class Decision(NamedTuple):
    """The standing word of an adjudicator on a pair."""

    event: int
    at: str
    by: str
    verdict: str
    comment: str


class Vote(NamedTuple):
    """What one person says of a pair now, and the spans of the passage that they point at."""

    annotator: Annotator
    verdict: str
    comment: str
    evidence: tuple[Span, ...]


class Dispute(NamedTuple):
    """A pair that people judge differently: everyone's present words, oldest first, and the decision where there is one."""

    key: str
    record: PairRecord
    task: Task
    votes: tuple[Vote, ...]
    decision: Decision | None


class Step(NamedTuple):
    """Something that was done about a pair; `undone`: it was taken back later."""

    at: str
    annotator: Annotator
    kind: str
    verdict: str
    comment: str
    undone: bool


def decisions(judgments: Judgments, keys: Sequence[str] | None = None) -> dict[str, Decision]:
    """The standing decision by pair: of all pairs, or of those given."""
    query = select(adjudicated, annotators.c.name).join(annotators, annotators.c.id == adjudicated.c.annotator_id)
    with judgments.reading() as connection:
        return {
            row.pair: Decision(row.id, row.at, row.name, row.verdict, row.comment)
            for part in by_keys(query, adjudicated.c.pair, keys)
            for row in connection.execute(part)
        }


def adjudicated_labels(judgments: Judgments, keys: Sequence[str] | None = None) -> dict[str, Verdict]:
    """What adjudicators decided of passages, by pair: what `majority_labels` puts first. Preferences are no such words."""
    found = {key: decision.verdict for key, decision in decisions(judgments, keys).items()}
    return {key: verdict for key, verdict in found.items() if is_verdict(verdict)}


def disputes(
    judgments: Judgments, batch: Batch | None = None, *, unsure: bool = False, decided: bool = False
) -> list[Dispute]:
    """Pairs that people judge, or prefer one of, differently: of a batch in its order, or of all.

    `unsure`: someone unsure (or for neither answer) differs from someone sure. `decided`: with those that an adjudicator
    has decided. Of a batch the words that count there are compared; made-up people of the demo never count.
    """
    said: dict[str, dict[str, None]] = {}
    with judgments.reading() as connection:
        for pair, verdict in connection.execute(_words_of_all() if batch is None else _words_of(batch)):
            if unsure or verdict not in _UNDECIDED:
                said.setdefault(pair, {})[verdict] = None
    keys = [pair for pair, verdicts in said.items() if len(verdicts) > 1]
    known = decisions(judgments, keys)
    open_ones = keys if decided else [key for key in keys if key not in known]
    records = judgments.pair_records(open_ones)
    votes = _votes(judgments, open_ones, batch)
    return [
        Dispute(key, records[key], _task(said[key]), tuple(votes.get(key, ())), known.get(key)) for key in open_ones
    ]


def trail(judgments: Judgments, pair: str) -> list[Step]:
    """Everything that was ever done about a pair, oldest first; undoing shows on what was undone."""
    log = judgments.history(pair)
    undone = {event["target"] for event in log if event["kind"] == "undo"}
    people = {person.id: person for person in judgments.annotators()}
    return [
        Step(e["at"], people[e["annotator_id"]], e["kind"], e["verdict"] or "", e["comment"], e["id"] in undone)
        for e in log
        if e["kind"] != "undo"
    ]


def adjudicate(
    judgments: Judgments,
    person: Annotator,
    pair: str,
    verdict: str,
    *,
    task: Task = "judge",
    comment: str = "",
    uid: str | None = None,
) -> int:
    """Decide a pair; returns the event. A later decision stands in place of an earlier one, whoever gave it."""
    if verdict not in (known := verdicts_of(task)):
        raise UnknownNameError("verdict", verdict, known)
    if person.demo:
        raise BadInputError("A made-up person of the demo decides nothing.", hint="Sign in under another name.")
    return judgments.append(
        person,
        pair,
        kind="adjudicate",
        verdict=verdict,
        comment=clean(comment),
        source="adjudicate",
        uid=uid,
    )


def take_back(judgments: Judgments, person: Annotator, pair: str) -> bool:
    """Take back the standing decision on a pair; the one before it, if any, stands again. False: there is none."""
    with writing(judgments.engine) as connection:
        # Whoever takes back waits for whoever else does, so that one decision is not taken back twice.
        connection.execute(select(annotators.c.id).order_by(annotators.c.id).with_for_update())
        found = connection.execute(select(adjudicated.c.id).where(adjudicated.c.pair == pair)).scalar_one_or_none()
        if found is None:
            return False
        row: dict[str, Any] = event_row(person, pair, kind="undo", source="adjudicate", target=found)
        connection.execute(events.insert().values(row))
    return True


def _words_of_all() -> Any:
    first = func.min(present.c.id).over(partition_by=present.c.pair)
    return (
        select(present.c.pair, present.c.verdict)
        .join(annotators, annotators.c.id == present.c.annotator_id)
        .where(present.c.kind.in_(("judge", "prefer")), annotators.c.demo.is_(False))
        .order_by(first, present.c.id)
    )


def _words_of(batch: Batch) -> Any:
    same = (batch_items.c.batch_id == batch_words.c.batch_id) & (batch_items.c.pair == batch_words.c.pair)
    return (
        select(batch_words.c.pair, batch_words.c.verdict)
        .join(batch_items, same)
        .where(batch_words.c.batch_id == batch.id)
        .order_by(batch_items.c.place, batch_words.c.event)
    )


def _votes(judgments: Judgments, keys: Sequence[str], batch: Batch | None) -> dict[str, list[Vote]]:
    query = (
        select(present, annotators.c.name)
        .join(annotators, annotators.c.id == present.c.annotator_id)
        .where(present.c.kind.in_(("judge", "prefer")), annotators.c.demo.is_(False))
        .order_by(present.c.id)
    )
    found: dict[str, list[Vote]] = {}
    with judgments.reading() as connection:
        for part in by_keys(query, present.c.pair, keys):
            for row in connection.execute(part):
                person = Annotator(row.annotator_id, row.name, demo=False)
                if batch is None or batch.admits(person):
                    vote = Vote(person, row.verdict, row.comment, evidence_spans(row.evidence))
                    found.setdefault(row.pair, []).append(vote)
    return found


def _task(verdicts: Iterable[str]) -> Task:
    return "prefer" if any(verdict in PREFERENCES for verdict in verdicts) else "judge"

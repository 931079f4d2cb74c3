"""From several people's judgments of a pair to one label: by majority, or by an adjudicator where people disagree.

An adjudicator's verdict becomes the adjudicated label of the pair. The judgments that led to it stay in the log.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, select

from berdseye.annotation.batches.stored import UNDECIDED, Batch, Task
from berdseye.annotation.checks import CheckForm, form_of, is_check_key
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import (
    VERDICT_KINDS,
    Annotator,
    Judgment,
    Judgments,
    PairRecord,
    Verdict,
    by_keys,
    event_row,
)
from berdseye.annotation.judgments.recorded import PREFERENCES, Span, evidence_spans, is_verdict, verdicts_of
from berdseye.annotation.judgments.schema import adjudicated, annotators, batch_items, batch_words, events, present
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.texts.passages import clean


def majority_labels(
    judgments: Iterable[Judgment], *, first: int | None = None, gold: Mapping[str, Verdict] | None = None
) -> dict[str, bool]:
    """Return whether each pair supports according to people, by pair key: the adjudicated label, otherwise the majority.

    An adjudicated verdict (`gold`) takes precedence; a pair adjudicated as unsure gets no label. Otherwise the majority of
    the annotators who are not unsure decides; a tie, or a pair that nobody is sure about, gets no label. With `first` (an
    annotator's id), that person's own judgment takes precedence over the majority, so that people see their corrections.
    """
    sure = [j for j in judgments if j.verdict != "unsure"]
    balance: Counter[str] = Counter()
    for judgment in sure:
        balance[judgment.pair] += 1 if judgment.verdict == "supports" else -1
    labels = {pair: total > 0 for pair, total in balance.items() if total != 0}
    labels.update({j.pair: j.verdict == "supports" for j in sure if j.annotator.id == first})
    decided = gold or {}
    labels.update({pair: verdict == "supports" for pair, verdict in decided.items()})
    return {pair: label for pair, label in labels.items() if decided.get(pair) != "unsure"}


class Decision(NamedTuple):
    """An adjudicator's verdict on a pair that is in force (neither replaced nor taken back)."""

    event: int
    at: str
    by: str
    verdict: str
    comment: str


class Vote(NamedTuple):
    """One person's present judgment of a pair, with the evidence: the spans of the passage that they marked."""

    annotator: Annotator
    verdict: str
    comment: str
    evidence: tuple[Span, ...]


class Dispute(NamedTuple):
    """A pair that people judge differently: everyone's present judgment, oldest first, and the decision if there is one."""

    key: str
    record: PairRecord
    task: Task
    votes: tuple[Vote, ...]
    decision: Decision | None

    @property
    def form(self) -> CheckForm | None:
        """The form of a check; None for another task."""
        return form_of(self.record.corpus)


class Step(NamedTuple):
    """One event on a pair; `undone`: it was taken back later."""

    at: str
    annotator: Annotator
    kind: str
    verdict: str
    comment: str
    undone: bool


def decisions(judgments: Judgments, keys: Sequence[str] | None = None) -> dict[str, Decision]:
    """Return the decision in force by pair key, for all pairs or for these keys."""
    query = select(adjudicated, annotators.c.name).join(annotators, annotators.c.id == adjudicated.c.annotator_id)
    with judgments.reading() as connection:
        return {
            row.pair: Decision(row.id, row.at, row.name, row.verdict, row.comment)
            for part in by_keys(query, adjudicated.c.pair, keys)
            for row in connection.execute(part)
        }


def adjudicated_labels(judgments: Judgments, keys: Sequence[str] | None = None) -> dict[str, Verdict]:
    """Return the adjudicated verdicts by pair key, as `majority_labels` takes them; decisions on preferences and checks are
    omitted."""
    verdicts = {key: decision.verdict for key, decision in decisions(judgments, keys).items()}
    return {key: verdict for key, verdict in verdicts.items() if is_verdict(verdict) and not is_check_key(key)}


def disputes(
    judgments: Judgments, batch: Batch | None = None, *, unsure: bool = False, decided: bool = False
) -> list[Dispute]:
    """Return the pairs on which people's judgments or preferences differ: those of a batch in its order, or all.

    `unsure`: a verdict of unsure (or neither) counts as different from a sure one. `decided`: include the pairs that an
    adjudicator has decided. In a batch, only the judgments that count there are compared. The simulated annotators of the
    demo never count.
    """
    verdicts_by_pair: dict[str, dict[str, None]] = {}
    with judgments.reading() as connection:
        for pair, verdict in connection.execute(_all_verdicts() if batch is None else _batch_verdicts(batch)):
            if unsure or verdict not in UNDECIDED:
                verdicts_by_pair.setdefault(pair, {})[verdict] = None
    keys = [pair for pair, verdicts in verdicts_by_pair.items() if len(verdicts) > 1]
    decided_pairs = decisions(judgments, keys)
    disputed = keys if decided else [key for key in keys if key not in decided_pairs]
    records = judgments.pair_records(disputed)
    votes = _votes(judgments, disputed, batch)
    return [
        Dispute(key, records[key], _task(key, verdicts_by_pair[key]), tuple(votes.get(key, ())), decided_pairs.get(key))
        for key in disputed
    ]


def trail(judgments: Judgments, pair: str) -> list[Step]:
    """Return every event on a pair, oldest first; an undo is not a step of its own but marks the step it takes back."""
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
    """Record an adjudicator's decision on a pair; returns the event id. A later decision by anyone replaces an earlier one.

    Raises `UnknownNameError` for a verdict that the task does not have, `BadInputError` for a simulated annotator.
    """
    record = judgments.pair_records([pair]).get(pair) if is_check_key(pair) else None
    form = None if record is None else form_of(record.corpus)
    if verdict not in (allowed := verdicts_of(task, form)):
        raise UnknownNameError("verdict", verdict, allowed)
    if person.demo:
        raise BadInputError(
            f"{person.name} is a simulated annotator of the demo and cannot adjudicate.",
            hint="Sign in under another name.",
        )
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
    """Take back the decision in force on a pair; the one before it, if any, is in force again. False: there is none."""
    with writing(judgments.engine) as connection:
        # Concurrent calls wait for each other, so that one decision is not taken back twice.
        connection.execute(select(annotators.c.id).order_by(annotators.c.id).with_for_update())
        decision = connection.execute(select(adjudicated.c.id).where(adjudicated.c.pair == pair)).scalar_one_or_none()
        if decision is None:
            return False
        row: dict[str, Any] = event_row(person, pair, kind="undo", source="adjudicate", target=decision)
        connection.execute(events.insert().values(row))
    return True


def _all_verdicts() -> Any:
    first = func.min(present.c.id).over(partition_by=present.c.pair)
    return (
        select(present.c.pair, present.c.verdict)
        .join(annotators, annotators.c.id == present.c.annotator_id)
        .where(present.c.kind.in_(VERDICT_KINDS), annotators.c.demo.is_(False))
        .order_by(first, present.c.id)
    )


def _batch_verdicts(batch: Batch) -> Any:
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
        .where(present.c.kind.in_(VERDICT_KINDS), annotators.c.demo.is_(False))
        .order_by(present.c.id)
    )
    votes: dict[str, list[Vote]] = {}
    with judgments.reading() as connection:
        for part in by_keys(query, present.c.pair, keys):
            for row in connection.execute(part):
                person = Annotator(row.annotator_id, row.name, demo=False)
                if batch is None or batch.admits(person):
                    vote = Vote(person, row.verdict, row.comment, evidence_spans(row.evidence))
                    votes.setdefault(row.pair, []).append(vote)
    return votes


def _task(key: str, verdicts: Iterable[str]) -> Task:
    if is_check_key(key):
        return "check"
    return "prefer" if any(verdict in PREFERENCES for verdict in verdicts) else "judge"

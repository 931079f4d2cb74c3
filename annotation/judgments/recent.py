"""One person's own judgments: the latest ones, those of given pairs, and a change of one of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from berdseye.annotation.batches.stored import Task
from berdseye.annotation.checks import CheckForm, form_of
from berdseye.annotation.judgments.log import VERDICT_KINDS, Annotator, Judgments, PairRecord, by_keys
from berdseye.annotation.judgments.recorded import judgment_fields
from berdseye.annotation.judgments.schema import pairs, present

_COLUMNS = ("id", "at", "pair", "kind", "verdict", "comment", "source", "shown", "batch", "guidelines", "propensity")


class OwnJudgment(NamedTuple):
    """A person's present judgment, preference or check of a pair, with the pair's texts.

    `at` is the time as the log writes it; `shown` says whether a detector's label was visible; `batch` is the id of the batch
    whose queue served the pair, and `propensity` the probability with which it drew the pair.
    """

    event: int
    at: str
    pair: str
    kind: str
    verdict: str
    comment: str
    source: str
    shown: bool | None
    batch: int | None
    guidelines: str | None
    propensity: float | None
    record: PairRecord

    @property
    def task(self) -> Task:
        """The task whose verdicts the pair can get; a verified decision is judged."""
        return "prefer" if self.kind == "prefer" else "check" if self.kind == "check" else "judge"

    @property
    def form(self) -> CheckForm | None:
        """The form of a check; None for another task."""
        return form_of(self.record.corpus)


def last_judgments(judgments: Judgments, person: Annotator, most: int) -> list[OwnJudgment]:
    """Return a person's latest present judgments, newest first, `most` at most. Skipped and undone ones are omitted."""
    return _read(judgments, _present_of(person).order_by(present.c.id.desc()).limit(most))


def own_judgments(judgments: Judgments, person: Annotator, keys: Sequence[str]) -> dict[str, OwnJudgment]:
    """Return a person's present judgments of these pairs, by pair."""
    found = [own for query in by_keys(_present_of(person), present.c.pair, keys) for own in _read(judgments, query)]
    return {own.pair: own for own in found}


def change_judgment(judgments: Judgments, person: Annotator, own: OwnJudgment, verdict: str) -> int | None:
    """Record another verdict on a pair that the person has judged. Return the event id, or None if it already is their verdict.

    The new judgment keeps the comment, the batch, the guidelines and the propensity of `own`, and whether a detector's label was
    visible, so that it counts where the former one did. It has no evidence: the spans were marked for the former verdict.
    Raises `UnknownNameError` for a verdict that the task of the pair does not have.
    """
    fields = judgment_fields(own.task, verdict, own.record.passage, form=own.form)
    now = own_judgments(judgments, person, [own.pair]).get(own.pair)
    if now is not None and now.verdict == verdict:
        return None
    names = ("comment", "shown", "batch", "guidelines", "propensity")
    kept = {name: getattr(own, name) for name in names}
    return judgments.append(person, own.pair, **fields | kept | {"source": "recent"})


def _present_of(person: Annotator) -> Any:
    texts = (column for column in pairs.columns if column.name != "key")
    return (
        select(*(present.c[name] for name in _COLUMNS), *texts)
        .join(pairs, pairs.c.key == present.c.pair)
        .where(present.c.annotator_id == person.id, present.c.kind.in_(VERDICT_KINDS))
    )


def _read(judgments: Judgments, query: Any) -> list[OwnJudgment]:
    with judgments.reading() as connection:
        return [
            OwnJudgment._make((*row[: len(_COLUMNS)], PairRecord(*row[len(_COLUMNS) :])))
            for row in connection.execute(query)
        ]

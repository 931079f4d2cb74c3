"""What people decided in a batch of checks: the verdicts of each item, and whether the item is accepted."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import select

from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.checks import CheckForm
from berdseye.annotation.judgments.adjudication import decisions
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import batch_items, batch_words
from berdseye.data.errors import BadInputError


class CheckOutcome(NamedTuple):
    """The verdicts of an item by verdict of the form, and whether it is `accepted` (None: undecided, or not `finished`).

    The adjudicator's verdict decides where there is one. Otherwise more than half of the people who were asked (two of three, as
    in DebateQA) decide, so that one rejection among three removes nothing.
    """

    counts: Mapping[str, int]
    accepted: bool | None
    finished: bool
    adjudicated: str = ""


def check_outcomes(judgments: Judgments, batch: Batch) -> dict[str, CheckOutcome]:
    """Return the outcome of each item of a batch of checks, by pair key (`CheckItem.key`), in the order of the batch.

    Raises `BadInputError` for a batch of another task.
    """
    form = form_of_batch(batch)
    items = (
        select(batch_items.c.pair, batch_items.c.wanted)
        .where(batch_items.c.batch_id == batch.id)
        .order_by(batch_items.c.place)
    )
    verdicts = select(batch_words.c.pair, batch_words.c.verdict).where(batch_words.c.batch_id == batch.id)
    with judgments.reading() as connection:
        wanted: dict[str, int] = {row.pair: row.wanted for row in connection.execute(items)}
        counts: dict[str, Counter[str]] = {}
        for row in connection.execute(verdicts):
            counts.setdefault(row.pair, Counter())[row.verdict] += 1
    decided = decisions(judgments, list(wanted))
    return {
        pair: _outcome(form, counts.get(pair, Counter()), people, decided[pair].verdict if pair in decided else "")
        for pair, people in wanted.items()
    }


def form_of_batch(batch: Batch) -> CheckForm:
    """Return the form of a batch of checks; raises `BadInputError` for a batch of another task."""
    if batch.check is None:
        raise BadInputError(
            f"The batch '{batch.name}' has the task {batch.task}, not check.", hint="Name a batch of checks."
        )
    return batch.check


def outcome_text(form: CheckForm, outcomes: Mapping[str, CheckOutcome]) -> str:
    """Return the outcomes of a batch in one line, with the paper's figure beside them."""
    by_acceptance = Counter(outcome.accepted for outcome in outcomes.values())
    undecided = sum(outcome.accepted is None and outcome.finished for outcome in outcomes.values())
    verdicts: Counter[str] = Counter()
    for outcome in outcomes.values():
        verdicts.update(outcome.counts)
    given = ", ".join(f"{verdicts[value]} {value}" for value in form.values)
    printed = f" Paper: {form.printed}." if form.printed else ""
    return (
        f"{len(outcomes)} items: {by_acceptance[True]} accepted, {by_acceptance[False]} rejected, {undecided} undecided, "
        f"{by_acceptance[None] - undecided} not finished. Verdicts: {given}.{printed}"
    )


def _outcome(form: CheckForm, counts: Counter[str], wanted: int, adjudicated: str) -> CheckOutcome:
    judged = counts.total()
    accepts, rejects = (sum(counts[verdict] for verdict in side) for side in (form.accepted, form.rejected))
    enough = max(wanted, judged) // 2 + 1
    accepted = True if accepts >= enough else False if rejects >= enough else None
    if adjudicated:
        accepted = True if adjudicated in form.accepted else False if adjudicated in form.rejected else None
    return CheckOutcome({verdict: counts[verdict] for verdict in form.values}, accepted, judged >= wanted, adjudicated)

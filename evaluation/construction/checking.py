"""Checks of a construction by people: batches of drawn items, and what their outcome rejects."""

from collections.abc import Sequence
from typing import NamedTuple

from berdseye.annotation.batches.check_items import create_check_batch
from berdseye.annotation.batches.check_outcomes import CheckOutcome, check_outcomes, outcome_text
from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.checks import check_form
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.evaluation.construction.steps import Check
from berdseye.evaluation.construction.stored import Construction

_ALL = 10**9
_CONSTRUCTION, _CHECK = "construction", "construction_check"
"""What the recipe of a batch says of the check that it serves."""


class Checked(NamedTuple):
    """A batch of a check, with the outcome of each of its items, by the item's id, and its counts in one line."""

    check: Check
    batch: Batch
    outcomes: dict[str, CheckOutcome]
    text: str


def begin_check(
    construction: Construction,
    judgments: Judgments,
    check: str,
    *,
    batch: str = "",
    size: int | None = None,
    per_item: int | None = None,
    people: Sequence[str] = (),
    seed: int = 0,
    made_by: str = "",
) -> Batch:
    """Create a batch in which people check items of a construction; its default name is CONSTRUCTION-CHECK.

    `size` is the largest number of items and `per_item` the number of people for each; by default those of the paper. Raises
    `UnknownNameError` for an unknown check, `StaleError` if the step that it checks is not finished, `BadInputError` if it has no
    items, and what creating a batch raises.
    """
    found = check_of(construction, check)
    most = found.size if size is None else size
    items = found.items(construction, most, seed)
    if not items:
        raise BadInputError(f"The check '{check}' has no items.", hint="No row is left that could be checked.")
    return create_check_batch(
        judgments,
        batch or f"{construction.name}-{check}",
        found.form,
        items,
        dataset=construction.name,
        per_pair=found.people if per_item is None else per_item,
        people=people,
        seed=seed,
        made_by=made_by,
        recipe={_CONSTRUCTION: construction.name, _CHECK: check, "size": most},
    )


def checked(construction: Construction, judgments: Judgments) -> list[Checked]:
    """Return the batches that check a construction, with their outcomes, the newest first.

    Of a check whose outcome rejects rows, items whose texts have changed since the batch was created are left out: people did not
    see their present texts.
    """
    found = []
    for batch in list_batches(judgments):
        recipe = batch.recipe
        if recipe.get(_CONSTRUCTION) != construction.name or _CHECK not in recipe:
            continue
        check = check_of(construction, str(recipe[_CHECK]))
        outcomes = check_outcomes(judgments, batch)
        by_id = {
            row: outcomes[key]
            for row, key in _keys(construction, judgments, check, list(outcomes)).items()
            if key in outcomes
        }
        text = outcome_text(check_form(check.form), outcomes)
        if check.concludes is not None:
            text = f"{text} {check.concludes(construction, {row: one.counts for row, one in by_id.items()})}"
        found.append(Checked(check, batch, by_id, text))
    return found


def apply_outcome(construction: Construction, done: Checked, *, made_by: str) -> list[str]:
    """Reject the rows that people rejected in a check, and return their ids. Undecided items reject nothing.

    Rows that were rejected before, and rows that are gone, are skipped. Raises `BadInputError` for a check that only measures.
    """
    if not done.check.outcome:
        raise BadInputError(
            f"The check '{done.check.name}' only measures; it rejects nothing.",
            hint="Reject single rows with `berdseye construct overrule --drop`.",
        )
    present = {row.id for row in construction.kept(done.check.outcome)}
    rejected = [row for row, outcome in done.outcomes.items() if outcome.accepted is False and row in present]
    if rejected:
        why = f"rejected by people: {done.check.name}, batch {done.batch.name}"
        construction.overrule(done.check.outcome, dict.fromkeys(rejected, why), keep=False, made_by=made_by)
    return rejected


def check_of(construction: Construction, name: str) -> Check:
    """Return the check of this name; raises `UnknownNameError`."""
    by_name = {check.name: check for check in construction.kind.checks}
    if name not in by_name:
        raise UnknownNameError("check", name, by_name)
    return by_name[name]


def _keys(construction: Construction, judgments: Judgments, check: Check, pairs: Sequence[str]) -> dict[str, str]:
    """Return the pair keys of items by their ids: of all present items, or of the given pairs if the check only measures."""
    if check.outcome:
        form = check_form(check.form)
        return {item.id: item.key(form) for item in check.items(construction, _ALL, 0)}
    return {record.question_id: key for key, record in judgments.pair_records(pairs).items()}

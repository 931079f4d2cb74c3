"""Whether people agree with the language model that identified the evidence (D-MERIT, section 2.3).

In the paper, one person saw 1,300 decisions, half of them positive, and agreed with 84.7%: 141 positive and 57 negative ones were
wrong. Two experts who labelled 400 pairs agreed with each other on 94%.
"""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from berdseye.annotation.batches.check_items import CheckItem
from berdseye.data.errors import BadInputError
from berdseye.evaluation.construction.dmerit.evidence import IDENTIFIED, claim
from berdseye.evaluation.construction.dmerit.lists import wiki_of
from berdseye.evaluation.construction.dmerit.statistics import Figure
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Built, Check
from berdseye.evaluation.construction.stored import Construction
from berdseye.evaluation.published import published

if TYPE_CHECKING:
    from berdseye.annotation.batches.stored import Batch, Item
    from berdseye.annotation.judgments.log import Judgments

SAMPLE, EXPERTS_SAMPLE = 1_300, 400
_PLACE = "D-MERIT, section 2.3"


class _Decided(NamedTuple):
    row: Row
    text: str
    evidence: bool


class Verified(NamedTuple):
    """What people say of the model's decisions: pairs with a decision, with a majority of people, and those on which it differs
    from the model, by what the model said."""

    pairs: int
    judged: int
    wrong_yes: int
    wrong_no: int

    @property
    def agreed(self) -> float | None:
        """The share of the judged pairs in which people agree with the model, in percent; None if none is judged."""
        return 100 * (1 - (self.wrong_yes + self.wrong_no) / self.judged) if self.judged else None


def verification_items(construction: Construction, size: int = SAMPLE, seed: int = 0) -> "list[Item]":
    """Return random pairs of a passage and the claim of a member, with the model's decision: as many positive as negative ones.

    There are `size` of them, or twice as many as there are of the rarer decision, in random order. Equal seeds give equal pairs.
    """
    from berdseye.annotation.batches.stored import Item
    from berdseye.annotation.judgments.log import PairRecord

    return [
        Item(
            PairRecord(
                construction.name,
                str(one.row.fields["list"]),
                str(one.row.fields["hierarchy"]),
                claim(one.row.fields["member"], one.row.fields["hierarchy"]),
                None,
                construction.name,
                str(one.row.fields["article"]),
                one.text,
            ),
            float(one.evidence),
            one.evidence,
        )
        for one in _sample(construction, size, seed)
    ]


def begin_verification(
    judgments: "Judgments",
    construction: Construction,
    name: str,
    *,
    size: int = SAMPLE,
    seed: int = 0,
    per_pair: int = 1,
    people: Sequence[str] = (),
    made_by: str = "",
) -> "Batch":
    """Create a batch of the task `verify` from `verification_items`; raises what `create_batch` raises."""
    from berdseye.annotation.batches.stored import BatchPlan, create_batch

    recipe = {"construction": construction.name, "size": size, "seed": seed}
    plan = BatchPlan(name, "verify", per_pair, tuple(people), blind=False, seed=seed, made_by=made_by, recipe=recipe)
    return create_batch(judgments, plan, verification_items(construction, size, seed))


def verified(judgments: "Judgments", batch: "Batch") -> Verified:
    """Return the outcome of a batch of the task `verify`; an adjudicated label replaces the majority of people.

    Raises `BadInputError` for a batch of another task.
    """
    from berdseye.annotation.batches.progress import batch_frame
    from berdseye.annotation.judgments.adjudication import adjudicated_labels, majority_labels

    if batch.task != "verify":
        raise BadInputError(
            f"The batch '{batch.name}' has the task {batch.task}, not verify.", hint="Name another batch."
        )
    frame = batch_frame(judgments, batch).drop_duplicates("pair")
    decisions = dict(zip(frame["pair"], frame["decision"].astype(bool), strict=True))
    keys = list(decisions)
    people = majority_labels(judgments.present(keys), gold=adjudicated_labels(judgments, keys))
    wrong = [decisions[pair] for pair, label in people.items() if label != decisions[pair]]
    return Verified(len(decisions), len(people), sum(wrong), len(wrong) - sum(wrong))


def verification_figures(outcome: Verified) -> list[Figure]:
    """Return the outcome beside the paper's."""
    facts = published("dmerit_coverage").set_index("fact")["value"]
    ours: list[tuple[str, float | None, str]] = [
        ("decisions checked", outcome.judged, "gpt-4 pairs checked by a rater"),
        ("people agree with the model (%)", outcome.agreed, "rater agrees with gpt-4"),
        ("wrong decisions for evidence", outcome.wrong_yes, "disagreements on relevant"),
        ("wrong decisions against evidence", outcome.wrong_no, "disagreements on not relevant"),
    ]
    return [Figure(name, value, float(facts[fact]), _PLACE) for name, value, fact in ours]


def expert_items(built: Built, size: int, seed: int) -> list[CheckItem]:
    """Return pairs as `verification_items` does, without the model's decision, as items of the form `relevant`."""
    return [
        CheckItem(
            one.row.id,
            one.text,
            claim(one.row.fields["member"], one.row.fields["hierarchy"]),
            str(one.row.fields["hierarchy"]),
            str(one.row.fields["article"]),
        )
        for one in _sample(built, size, seed)
    ]


EXPERTS = Check(
    "experts",
    "relevant",
    "Label random passages as two experts would, without the model's decision",
    expert_items,
    people=2,
    size=EXPERTS_SAMPLE,
    printed="D-MERIT, section 2.3: two experts agreed on 94% of 400 pairs",
)


def _sample(construction: Built, size: int, seed: int) -> list[_Decided]:
    decided = [row for row in construction.rows(IDENTIFIED.name) if row.fields.get("evidence") is not None]
    sides = [[row for row in decided if row.fields["evidence"] is side] for side in (True, False)]
    draw, each = random.Random(seed), min(size // 2, *map(len, sides))
    drawn = [row for side in sides for row in draw.sample(side, each)]
    draw.shuffle(drawn)
    articles = wiki_of(construction.working()).articles(int(row.fields["passage"]) for row in drawn)
    return [
        _Decided(row, articles[int(row.fields["passage"])].introduction, bool(row.fields["evidence"])) for row in drawn
    ]

"""What counts as a label where a person was unsure or put a pair aside: stated, chosen, and counted."""

from typing import Literal, NamedTuple, get_args

import pandas as pd

UnsureRule = Literal["left out", "a third label", "does not support"]
SkippedRule = Literal["left out", "unsure"]
UNSURE_RULES: tuple[UnsureRule, ...] = get_args(UnsureRule)
SKIPPED_RULES: tuple[SkippedRule, ...] = get_args(SkippedRule)
SUPPORTS, AGAINST, UNSURE, SKIPPED = "supports", "does not support", "unsure", "skipped"


class Rule(NamedTuple):
    """How 'unsure' and a skipped pair are counted; what is skipped may count as unsure, and then goes by that rule."""

    unsure: UnsureRule = "left out"
    skipped: SkippedRule = "left out"

    @property
    def values(self) -> tuple[str, ...]:
        """The labels there can be."""
        return (AGAINST, SUPPORTS, UNSURE) if self.unsure == "a third label" else (AGAINST, SUPPORTS)

    def __str__(self) -> str:
        return f"unsure is {self.unsure}, skipped is {self.skipped}"


class Counted(NamedTuple):
    """Labels after a rule, and how many it left out."""

    labels: pd.DataFrame
    unsure_left_out: int
    skipped_left_out: int


def counted(labels: pd.DataFrame, rule: Rule) -> Counted:
    """The labels that count: rows of column `label` that say 'unsure' or 'skipped' go as the rule says."""
    skipped = labels["label"] == SKIPPED
    if rule.skipped == "left out":
        kept, left = labels[~skipped], int(skipped.sum())
    else:
        kept, left = labels.assign(label=labels["label"].mask(skipped, UNSURE)), 0
    unsure = kept["label"] == UNSURE
    if rule.unsure == "left out":
        return Counted(kept[~unsure], int(unsure.sum()), left)
    if rule.unsure == "does not support":
        kept = kept.assign(label=kept["label"].mask(unsure, AGAINST))
    return Counted(kept, 0, left)

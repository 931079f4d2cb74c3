"""Judged pairs as fine-tuning data for detectors: from several people's votes on a pair to its label, by a stated rule."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Verdict
from berdseye.data.datasets.stored import split_of
from berdseye.data.errors import BadInputError, UnknownNameError

Rule = Literal["majority", "unanimous", "adjudicated", "one"]
RULES: tuple[Rule, ...] = get_args(Rule)
UnsureRule = Literal["ignored", "left out", "no"]
UNSURE_RULES: tuple[UnsureRule, ...] = get_args(UnsureRule)
COLUMNS = (
    "pair",
    "passage",
    "title",
    "perspective",
    "question",
    "dataset",
    "label",
    "supports",
    "does_not_support",
    "unsure",
    "annotators",
    "split",
    "question_id",
    "stance",
    "corpus",
    "url",
    "decided_by",
)
_TEXTS = ("passage", "title", "perspective", "question", "dataset", "question_id", "stance", "corpus", "url")


@dataclass(frozen=True)
class Choice:
    """How votes become labels.

    `rule`: 'majority' of those who are sure; 'unanimous' among them; 'adjudicated' takes an adjudicator's word where there
    is one and else the majority; 'one' takes the word of `annotator` alone. `unsure`: such votes are 'ignored', or a pair
    with one is 'left out', or they count as 'no'. `demo` lets the made-up annotators of the demo vote.
    """

    rule: Rule = "adjudicated"
    unsure: UnsureRule = "ignored"
    annotator: str = ""
    demo: bool = False

    def __post_init__(self) -> None:
        for what, given, known in (("rule", self.rule, RULES), ("rule for unsure", self.unsure, UNSURE_RULES)):
            if given not in known:
                raise UnknownNameError(what, given, known)
        if (self.rule == "one") != bool(self.annotator):
            raise BadInputError(
                "An annotator is named for the rule 'one', and for no other.", hint="Name whose word is taken."
            )


class Decided(NamedTuple):
    """One row a labelled pair, with the columns `COLUMNS`, and how many judged pairs were left out, by the reason."""

    table: pd.DataFrame
    left_out: dict[str, int]


def training_data(
    judgments: pd.DataFrame, *, include_demo: bool = True, adjudicated: Mapping[str, Verdict] | None = None
) -> pd.DataFrame:
    """The labels of the majority of those who are sure; ties and pairs nobody is sure of are left out."""
    rule: Rule = "majority" if adjudicated is None else "adjudicated"
    return decided(judgments, Choice(rule=rule, demo=include_demo), adjudicated or {}).table


def decided(judgments: pd.DataFrame, choice: Choice, adjudicated: Mapping[str, Verdict] | None = None) -> Decided:
    """Labels (1 supports, 0 does not) of the pairs of `judgments`, which is `Judgments.frame()`, in its order.

    `adjudicated` is an adjudicator's word by pair key; it counts under the rule 'adjudicated', and an unsure one leaves the
    pair out. The split (80/10/10) is drawn from a hash of the question's text: no question stands in two splits, now or in
    any later set. Raises `UnknownNameError` for an annotator who judged nothing here.
    """
    votes = judgments if choice.demo else judgments[~judgments["demo"].astype(bool)]
    left_out: Counter[str] = Counter()
    if len(votes) < len(judgments):
        left_out["judged by the demo's made-up annotators alone"] = (
            judgments["pair"].nunique() - votes["pair"].nunique()
        )
    if choice.rule == "one":
        votes = _of_one(votes, choice.annotator, left_out)
    firsts = votes.drop_duplicates("pair").set_index("pair", drop=False)
    counts = _counts(votes, firsts.index)
    yes, no, unsure = (counts[verdict].to_numpy() for verdict in ("supports", "does not support", "unsure"))
    against = no + unsure if choice.unsure == "no" else no
    label = np.where(yes > against, 1, 0)
    why = np.full(len(firsts), "", dtype=object)
    why[yes == against] = "a tie"
    why[(yes == 0) & (against == 0)] = "nobody is sure"
    if choice.rule == "unanimous":
        why[(yes > 0) & (against > 0)] = "not unanimous"
    if choice.unsure == "left out":
        why[unsure > 0] = "someone is unsure"
    by = np.full(len(firsts), {"one": "one annotator"}.get(choice.rule, str(choice.rule)), dtype=object)
    if choice.rule == "adjudicated":
        by[:] = "majority"
        _adjudicate(firsts.index, adjudicated or {}, label, why, by)
    left_out.update(str(reason) for reason in why if reason)
    kept = why == ""
    table = firsts.loc[kept, [name for name in _TEXTS if name in firsts.columns]].assign(
        pair=firsts.index[kept],
        label=label[kept].astype(np.int64),
        supports=yes[kept],
        does_not_support=no[kept],
        unsure=unsure[kept],
        annotators=_names(votes).reindex(firsts.index[kept]).to_numpy(dtype=object),
        decided_by=by[kept],
    )
    splits = {question: split_of(question) for question in table["question"].unique()}
    table["split"] = table["question"].map(splits).astype(object)
    return Decided(
        table.reindex(columns=list(COLUMNS)).reset_index(drop=True), {k: n for k, n in left_out.items() if n}
    )


def _of_one(votes: pd.DataFrame, annotator: str, left_out: Counter[str]) -> pd.DataFrame:
    known = votes["annotator"].unique()
    if annotator not in known:
        raise UnknownNameError("annotator", annotator, known)
    theirs = votes[votes["annotator"] == annotator]
    left_out[f"not judged by {annotator}"] = votes["pair"].nunique() - theirs["pair"].nunique()
    return theirs


def _counts(votes: pd.DataFrame, pairs: pd.Index) -> pd.DataFrame:
    """Votes by verdict, a row a pair."""
    verdicts = ["supports", "does not support", "unsure"]
    counted = votes.groupby(["pair", "verdict"], sort=False).size().unstack(fill_value=0)
    return counted.reindex(index=pairs, columns=verdicts, fill_value=0).astype(np.int64)


def _names(votes: pd.DataFrame) -> pd.Series:
    return votes.sort_values("annotator").groupby("pair", sort=False)["annotator"].agg(list)


def _adjudicate(
    pairs: pd.Index,
    adjudicated: Mapping[str, Verdict],
    label: npt.NDArray[np.int64],
    why: npt.NDArray[np.object_],
    by: npt.NDArray[np.object_],
) -> None:
    """Put an adjudicator's word in place of the votes."""
    for place, pair in enumerate(pairs):
        word = adjudicated.get(str(pair))
        if word is not None:
            label[place] = int(word == "supports")
            why[place] = "the adjudicator is unsure" if word == "unsure" else ""
            by[place] = "adjudicator"

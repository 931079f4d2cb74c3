"""Judged pairs as training data for detectors: from several people's votes on a pair to its label, by a rule."""

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
class LabellingRules:
    """How votes become labels.

    `rule`: 'majority' of the votes that are not unsure; 'unanimous' among them; 'adjudicated' takes the adjudicated label,
    otherwise the majority; 'one' takes the votes of `annotator` only. `unsure`: unsure votes are 'ignored', a pair with one is
    'left out', or they count as 'no'. `demo` includes the votes of the demo's simulated annotators.

    Raises `UnknownNameError` for an unknown rule, `BadInputError` for an annotator without the rule 'one' or vice versa.
    """

    rule: Rule = "adjudicated"
    unsure: UnsureRule = "ignored"
    annotator: str = ""
    demo: bool = False

    def __post_init__(self) -> None:
        for kind, name, names in (("rule", self.rule, RULES), ("rule for unsure", self.unsure, UNSURE_RULES)):
            if name not in names:
                raise UnknownNameError(kind, name, names)
        if (self.rule == "one") != bool(self.annotator):
            raise BadInputError(
                "The rule 'one' requires an annotator."
                if self.rule == "one"
                else f"The rule '{self.rule}' takes no annotator, got '{self.annotator}'.",
                hint="Name an annotator with the rule 'one' only.",
            )


class LabelledTable(NamedTuple):
    """A table with one row per labelled pair (columns: `COLUMNS`), and the numbers of excluded judged pairs by reason."""

    table: pd.DataFrame
    left_out: dict[str, int]


def training_data(
    judgments: pd.DataFrame, *, include_demo: bool = True, adjudicated: Mapping[str, Verdict] | None = None
) -> pd.DataFrame:
    """Return the labelled pairs by the majority of those who are sure, or by `adjudicated` labels first.

    Ties and pairs that nobody is sure about are excluded.
    """
    rule: Rule = "majority" if adjudicated is None else "adjudicated"
    return decided(judgments, LabellingRules(rule=rule, demo=include_demo), adjudicated or {}).table


def decided(
    judgments: pd.DataFrame, choice: LabellingRules, adjudicated: Mapping[str, Verdict] | None = None
) -> LabelledTable:
    """Return the labels (1 supports, 0 does not) of the pairs of `judgments`, which is `Judgments.frame()`, in its order.

    `adjudicated` gives adjudicated labels by pair key; they count under the rule 'adjudicated', and an unsure one excludes the
    pair. The split (80/10/10) is drawn from a hash of the question's text: no question is in two splits, in this or any later
    set. Raises `UnknownNameError` for an annotator without a judgment here.
    """
    votes = judgments if choice.demo else judgments[~judgments["demo"].astype(bool)]
    left_out: Counter[str] = Counter()
    if len(votes) < len(judgments):
        left_out["judged by simulated annotators alone"] = judgments["pair"].nunique() - votes["pair"].nunique()
    if choice.rule == "one":
        votes = _of_one(votes, choice.annotator, left_out)
    firsts = votes.drop_duplicates("pair").set_index("pair", drop=False)
    counts = _counts(votes, firsts.index)
    yes, no, unsure = (counts[verdict].to_numpy() for verdict in ("supports", "does not support", "unsure"))
    against = no + unsure if choice.unsure == "no" else no
    label = np.where(yes > against, 1, 0)
    reasons = np.full(len(firsts), "", dtype=object)
    reasons[yes == against] = "a tie"
    reasons[(yes == 0) & (against == 0)] = "nobody is sure"
    if choice.rule == "unanimous":
        reasons[(yes > 0) & (against > 0)] = "not unanimous"
    if choice.unsure == "left out":
        reasons[unsure > 0] = "someone is unsure"
    decided_by = np.full(len(firsts), {"one": "one annotator"}.get(choice.rule, str(choice.rule)), dtype=object)
    if choice.rule == "adjudicated":
        decided_by[:] = "majority"
        _adjudicate(firsts.index, adjudicated or {}, label, reasons, decided_by)
    left_out.update(str(reason) for reason in reasons if reason)
    is_labelled = reasons == ""
    table = firsts.loc[is_labelled, [name for name in _TEXTS if name in firsts.columns]].assign(
        pair=firsts.index[is_labelled],
        label=label[is_labelled].astype(np.int64),
        supports=yes[is_labelled],
        does_not_support=no[is_labelled],
        unsure=unsure[is_labelled],
        annotators=_names(votes).reindex(firsts.index[is_labelled]).to_numpy(dtype=object),
        decided_by=decided_by[is_labelled],
    )
    splits = {question: split_of(question) for question in table["question"].unique()}
    table["split"] = table["question"].map(splits).astype(object)
    return LabelledTable(
        table.reindex(columns=list(COLUMNS)).reset_index(drop=True), {k: n for k, n in left_out.items() if n}
    )


def _of_one(votes: pd.DataFrame, annotator: str, left_out: Counter[str]) -> pd.DataFrame:
    annotators = votes["annotator"].unique()
    if annotator not in annotators:
        raise UnknownNameError("annotator", annotator, annotators)
    theirs = votes[votes["annotator"] == annotator]
    left_out[f"not judged by {annotator}"] = votes["pair"].nunique() - theirs["pair"].nunique()
    return theirs


def _counts(votes: pd.DataFrame, pairs: pd.Index) -> pd.DataFrame:
    """Count the votes by verdict, one row per pair."""
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
    """Replace the labels of adjudicated pairs, in place."""
    for place, pair in enumerate(pairs):
        verdict = adjudicated.get(str(pair))
        if verdict is not None:
            label[place] = int(verdict == "supports")
            why[place] = "the adjudicator is unsure" if verdict == "unsure" else ""
            by[place] = "adjudicator"

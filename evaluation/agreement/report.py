"""The agreement report: all statistics on one set of labels, as tables that the page, the command and the exports share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from berdseye.annotation.checks import CheckForm
from berdseye.data.errors import BadInputError
from berdseye.evaluation.agreement.against_people import Reference, against_people
from berdseye.evaluation.agreement.alignment import (
    AGAINST,
    SKIPPED,
    UNSURE,
    Aligned,
    DuplicateRule,
    Ints,
    Rule,
    aligned,
    counted,
)
from berdseye.evaluation.agreement.anchoring import NO_JUDGMENTS, anchoring
from berdseye.evaluation.agreement.labels import DETECTOR
from berdseye.evaluation.agreement.slices import COLUMNS as SLICE_COLUMNS
from berdseye.evaluation.agreement.slices import Period, item_slices, over_time, version_slices
from berdseye.evaluation.agreement.stance import StanceDifference, stance_differences
from berdseye.evaluation.agreement.together import Agreement, agreement_of, statistics_table, together

SLICES = ("dataset", "corpus", "stance")
PARTS = (
    "together",
    "pairs",
    "matrix",
    "slices",
    "time",
    "guidelines",
    "stance",
    "detection",
    "detection_slices",
    "anchoring",
)


class Parts(Mapping[str, pd.DataFrame]):
    """Tables by name, each computed at its first use and cached."""

    def __init__(self, functions: Mapping[str, Callable[[], pd.DataFrame]]) -> None:
        self._functions, self._tables = functions, dict[str, pd.DataFrame]()

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            self._tables[name] = self._functions[name]()
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


@dataclass(frozen=True)
class Choices:
    """The options of a report, which its summary states.

    `values` are the possible labels where they are known (None: the verdicts on a pair, or those that occur); `printed` is the
    figure of a paper, which the summary states beside ours.
    """

    rule: Rule = field(default_factory=Rule)
    duplicates: DuplicateRule = "refuse"
    period: Period = "week"
    reference: Reference = "another person"
    positive: str | None = None
    over_questions: bool = False
    values: tuple[str, ...] | None = None
    printed: str = ""


@dataclass(frozen=True)
class AgreementReport:
    """Statistics of the labels that count under the rule; `rows` are these labels, `people` the raters that are not detectors."""

    rows: pd.DataFrame
    labels: Aligned
    people: tuple[str, ...]
    choices: Choices
    unsure_left_out: int = 0
    skipped_left_out: int = 0
    gold: Mapping[str, bool] = field(default_factory=dict)

    @cached_property
    def agreement(self) -> Agreement:
        """Agreement of every pair of raters, and of all raters together."""
        return agreement_of(self.labels, self.choices.positive)

    @cached_property
    def parts(self) -> "Parts":
        """The tables by the names in `PARTS`, each computed at its first use."""
        return Parts(
            {
                "together": self._together,
                "pairs": lambda: pd.DataFrame(self.agreement.pairs),
                "matrix": self._matrix,
                "slices": self._slices,
                "time": self._time,
                "guidelines": lambda: version_slices(self._of_people, self._values, positive=self.choices.positive),
                "stance": self._stance,
                "detection": lambda: against_people(
                    self.labels, self.people, self.choices.reference, gold=self.gold, questions=self._questions
                ),
                "detection_slices": self._detection_slices,
                "anchoring": self._anchoring,
            }
        )

    @property
    def summary(self) -> str:
        """A one-line summary of the labels that the statistics are over."""
        left = f"{self.unsure_left_out} unsure and {self.skipped_left_out} skipped left out"
        repeated = (
            f"; {self.labels.repeated} repeated labels were replaced by later ones" if self.labels.repeated else ""
        )
        simulated = int(self.rows["demo"].eq(True).sum()) if "demo" in self.rows else 0
        made_up = f", {simulated:,} of them by simulated annotators of the demo" if simulated else ""
        return (
            f"{len(self.rows):,} labels of {len(self.labels.items):,} pairs by {len(self.labels.raters)} raters{made_up}; rule: "
            f"{self.choices.rule} ({left}){repeated}."
            f"{f' Paper: {self.choices.printed}.' if self.choices.printed else ''}"
        )

    @property
    def _values(self) -> tuple[str, ...]:
        return self.labels.values

    @cached_property
    def _human(self) -> Aligned:
        return self.labels.of_raters(self.people)

    @cached_property
    def _of_people(self) -> pd.DataFrame:
        return self.rows[self.rows["annotator"].isin(self.people)]

    @cached_property
    def _about(self) -> pd.DataFrame:
        columns = [name for name in (*SLICES, "question_id") if name in self.rows.columns]
        return self.rows.drop_duplicates("item").set_index("item")[columns].reindex(list(self.labels.items))

    @cached_property
    def _questions(self) -> Ints | None:
        """The question of each item, int64[n_items], if the bootstrap draws questions and the labels name them; otherwise
        None."""
        if not self.choices.over_questions or "question_id" not in self._about:
            return None
        questions = self._about["question_id"].astype(str)
        if "dataset" in self._about:
            questions = self._about["dataset"].astype(str) + "\0" + questions
        return pd.factorize(questions)[0]

    def _together(self) -> pd.DataFrame:
        groups = {"people": self._human}
        if len(self.people) < len(self.labels.raters):
            groups["people and detectors"] = self.labels
        tables = []
        for who, labels in groups.items():
            table = statistics_table(together(labels, positive=self.choices.positive, questions=self._questions))
            table.insert(0, "who", who)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def _matrix(self) -> pd.DataFrame:
        names = list(self.labels.raters)
        kappas = np.eye(len(names))
        above = np.triu_indices(len(names), 1)  # the order of the pairs
        kappas[above] = [pair.cohen_kappa for pair in self.agreement.pairs]
        table = pd.DataFrame(kappas + np.triu(kappas, 1).T, columns=names)
        table.insert(0, "rater", names, allow_duplicates=True)
        return table

    def _slices(self) -> pd.DataFrame:
        tables = [
            item_slices(self._human, self._about[name], name, self.choices.positive, self._questions)
            for name in SLICES
            if name in self._about and len(self.labels.items)
        ]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(SLICE_COLUMNS))

    def _time(self) -> pd.DataFrame:
        if "at" not in self.rows.columns or not len(self.labels.items):
            return pd.DataFrame(columns=list(SLICE_COLUMNS))
        return over_time(self._human, self._of_people, self.choices.period, self.choices.positive, self._questions)

    def _stance(self) -> pd.DataFrame:
        rows: Sequence[StanceDifference] = []
        if "stance" in self._about:
            rows = stance_differences(self.labels, self._about["stance"], self.people)
        return pd.DataFrame(rows, columns=list(StanceDifference._fields))

    def _anchoring(self) -> pd.DataFrame:
        known = {"arm", "decision"} <= set(self.rows.columns)
        return anchoring(self._of_people if known else NO_JUDGMENTS, self._values)

    def _detection_slices(self) -> pd.DataFrame:
        tables = []
        for name in SLICES if len(self.people) < len(self.labels.raters) else ():
            values = self._about[name].fillna("").astype(str) if name in self._about else pd.Series(dtype=str)
            for value in sorted(set(values)):
                within = (values == value).to_numpy()
                kept = self.labels.of_items(within)
                questions = None if self._questions is None else self._questions[within]
                table = against_people(
                    kept,
                    self.people,
                    self.choices.reference,
                    gold=self.gold,
                    each=False,
                    published=False,
                    questions=questions,
                )
                table.insert(0, "part", value or "(not given)")
                table.insert(0, "slice", name)
                tables.append(table)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def check_choices(form: CheckForm, choices: Choices) -> Choices:
    """Return the options of a report on checks of this form: its verdicts, the accepting one as positive, the paper's figure.

    Raises `BadInputError` for the rule that counts 'unsure' as 'does not support', which is no verdict of a check.
    """
    if choices.rule.unsure == AGAINST:
        raise BadInputError(
            f"'{AGAINST}' is not a verdict of the check '{form.name}', so 'unsure' cannot count as it.",
            hint="Leave 'unsure' out, or count it as a third label.",
        )
    third = choices.rule.unsure == "a third label" and (UNSURE in form.values or choices.rule.skipped == UNSURE)
    values = tuple(value for value in form.values if value != UNSURE) + ((UNSURE,) if third else ())
    return replace(choices, values=values, positive=choices.positive or form.accepted[0], printed=form.printed)


def report(
    labels: pd.DataFrame, choices: Choices | None = None, gold: Mapping[str, bool] | None = None
) -> AgreementReport:
    """Create the report of long-form labels.

    Columns: item, annotator, label; optional: at, guidelines, question_id, dataset, corpus, stance and, for judgments of an
    experiment, arm and decision. Raters whose names start with 'detector ' are detectors. If the labels are verdicts of
    judgments, the possible values are those of the rule. `gold` holds adjudicated labels by item. Raises `BadInputError` for
    missing columns, empty cells, or an item that a rater labels twice.
    """
    chosen = choices or Choices()
    kept = counted(labels, chosen.rule) if "label" in labels.columns else None
    rows = labels if kept is None else kept.labels
    verdicts = {*chosen.rule.values, UNSURE, SKIPPED}
    of_judgments = "label" in labels.columns and len(labels) > 0 and set(labels["label"].dropna().unique()) <= verdicts
    values = chosen.values or (chosen.rule.values if of_judgments else None)
    side_by_side = aligned(rows, values, duplicates=chosen.duplicates)
    people = tuple(name for name in side_by_side.raters if not name.startswith(DETECTOR))
    left = (0, 0) if kept is None else (kept.unsure_left_out, kept.skipped_left_out)
    return AgreementReport(rows, side_by_side, people, chosen, *left, gold=gold or {})

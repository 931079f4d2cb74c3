"""A teacher's labels of pairs as a file of labelled pairs, on which a smaller detector is trained or measured.

BERDS (Chen and Choi) labels its training pairs with a prompted language model, and uses the labels, not the probabilities. The
pairs come from `berdseye.evaluation.selection.teaching`. A batch that people judged may give the rows of the split dev.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from berdseye.annotation.batches.stored import batch_pairs, load_batch
from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.training_sets.labelling import LabelledTable, LabellingRules, decided
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Detector, count_truncated
from berdseye.evaluation.selection.teaching import TeachingPairs

COLUMNS = (
    "document", "perspective", "label", "probability", "split", "question", "id", "title", "dataset", "corpus", "retriever",
    "stance",
)  # fmt: skip
"""The columns of the file; `id` is that of the question, and `probability` is empty for people's labels."""


@dataclass(frozen=True)
class Taught:
    """The rows with the columns `COLUMNS`: the teacher's, then people's of the split dev.

    `truncated` counts the distinct pairs of the teacher with a text that it cut (None: it does not report this), and `left_out`
    the pairs of the dev batch without a label, by reason.
    """

    table: pd.DataFrame
    teacher: str
    version: str
    threshold: float
    questions: int
    near_duplicates: int
    truncated: int | None
    left_out: dict[str, int]

    def as_row(self) -> dict[str, Any]:
        """Return what `berdseye detector teach --json` prints; shares are between 0 and 1."""
        people = self.table["probability"].isna()
        taught, dev = self.table[~people], self.table[people]
        domains = taught.groupby(["corpus", "retriever"], sort=True)["label"].agg(["size", "sum"]).reset_index()
        return {
            "teacher": self.teacher,
            "version": self.version,
            "threshold": self.threshold,
            "questions": self.questions,
            "pairs": len(taught),
            "supporting": int(taught["label"].sum()),
            "share_supporting": float(taught["label"].mean()),
            "near_duplicates": self.near_duplicates,
            "truncated": self.truncated,
            "by_corpus_and_retriever": [
                {"corpus": corpus, "retriever": retriever, "pairs": int(pairs), "supporting": int(supporting)}
                for corpus, retriever, pairs, supporting in domains.itertuples(index=False)
            ],
            "dev_pairs": len(dev),
            "dev_supporting": int(dev["label"].sum()),
            "dev_left_out": self.left_out,
        }


def teach(
    workspace: Workspace,
    teacher: Detector,
    selected: TeachingPairs,
    dev: LabelledTable | None = None,
    *,
    progress: Progress = silent,
) -> Taught:
    """Label the selected pairs at the teacher's threshold, and add the rows of `dev` (`labels_of_batch`).

    Predictions go through the label cache, so that another call resumes an interrupted one. With `dev`, the teacher's rows have
    the split train; without it, no row has a split.
    """
    pairs = [Pair(found.record.passage, found.record.perspective, found.record.title) for found in selected.pairs]
    probabilities = label(LabelStore(workspace), teacher, pairs, progress=progress).tolist()
    rows: list[dict[str, Any]] = [
        {
            "document": found.record.passage,
            "perspective": found.record.perspective,
            "label": int(probability >= teacher.threshold),
            "probability": probability,
            "split": "" if dev is None else "train",
            "question": found.record.question,
            "id": found.record.question_id,
            "title": found.record.title,
            "dataset": found.record.dataset,
            "corpus": found.record.corpus,
            "retriever": found.retriever,
            "stance": found.record.stance or "",
        }
        for found, probability in zip(selected.pairs, probabilities, strict=True)
    ]
    if dev is not None:
        rows += _dev_rows(dev.table)
    return Taught(
        pd.DataFrame(rows, columns=list(COLUMNS)),
        teacher.name,
        teacher.version,
        teacher.threshold,
        selected.questions,
        selected.near_duplicates,
        count_truncated(teacher, pairs),
        {} if dev is None else dev.left_out,
    )


def labels_of_batch(judgments: Judgments, name: str) -> LabelledTable:
    """Return people's labels of the pairs of a batch by the rule of training sets: adjudicated, otherwise the majority.

    Pairs of the batch that nobody judged are counted in `left_out` too. Raises `UnknownNameError` for an unknown batch and
    `BadInputError` if none of its pairs has a label.
    """
    keys = batch_pairs(judgments, load_batch(judgments, name))
    frame = judgments.frame()
    judged = frame[frame["pair"].isin(keys)]
    labelled = decided(judged, LabellingRules(), adjudicated_labels(judgments, keys))
    if labelled.table.empty:
        raise BadInputError(
            f"No pair of the batch '{name}' has a label by people.", hint="Judge its pairs on the Annotate page first."
        )
    left_out = Counter(labelled.left_out)
    left_out["not judged"] = len(keys) - judged["pair"].nunique()
    return LabelledTable(labelled.table, {reason: n for reason, n in left_out.items() if n})


def _dev_rows(table: pd.DataFrame) -> Sequence[dict[str, Any]]:
    named = table.rename(columns={"passage": "document", "question_id": "id"})
    rows = named.assign(probability=None, split="dev", retriever="", stance=named["stance"].fillna(""))
    return [{str(column): value for column, value in row.items()} for row in rows[list(COLUMNS)].to_dict("records")]

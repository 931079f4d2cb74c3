"""The kinds of batches that the Batches page offers: what each is for, where its pairs come from, and its usual settings."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from berdseye.annotation.batches.stored import Task
from berdseye.evaluation.selection.request import Preset

Source = Literal["runs", "two runs", "pairs file", "answers file", "items file"]
SOURCE_NAMES: dict[Source, str] = {"runs": "Runs", "pairs file": "A file"}
"""What a source is called where a kind offers several."""


class Kind(NamedTuple):
    """A kind of batch: its name in the address and of new batches, its title, one sentence, and its usual settings.

    `per_pair` is the number of people who judge a pair, `calibration` the number of pairs that everyone judges first, and
    `questions` the number of questions that a preset draws of each data set (None: all). `whole` kinds serve all the pairs
    of their questions, so nothing is sampled.
    """

    name: str
    title: str
    icon: str
    text: str
    sources: tuple[Source, ...]
    task: Task = "judge"
    preset: Preset | None = None
    per_pair: int = 1
    calibration: int = 0
    questions: int | None = None
    whole: bool = False


KINDS = (
    Kind(
        "label",
        "Label pairs of runs",
        "rule",
        "People judge the first passages of the runs that you choose.",
        ("runs",),
    ),
    Kind(
        "agreement",
        "Measure agreement",
        "handshake",
        "Two people judge each pair, and everyone judges the same 20 pairs first.",
        ("runs",),
        per_pair=2,
        calibration=20,
    ),
    Kind(
        "decide",
        "Decide between two runs",
        "compare_arrows",
        "The pairs that say most about which of two runs is better come first.",
        ("two runs",),
    ),
    Kind(
        "random",
        "Draw whole questions at random",
        "casino",
        "Every pair of randomly drawn questions, which corrected figures require.",
        ("runs",),
        preset="random-questions",
        questions=10,
        whole=True,
    ),
    Kind(
        "verify",
        "Verify a detector's decisions",
        "fact_check",
        "People see the decision of a detector that tells sides, and agree or disagree.",
        ("runs", "pairs file"),
        task="verify",
    ),
    Kind(
        "compare",
        "Compare answers",
        "balance",
        "People prefer one of two answers to a question. You upload the answers.",
        ("answers file",),
        task="prefer",
    ),
    Kind(
        "check",
        "Check constructed data",
        "checklist",
        "Three people decide whether what a construction wrote is right. You upload the items.",
        ("items file",),
        task="check",
        per_pair=3,
    ),
    Kind(
        "file",
        "Label pairs from a file",
        "upload_file",
        "People judge passages and perspectives that you upload.",
        ("pairs file",),
    ),
    Kind(
        "berds",
        "Test set of BERDS",
        "science",
        "Ten questions of each data set, from the runs of two retrievers, as in the paper.",
        ("runs",),
        preset="berds",
        questions=10,
    ),
)
BY_NAME = {kind.name: kind for kind in KINDS}


def suggested_name(kind: Kind, taken: Iterable[str]) -> str:
    """Return a name for a new batch of a kind that no batch has."""
    names = set(taken)
    return next(name for n in range(1, len(names) + 2) if (name := f"{kind.name}-{n}") not in names)

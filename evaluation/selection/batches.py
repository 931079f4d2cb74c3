"""Selecting the pairs of a batch: from runs, from a file, as a stratified sample, or by the recipe of a paper.

A seed always selects the same pairs, in whatever order files and runs are named.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, get_args

from berdseye.annotation.batches.random_sample import DRAWN, POPULATION
from berdseye.annotation.batches.random_sample import PRESET as RANDOM_QUESTIONS
from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import Item, Task
from berdseye.annotation.judgments.log import PairRecord
from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
from berdseye.data.datasets.stored import load_dataset, same_question, split_unit, split_version
from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import read_rows
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.data.runs.pairs import run_pairs
from berdseye.data.runs.stored import load_run
from berdseye.data.texts.near_duplicates import near_duplicates, without_first
from berdseye.data.texts.passages import clean
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.selection.answer_pairs import ANSWERS

Stratum = Literal["probability", "dataset", "stance"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)
_BINS = 5
BERDS_QUESTIONS, BERDS_K, BERDS_RUNS = 10, 5, 2


class Preset(NamedTuple):
    """A batch by the recipe of a paper: the task, and the options that its pairs may come from."""

    task: Task
    sources: tuple[str, ...]


PRESETS: dict[str, Preset] = {
    "berds": Preset("judge", ("run",)),
    "dmerit": Preset("verify", ("run", "file")),
    "debateqa": Preset("prefer", ("answers", "answer-set")),
    RANDOM_QUESTIONS: Preset("judge", ("run",)),
}
"""BERDS (Chen and Choi): its test set. D-MERIT (Rassin et al.): whether the decision of a model is right. DebateQA (Xu et al.):
which of two answers is better. The last two fix the task and its guidelines, not the number of pairs.
`random-questions`: the sample that `corrected(DETECTOR)` needs (annotation/batches/random_sample.py)."""


def of_runs(workspace: Workspace, runs: Sequence[str], k: int) -> list[Item]:
    """Return every pair of the top k of each run with all perspectives; several runs are pooled to depth k."""
    return [Item(record) for record in pairs_of_runs(workspace, sorted(set(runs)), k).values()]


def of_file(path: Path) -> list[Item]:
    """Read the pairs of a table of passages and perspectives (data/datasets/labelled_pairs.py), without its labels."""
    rows = read_labelled_pairs(path, labelled=False)
    return [
        Item(
            PairRecord(
                dataset=row.dataset or path.stem[:64],
                question_id=row.id or row.question,
                question=row.question,
                perspective=row.pair.perspective,
                stance="supporting" if row.stance == "supporting" else "opposing" if row.stance == "opposing" else None,
                corpus=row.corpus or path.stem[:64],
                title=row.pair.title,
                passage=row.pair.passage,
            )
        )
        for row in rows
    ]


def of_answers(path: Path, seed: int = 0) -> list[Item]:
    """Read pairs of answers for DebateQA's preference task (Xu et al.): JSON Lines of `{"id", "question", "first", "second"}`.

    The seed decides which answer is shown first. Raises `BadInputError` for a row that lacks a text or repeats an answer.
    """
    found = []
    for line, row in read_rows(path):
        texts = {name: clean(str(row.get(name) or "")) for name in ("question", "first", "second")}
        if empty := [name for name, text in texts.items() if not text]:
            raise BadInputError(f"The row has no {empty[0]}.", where=path, line=line, hint="Add it.")
        if texts["first"] == texts["second"]:
            raise BadInputError("Both answers are equal.", where=path, line=line, hint="Remove this line.")
        question_id = str(row.get("id") or texts["question"])
        answers = sorted((texts["first"], texts["second"]))
        if Random(f"{seed} {question_id}").random() < 0.5:
            answers.reverse()
        found.append(
            Item(PairRecord(path.stem[:64], question_id, texts["question"], answers[1], None, ANSWERS, "", answers[0]))
        )
    return found


def with_labels(
    workspace: Workspace, detector: Detector, items: Sequence[Item], *, progress: Progress = silent
) -> list[Item]:
    """Add the detector's probability and decision to the items."""
    pairs = [Pair(i.record.passage, i.record.perspective, i.record.title) for i in items]
    found = label(LabelStore(workspace), detector, pairs, progress=progress).tolist()
    return [i._replace(probability=p, decision=p >= detector.threshold) for i, p in zip(items, found, strict=True)]


def without_near_duplicates(items: Sequence[Item]) -> list[Item]:
    """Drop the items whose passage nearly repeats an earlier passage of its question."""
    passages: dict[tuple[str, str], dict[str, None]] = {}
    for item in items:
        passages.setdefault(_question(item), {})[item.record.passage] = None
    dropped: set[tuple[tuple[str, str], str]] = set()
    for question, texts in passages.items():
        held = list(texts)
        dropped |= {(question, held[i]) for i in without_first(near_duplicates(held))}
    return [item for item in items if (_question(item), item.record.passage) not in dropped]


def without_questions(items: Sequence[Item], questions: frozenset[str]) -> list[Item]:
    """Drop the items of these questions, which are written as `split_unit` writes them."""
    return [item for item in items if split_unit(item.record.question, item.record.perspective) not in questions]


def stratified(items: Sequence[Item], size: int, by: Sequence[Stratum], seed: int = 0) -> list[Item]:
    """Draw `size` items, as evenly from the strata as they allow; without strata, a simple random sample.

    Probabilities have five strata of equal width. Raises `BadInputError` for a size that is out of range.
    """
    if not 1 <= size <= len(items):
        raise BadInputError(f"The sample of {size} must be between 1 and {len(items)}, the number of pairs.")
    if "probability" in by and any(item.probability is None for item in items):
        raise BadInputError("Strata by probability need a detector.", hint="Name one with --detector.")
    strata: dict[tuple[str, ...], list[Item]] = {}
    for item in sorted(items, key=lambda i: i.record.key):
        strata.setdefault(tuple(_STRATUM[name](item) for name in by), []).append(item)
    chance = Random(seed)
    drawn = [chance.sample(strata[name], len(strata[name])) for name in sorted(strata)]
    rounds = (stratum[place] for place in range(max(map(len, drawn))) for stratum in drawn if place < len(stratum))
    chosen = {item.record.key for _, item in zip(range(size), rounds, strict=False)}
    return [item for item in items if item.record.key in chosen]


def runs_by_dataset(workspace: Workspace, runs: Sequence[str]) -> dict[str, list[str]]:
    """Return the distinct names of stored runs by data set, both sorted; raises `UnknownNameError` for an unknown run."""
    by_dataset: dict[str, list[str]] = {}
    for name in sorted(set(runs)):
        by_dataset.setdefault(load_run(workspace, name).manifest.dataset, []).append(name)
    return dict(sorted(by_dataset.items()))


def berds_test_set(
    workspace: Workspace,
    runs: Sequence[str],
    seed: int = 0,
    *,
    questions: int = BERDS_QUESTIONS,
    k: int = BERDS_K,
    without: frozenset[str] = frozenset(),
) -> list[Item]:
    """Select pairs by the recipe of the BERDS test set (Chen and Choi): 10 questions with two perspectives of each data set,
    and the top 5 of two retrievers without near-duplicates.

    No question of `without` (as `same_question` writes it) is drawn. Raises `BadInputError` for a data set that does not have
    two runs, or has too few such questions.
    """
    by_dataset = runs_by_dataset(workspace, runs)
    chosen: list[Item] = []
    for dataset in by_dataset:
        if len(by_dataset[dataset]) != BERDS_RUNS:
            raise BadInputError(
                f"Data set '{dataset}' has {len(by_dataset[dataset])} of the named runs.",
                hint="Name the runs of two retrievers for each data set.",
            )
        two_sided = sorted(
            q.id
            for q in load_dataset(workspace, dataset)
            if len(q.perspectives) == 2 and same_question(q.text) not in without
        )
        if len(two_sided) < questions:
            outside = " outside of the named batches" if without else ""
            raise BadInputError(
                f"Data set '{dataset}' has {len(two_sided)} questions with two perspectives{outside}.",
                hint=f"The recipe needs {questions}; lower --questions.",
            )
        kept = set(Random(f"{seed} {dataset}").sample(two_sided, questions))
        chosen += [i for i in of_runs(workspace, by_dataset[dataset], k) if i.record.question_id in kept]
    return without_near_duplicates(chosen)


def random_questions(
    workspace: Workspace, runs: Sequence[str], seed: int = 0, *, questions: int, k: int
) -> tuple[list[Item], dict[str, Any]]:
    """Draw `questions` of each data set uniformly at random, with every pair of the top k of all runs.

    Returns the items and the entries of the batch's recipe that describe the draw (`berdseye.annotation.batches.random_sample`).
    Items come question by question in the order of the draw, one question of each data set in turn, so that the completed
    questions are a random sample whenever people stop. Their propensity is that of the question, among those not drawn yet.
    Raises `BadInputError` for a data set with too few questions.
    """
    records: dict[str, dict[str, dict[str, PairRecord]]] = {}
    asked: dict[str, list[str]] = {}
    for name in sorted(set(runs)):
        run = load_run(workspace, name)
        dataset_questions = load_dataset(workspace, run.manifest.dataset)
        dataset = split_version(run.manifest.dataset)[0]
        ids = sorted(q.id for q in dataset_questions if q.perspectives)
        by_question = records.setdefault(dataset, {})
        if asked.setdefault(dataset, ids) != ids:
            raise BadInputError(
                f"The runs are of several versions of '{dataset}'.",
                hint="Name runs of one version, or create two batches.",
            )
        found = run_pairs(workspace, run, dataset_questions, k)
        for (number, rank, place), pair in zip(found.places.tolist(), found.pairs, strict=True):
            question, passage = dataset_questions[number], found.passages[int(run.ids[number, rank])]
            record = PairRecord.of(question, question.perspectives[place], run.manifest.corpus, passage)
            by_question.setdefault(question.id, {}).setdefault(pair.key, record)
    drawn: dict[str, list[str]] = {}
    for dataset, ids in asked.items():
        if len(ids) < questions:
            raise BadInputError(
                f"Data set '{dataset}' has {len(ids)} questions with perspectives.",
                hint=f"{questions} cannot be drawn; lower --questions.",
            )
        drawn[dataset] = drawn_order(ids, questions, f"{seed} {dataset}")
    items = [
        Item(record, propensity=1 / (len(asked[dataset]) - turn))
        for turn in range(questions)
        for dataset, chosen in drawn.items()
        for record in records[dataset].get(chosen[turn], {}).values()
    ]
    recipe = {DRAWN: drawn, POPULATION: {dataset: len(ids) for dataset, ids in asked.items()}}
    return items, recipe


def drawn_order(ids: Sequence[str], count: int, seed: str) -> list[str]:
    """Draw `count` ids in random order; all sets and orders are equally likely."""
    return Random(seed).sample(sorted(ids), count)


def check_random_questions(*, order: str, calibration: int, sample: int | None, without: Sequence[str] = ()) -> None:
    """Raise `BadInputError` for options that would bias the draw of `random_questions` or change its order."""
    given = {"--order": order != "batch", "--calibration": bool(calibration), "--sample": sample is not None}
    given["--without-batch"] = bool(without)
    if broken := [name for name, is_given in given.items() if is_given]:
        raise BadInputError(
            f"The preset {RANDOM_QUESTIONS} serves whole questions in the order they were drawn.",
            hint=f"Omit {' and '.join(broken)}.",
        )


def _question(item: Item) -> tuple[str, str]:
    return item.record.dataset, item.record.question_id


def _bin(item: Item) -> str:
    place = min(int((item.probability or 0.0) * _BINS), _BINS - 1)
    return f"{place / _BINS:.1f} to {(place + 1) / _BINS:.1f}"


_STRATUM: dict[Stratum, Callable[[Item], str]] = {
    "probability": _bin,
    "dataset": lambda item: item.record.dataset,
    "stance": lambda item: item.record.stance or "none",
}

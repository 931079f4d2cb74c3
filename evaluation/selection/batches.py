"""Which pairs a batch sends out: of runs, of a file, a stratified sample of them, or by the recipe of a paper.

Every choice is the same for the same seed, whatever order files and runs are named in.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, get_args

from berdseye.annotation.batches.random_sample import DRAWN, POPULATION
from berdseye.annotation.batches.random_sample import PRESET as RANDOM_QUESTIONS
from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import Item, Task
from berdseye.annotation.judgments.log import PairRecord
from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
from berdseye.data.datasets.stored import load_dataset, split_version
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

Stratum = Literal["probability", "dataset", "stance"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)
_BINS = 5
BERDS_QUESTIONS, BERDS_K, BERDS_RUNS = 10, 5, 2


class Preset(NamedTuple):
    """A batch as a paper has it: what people do, and which options the pairs may come from."""

    task: Task
    sources: tuple[str, ...]


PRESETS: dict[str, Preset] = {
    "berds": Preset("judge", ("run",)),
    "dmerit": Preset("verify", ("run", "file")),
    "debateqa": Preset("prefer", ("answers",)),
    RANDOM_QUESTIONS: Preset("judge", ("run",)),
}
"""BERDS (Chen and Choi): its test set. D-MERIT (Rassin et al.): is a decision that a model made right? DebateQA (Xu et al.):
which of two answers is better? Of the last two it is the task, with guidelines of its own; how many pairs is yours to say.
`random-questions`: the sample that `corrected(DETECTOR)` needs (annotation/batches/random_sample.py)."""
ANSWERS = "answers"
"""What stands for the corpus of a pair of answers."""


def of_runs(workspace: Workspace, runs: Sequence[str], k: int) -> list[Item]:
    """Every pair of the top k of each run with all perspectives: of several runs, the pool to depth k."""
    return [Item(record) for record in pairs_of_runs(workspace, sorted(set(runs)), k).values()]


def of_file(path: Path) -> list[Item]:
    """The pairs of a table of passages and perspectives (data/datasets/labelled_pairs.py); labels in it are not read."""
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
    """Two answers to a question each, as DebateQA's human preference has them (Xu et al.): JSON Lines of
    `{"id", "question", "first", "second"}`. Which of the two stands first is drawn by the seed, once for a pair."""
    found = []
    for line, row in read_rows(path):
        texts = {name: clean(str(row.get(name) or "")) for name in ("question", "first", "second")}
        if empty := [name for name, text in texts.items() if not text]:
            raise BadInputError(f"The row has no {empty[0]}.", where=path, line=line, hint="Correct this line.")
        if texts["first"] == texts["second"]:
            raise BadInputError("Both answers are the same.", where=path, line=line, hint="Leave this line out.")
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
    """The items with the detector's probability and decision."""
    pairs = [Pair(i.record.passage, i.record.perspective, i.record.title) for i in items]
    found = label(LabelStore(workspace), detector, pairs, progress=progress).tolist()
    return [i._replace(probability=p, decision=p >= detector.threshold) for i, p in zip(items, found, strict=True)]


def without_near_duplicates(items: Sequence[Item]) -> list[Item]:
    """The items but those of passages that nearly repeat an earlier one of the same question."""
    passages: dict[tuple[str, str], dict[str, None]] = {}
    for item in items:
        passages.setdefault(_question(item), {})[item.record.passage] = None
    dropped: set[tuple[tuple[str, str], str]] = set()
    for question, texts in passages.items():
        held = list(texts)
        dropped |= {(question, held[i]) for i in without_first(near_duplicates(held))}
    return [item for item in items if (_question(item), item.record.passage) not in dropped]


def stratified(items: Sequence[Item], size: int, by: Sequence[Stratum], seed: int = 0) -> list[Item]:
    """`size` items, as equally from every stratum as they last; `by` no stratum: plainly at random.

    The strata of the probability are fifths of the way from 0 to 1.
    """
    if not 1 <= size <= len(items):
        raise BadInputError(f"A sample of {size} of {len(items)} pairs.", hint="Choose a number in between.")
    if "probability" in by and any(item.probability is None for item in items):
        raise BadInputError("Strata of the probability need a detector.", hint="Name a detector.")
    strata: dict[tuple[str, ...], list[Item]] = {}
    for item in sorted(items, key=lambda i: i.record.key):
        strata.setdefault(tuple(_STRATUM[name](item) for name in by), []).append(item)
    chance = Random(seed)
    drawn = [chance.sample(strata[name], len(strata[name])) for name in sorted(strata)]
    rounds = (stratum[place] for place in range(max(map(len, drawn))) for stratum in drawn if place < len(stratum))
    chosen = {item.record.key for _, item in zip(range(size), rounds, strict=False)}
    return [item for item in items if item.record.key in chosen]


def berds_test_set(
    workspace: Workspace, runs: Sequence[str], seed: int = 0, *, questions: int = BERDS_QUESTIONS, k: int = BERDS_K
) -> list[Item]:
    """The recipe of the test set of BERDS (Chen and Choi): of each data set 10 questions with two perspectives, the
    top 5 of two retrievers, near-duplicates out.

    Raises `BadInputError` where a data set has not two runs or too few such questions.
    """
    by_dataset: dict[str, list[str]] = {}
    for name in sorted(set(runs)):
        by_dataset.setdefault(load_run(workspace, name).manifest.dataset, []).append(name)
    chosen: list[Item] = []
    for dataset in sorted(by_dataset):
        if len(by_dataset[dataset]) != BERDS_RUNS:
            raise BadInputError(
                f"Data set '{dataset}' has {len(by_dataset[dataset])} of the runs.",
                hint="The recipe takes the runs of two retrievers for each.",
            )
        two_sided = sorted(q.id for q in load_dataset(workspace, dataset) if len(q.perspectives) == 2)
        if len(two_sided) < questions:
            raise BadInputError(
                f"Data set '{dataset}' has {len(two_sided)} questions with two perspectives.",
                hint=f"The recipe takes {questions}; ask for fewer.",
            )
        kept = set(Random(f"{seed} {dataset}").sample(two_sided, questions))
        chosen += [i for i in of_runs(workspace, by_dataset[dataset], k) if i.record.question_id in kept]
    return without_near_duplicates(chosen)


def random_questions(
    workspace: Workspace, runs: Sequence[str], seed: int = 0, *, questions: int, k: int
) -> tuple[list[Item], dict[str, Any]]:
    """`questions` of each data set, drawn uniformly at random, with every pair of the top k of all the runs: each drawn
    question can be judged whole. And what the recipe of the batch says of the draw (`berdseye.annotation.batches.random_sample`).

    Items come question by question in the order of the draw, one of each data set in turn: wherever people stop, the
    questions they are through with are a random sample. Raises `BadInputError` where a data set has too few questions.
    """
    records: dict[str, dict[str, dict[str, PairRecord]]] = {}
    asked: dict[str, list[str]] = {}
    for name in sorted(set(runs)):
        run = load_run(workspace, name)
        held = load_dataset(workspace, run.manifest.dataset)
        dataset = split_version(run.manifest.dataset)[0]
        ids = sorted(q.id for q in held if q.perspectives)
        by_question = records.setdefault(dataset, {})
        if asked.setdefault(dataset, ids) != ids:
            raise BadInputError(
                f"The runs are of several versions of '{dataset}'.", hint="Name runs of one, or make two batches."
            )
        found = run_pairs(workspace, run, held, k)
        for (number, rank, place), pair in zip(found.places.tolist(), found.pairs, strict=True):
            question, passage = held[number], found.passages[int(run.ids[number, rank])]
            record = PairRecord.of(question, question.perspectives[place], run.manifest.corpus, passage)
            by_question.setdefault(question.id, {}).setdefault(pair.key, record)
    drawn: dict[str, list[str]] = {}
    for dataset, ids in asked.items():
        if len(ids) < questions:
            raise BadInputError(
                f"Data set '{dataset}' has {len(ids)} questions with perspectives.",
                hint=f"{questions} cannot be drawn; give --questions a smaller number.",
            )
        drawn[dataset] = drawn_order(ids, questions, f"{seed} {dataset}")
    items = [
        Item(record)
        for turn in range(questions)
        for dataset, chosen in drawn.items()
        for record in records[dataset].get(chosen[turn], {}).values()
    ]
    recipe = {DRAWN: drawn, POPULATION: {dataset: len(ids) for dataset, ids in asked.items()}}
    return items, recipe


def drawn_order(ids: Sequence[str], count: int, seed: str) -> list[str]:
    """`count` of the ids in a random order, each set and each order of it as likely as any other."""
    return Random(seed).sample(sorted(ids), count)


def check_random_questions(*, order: str, calibration: int, sample: int | None) -> None:
    """Raises `BadInputError` for options that would break the draw of `random_questions` or its order."""
    given = {"--order": order != "batch", "--calibration": bool(calibration), "--sample": sample is not None}
    if broken := [name for name, is_given in given.items() if is_given]:
        raise BadInputError(
            f"The preset {RANDOM_QUESTIONS} serves whole questions in the order they were drawn.",
            hint=f"Leave out {' and '.join(broken)}.",
        )


def count_by(items: Iterable[Item], stratum: Stratum) -> dict[str, int]:
    """How many items each stratum has."""
    names = sorted(_STRATUM[stratum](item) for item in items)
    return {name: sum(1 for _ in held) for name, held in groupby(names)}


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

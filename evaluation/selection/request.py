"""A request for a batch: where its pairs come from, what people do with them, and the checks that make it consistent.

It lives on this floor, above annotation, because pairs are chosen with the labels of detectors.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from berdseye.annotation.batches.check_items import check_pairs, check_people, check_recipe, read_check_items
from berdseye.annotation.batches.draws import Unit
from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import (
    SAMPLED,
    Batch,
    BatchPlan,
    Item,
    Order,
    Task,
    batch_questions,
    create_batch,
)
from berdseye.annotation.checks import Purpose, check_form
from berdseye.annotation.guidelines.versions import keep
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import split_unit
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import unsure_width
from berdseye.detectors.opinions import grade_of
from berdseye.detectors.protocol import Detector
from berdseye.detectors.trained import adopted_detector
from berdseye.evaluation.measures import parse_measure
from berdseye.evaluation.selection.answer_pairs import answer_pairs, answers_dataset
from berdseye.evaluation.selection.batches import (
    PRESETS,
    STRATA,
    Stratum,
    berds_test_set,
    check_random_questions,
    of_answers,
    of_file,
    of_runs,
    random_questions,
    stratified,
    with_labels,
    without_questions,
)
from berdseye.evaluation.selection.decision import decision_items

Preset = Literal["berds", "dmerit", "debateqa", "random-questions"]
QUESTION_PRESETS = ("berds", "random-questions")
"""Presets that take a number of questions."""
UNLABELLED: tuple[Task, ...] = ("prefer", "check")
"""Tasks whose texts no detector labels."""
Counting = Callable[[str], AbstractContextManager[Progress]]


@dataclass(frozen=True)
class BatchRequest:
    """What a batch is to hold and how it is judged.

    The pairs come from one of `runs` (their top `k`), `file`, `answers`, `answer_sets` (of `dataset`; up to `questions` drawn
    questions) and `decide` (two runs, compared by `measure`), and are not of questions of the batches `without`. `strata` divide
    a `sample`; `shown` puts the detector's label before people, `experiment` does so for that share of pairs and people.
    `detector` names the label source of probabilities, by default the adopted detector. `guidelines` is a text of the batch's
    own. `check` names the form of the task `check`, whose items are those of `file`; with a `purpose`, the batch qualifies its
    people, and each of them judges every item. `drawn_by` is what an order that is a sampling draws as a whole (None: what the
    measures of the task need).
    """

    name: str
    runs: tuple[str, ...] = ()
    k: int = 5
    file: Path | None = None
    answers: Path | None = None
    decide: tuple[str, str] | None = None
    measure: str = "MRecall@5"
    preset: Preset | None = None
    questions: int = 10
    sample: int | None = None
    strata: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    task: Task = "judge"
    per_pair: int = 1
    people: tuple[str, ...] = ()
    calibration: int = 0
    order: Order = "batch"
    detector: str | None = None
    shown: bool = False
    experiment: float | None = None
    guidelines: str | None = None
    seed: int = 0
    reservation_seconds: int = 30 * 60
    answer_sets: tuple[str, ...] = ()
    dataset: str | None = None
    check: str | None = None
    purpose: Purpose | None = None
    drawn_by: Unit | None = None

    @property
    def source(self) -> str:
        """The option that the pairs come from; raises `BadInputError` unless it is exactly one."""
        given = {"run": self.runs, "file": self.file, "answers": self.answers, "answer-set": self.answer_sets}
        given |= {"decide": self.decide}
        named = [name for name, value in given.items() if value]
        if len(named) != 1:
            raise BadInputError(
                f"A batch takes its pairs from one source, got {len(named)}.",
                hint="Give one of --run, --file, --answers, --answer-set and --decide.",
            )
        return named[0]

    @property
    def resolved_task(self) -> Task:
        """The task, which a preset decides; raises `BadInputError` where source, preset and task do not fit together."""
        task, source = self.task, self.source
        if self.preset:
            preset = PRESETS[self.preset]
            if source not in preset.sources or task not in ("judge", preset.task):
                raise BadInputError(
                    f"The preset {self.preset} is for the task {preset.task} on pairs of --{' or --'.join(preset.sources)}.",
                    hint="Use that source, and leave out --task.",
                )
            task = preset.task
        if (source in ("answers", "answer-set")) != (task == "prefer"):
            raise BadInputError(
                "The task prefer compares answers.", hint="Use --answers or --answer-set together with --task prefer."
            )
        if (task == "check") != (self.check is not None) or (task == "check" and source != "file"):
            raise BadInputError(
                "The task check decides about the items of a file by a form.",
                hint="Use --task check together with --check FORM and --file ITEMS.jsonl.",
            )
        if self.purpose is not None:
            self._check_purpose()
        return task

    def _check_purpose(self) -> None:
        if self.check is None or self.sample is not None or self.without:
            raise BadInputError(
                "An exam or a training batch has all items of a file of checks.",
                hint="Use --task check, and leave out --sample and --without-batch.",
            )
        check_people(self.purpose, self.people)

    @property
    def resolved_order(self) -> Order:
        """The order of the pairs; raises `BadInputError` for the order by decision without two runs to decide between."""
        if self.decide:
            return "decision"
        if self.order == "decision":
            raise BadInputError("`--order decision` requires `--decide RUN_A RUN_B`.")
        return self.order

    @property
    def resolved_drawn_by(self) -> Unit:
        """What is drawn as a whole: by default the question for a decision by a measure of whole questions, otherwise the
        passage, which Precision needs; raises `BadInputError` if it is given for an order that draws nothing."""
        if self.drawn_by is None:
            if self.decide and parse_measure(self.measure).name != "Precision":
                return "question"
            return "pair" if self.resolved_task == "prefer" else "passage"
        if self.resolved_order not in SAMPLED:
            raise BadInputError(
                f"The order {self.resolved_order} draws nothing.",
                hint="Omit --draw-by, or use --order random or --order uncertainty.",
            )
        return self.drawn_by

    @property
    def resolved_strata(self) -> list[Stratum]:
        """The strata in their canonical order; raises `BadInputError` for an unknown one."""
        if unknown := [name for name in self.strata if name not in STRATA]:
            raise BadInputError(f"'{unknown[0]}' is not a stratum.", hint=f"Use {', '.join(STRATA)}.")
        return [name for name in STRATA if name in self.strata]

    @property
    def shows_labels(self) -> bool:
        """Whether anybody sees a label before judging."""
        return self.resolved_task == "verify" or self.shown or self.experiment is not None

    @property
    def needs_labels(self) -> bool:
        """Whether the pairs need a detector's labels: to be shown, to order by, or to draw strata by."""
        ordered = self.resolved_order in ("uncertainty", "decision")
        return self.shows_labels or ordered or "probability" in self.resolved_strata


class ExpectedBatch(NamedTuple):
    """What a request would create: its pairs, and the judgments that they need from everyone together.

    `each` is the share of one person (None: the batch names nobody). `most` says that the batch may have fewer pairs: a decision
    leaves out those that people have judged. `unlabelled` counts the pairs that the detector must label first.
    """

    pairs: int
    judgments: int
    each: float | None
    most: bool
    unlabelled: int


def expected_batch(workspace: Workspace, judgments: Judgments, request: BatchRequest) -> ExpectedBatch:
    """Count what a request would create, without creating it and without labelling a pair.

    Raises `BadInputError` where the pairs cannot be chosen, and what `check_verifiable` raises.
    """
    _checked(request)
    if request.resolved_task == "verify":
        check_verifiable(workspace, request.detector)
    if request.decide is None:
        items, _ = _chosen(workspace, judgments, request, lambda _: nullcontext(silent))
        records = {item.record.key: item.record for item in items}
    else:
        without = batch_questions(judgments, request.without)
        records = {
            key: record
            for key, record in pairs_of_runs(workspace, request.decide, parse_measure(request.measure).k).items()
            if split_unit(record.question, record.perspective) not in without
        }
    unlabelled = 0
    if records and (request.needs_labels or (request.detector and request.task not in UNLABELLED)):
        detector = _detector(workspace, request)
        held = LabelStore(workspace).get(detector.name, list(records), detector.version)
        unlabelled = int(np.isnan(held).sum())
    count = len(records) if request.sample is None else min(request.sample, len(records))
    people = len(set(request.people))
    shared = min(_shared(request, count), count)
    wanted = shared * people + (count - shared) * request.per_pair
    return ExpectedBatch(count, wanted, wanted / people if people else None, request.decide is not None, unlabelled)


def check_verifiable(workspace: Workspace, name: str | None) -> None:
    """Raise `BadInputError` if people cannot verify decisions of this detector (None: the adopted one), because it has the grade
    `topic`.

    A person who agrees with a decision is recorded as saying that the passage supports the perspective, or that it does not. The
    decision "on topic" says neither. Decisions that another program made, as in `berdseye construct verify`, have no grade.
    """
    detector = parse_detector(name or adopted_detector(workspace), workspace)
    if grade_of(workspace, detector) == "topic":
        raise BadInputError(
            f"{detector.name} has the grade topic: its decisions say which passages are on the topic, not which support a "
            "perspective, so people cannot verify them.",
            hint="Use the task `judge` with --shown, which shows the detector's opinion, or name a detector of grade stance "
            "with --detector; `berdseye detector list` shows the grades.",
        )


def create_requested_batch(
    workspace: Workspace,
    judgments: Judgments,
    request: BatchRequest,
    *,
    made_by: str,
    counting: Counting = lambda _: nullcontext(silent),
) -> tuple[Batch, int]:
    """Choose the pairs that a request asks for and store the batch; returns it with the number of its pairs.

    `counting` shows the progress of long work.

    Raises `BadInputError` for a request that contradicts itself, and what `check_verifiable` raises, before anything is read.
    """
    task, order, strata = _checked(request)
    if task == "verify":
        check_verifiable(workspace, request.detector)
    items, recipe = _chosen(workspace, judgments, request, counting)
    threshold = 0.5
    if request.needs_labels or (request.detector and task not in UNLABELLED):
        detector = _detector(workspace, request)
        threshold = detector.threshold
        recipe |= {"detector": detector.name, "version": detector.version, "threshold": threshold}
        recipe |= {"grade": grade_of(workspace, detector), "unsure": unsure_width(workspace)}
        with counting(f"labels by {detector.name}") as progress:
            items = with_labels(workspace, detector, items, progress=progress)
    if request.sample is not None:
        items = stratified(items, request.sample, strata, request.seed)
        recipe |= {"sample": request.sample, "by": strata}
    if request.without:
        recipe |= {"without": sorted(set(request.without))}
    if request.preset:
        recipe |= {"preset": request.preset}
        if request.preset in QUESTION_PRESETS:
            recipe |= {"questions": request.questions}
    guidelines = None if request.guidelines is None else keep(judgments, request.guidelines, made_by=made_by).version
    plan = BatchPlan(
        request.name,
        task,
        request.per_pair,
        request.people,
        _shared(request, len({item.record.key for item in items})),
        order,
        blind=not request.shows_labels,
        seed=request.seed,
        hold=request.reservation_seconds,
        threshold=threshold,
        shown_share=request.experiment,
        made_by=made_by,
        recipe=recipe,
        guidelines=guidelines,
        drawn_by=request.resolved_drawn_by,
    )
    return create_batch(judgments, plan, items), len({item.record.key for item in items})


def _shared(request: BatchRequest, pairs: int) -> int:
    """Return the number of pairs that everyone judges: all of them in a batch that qualifies people."""
    return request.calibration if request.purpose is None else pairs


def _checked(request: BatchRequest) -> tuple[Task, Order, list[Stratum]]:
    """The task, the order and the strata; raises `BadInputError` for a request that contradicts itself."""
    task, order, strata = request.resolved_task, request.resolved_order, request.resolved_strata
    _ = request.resolved_drawn_by
    if request.preset == "random-questions":
        check_random_questions(
            order=order, calibration=request.calibration, sample=request.sample, without=request.without
        )
    return task, order, strata


def _chosen(
    workspace: Workspace, judgments: Judgments, request: BatchRequest, counting: Counting
) -> tuple[Sequence[Item], dict[str, Any]]:
    """The pairs, and what the recipe of the batch says of their choice."""
    without = batch_questions(judgments, request.without)
    if request.check is not None and request.file is not None:
        form = check_form(request.check)
        checks = read_check_items(request.file, form)
        recipe = {"file": request.file.name, **check_recipe(form, checks, request.purpose)}
        return without_questions(check_pairs(form, checks, request.file.stem), without), recipe
    if request.decide is not None:
        detector = _detector(workspace, request)
        with counting(f"labels by {detector.name}") as progress:
            return decision_items(
                workspace,
                judgments,
                request.decide,
                parse_measure(request.measure),
                detector,
                seed=request.seed,
                drawn_by=request.resolved_drawn_by,
                without=without,
                progress=progress,
            )
    if request.file is not None:
        return without_questions(of_file(request.file), without), {"file": request.file.name}
    if request.answers is not None:
        return without_questions(of_answers(request.answers, request.seed), without), {"file": request.answers.name}
    if request.answer_sets:
        dataset = answers_dataset(workspace, request.answer_sets, request.dataset)
        found = answer_pairs(workspace, dataset, request.answer_sets, questions=request.questions, seed=request.seed)
        return without_questions(found.items, without), found.recipe(request.answer_sets, dataset)
    runs = {"runs": sorted(request.runs), "k": request.k}
    if request.preset == "random-questions":
        items, draw = random_questions(workspace, request.runs, request.seed, questions=request.questions, k=request.k)
        return items, {**runs, **draw}
    if request.preset == "berds":
        items = berds_test_set(
            workspace, request.runs, request.seed, questions=request.questions, k=request.k, without=without
        )
        return items, runs
    return without_questions(of_runs(workspace, request.runs, request.k), without), runs


def _detector(workspace: Workspace, request: BatchRequest) -> Detector:
    return parse_detector(request.detector or adopted_detector(workspace), workspace)

"""Adapting the detector to a person's own questions: written passages and people's judgments train it together, and it is
compared with the detector in use on people's judgments alone."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from berdseye.annotation.training_sets.store import TrainingSetVersion
from berdseye.app.jobs.improving import Improved, improve, set_to_train_on
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.detectors.training.training import TrainingPlan, follows_plan
from berdseye.detectors.training.training_set import TrainingSet
from berdseye.detectors.training.written_passages import (
    Asked,
    WrittenPassages,
    other_perspectives,
    passages_to_write,
    write_passages,
)
from berdseye.evaluation.detection.improvement import Adopt


class Adapted(NamedTuple):
    """The written passages, and the detector that was trained on them and on judgments, with its comparison."""

    written: WrittenPassages
    improved: Improved


def to_write(workspace: Workspace, dataset: str, of_each: int) -> list[Asked]:
    """Return the passages to write for a data set; raises `BadInputError` if its questions have no perspectives."""
    asked = passages_to_write(load_dataset(workspace, dataset), of_each)
    if not asked:
        raise BadInputError(
            f"The questions of '{dataset}' have no perspectives.", hint="Add some on the page Perspectives."
        )
    return asked


def adapt(
    workspace: Workspace,
    model: LanguageModel,
    asked: Sequence[Asked],
    made: TrainingSetVersion,
    plan: TrainingPlan,
    mode: Adopt,
    *,
    number: bool = False,
    made_by: str,
    progress: Progress,
) -> Adapted:
    """Have passages written, train on them and on a training set of judgments, compare, and adopt according to `mode`.

    Passages about questions whose judgments are held out for dev or test are not trained on. A detector of the kind stance,
    without a teacher, also reads written passages with other perspectives of their question, and keeps its opinion of these
    (`other_perspectives`).
    With `number`, the detector gets the first of the names NAME, NAME-2, NAME-3 … that no other plan or data has. Raises
    `BadInputError` for a training set that is too small before the model is asked.
    """
    set_to_train_on(made)
    judged = list(dict.fromkeys(pair.pair.passage for pair in made.pairs()))
    written = write_passages(model, CompletionCache(workspace), asked, judged, progress=progress)
    unlabelled = other_perspectives(written.pairs) if plan.kind == "stance" and plan.teacher is None else []
    if number:
        plan = _numbered(workspace, plan, set_to_train_on(made, written.pairs, unlabelled))
    improved = improve(
        workspace,
        made,
        plan,
        mode,
        written=written.pairs,
        unlabelled=unlabelled,
        made_by=made_by,
        progress=progress,
    )
    return Adapted(written, improved)


def _numbered(workspace: Workspace, plan: TrainingPlan, data: TrainingSet) -> TrainingPlan:
    for number in count(1):
        named = plan if number == 1 else replace(plan, name=f"{plan.name}-{number}")
        folder = workspace.detectors_folder / named.name
        if not folder.exists() or follows_plan(folder, named, data):
            return named
    raise AssertionError("numbers do not end")

"""From judgments to a better detector in one step: training on a training set, a comparison, and the decision to adopt
it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.training_sets.store import TrainingSetVersion, held_out_by_people
from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.files.atomic import write_json
from berdseye.data.files.json_files import read_json
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace, checked_name
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.trained import Trained, adopt, adopted_detector, list_trained, new_folder
from berdseye.detectors.training.training import TrainingPlan, follows_plan
from berdseye.detectors.training.training_set import TrainingSet, training_set
from berdseye.evaluation.detection.grading import train_and_grade
from berdseye.evaluation.detection.improvement import Adopt, Improvement, compare_detectors, worth_adopting
from berdseye.evaluation.detection.pairs import learned

_REPORT = "improvement.json"


@dataclass(frozen=True)
class Improved:
    """The result: the training set, the new detector, its comparison with the detector in use before, and whether it was
    adopted."""

    made: TrainingSetVersion
    trained: Trained
    comparison: Improvement
    adopted: bool

    def as_row(self) -> dict[str, Any]:
        """Return the row that `berdseye detector improve --json` prints and the detector's folder stores."""
        return {
            "training_set": self.made.id,
            "training_set_hash": self.made.hash,
            "detector": self.trained.detector,
            "measured": self.trained.card["measured"],
            "comparison": self.comparison.as_row(),
            "adopted": self.adopted,
        }


def set_to_train_on(
    made: TrainingSetVersion, written: Sequence[LabelledPair] = (), unlabelled: Sequence[LabelledPair] = ()
) -> TrainingSet:
    """Return a version, with further pairs, in the form that trainings take. The detector's card names the version's id and its
    hash, and counts its judgments."""
    return replace(
        training_set(made.pairs(), made.id, made.hash),
        judgments=made.manifest["judgments"],
        simulated=made.manifest["judgments_of_made_up_annotators"],
        written=list(written),
        unlabelled=list(unlabelled),
    )


def check_name(workspace: Workspace, plan: TrainingPlan) -> None:
    """Raise `BadInputError` if a finished detector has the plan's name but was trained by another plan."""
    if not follows_plan(workspace.detectors_folder / checked_name("detector", plan.name), plan):
        new_folder(workspace, plan.name)


def improve(
    workspace: Workspace,
    made: TrainingSetVersion,
    plan: TrainingPlan,
    mode: Adopt,
    *,
    written: Sequence[LabelledPair] = (),
    unlabelled: Sequence[LabelledPair] = (),
    made_by: str,
    progress: Progress,
) -> Improved:
    """Train on a training set, compare the result with the detector in use on the held-out questions, and adopt it according to
    `mode`. Only people's labels count in the comparison, also where the training set counts votes of simulated annotators.

    `written` and `unlabelled` are further pairs to train on (`TrainingSet`). A detector that was already trained on this set
    by this plan is not trained again. The comparison is stored in its folder.
    """
    before = adopted_detector(workspace)
    trained = _trained(workspace, set_to_train_on(made, written, unlabelled), plan, progress)
    present, new = parse_detector(before, workspace), parse_detector(trained.detector, workspace)
    held_out = held_out_by_people(Judgments.open(workspace.judgments_url), made)
    comparison = compare_detectors(
        present,
        new,
        held_out.pairs,
        learned=learned(workspace, before).questions,
        simulated=held_out.simulated,
        progress=progress,
    )
    adopted = new.name != present.name and worth_adopting(comparison, mode)
    result = Improved(made, trained, comparison, adopted)
    write_json(trained.folder / _REPORT, result.as_row())
    if adopted:
        adopt(workspace, new.name, made_by=made_by)
    return result


def read_improvement(trained: Trained) -> dict[str, Any] | None:
    """Return the stored comparison of a detector with the one then in use, or None if there is none."""
    path = trained.folder / _REPORT
    if not path.exists():
        return None
    stored = dict(read_json(path))
    stored["comparison"].setdefault("summary", stored["comparison"].get("told", ""))  # earlier versions: told
    return stored


def _trained(workspace: Workspace, data: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    existing = (one for one in list_trained(workspace) if follows_plan(one.folder, plan, data))
    return next(existing, None) or train_and_grade(workspace, plan, data, progress=progress)

"""From judgments to a better detector in one step: a training set, a training, a comparison, and the decision to use it."""

from dataclasses import dataclass
from typing import Any

from berdseye.annotation.training_sets.store import TrainingSetVersion
from berdseye.data.files.atomic import write_json
from berdseye.data.files.json_files import read_json
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.trained import Trained, adopt, adopted_detector, list_trained
from berdseye.detectors.training.training import TrainingPlan, train_detector
from berdseye.detectors.training.training_set import TrainingSet, training_set
from berdseye.evaluation.detection.improvement import Adopt, Improvement, set_side_by_side, worth_adopting
from berdseye.evaluation.detection.pairs import learned

_REPORT = "improvement.json"


@dataclass(frozen=True)
class Improved:
    """What came of it: the set, the detector, how it compares with the one in use before, and whether it is used now."""

    made: TrainingSetVersion
    trained: Trained
    found: Improvement
    adopted: bool

    def as_row(self) -> dict[str, Any]:
        """What `berdseye detector improve --json` prints, and what the detector's folder keeps."""
        return {
            "training_set": self.made.id,
            "training_set_hash": self.made.hash,
            "detector": self.trained.detector,
            "measured": self.trained.card["measured"],
            "comparison": self.found.as_row(),
            "adopted": self.adopted,
        }


def set_to_train_on(made: TrainingSetVersion) -> TrainingSet:
    """A version as trainings take it; the detector's card names its id and its hash."""
    return training_set(made.pairs(), made.id, made.hash)


def improve(
    workspace: Workspace, made: TrainingSetVersion, plan: TrainingPlan, mode: Adopt, *, made_by: str, progress: Progress
) -> Improved:
    """Train on a set, compare with the detector in use on the questions held out, and adopt the new one or not.

    A detector of this name that was trained on the same set is not trained again. The comparison stays in its folder.
    """
    before = adopted_detector(workspace)
    trained = _trained(workspace, made, plan, progress)
    present, new = parse_detector(before, workspace), parse_detector(trained.detector, workspace)
    held_out = [pair for pair in made.pairs() if pair.split == "test"]
    found = set_side_by_side(present, new, held_out, learned=learned(workspace, before).questions, progress=progress)
    adopted = new.name != present.name and worth_adopting(found, mode)
    result = Improved(made, trained, found, adopted)
    write_json(trained.folder / _REPORT, result.as_row())
    if adopted:
        adopt(workspace, new.name, made_by=made_by)
    return result


def read_improvement(trained: Trained) -> dict[str, Any] | None:
    """How a detector compared with the one in use when it was made; None where it was not compared."""
    path = trained.folder / _REPORT
    return dict(read_json(path)) if path.exists() else None


def _trained(workspace: Workspace, made: TrainingSetVersion, plan: TrainingPlan, progress: Progress) -> Trained:
    same = (
        held
        for held in list_trained(workspace)
        if (held.name, held.card.get("kind"), held.card.get("data_hash")) == (plan.name, plan.kind, made.hash)
    )
    return next(same, None) or train_detector(workspace, plan, set_to_train_on(made), progress=progress)

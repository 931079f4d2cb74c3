"""Train a detector in the workspace, from labelled pairs to its card; after a kill, repeating the call resumes the training."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Literal

import numpy as np
from safetensors import SafetensorError
from scipy.special import logit

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.extras import require
from berdseye.data.files.atomic import write_bytes, write_json
from berdseye.data.files.json_files import read_json
from berdseye.data.files.locks import locked
from berdseye.data.grammar import Call, parse
from berdseye.data.labels import LabelStore
from berdseye.data.models.weights import find_model
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import known_detector, parse_detector
from berdseye.detectors.embedded import WEIGHTS_FILE, EmbeddedDetector, shipped_weights, trained_weights
from berdseye.detectors.ensemble import MeanDetector, fitted_stack, write_stack
from berdseye.detectors.labelling import label, predict_all
from berdseye.detectors.local.windows import title_place
from berdseye.detectors.protocol import UNTUNED, Detector, Floats, count_truncated
from berdseye.detectors.stance.adaptation import Adaptation, read_numbers, write_adaptation
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.trained import Trained, find_trained, finish, new_folder
from berdseye.detectors.training.calibration import best_temperature, calibrated
from berdseye.detectors.training.cards import figures, read_curve, threshold_on_dev
from berdseye.detectors.training.head import train_head, truth
from berdseye.detectors.training.search import MODEL_FOLDER, Opener, Search, search
from berdseye.detectors.training.settings import STANCE_NEEDS, STANCE_SETTINGS, Settings
from berdseye.detectors.training.training_set import TrainingSet, distilled

Kind = Literal["stance", "head", "crossencoder", "lora", "stacked"]
DETECTOR_OF: Mapping[Kind, str] = {
    "stance": "stance", "head": "embedded", "crossencoder": "crossencoder", "lora": "lora", "stacked": "stacked"
}  # fmt: skip
"""The detector that each kind of training produces."""
_PLAN = "plan.json"
_STANCE_USES = ("learning_rate", "warmup", "epochs", "weight_decay", "batch", "seed")
_EDGE = 1e-7  # a probability of 0 or 1 has no logit


@dataclass(frozen=True)
class TrainingPlan:
    """What to train. `bases` are a model's name, or detectors: one as the start of a head, several for a stack.

    `teacher` is a detector whose probabilities are learned instead of labels.
    """

    kind: Kind
    name: str
    bases: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)
    search: Search = "none"
    trials: int | None = None
    teacher: str | None = None


def train_detector(
    workspace: Workspace,
    plan: TrainingPlan,
    data: TrainingSet,
    *,
    progress: Progress = silent,
) -> Trained:
    """Train, calibrate and measure a detector, which exists as soon as its card is written.

    The unlabelled pairs of the data are learned from the teacher, or by the kind stance from its own probabilities. Raises
    `BadInputError` if a detector of the name is finished, is being trained by another process, or was begun with another plan,
    and `UnavailableError` if the disk is full.
    """
    check_plan(workspace, plan, data)
    folder = new_folder(workspace, plan.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        busy = BadInputError(
            f"Another process is training '{plan.name}'.", where=folder, hint="Wait until it ends, or use another name."
        )
        with locked(folder / ".lock", busy=busy):
            _begin(folder, plan, data)
            started = monotonic()
            taught = distilled(workspace, plan.teacher, data, progress)
            results = _KINDS[plan.kind](workspace, plan, taught.data, taught.targets, folder, progress)
            card = _card(plan, taught.data) | taught.card | results | {"seconds": round(monotonic() - started, 1)}
            finish(folder, card)
    except (OSError, SafetensorError) as error:
        raise UnavailableError(
            f"The training could not be written: {error}.",
            where=folder,
            hint="Free some disk space, then repeat the command: it resumes the training.",
        ) from error
    return Trained(plan.name, folder, str(card["detector"]), card)


def check_plan(workspace: Workspace, plan: TrainingPlan, data: TrainingSet | None = None) -> None:
    """Raise an error for a plan that cannot be carried out, before anything is read, loaded or trained.

    `BadInputError` says which of the plan's bases, teacher and search do not fit its kind, `UnknownNameError` names an unknown
    detector, and `UnavailableError` a path without a model. Whether a model on the Hub exists is known when it is loaded.
    """
    if data is not None and data.unlabelled and plan.teacher is None and plan.kind != "stance":
        raise BadInputError("Unlabelled pairs require a teacher.", hint="Name a detector with --teacher.")
    if plan.kind in ("crossencoder", "lora") and len(plan.bases) != 1:
        raise BadInputError(
            f"The kind {plan.kind} requires exactly one base model, got {len(plan.bases)}.", hint="Name it with --base."
        )
    if plan.kind == "stacked" and len(plan.bases) < 2:
        raise BadInputError(
            f"The kind stacked requires at least two detectors, got {len(plan.bases)}.",
            hint="Repeat --base for each of them.",
        )
    if plan.kind == "stacked" and plan.teacher:
        raise BadInputError("The kind stacked learns from labels only and takes no teacher.", hint="Omit --teacher.")
    if plan.kind == "head" and len(plan.bases) > 1:
        raise BadInputError(
            f"The kind head starts from one detector, got {len(plan.bases)}.", hint="Use --base once, or omit it."
        )
    if plan.kind == "stance" and plan.bases:
        raise BadInputError("The kind stance starts from the shipped detector and takes no base.", hint="Omit --base.")
    if plan.kind == "stance":
        require("Training stance", *STANCE_NEEDS)
    if plan.kind in ("stance", "head", "stacked") and plan.search != "none":
        raise BadInputError(f"The kind {plan.kind} has no settings to search.", hint="Omit --search.")
    title_place(plan.settings.title)
    if plan.kind in ("crossencoder", "lora") and find_trained(workspace, plan.bases[0]) is None:
        find_model(plan.bases[0])
    if plan.kind == "head" and plan.bases and known_detector(plan.bases[0]).name != "embedded":
        raise BadInputError(
            f"The kind head cannot start from '{plan.bases[0]}'.", hint="Use embedded or embedded(NAME)."
        )
    for detector in (*(plan.bases if plan.kind == "stacked" else ()), *([plan.teacher] if plan.teacher else ())):
        known_detector(detector)


def follows_plan(folder: Path, plan: TrainingPlan, data: TrainingSet | None = None) -> bool:
    """Say whether the training in a folder, finished or not, follows this plan, and is on this data where it is given."""
    path = folder / _PLAN
    if not path.exists():
        return False
    stored = read_json(path)
    if data is None:
        return bool(stored == _plan_fields(plan, stored.get("data_hash", ""), stored.get("further_hash", "")))
    return bool(stored == _plan_fields(plan, data.data_hash, data.further_hash))


def _plan_fields(plan: TrainingPlan, data_hash: str, further_hash: str) -> dict[str, Any]:
    start = {"start": StanceDetector().version} if plan.kind == "stance" else {}
    further = {"further_hash": further_hash} if further_hash else {}
    fields: dict[str, Any] = json.loads(json.dumps(asdict(plan) | {"data_hash": data_hash} | further | start))
    return fields


def _begin(folder: Path, plan: TrainingPlan, data: TrainingSet) -> None:
    """Store the plan of a new training, or check that a resumed training has the stored plan."""
    path = folder / _PLAN
    plan_fields = _plan_fields(plan, data.data_hash, data.further_hash)
    if not path.exists():
        write_json(path, plan_fields)
    elif json.loads(path.read_text(encoding="utf-8")) != plan_fields:
        raise BadInputError(
            f"An unfinished training of '{plan.name}' has other data or settings.",
            where=folder,
            hint="Repeat its command to resume it, use another name, or delete the folder.",
        )


def _card(plan: TrainingPlan, data: TrainingSet) -> dict[str, Any]:
    return {
        "detector": str(Call(DETECTOR_OF[plan.kind], (plan.name,))),
        "kind": plan.kind,
        "base": plan.bases[0] if len(plan.bases) == 1 else list(plan.bases),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": Path(data.source).name,
        "data_hash": data.data_hash,
        "splits": data.counts(),
        "judgments": data.judgments,
        "simulated_judgments": data.simulated,
        "seed": plan.settings.seed,
    }


def _stance(
    workspace: Workspace, plan: TrainingPlan, data: TrainingSet, targets: Floats, folder: Path, progress: Progress
) -> dict[str, Any]:
    del workspace
    settings = replace(STANCE_SETTINGS, seed=plan.settings.seed)
    best, _ = search("none", None, _stance_learner, data, targets, settings, folder, progress)
    shipped = StanceDetector()
    adaptation = Adaptation(shipped.version, read_numbers(best.model), 0.5, UNTUNED)
    detector = StanceDetector(adaptation=adaptation, trained=plan.name)
    dev, test = (predict_all(detector, [p.pair for p in pairs], progress=progress) for pairs in (data.dev, data.test))
    threshold, source = threshold_on_dev(data, dev)
    measures = figures(data, dev, test, threshold)
    write_adaptation(
        folder, replace(adaptation, threshold=threshold, threshold_source=source, measured=measures["measured"])
    )
    card = {
        "base": "stance",
        "threshold": threshold,
        "threshold_source": source,
        "truncated": _truncated(shipped, data) | {"train": best.truncated},
        "settings": {name: getattr(settings, name) for name in _STANCE_USES},
        "curve": [asdict(point) for point in read_curve(folder)],
        **measures,
    }
    shutil.rmtree(folder / "trials", ignore_errors=True)
    return card


def _stance_learner(settings: Settings) -> Any:
    from berdseye.detectors.training.stance import StanceLearner

    del settings
    return StanceLearner(StanceDetector().folder)


def _head(
    workspace: Workspace, plan: TrainingPlan, data: TrainingSet, targets: Floats, folder: Path, progress: Progress
) -> dict[str, Any]:
    del progress
    [base] = parse(plan.bases[0] if plan.bases else "embedded")
    start = trained_weights(workspace, str(base.args[0])) if base.args else shipped_weights()
    weights = train_head(data.train, data.dev, start=start, targets=targets)
    detector = EmbeddedDetector(weights, plan.name)
    dev, test = (detector.predict([p.pair for p in pairs]) for pairs in (data.dev, data.test))
    measures = figures(data, dev, test, detector.threshold)
    weights_with_card = replace(weights, card=weights.card | {"measured": measures["measured"]})
    write_bytes(folder / WEIGHTS_FILE, weights_with_card.to_json().encode())
    return {"base": str(base), **weights.card, "threshold": detector.threshold, **measures}


def _stacked(
    workspace: Workspace, plan: TrainingPlan, data: TrainingSet, targets: Floats, folder: Path, progress: Progress
) -> dict[str, Any]:
    del targets
    detectors = [parse_detector(name, workspace) for name in plan.bases]
    store = LabelStore(workspace)
    train, dev, test = (
        [label(store, d, [p.pair for p in pairs], progress=progress) for d in detectors]
        for pairs in (data.train, data.dev, data.test)
    )
    stack = fitted_stack(detectors, train, truth(data.train))
    threshold, source = threshold_on_dev(data, stack.probabilities(dev))
    measures = figures(data, stack.probabilities(dev), stack.probabilities(test), threshold)
    write_stack(folder, replace(stack, threshold=threshold, threshold_source=source, measured=measures["measured"]))
    coefficients = dict(zip(stack.detectors, stack.coefficients, strict=True))
    return {
        "coefficients": coefficients,
        "threshold": threshold,
        "threshold_source": source,
        "truncated": _truncated(MeanDetector(detectors), data),  # a text that one of them cuts
        **measures,
    }


def _fine_tuned(
    workspace: Workspace, plan: TrainingPlan, data: TrainingSet, targets: Floats, folder: Path, progress: Progress
) -> dict[str, Any]:
    base = find_trained(workspace, plan.bases[0])
    best, tried = search(
        plan.search,
        plan.trials,
        _opener(plan.kind, str(base / MODEL_FOLDER) if base else plan.bases[0], targets),
        data,
        targets,
        plan.settings,
        folder,
        progress,
    )
    shutil.rmtree(folder / MODEL_FOLDER, ignore_errors=True)
    shutil.copytree(best.model, folder / MODEL_FOLDER)
    # Measured as the detector is used later: long passages in windows, in the precision of this machine.
    detector = _opened(plan.kind, folder / MODEL_FOLDER, plan.settings.title, best.max_length)
    logits = [
        logit(
            np.clip(
                predict_all(detector, [p.pair for p in pairs], progress=progress), _EDGE, 1 - _EDGE, dtype=np.float64
            )
        )
        for pairs in (data.dev, data.test)
    ]
    temperature = best_temperature(logits[0], truth(data.dev))
    dev, test = (calibrated(values, temperature) for values in logits)
    threshold, source = threshold_on_dev(data, dev)
    card = {
        "temperature": temperature,
        "threshold": threshold,
        "threshold_source": source,
        "title": best.settings.title,
        "max_length": best.max_length,
        # Training reads one window of a passage, and the detector all of them.
        "truncated": _truncated(detector, data) | {"train": best.truncated},
        "settings": asdict(best.settings),
        "search": plan.search,
        "trials": tried,
        "curve": [asdict(point) for point in read_curve(folder)],
        **figures(data, dev, test, threshold),
    }
    shutil.rmtree(folder / "trials", ignore_errors=True)
    return card


def _truncated(detector: Detector, data: TrainingSet) -> dict[str, int | None]:
    """Return, by split, the number of distinct pairs with a text that the detector cuts; None if it does not report this."""
    splits = {"train": data.train, "dev": data.dev, "test": data.test}
    return {split: count_truncated(detector, [p.pair for p in pairs]) for split, pairs in splits.items()}


def _opened(kind: Kind, model: Path, title: str, max_length: int) -> Detector:
    """Open the detector of a model before its card is written."""
    from berdseye.detectors.local.cross_encoder import cross_encoder_detector
    from berdseye.detectors.local.opening import lora_detector

    opened = cross_encoder_detector if kind == "crossencoder" else lora_detector
    return opened(str(model), title=title_place(title), max_length=max_length)


def _opener(kind: Kind, base: str, targets: Floats) -> Opener:
    def cross_encoder(settings: Settings) -> Any:
        from berdseye.detectors.training.cross_encoder import CrossEncoderLearner

        return CrossEncoderLearner(base, settings, float(np.clip(targets.mean(), 0.01, 0.99)))

    def lora(settings: Settings) -> Any:
        from berdseye.detectors.training.lora import LoraLearner

        return LoraLearner(base, settings)

    return cross_encoder if kind == "crossencoder" else lora


_KINDS: Mapping[Kind, Callable[..., dict[str, Any]]] = {
    "stance": _stance,
    "head": _head,
    "stacked": _stacked,
    "crossencoder": _fine_tuned,
    "lora": _fine_tuned,
}

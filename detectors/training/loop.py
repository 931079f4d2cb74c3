"""One training run: the Trainer of transformers over any model with one logit per pair, evaluated on dev while it runs.

Also its settings, and the grid that BERDS searched.
"""

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.models.weights import chosen_device
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.detectors.protocol import Floats
from berdseye.detectors.quality import best_threshold, precision_recall_f1
from berdseye.detectors.training.calibration import calibrated
from berdseye.detectors.training.cards import Curve
from berdseye.detectors.training.head import truth
from berdseye.detectors.training.settings import Settings
from berdseye.retrieval.encoders.running import without_output

Doubles = npt.NDArray[np.float64]
Report = Callable[[int, float], None]
"""Called with the number of an evaluation, from 0, and the best F1 on dev so far; it may end the run by raising."""

CHECKPOINTS = "checkpoints"
_STATE = "trainer_state.json"


class Learner(Protocol):
    """A model in training. `model` has the trained parameters; `positive_weight` is the weight of a supporting pair.

    With `by_passage`, pairs of a passage are in one batch, because the model reads the passage once for them. With
    `best_on_dev`, the checkpoint with the best F1 on dev counts, and the training may stop early; otherwise the last one counts.
    """

    model: Any
    positive_weight: float
    by_passage: bool
    best_on_dev: bool
    max_length: int

    def batch(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Return the model's inputs for some pairs."""
        ...

    def truncated(self, pairs: Sequence[Pair]) -> int:
        """Return how many pairs have a text that is cut."""
        ...

    def logits(self, batch: dict[str, Any]) -> Tensor:
        """Return one logit per pair, float[n_pairs]."""
        ...

    def save(self, folder: Path) -> None:
        """Save the model for its detector, without the offset that `positive_weight` added to each logit."""
        ...


class Example(NamedTuple):
    """A pair and its target probability."""

    pair: Pair
    target: float


def run(
    learner: Learner,
    train: Sequence[LabelledPair],
    targets: Floats,
    dev: Sequence[LabelledPair],
    settings: Settings,
    folder: Path,
    curve: Curve,
    *,
    report: Report | None = None,
    progress: Progress = silent,
) -> float:
    """Train in `folder`, and leave the learner at the checkpoint that counts; returns its F1 on `dev`, or NaN if it is unknown.

    A run that was killed resumes from its last complete checkpoint. `targets` float32[n_train] are probabilities.
    """
    random.seed(settings.seed)
    np.random.seed(settings.seed)
    torch.manual_seed(settings.seed)
    groups = _groups([p.pair for p in train], settings.batch if learner.by_passage else 1)
    batch = max(1, round(settings.batch * len(groups) / len(train)))
    checkpoints = folder / CHECKPOINTS
    last = _last_checkpoint(checkpoints)
    curve.resume(int(last.name.rpartition("-")[2]) if last else 0)
    steps_per_epoch = int(np.ceil(len(groups) / batch))
    steps = max(1, round(settings.epochs * steps_per_epoch))
    every = max(1, steps_per_epoch // settings.evaluations)
    cpu = chosen_device().type == "cpu"
    arguments = TrainingArguments(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=batch,
        per_device_eval_batch_size=settings.batch,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        warmup_steps=int(settings.warmup * steps),
        lr_scheduler_type="linear",
        eval_strategy="steps" if dev else "no",
        eval_steps=min(every, steps),
        save_strategy="steps",
        save_steps=min(every, steps),
        save_total_limit=1,
        logging_strategy="no",
        load_best_model_at_end=learner.best_on_dev,
        metric_for_best_model="eval_f1",
        greater_is_better=True,
        use_cpu=cpu,
        seed=settings.seed,
        data_seed=settings.seed,
        remove_unused_columns=False,
        disable_tqdm=True,
        report_to=[],
        dataloader_pin_memory=False,
        restore_callback_states_from_checkpoint=True,
    )
    examples = [[Example(train[place].pair, float(targets[place])) for place in places] for places in groups]
    trainer = _PairTrainer(learner, dev, curve, report, arguments, examples)
    trainer.remove_callback(PrinterCallback)
    if learner.best_on_dev:
        trainer.add_callback(EarlyStoppingCallback(early_stopping_patience=settings.patience))
    trainer.add_callback(_ProgressCallback(progress))
    with without_output():
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    learner.model.eval()
    if not learner.best_on_dev:
        return curve.last_f1()
    best = trainer.state.best_metric
    return float(best) if best is not None else trainer.evaluate()["eval_f1"]


def predict_logits(learner: Learner, pairs: Sequence[LabelledPair], batch: int) -> Doubles:
    """Return the logits of pairs, float64[n_pairs], computed in batches of `batch` pairs with passages of similar length."""
    out = np.zeros(len(pairs))
    order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i].pair.passage), pairs[i].pair.passage))
    device = next(learner.model.parameters()).device
    training = learner.model.training
    learner.model.eval()
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            features = _placed(learner.batch([pairs[i].pair for i in places]), device)
            out[places] = learner.logits(features).double().cpu().numpy()
    learner.model.train(training)
    return out


def half_precision() -> bool:
    """Return whether bfloat16 is fast on the model's device."""
    device = chosen_device()
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and bool(torch.cpu.get_capabilities().get("avx512_bf16"))


class _PairTrainer(Trainer):
    """The Trainer of transformers with Berdseye's loss and evaluation."""

    def __init__(
        self,
        learner: Learner,
        dev: Sequence[LabelledPair],
        curve: Curve,
        report: Report | None,
        arguments: TrainingArguments,
        examples: Sequence[Sequence[Example]],
    ) -> None:
        self.learner, self.dev, self.curve, self.report = learner, dev, curve, report
        self.losses: list[float] = []
        super().__init__(
            model=learner.model,
            args=arguments,
            train_dataset=list(examples),
            eval_dataset=list(dev),
            data_collator=self._collated,
        )

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return the cross-entropy of the logits with the target probabilities; supporting pairs have `positive_weight`."""
        del model, num_items_in_batch
        targets = inputs.pop("targets")
        with torch.autocast(self.args.device.type, torch.bfloat16, enabled=half_precision()):
            logits = self.learner.logits(inputs).float()
        weight = torch.tensor(self.learner.positive_weight, device=logits.device)
        loss = binary_cross_entropy_with_logits(logits, targets, pos_weight=weight)
        self.losses.append(float(loss.detach()))
        return (loss, logits) if return_outputs else loss

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Return the best F1 that any threshold gives on dev, and add a point to the curve."""
        del args, kwargs
        labels = truth(self.dev)
        with torch.autocast(self.args.device.type, torch.bfloat16, enabled=half_precision()):
            logits = predict_logits(self.learner, self.dev, self.args.per_device_eval_batch_size)
        scores = calibrated(logits, 1.0)
        chosen = scores >= best_threshold(labels, scores)
        f1 = precision_recall_f1(labels, chosen, np.ones(len(labels)))[2]
        self.curve.add(self.state.global_step, float(np.mean(self.losses or [np.nan])), f1)
        self.losses.clear()
        metrics = {"eval_f1": f1}
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        best = self.state.best_metric
        if self.report is not None:
            self.report(self.state.global_step // max(1, int(self.args.eval_steps or 1)) - 1, max(f1, best or 0.0))
        return metrics

    def _collated(self, groups: Sequence[Sequence[Example]]) -> dict[str, Any]:
        examples = [example for group in groups for example in group]
        targets = torch.tensor([e.target for e in examples], dtype=torch.float32)
        return {**self.learner.batch([e.pair for e in examples]), "targets": targets}


class _ProgressCallback(TrainerCallback):
    """Reports each step to `progress`."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        del args, control, kwargs
        self.progress(state.global_step, "steps", state.max_steps)


def _groups(pairs: Sequence[Pair], most: int) -> list[list[int]]:
    """Return the places of pairs that stay together: up to `most` of the same passage."""
    by_passage: dict[str, list[int]] = {}
    for place, pair in enumerate(pairs):
        by_passage.setdefault(pair.passage, []).append(place)
    groups = [places[start : start + most] for places in by_passage.values() for start in range(0, len(places), most)]
    return sorted(groups)


def _placed(batch: dict[str, Any], device: torch.device) -> dict[str, Any]:
    return {name: value.to(device) if isinstance(value, Tensor) else value for name, value in batch.items()}


def _last_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint; incomplete ones of a killed process are deleted."""
    complete = []
    for path in folder.glob("checkpoint-*"):
        if (path / _STATE).is_file():  # the library writes it last
            complete.append(path)
        else:
            shutil.rmtree(path)
    return max(complete, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

"""Transformers that read two texts together: NLI models and cross-encoders, in the precision that was asked for."""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.model_files import loading
from berdseye.detectors.local.batches import by_length
from berdseye.detectors.local.windows import Window
from berdseye.detectors.protocol import Floats
from berdseye.retrieval.encoders.model_folders import ModelFolder

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

Precision = Literal["auto", "fp32", "bf16", "int8"]
PRECISIONS = ("auto", "fp32", "bf16", "int8")
"""`auto` is float32 on a processor and half precision on a GPU; int8 runs on the processor, through ONNX Runtime."""

Features = Mapping[str, Any]
Scorer = Callable[[Features], Floats]

_LEAST_LENGTH = 16
_BATCH_TOKENS = 16_384
_KEPT_OPEN = 4


class PairModel:
    """A classifier of two texts; `length` is how many tokens it reads of both, special tokens included."""

    def __init__(self, model: "CrossEncoder", precision: Precision, length: int | None, folder: ModelFolder) -> None:
        from berdseye.retrieval.encoders.running import batch_size
        from berdseye.retrieval.encoders.towers import limited

        reads = limited(model, None)
        if length is not None and not _LEAST_LENGTH <= length <= reads:
            raise BadInputError(
                f"max_length is {length}, and the model reads {reads} tokens.",
                where=folder.path,
                hint=f"Give one from {_LEAST_LENGTH} to {reads}.",
            )
        self.length = length or reads
        model.max_seq_length = self.length
        self.name = folder.path.name
        self.model = model
        self.tokenizer: Any = copy.deepcopy(model.tokenizer)  # one that nothing else truncates or pads with
        self.room = self.length - int(self.tokenizer.num_special_tokens_to_add(pair=True))
        # In int8 a batch shares the scale of its activations, so that pairs would sway each other; one at a time is as fast.
        self.batch = 1 if precision == "int8" else batch_size(model)
        self._lock = Lock()
        self._score = _scorer(model, precision, folder, self.length)

    @property
    def labels(self) -> dict[int, str]:
        """The model's own names of its outputs."""
        config: Any = self.model.config
        return {int(number): str(name) for number, name in config.id2label.items()}

    def logits(self, windows: Sequence[Window]) -> Floats:
        """float32[n_windows, n_labels] for passages and perspectives; raises `BadInputError` where one is not finite.

        Batches hold windows of like length, and the order is restored.
        """
        from berdseye.retrieval.encoders.running import alone
        from berdseye.retrieval.encoders.vectors import checked

        out = np.empty((len(windows), self.model.num_labels), dtype=np.float32)
        for places in by_length([w.tokens for w in windows], self.batch, _BATCH_TOKENS):
            with alone(self._lock):
                features = self.model.preprocess([(windows[at].text, windows[at].perspective) for at in places])
                out[places] = self._score(features)
        return checked(out, [w.text for w in windows], self.name)


@lru_cache(maxsize=_KEPT_OPEN)
def open_pair_model(folder: ModelFolder, precision: Precision = "auto", length: int | None = None) -> PairModel:
    """The model of a folder, loaded once.

    Raises `UnavailableError` for damaged files, `BadInputError` for a model of another kind or too large a `length`.
    """
    with loading(str(folder.path)):
        from sentence_transformers import CrossEncoder

        from berdseye.retrieval.encoders.running import quietly
        from berdseye.retrieval.encoders.segments import open_saved
        from berdseye.retrieval.encoders.towers import open_tower

        with quietly():
            if folder.has_modules:
                folder.expect("CrossEncoder")
                model = open_saved(folder.path, remote_code=folder.remote_code)
            else:
                tower = open_tower(folder.path, "classifier", remote_code=folder.remote_code)
                model = CrossEncoder(modules=[tower], device="cpu")
            return PairModel(_placed(model, precision), precision, length, folder)


def _placed(model: "CrossEncoder", precision: Precision) -> "CrossEncoder":
    """The model where it runs, in the numbers it runs with; for int8 as it was, since it is exported."""
    import torch

    from berdseye.data.devices import chosen_device
    from berdseye.retrieval.encoders.running import placed

    if precision == "auto":
        return placed(model)
    if precision == "int8":
        return model.eval()
    return model.to(chosen_device(), {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]).eval()


def _scorer(model: "CrossEncoder", precision: Precision, folder: ModelFolder, length: int) -> Scorer:
    import torch

    if precision == "int8":
        from berdseye.detectors.local.quantised import quantised

        return quantised(model, folder, length)

    def score(features: Features) -> Floats:
        on_device = {k: v.to(model.device) if isinstance(v, torch.Tensor) else v for k, v in features.items()}
        with torch.inference_mode():
            scores = model(on_device)["scores"]
        return np.asarray(scores.float().cpu().numpy(), dtype=np.float32).reshape(-1, model.num_labels)

    return score

"""Transformers that read two texts together (NLI models and cross-encoders), as detectors, in a chosen precision.

They share windows, batches, and a head that turns logits into P. In 8-bit integers on a processor, a model is exported to ONNX
once, with weights quantised per channel.
"""

import copy
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.files.atomic import write_with
from berdseye.data.models.weights import loading
from berdseye.data.records import Pair
from berdseye.detectors.local.windows import Title, Window, by_length, cut_in_windows, windowed
from berdseye.detectors.protocol import UNTUNED, Bools, Floats
from berdseye.retrieval.encoders.model_folders import ModelFolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from sentence_transformers import CrossEncoder


CACHE_VARIABLE = "BERDSEYE_CACHE"
_EXPORT = "2"
"""Increment with every change below that changes the file."""

_HINT = "pip install 'berdseye[onnx]', or omit precision=int8."
Precision = Literal["auto", "fp32", "bf16", "int8"]
PRECISIONS = ("auto", "fp32", "bf16", "int8")
"""`auto` is float32 on a processor and half precision on a GPU; int8 runs on a processor, through ONNX Runtime."""
Features = Mapping[str, Any]
Scorer = Callable[[Features], Floats]
_LEAST_LENGTH = 16
_BATCH_TOKENS = 16_384
_KEPT_OPEN = 4
PREPROCESSING = "1"
"""Increment with every change in this folder that changes a probability."""


def quantised(model: "CrossEncoder", folder: ModelFolder, length: int) -> "Callable[[Mapping[str, Any]], Floats]":
    """Return a function from a batch's features to its logits, float32[n, n_labels], that computes in 8-bit integers.

    The quantised model is created once for each version of its files, and stored in the folder BERDSEYE_CACHE or in the
    user's cache folder. Raises `UnavailableError` if ONNX Runtime is missing or cannot represent the model.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise UnavailableError(
            "precision=int8 requires the package onnxruntime, which is not installed.", hint=_HINT
        ) from error
    path = _cache_folder() / f"{folder.version}-{length}-{_EXPORT}.onnx"
    if not path.is_file():
        _export(model, path)
    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors share no class
        raise UnavailableError(
            "The quantised model cannot be loaded.", where=path, hint="Delete the file; Berdseye creates it again."
        ) from error
    names = [entry.name for entry in session.get_inputs()]

    def score(features: Mapping[str, Any]) -> Floats:
        (scores,) = session.run(None, {name: features[name].numpy() for name in names})
        return np.asarray(scores, dtype=np.float32).reshape(len(scores), -1)

    return score


def _export(model: "CrossEncoder", path: Path) -> None:
    """Export the model with weights of 7 bits in 8; activations are quantised at run time.

    With all 8 bits, processors without VNNI instructions add two products in 16 bits, which overflow: a probability was off by
    up to 0.37 on a small random model, against 0.02 with 7 bits.
    """
    try:
        import onnx
        import torch
        from onnxruntime.quantization import QuantType, quantize_dynamic

        from berdseye.retrieval.encoders.running import without_output

        # Lengths of 2 and more: torch treats an example's 1 as a constant.
        features = model.preprocess([("a passage of some words", "a perspective"), ("another", "one")])
        names = [name for name, value in features.items() if isinstance(value, torch.Tensor)]
        sizes = ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},) * len(names)
        with TemporaryDirectory() as scratch, without_output(), _without_warnings():
            model_file = Path(scratch) / "model.onnx"
            torch.onnx.export(
                _scoring(model, names, features),
                tuple(features[name] for name in names),
                str(model_file),
                dynamo=True,
                dynamic_shapes=(sizes,),
                input_names=names,
                output_names=["scores"],
                external_data=False,
                verbose=False,
            )
            exported = onnx.load(str(model_file))
            # The sizes noted by the exporter contradict those that the quantiser infers for a last layer.
            del exported.graph.value_info[:]
            options = {"weight_type": QuantType.QInt8, "per_channel": True, "reduce_range": True}
            write_with(path, lambda to: quantize_dynamic(exported, to, **options))
    except ImportError as error:
        raise UnavailableError(
            f"precision=int8 requires the package {error.name}, which is not installed.", hint=_HINT
        ) from error
    except BerdseyeError:
        raise
    except Exception as error:  # the exporter's and the quantiser's share no class
        raise UnavailableError(
            f"The model cannot be exported to ONNX ({type(error).__name__}).", hint="Omit precision=int8."
        ) from error


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppress the exporter's warnings about packages that text models do not need, and the quantiser's recommendations."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "root")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _scoring(model: "CrossEncoder", names: list[str], features: Mapping[str, Any]) -> Any:
    """Wrap the model as a module from its tensors to its scores."""
    import torch

    class Scoring(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model
            self.other = {name: value for name, value in features.items() if name not in names}

        def forward(self, *tensors: Any) -> Any:
            return self.model(self.other | dict(zip(names, tensors, strict=True)))["scores"]

    return Scoring().eval()


def _cache_folder() -> Path:
    folder = os.environ.get(CACHE_VARIABLE)
    return (
        Path(folder).expanduser()
        if folder
        else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "berdseye"
    )


class PairModel:
    """A classifier of two texts; `length` is the number of tokens that it reads of both, including special tokens."""

    def __init__(self, model: "CrossEncoder", precision: Precision, length: int | None, folder: ModelFolder) -> None:
        from berdseye.retrieval.encoders.running import batch_size
        from berdseye.retrieval.encoders.towers import limit_length

        reads = limit_length(model, None)
        if length is not None and not _LEAST_LENGTH <= length <= reads:
            raise BadInputError(
                f"max_length must be between {_LEAST_LENGTH} and {reads} for this model, got {length}.",
                where=folder.path,
            )
        self.length = length or reads
        model.max_seq_length = self.length
        self.name = folder.path.name
        self.model = model
        self.tokenizer: Any = copy.deepcopy(model.tokenizer)  # its padding and truncation are changed by nothing else
        self.room = self.length - int(self.tokenizer.num_special_tokens_to_add(pair=True))
        # In int8 a batch shares the scale of its activations, so that pairs would affect each other; single pairs are as fast.
        self.batch = 1 if precision == "int8" else batch_size(model)
        self._lock = Lock()
        self._score = _scorer(model, precision, folder, self.length)

    @property
    def labels(self) -> dict[int, str]:
        """The model's own names of its outputs."""
        config: Any = self.model.config
        return {int(number): str(name) for number, name in config.id2label.items()}

    def logits(self, windows: Sequence[Window]) -> Floats:
        """Return the logits, float32[n_windows, n_labels], of windows; raises `BadInputError` if one is not finite.

        Batches contain windows of similar length; the result is in the order of `windows`.
        """
        from berdseye.retrieval.encoders.checks import checked
        from berdseye.retrieval.encoders.running import one_at_a_time

        out = np.empty((len(windows), self.model.num_labels), dtype=np.float32)
        for places in by_length([w.tokens for w in windows], self.batch, _BATCH_TOKENS):
            with one_at_a_time(self._lock):
                features = self.model.preprocess([(windows[at].text, windows[at].perspective) for at in places])
                out[places] = self._score(features)
        return checked(out, [w.text for w in windows], self.name)


@lru_cache(maxsize=_KEPT_OPEN)
def open_pair_model(folder: ModelFolder, precision: Precision = "auto", length: int | None = None) -> PairModel:
    """Load the model of a folder, once per process.

    Raises `UnavailableError` for damaged files, `BadInputError` for a model of another kind or too large a `length`.
    """
    with loading(str(folder.path)):
        from sentence_transformers import CrossEncoder

        from berdseye.retrieval.encoders.cross import open_saved
        from berdseye.retrieval.encoders.running import without_output
        from berdseye.retrieval.encoders.towers import open_tower

        with without_output():
            if folder.has_modules:
                folder.expect("CrossEncoder")
                model = open_saved(folder.path, remote_code=folder.remote_code)
            else:
                tower = open_tower(folder.path, "classifier", remote_code=folder.remote_code)
                model = CrossEncoder(modules=[tower], device="cpu")
            return PairModel(_placed(model, precision), precision, length, folder)


def _placed(model: "CrossEncoder", precision: Precision) -> "CrossEncoder":
    """Move the model to its device in its precision; for int8 it stays unchanged, since it is exported."""
    import torch

    from berdseye.data.models.weights import chosen_device
    from berdseye.retrieval.encoders.running import move_to_device

    if precision == "auto":
        return move_to_device(model)
    if precision == "int8":
        return model.eval()
    return model.to(chosen_device(), {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]).eval()


def _scorer(model: "CrossEncoder", precision: Precision, folder: ModelFolder, length: int) -> Scorer:
    import torch

    if precision == "int8":
        return quantised(model, folder, length)

    def score(features: Features) -> Floats:
        on_device = {k: v.to(model.device) if isinstance(v, torch.Tensor) else v for k, v in features.items()}
        with torch.inference_mode():
            scores = model(on_device)["scores"]
        return np.asarray(scores.float().cpu().numpy(), dtype=np.float32).reshape(-1, model.num_labels)

    return score


class PairDetector:
    """P(supports) from the logits of a model that reads the passage first and the perspective second.

    A passage that does not fit is read in windows that overlap by a quarter; `windows` says whether the largest P of the
    windows counts (max), the P of the first one (first), or their mean (mean).
    """

    pairs_at_once = 1_024

    def __init__(
        self,
        name: str,
        model: PairModel,
        head: Callable[[Floats], Floats],
        made_of: Sequence[object],
        *,
        title: Title = "none",
        windows: str = "max",
        threshold: float = 0.5,
        threshold_source: str = UNTUNED,
        measured: str = "",
    ) -> None:
        self.name = name
        self.model = model
        self.head = head
        self.title = title
        self.windows = windows
        self.threshold = threshold
        self.threshold_source = threshold_source
        self.measured = measured
        self.version = version_of(*made_of, title, windows, model.length)

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports), float32[n_pairs]; 0 if a text is empty."""

        def scored(windows: Sequence[Window]) -> Floats:
            return self.head(self.model.logits(windows))

        return windowed(pairs, self.model.tokenizer, self.model.room, self.title, self.windows, scored)

    def cut(self, pairs: Sequence[Pair]) -> Bools:
        """Return for which pairs only a part of a text is read, bool[n_pairs]."""
        return cut_in_windows(pairs, self.model.tokenizer, self.model.room, self.title, self.windows)


def version_of(*made_of: object) -> str:
    """Return 12 hex digits: a hash of everything that a detector's probabilities depend on."""
    return sha256(repr((PREPROCESSING, *made_of)).encode()).hexdigest()[:12]

"""Cross-encoders in 8-bit integers on a processor: exported to ONNX once, their weights quantised a channel at a time."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from berdseye.data.atomic import write_with
from berdseye.data.errors import BerdseyeError, UnavailableError
from berdseye.detectors.protocol import Floats
from berdseye.retrieval.encoders.model_folders import ModelFolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from sentence_transformers import CrossEncoder

CACHE_VARIABLE = "BERDSEYE_CACHE"
_EXPORT = "1"
"""To be raised with every change below that changes the file."""

_HINT = "pip install 'berdseye[onnx]', or leave precision=int8 out."


def quantised(model: "CrossEncoder", folder: ModelFolder, length: int) -> "Callable[[Mapping[str, Any]], Floats]":
    """A function from a batch's features to its logits, float32[n, n_labels], that computes in 8-bit integers.

    The model is made once for each version of its files and kept in the folder of BERDSEYE_CACHE, or in the person's cache
    folder. Raises `UnavailableError` where ONNX Runtime is missing or cannot express the model.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise UnavailableError("int8 needs the package onnxruntime.", hint=_HINT) from error
    path = _cache_folder() / f"{folder.version}-{length}-{_EXPORT}.onnx"
    if not path.is_file():
        _export(model, path)
    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors share no class
        raise UnavailableError(
            "The quantised model cannot be loaded.", where=path, hint="Delete the file; it is made anew."
        ) from error
    names = [given.name for given in session.get_inputs()]

    def score(features: Mapping[str, Any]) -> Floats:
        (scores,) = session.run(None, {name: features[name].numpy() for name in names})
        return np.asarray(scores, dtype=np.float32).reshape(len(scores), -1)

    return score


def _export(model: "CrossEncoder", path: Path) -> None:
    """Write the model with 8-bit weights; activations are quantised as they come."""
    try:
        import onnx
        import torch
        from onnxruntime.quantization import QuantType, quantize_dynamic

        from berdseye.retrieval.encoders.running import quietly

        # Lengths of 2 and more: torch takes an example's 1 for a constant.
        features = model.preprocess([("a passage of some words", "a perspective"), ("another", "one")])
        names = [name for name, value in features.items() if isinstance(value, torch.Tensor)]
        sizes = ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},) * len(names)
        with TemporaryDirectory() as scratch, quietly(), _without_remarks():
            whole = Path(scratch) / "model.onnx"
            torch.onnx.export(
                _scoring(model, names, features),
                tuple(features[name] for name in names),
                str(whole),
                dynamo=True,
                dynamic_shapes=(sizes,),
                input_names=names,
                output_names=["scores"],
                external_data=False,
                verbose=False,
            )
            exported = onnx.load(str(whole))
            # Sizes that the exporter noted contradict those that the quantiser infers for a last layer.
            del exported.graph.value_info[:]
            write_with(path, lambda to: quantize_dynamic(exported, to, weight_type=QuantType.QInt8, per_channel=True))
    except ImportError as error:
        raise UnavailableError(f"int8 needs a package that is missing ({error.name}).", hint=_HINT) from error
    except BerdseyeError:
        raise
    except Exception as error:  # the exporter's and the quantiser's share no class
        raise UnavailableError(
            f"The model cannot be written as ONNX ({type(error).__name__}).", hint="Leave precision=int8 out."
        ) from error


@contextmanager
def _without_remarks() -> Iterator[None]:
    """Without what the exporter says of packages that no text model needs, and the quantiser of what it would like."""
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
    """The model as a module from its tensors to its scores."""
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
    told = os.environ.get(CACHE_VARIABLE)
    return (
        Path(told).expanduser()
        if told
        else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "berdseye"
    )

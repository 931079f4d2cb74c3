"""Placing models on a device, and loading them without output."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

import torch
from sentence_transformers.base import BaseModel
from transformers.utils import logging as transformers_logs

from berdseye.data.errors import UnavailableError
from berdseye.data.models.weights import DEVICE_VARIABLE, chosen_device

M = TypeVar("M", bound=BaseModel)

_UNSAFE_IN_HALF = ("t5", "mt5", "umt5", "longt5")


def move_to_device(model: M) -> M:
    """Move the model to its device, in half precision on a GPU; T5 overflows in float16 and gets bfloat16."""
    device = chosen_device()
    model = model.to(device).eval()
    if device.type != "cuda":
        return model
    kinds = {getattr(getattr(m, "config", None), "model_type", "") for m in model.modules()}
    return model.bfloat16() if kinds & set(_UNSAFE_IN_HALF) else model.half()


def batch_size(model: BaseModel, *, wide: bool = False) -> int:
    """The number of texts in a batch, smaller if each token's output is as wide as the vocabulary (`wide`)."""
    on_cpu = model.device.type == "cpu"
    return (8 if on_cpu else 32) if wide else (32 if on_cpu else 128)


@contextmanager
def one_at_a_time(lock: Lock) -> Iterator[None]:
    """Run one thread at a time, since a tokenizer may fail when two threads use it, and the app has a thread per person.

    Raises `UnavailableError` if the GPU's memory is full.
    """
    with lock:
        try:
            yield
        except torch.OutOfMemoryError as error:
            raise UnavailableError(
                "The GPU has too little memory for this model.", hint=f"Set {DEVICE_VARIABLE}=cpu, or free GPU memory."
            ) from error


@contextmanager
def without_output() -> Iterator[None]:
    """Suppress progress bars, reports and warnings while a library loads a model."""
    transformers_logging: Any = transformers_logs
    verbosity, bars = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    logger = logging.getLogger("sentence_transformers")
    level = logger.level
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()

"""Finding the files of a model, determining its version, and choosing the device it runs on."""

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.extras import missing

if TYPE_CHECKING:
    import torch


DEVICE_VARIABLE = "BERDSEYE_DEVICE"
MODELS_VARIABLE = "BERDSEYE_MODELS"
_HUB_NAME = re.compile(r"\w[\w.-]*(/[\w.-]+)?")
_MARKS = ("config.json", "modules.json", "*.gguf")
_SHAPING = {".safetensors", ".bin", ".gguf", ".json", ".txt", ".model", ".jinja"}
_HINT = f"Give the path of its folder, put the folder below ${MODELS_VARIABLE}, or check the network."


def chosen_device() -> "torch.device":
    """The device in BERDSEYE_DEVICE, or the best available one; raises `BadInputError` if it does not exist."""
    import torch

    name = os.environ.get(DEVICE_VARIABLE) or str(torch.accelerator.current_accelerator() or "cpu")
    try:
        torch.empty(0, device=name)
        return torch.device(name)
    except (RuntimeError, AssertionError) as error:
        raise BadInputError(
            f"This machine has no device '{name}'.",
            hint=f"Set {DEVICE_VARIABLE} to cpu, cuda, cuda:1 or mps, or unset it.",
        ) from error


def gpu_allocations() -> int:
    """The number of CUDA memory allocations of this process so far; if it grows, a model has used a GPU."""
    if "torch" not in sys.modules:  # a process that has not imported torch has not used a GPU
        return 0
    import torch

    if not (torch.cuda.is_available() and torch.cuda.is_initialized()):  # type: ignore[no-untyped-call]
        return 0
    devices = range(torch.cuda.device_count())
    return sum(int(torch.cuda.memory_stats(device).get("allocation.all.allocated", 0)) for device in devices)


def find_model(name: str) -> str | Path:
    """The folder or GGUF file of a model, or its name on the Hub.

    The order is: `name` as a path, `name` in the folder BERDSEYE_MODELS, the Hub. Raises `UnavailableError` for a path without
    a model; whether a name exists on the Hub is checked when the model is loaded.
    """
    root = os.environ.get(MODELS_VARIABLE)
    # A text that is not a valid path (too long, unknown home) counts as a path without a model.
    with suppress(OSError, ValueError, RuntimeError):
        for path in (Path(name).expanduser(), *([Path(root).expanduser() / name] if root else [])):
            if path.is_file() or any(any(path.glob(mark)) for mark in _MARKS):
                return path.resolve()
    if _HUB_NAME.fullmatch(name):
        return name
    raise UnavailableError(f"There is no model at '{name}'.", hint=_HINT)


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Convert every error that a library raises while loading the model to an `UnavailableError` with its name."""
    try:
        yield
    except BerdseyeError:
        raise
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and (found := missing(error, f"Model '{name}'")):
            raise found from error
        raise UnavailableError(
            f"Model '{name}' requires a package that is not installed: {_first_line(error)}.",
            hint="For GGUF files: pip install 'berdseye[gguf]'.",
        ) from error
    except Exception as error:  # the reader of each format raises its own errors for damaged weights
        raise UnavailableError(f"Model '{name}' cannot be loaded: {_first_line(error)}.", hint=_HINT) from error


def model_version(location: str | Path) -> str:
    """12 hex digits that identify a model's version: a hash of its files, or the commit of a model on the Hub."""
    if isinstance(location, str):
        return hub_commit(location)[:12]
    if location.is_file():
        return _file_hash(location, *_state(location))[:12]
    digest = hashlib.sha256()
    for path in sorted(p for p in location.rglob("*") if p.suffix in _SHAPING and p.is_file()):
        digest.update(f"{path.relative_to(location).as_posix()} {_file_hash(path, *_state(path))}\n".encode())
    return digest.hexdigest()[:12]


@lru_cache(maxsize=64)
def hub_commit(name: str) -> str:
    """The newest commit of a model on the Hub; without a network, the commit that was downloaded before."""
    from huggingface_hub import hf_hub_download

    with loading(name):
        return Path(hf_hub_download(name, "config.json")).parent.name


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=4096)
def _file_hash(path: Path, size: int, modified: int) -> str:
    del size, modified  # part of the cache key, so that a changed file is hashed again
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")

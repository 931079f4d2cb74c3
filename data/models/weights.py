"""Where the files of a model lie, and which version of it they are.

Where models run.
"""

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


def chosen_device() -> "torch.device":
    """BERDSEYE_DEVICE, or the best that there is; raises `BadInputError` for one that there is not."""
    import torch

    name = os.environ.get(DEVICE_VARIABLE) or str(torch.accelerator.current_accelerator() or "cpu")
    try:
        torch.empty(0, device=name)
        return torch.device(name)
    except (RuntimeError, AssertionError) as error:
        raise BadInputError(
            f"There is no device '{name}' here.",
            hint=f"Set {DEVICE_VARIABLE} to cpu, cuda, cuda:1 or mps, or unset it.",
        ) from error


def gpu_allocations() -> int:
    """How often this process has taken memory of a CUDA device so far: where it grows, a model has worked on one."""
    if "torch" not in sys.modules:  # whoever has not loaded it has not used it, and need not wait for it
        return 0
    import torch

    if not (torch.cuda.is_available() and torch.cuda.is_initialized()):  # type: ignore[no-untyped-call]
        return 0
    devices = range(torch.cuda.device_count())
    return sum(int(torch.cuda.memory_stats(device).get("allocation.all.allocated", 0)) for device in devices)


MODELS_VARIABLE = "BERDSEYE_MODELS"
_HUB_NAME = re.compile(r"\w[\w.-]*(/[\w.-]+)?")
_MARKS = ("config.json", "modules.json", "*.gguf")
_SHAPING = {".safetensors", ".bin", ".gguf", ".json", ".txt", ".model", ".jinja"}
_HINT = f"Give the path of its folder, put the folder below ${MODELS_VARIABLE}, or check the network."


def find_model(name: str) -> str | Path:
    """The folder or GGUF file of a model, or else its name on the hub.

    Looked for in this order: `name` as a path, `name` below the folder in BERDSEYE_MODELS, the hub. Raises
    `UnavailableError` for a path without a model; whether the hub has the name shows when it is loaded.
    """
    root = os.environ.get(MODELS_VARIABLE)
    # A text that no path can be (too long, no such home) is a model that is not there.
    with suppress(OSError, ValueError, RuntimeError):
        for path in (Path(name).expanduser(), *([Path(root).expanduser() / name] if root else [])):
            if path.is_file() or any(any(path.glob(mark)) for mark in _MARKS):
                return path.resolve()
    if _HUB_NAME.fullmatch(name):
        return name
    raise UnavailableError(f"There is no model at '{name}'.", hint=_HINT)


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Whatever a library raises while it loads the model becomes an `UnavailableError` that names the model."""
    try:
        yield
    except BerdseyeError:
        raise
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and (found := missing(error, f"Model '{name}'")):
            raise found from error
        raise UnavailableError(
            f"Model '{name}' needs a package that is missing: {_first_line(error)}.",
            hint="For GGUF files: pip install 'berdseye[gguf]'.",
        ) from error
    except Exception as error:  # damaged weights make each format's own reader raise an error of its own
        raise UnavailableError(f"Model '{name}' cannot be loaded: {_first_line(error)}.", hint=_HINT) from error


def model_version(found: str | Path) -> str:
    """12 hex digits: a hash of the files' content, or of a hub model the commit that is loaded."""
    if isinstance(found, str):
        return hub_commit(found)[:12]
    if found.is_file():
        return _file_hash(found, *_state(found))[:12]
    digest = hashlib.sha256()
    for path in sorted(p for p in found.rglob("*") if p.suffix in _SHAPING and p.is_file()):
        digest.update(f"{path.relative_to(found).as_posix()} {_file_hash(path, *_state(path))}\n".encode())
    return digest.hexdigest()[:12]


@lru_cache(maxsize=64)
def hub_commit(name: str) -> str:
    """The newest commit of a model on the hub, or without a network the one that was downloaded before."""
    from huggingface_hub import hf_hub_download

    with loading(name):
        return Path(hf_hub_download(name, "config.json")).parent.name


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=4096)
def _file_hash(path: Path, size: int, modified: int) -> str:
    del size, modified  # they are part of the key, so that a file that changes is hashed again
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")

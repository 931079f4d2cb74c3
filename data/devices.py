"""Where models run."""

import os
import sys
from typing import TYPE_CHECKING

from berdseye.data.errors import BadInputError

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

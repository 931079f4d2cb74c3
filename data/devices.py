"""Where models run."""

import os
from typing import TYPE_CHECKING

from data.errors import BadInputError

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

"""Measuring in a process of its own, whose memory is that of one detector alone."""

import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from berdseye.data.errors import UnavailableError

_P = ParamSpec("_P")
_T = TypeVar("_T")


def in_own_process(task: str, function: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Return what a function of a module returns in a new process; raises `UnavailableError` if the process ends unexpectedly.

    `task` completes "The process that ...".
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as own:
        try:
            return own.submit(function, *args, **kwargs).result()
        except BrokenProcessPool as error:
            raise UnavailableError(
                f"The process that {task} ended unexpectedly.",
                hint="The detector may need more memory than is available.",
            ) from error


def peak_mib() -> float:
    """Return the peak of this process's resident memory in MiB, NaN if unknown; `ru_maxrss` would include the parent's."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return np.nan
    match = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(match[1]) / 1024 if match else np.nan

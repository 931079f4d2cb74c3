"""What is done before the server answers, so that no page waits for it."""

import gc
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pkgutil import walk_packages
from threading import Thread
from typing import Any

import streamlit as st
from altair.utils.schemapi import disable_debug_mode

import berdseye.app
from berdseye.data.errors import UnavailableError
from berdseye.data.records import Pair
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import DEFAULT_DETECTOR

_PARTS_OF_PAGES = ("access", "cached", "components", "documentation", "jobs", "navigation")


@asynccontextmanager
async def warmed(_app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Import the parts that the pages are made of, and begin to open the detector that ships. For `lifespan` of `streamlit.App`.

    What is loaded stays, so the collector of unused objects need not look at it again. Altair checks each part of a chart as it
    is made, and the whole chart when it is drawn; the second is enough here. Streamlit looks through the stack when it draws for
    the first time, for which `inspect` reads where every module lies.
    """
    for module in walk_packages(berdseye.app.__path__, "berdseye.app."):
        if module.name.split(".")[2] in _PARTS_OF_PAGES:
            import_module(module.name)
    Thread(target=_open_detector, daemon=True).start()
    disable_debug_mode()
    inspect.stack()
    gc.collect()
    gc.freeze()
    yield {}


def _open_detector() -> None:
    """Read one pair, so that the first page with new pairs need not wait until the network is opened; pages say what is wrong
    with a damaged one."""
    with suppress(UnavailableError):
        parse_detector(DEFAULT_DETECTOR).predict([Pair("It is so.", "It is so.")])

"""Pages drawn without a browser and timed: the first draw of a process, and those that follow."""

import ast
import os
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from streamlit.testing.v1 import AppTest

from berdseye.app.access.roles import PAGES
from berdseye.app.access.session import judgments
from berdseye.data.workspace import Workspace
from tests.app.views.page_addresses import page_addresses

VIEWS = Path(__file__).resolve().parents[3] / "app" / "views"
_ANOTHER_K = 7
_BESIDE: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("search", {"view": "map"}),
    ("search", {"view": "words"}),
    ("runs", {"view": "By k"}),
    ("runs", {"view": "Cost"}),
    ("runs", {"labels": "human>embedded"}),
    ("failures", {"every_run": "true"}),
    ("bias", {"view": "Stances"}),
    ("detector_lab", {"part": "Threshold"}),
    ("detector_lab", {"part": "Mistakes"}),
)
"""Views that a page has beside the one it opens with, and that read as much."""


class Draws(NamedTuple):
    """Seconds of the processor: the first draw, one that changes nothing (the fastest of some), and, on a page that has a k, one
    with another; the first by the clock; the most memory that the process held, in GB; and what the page said was wrong.

    `imports` are those of the libraries of the page, which a server reads once for everybody and which `first` is without."""

    imports: float
    first: float
    later: float
    changed: float | None
    waited: float
    memory: float
    troubles: list[str]


def draws(page: str, address: Mapping[str, str], again: int = 3) -> Draws:
    """Draw a page, for somebody who gave a name, over the workspace of this process, and `again`."""
    view, begun = VIEWS / f"{page}.py", time.process_time()  # of this process: what else runs here is not counted
    _import_all(view)
    imports = time.process_time() - begun
    at = AppTest.from_file(str(view), default_timeout=120)
    at.session_state["annotator"] = judgments().sign_in("Ada")
    for name, value in address.items():
        at.query_params[name] = value
    troubles: list[str] = []

    def drawn() -> tuple[float, float]:
        begun, waited = time.process_time(), time.perf_counter()
        at.run()
        troubles.extend(said.value for said in (*at.exception, *at.error))
        return time.process_time() - begun, time.perf_counter() - waited

    first, waited = drawn()
    later = min((drawn()[0] for _ in range(again)), default=0.0)
    changed = None
    if any(box.key == "k" for box in at.number_input):
        at.number_input(key="k").set_value(_ANOTHER_K)
        changed, _ = drawn()
    return Draws(imports, first, later, changed, waited, _most_memory(), troubles)


def draws_of_a_new_process(workspace: Workspace, page: str, address: Mapping[str, str]) -> Draws:
    """The same in a process that has read nothing of the workspace, as a server that was just started."""
    with ProcessPoolExecutor(1, get_context("spawn"), _enter, (str(workspace.folder),)) as process:
        return process.submit(draws, page, address).result()


def every_view(workspace: Workspace) -> dict[str, tuple[str, Mapping[str, str]]]:
    """Every page, and the other views of some, by what they are called: the page and its address."""
    addresses = page_addresses(workspace)
    return {page: (page, addresses[page]) for page in PAGES} | {
        f"{page}, {next(iter(view.values()))}": (page, {**addresses[page], **view}) for page, view in _BESIDE
    }


def _import_all(view: Path) -> None:
    """What a view imports. Streamlit puts its folder in front of the path, where detectors.py would stand for our package."""
    for node in ast.parse(view.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            import_module(node.module)


def _most_memory() -> float:
    """GB. Of this program alone: what `resource` says of a new process begins with the memory of the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return float(next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()[1]) / 1_000_000


def _enter(folder: str) -> None:
    os.environ["BERDSEYE_WORKSPACE"] = folder
    os.environ.pop("BERDSEYE_JUDGMENTS_URL", None)

"""Every page at 3,000 questions, 4 runs of 50 and 1.2 million labels: processor seconds and memory, printed as a table."""

import pytest

from berdseye.app.access.roles import PAGES
from tests.app.views.page_draws import Draws, draws_of_a_new_process, every_view
from tests.large_workspace import LARGE, large_workspace

# Also slow: the tests that CI leaves out for their length hold the pages to the bars.
pytestmark = [pytest.mark.benchmark, pytest.mark.slow, pytest.mark.timeout(1800)]

FIRST_BAR, LATER_BAR, MEMORY_BAR = 3.0, 1.0, 2.0


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Draws]:
    """Each page (and its other views) drawn in a process of its own."""
    assert LARGE.labels == 1_200_000
    workspace = large_workspace(tmp_path_factory.mktemp("large") / "workspace", LARGE)
    found = {}
    print(f"\n{'':28}{'imports':>9}{'first':>8}{'later':>8}{'other k':>9}{'waited':>9}{'memory':>9}")
    for name, (page, address) in every_view(workspace).items():
        d = found[name] = draws_of_a_new_process(workspace, page, address)
        changed = "" if d.changed is None else f"{d.changed:.2f}"
        print(
            f"{name:28}{d.imports:9.2f}{d.first:8.2f}{d.later:8.2f}{changed:>9}{d.waited:9.2f}{d.memory:6.2f} GB",
            flush=True,
        )
    print(
        f"Seconds of the processor (waited: by the clock). Bars: first {FIRST_BAR}, later {LATER_BAR}, {MEMORY_BAR} GB."
    )
    return found


def test_every_page_is_measured_and_says_nothing_is_wrong(figures: dict[str, Draws]) -> None:
    assert set(PAGES) <= set(figures)
    assert {name: d.troubles for name, d in figures.items() if d.troubles} == {}


def test_first_draws(figures: dict[str, Draws]) -> None:
    assert {name: d.first for name, d in figures.items() if d.first >= FIRST_BAR} == {}


def test_later_draws(figures: dict[str, Draws]) -> None:
    later = {name: max(d.later, d.changed or 0) for name, d in figures.items()}
    assert {name: seconds for name, seconds in later.items() if seconds >= LATER_BAR} == {}


def test_memory(figures: dict[str, Draws]) -> None:
    assert {name: d.memory for name, d in figures.items() if d.memory >= MEMORY_BAR} == {}

"""The page's table for Sphere follows from the inputs that the page states."""

import math
from itertools import takewhile
from pathlib import Path

from berdseye.retrieval.dense.layouts import LAYOUTS, lists

PAGE = Path(__file__).parents[3] / "retrieval" / "cluster" / "README.md"
GB = 1e9
HOUR = 3600


def rows_after(heading: str) -> list[list[str]]:
    """The cells of the table whose first cell is `heading`, without its head."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {heading}"))
    table = takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def computed(given: dict[str, float]) -> dict[str, list[str]]:
    """The rows of the second table from those of the first."""
    n, cores = given["passages"], given["cores a node"]
    usable = given["memory a node, GB"] * GB * given["share of memory for indexes"]
    static, encoder = (
        "static, passages encoded a core-second",
        "encoder of 110M parameters, passages encoded a GPU-second",
    )
    bytes_each = [
        given["bm25, bytes a passage"],
        given["sq8 256, bytes a passage"],
        given["ivfpq 768, bytes a passage"],
    ]
    waiting = [0, 2 * 256, 2 * 768]
    core_hours = [
        n / given["bm25, passages built a core-second"] / HOUR,
        n / given[static] / HOUR,
        n / given["ivfpq 768, vectors added a core-second"] / HOUR,
    ]
    gpu_hours = [0.0, 0.0, n / given[encoder] / HOUR]
    nodes = [math.ceil(n * b / usable) for b in bytes_each]
    on_cores = [h / (m * cores) for h, m in zip(core_hours, nodes, strict=True)]
    hours = [c + g / given["GPUs"] for c, g in zip(on_cores, gpu_hours, strict=True)]
    built = [
        c * m * given["price of a node-hour"] + g * given["price of a GPU-hour"]
        for c, m, g in zip(on_cores, nodes, gpu_hours, strict=True)
    ]
    asked = [
        n / 1e6 * given["bm25, core-milliseconds a question and million passages"] / 1000,
        n / given["sq8 256, vectors scanned a core-second"],
    ]
    alone = [f"{a / (m * cores):.2f}" for a, m in zip(asked, nodes, strict=False)]
    return {
        "index, GB": [f"{n * b / GB:,.0f}" for b in bytes_each],
        "nodes": [str(m) for m in nodes],
        "memory of these, GB": [f"{m * given['memory a node, GB']:,.0f}" for m in nodes],
        "shards": [f"{m * cores:.0f}" for m in nodes],
        "disk with corpus and scratch, GB": [
            f"{n * (b + w + given['corpus, bytes a passage']) / GB:,.0f}"
            for b, w in zip(bytes_each, waiting, strict=True)
        ],
        "core-hours to build": [f"{h:,.0f}" for h in core_hours],
        "GPU-hours to build": [f"{h:,.0f}" if h else "-" for h in gpu_hours],
        "hours to build": [f"{h:.1f}" for h in hours],
        "read from storage meanwhile, MB a second": [
            f"{n * given['corpus, bytes a passage'] / 1e6 / (h * HOUR):,.0f}" for h in hours
        ],
        "cost to build": [f"{c:,.0f}" for c in built],
        "cost to keep up, a day": [f"{m * 24 * given['price of a node-hour']:,.0f}" for m in nodes],
        "seconds a question, cluster idle": [*alone, "not measured"],
    }


def inputs() -> dict[str, float]:
    return {name: float(value.replace(",", "")) for name, value, _ in rows_after("input")}


def test_the_table_follows_from_its_inputs() -> None:
    given = inputs()
    assert {name: cells for name, *cells in rows_after("| BM25")} == computed(given)


def test_the_page_knows_the_layouts() -> None:
    given = inputs()
    assert lists(int(given["passages"])) == 32_768
    assert LAYOUTS["ivfpq"].description(int(given["passages"]), 768).startswith("IVF32768,PQ192")
    assert given["ivfpq 768, bytes a passage"] == 768 / 4 + 768 + 8

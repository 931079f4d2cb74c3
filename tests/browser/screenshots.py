"""Takes a picture of every page on the demo, and writes the page that shows the pictures.

`make screenshots` runs it.
"""

import io
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.app.demo import build_demo
from berdseye.app.jobs.running import first_notice, start_job
from berdseye.data.files.atomic import write_bytes
from berdseye.data.workspace import Workspace
from tests.browser.every_page import READER, queries, show
from tests.browser.served import chromium, new_context, served

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "screenshots"
SIZE: ViewportSize = {"width": 1440, "height": 900}
DARK = ("explore",)
"""The pages that are also shown in the dark theme."""
_QUALITY = 78
_STUDY = ("study", "berds", "leaning")
_DISPUTED = 6

CAPTIONS: dict[str, tuple[str, str]] = {
    "explore": (
        "Explore",
        "The rankings of every chosen corpus and pipeline for one question, side by side. A single key corrects a label.",
    ),
    "search": (
        "Search",
        "Passages that match a text, from all corpora. Facets narrow the results, and the views show them as a list, side by "
        "side, on a map, or by the words that distinguish groups of passages.",
    ),
    "passage": (
        "Passage",
        "One passage: the runs that rank it, its labels and judgments, its nearest neighbours, and passages with the same text.",
    ),
    "question": (
        "Question",
        "One question in all runs: the rank that first covers each perspective, the measures over time, the judgments, and the "
        "proposed edits.",
    ),
    "annotate": (
        "Annotate",
        "One pair at a time, with the guidelines beside it. The detector's label stays hidden until the annotator has judged.",
    ),
    "perspectives": (
        "Perspectives",
        "The perspectives of a question. Annotators propose edits, and accepted edits become a new version of the data set.",
    ),
    "adjudication": (
        "Adjudication",
        "A pair that annotators judge differently, with every vote. The adjudicator's verdict replaces the majority label.",
    ),
    "agreement": (
        "Agreement",
        "The agreement of annotators with each other and with a detector, with 95% intervals. Further down: the pairs on which "
        "two raters disagree, and the exports.",
    ),
    "runs": (
        "Runs",
        "The leaderboard of pipelines over corpora. Each number has its 95% interval, and the table names the label source.",
    ),
    "failures": (
        "Failures",
        "The map of a run's holes: perspectives that no passage of the top k supports. Further down: the reason of each hole, "
        "and the passages around it.",
    ),
    "compare": (
        "Compare",
        "Two runs, question by question: differences with intervals and p-values, wins and losses, and the perspectives that one "
        "run covers and the other misses.",
    ),
    "bias": (
        "Bias",
        "The share of questions whose top k supports one side, both, or neither. Other views show sycophancy, stances, "
        "perspective shares and places.",
    ),
    "studies": (
        "Studies",
        "A table or figure of a paper, computed from the runs and labels of this workspace, with its settings and notes.",
    ),
    "detectors": (
        "Detectors",
        "The detectors with their measured quality and thresholds. Other tabs train a detector on judgments.",
    ),
    "detector_lab": (
        "Detector lab",
        "The calibration of a detector on gold labels. Other views show its threshold, its mistakes, its cost, and a second "
        "detector beside it.",
    ),
    "label_studio": (
        "Label Studio",
        "The exchange with Label Studio: the account of each person, the judgments that wait to be pushed, and the differences "
        "between both sides.",
    ),
    "jobs": ("Jobs", "Long work in the background, with its state, its output, and the form that starts a job."),
}
"""The title and the caption of each page, by the name of its file in app/views, in the order of the pages."""


def filled(workspace: Workspace) -> Workspace:
    """Add what the demo lacks, so that no picture shows an empty page: pairs that two people judge differently, and a finished
    study."""
    judgments = Judgments.open(workspace.judgments_url)
    known = next(person for person in judgments.annotators() if person.demo)
    people: list[Annotator] = [judgments.sign_in(name) for name in ("Ada", "Bo")]
    for pair in sorted(judgments.judged_pairs(known))[:_DISPUTED]:
        judgments.judge(people[0], pair, "supports", source="annotate", comment="The last sentence gives a reason.")
        judgments.judge(people[1], pair, "does not support", source="annotate")
    judgments.engine.dispose()
    job = start_job(workspace, _STUDY, person=READER)
    while job.runs:
        time.sleep(0.5)
    if job.state != "done":
        raise RuntimeError(f"The study of the pictures ended as '{job.state}':\n{job.output_tail}")
    first_notice(job)  # the notice would cover a part of the page
    return workspace


def take(page: Page, name: str, theme: str) -> None:
    """Take the picture of the open page in this theme."""
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.wait_for_timeout(1000)  # charts are drawn again in the colours of the theme
    picture = io.BytesIO()
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(picture, "WEBP", quality=_QUALITY, method=6)
    write_bytes(FOLDER / file_name(name, theme), picture.getvalue())


def file_name(name: str, theme: str) -> str:
    """Return the file name of a picture."""
    return f"{name}-{theme}.webp"


def gallery() -> str:
    """Return the page that shows the pictures, as Markdown."""
    lines = [
        "# Every page",
        "",
        "These pictures show the demo, with the judgments of two more annotators and one study; `make screenshots` takes them. "
        "The app follows the light or dark theme of the browser.",
        "[Berdseye from Python](python.md) and [the command line](command-line.md) need no browser.",
    ]
    for name, (title, caption) in CAPTIONS.items():
        lines += ["", f"## {title}", "", caption, "", f"![{title}](screenshots/{file_name(name, 'light')})"]
        if name in DARK:
            lines += ["", f"![{title} in the dark theme](screenshots/{file_name(name, 'dark')})"]
    return "\n".join(lines) + "\n"


def main(chosen: list[str]) -> None:
    """Take the named pages, or all pages without a name."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace = filled(build_demo(Path(scratch) / "workspace", lambda *_: None))
        pages = queries(workspace)
        with served(workspace.folder, Path(scratch) / "log") as app, chromium() as browser:
            page = new_context(browser).new_page()
            page.set_viewport_size(SIZE)
            for name in chosen or CAPTIONS:
                page.emulate_media(color_scheme="light")
                show(page, app.url, name, pages[name])
                for theme in ("light", "dark") if name in DARK else ("light",):
                    take(page, name, theme)
                print(name, flush=True)
    write_bytes(DOCS / "README.md", gallery().encode())


if __name__ == "__main__":
    main(sys.argv[1:])

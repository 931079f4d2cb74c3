"""Takes a picture of every page on the demo, and writes the page that shows the pictures.

`make screenshots` runs it.
"""

import io
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Page, ViewportSize

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.app.demo import build_demo
from berdseye.app.jobs.running import first_notice, start_job
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.files.atomic import write_bytes
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.kinds import KINDS
from berdseye.evaluation.construction.opening import begin
from berdseye.evaluation.construction.running import run_construction
from tests.browser.every_page import READER, queries, show
from tests.browser.served import chromium, new_context, served

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "screenshots"
SIZE: ViewportSize = {"width": 1440, "height": 900}
SIZES: tuple[ViewportSize, ...] = (
    {"width": 1920, "height": 1080},
    {"width": 1440, "height": 900},
    {"width": 1024, "height": 768},
    {"width": 390, "height": 844},
)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
DARK = ("home", "explore")
"""The pages that are also shown in the dark theme."""
_QUALITY = 78
_HEIGHT, _GAP = 600, 12
_STUDY = ("study", "berds", "leaning")
_DISPUTED = 6

CAPTIONS: dict[str, tuple[str, str]] = {
    "home": (
        "Home",
        "What the workspace holds, what waits for you, how the last runs compare, and three short projects that teach the three "
        "jobs. An empty workspace is set up from here.",
    ),
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
    "data": (
        "Data",
        "The corpora and data sets of the workspace. Files are uploaded with a preview of how they will be read, "
        "and invalid rows "
        "are listed with their lines; questions can be written here, and published data sets fetched.",
    ),
    "build": (
        "Build",
        "Data sets made from your own sources, step by step, as the papers made theirs: what each step kept and rejected beside "
        "the papers' counts, the rejected rows with their reasons, and the decisions of people.",
    ),
    "batches": (
        "Batches",
        "Pairs that are sent out for judging: whom each batch is for, how far it is, and what people flagged. A new batch begins "
        "with what it is for.",
    ),
    "people": (
        "People",
        "Who works here, what each role may do, and the versions of the guidelines.",
    ),
    "label_studio": (
        "Label Studio",
        "The exchange with Label Studio: the account of each person, the judgments that wait to be pushed, and the differences "
        "between both sides.",
    ),
    "jobs": ("Jobs", "Long work in the background, with its state, its output, and the form that starts a job."),
    "workspace": (
        "Workspace",
        "The settings, the health of the stored files, backups, and what takes how much space.",
    ),
    "documentation": ("Documentation", "These pages, in the app."),
    "keys": ("Keys", "The keys of every page, ready to print."),
}
"""The title and the caption of each page, by the name of its file in app/views, in the order of the pages."""

MORE: dict[str, str] = {
    "explore": "[pages for research](runs.md#pages-for-research), [the keys](../app/components/README.md#keys)",
    "search": "[pages for research](runs.md#pages-for-research), [retrievers](../retrieval/README.md#retrievers)",
    "annotate": "[judging](judging.md), [batches](judging.md#batches), [judging by hand](../app/components/README.md)",
    "perspectives": "[editing perspectives](../data/README.md#editing-perspectives-and-versions)",
    "adjudication": "[adjudication](../app/components/README.md#adjudication)",
    "agreement": "[agreement](judging.md#agreement), [its statistics](../evaluation/README.md#agreement), "
    "[exports](judging.md#exports-and-training-sets)",
    "runs": "[runs](runs.md), [measures](../evaluation/README.md#measures), [label "
    "sources](../evaluation/README.md#label-sources)",
    "failures": "[failures, and comparing two runs](../evaluation/README.md#failures-and-comparing-two-runs)",
    "compare": "[failures, and comparing two runs](../evaluation/README.md#failures-and-comparing-two-runs)",
    "studies": "[studies](../evaluation/README.md#studies)",
    "detectors": "[detectors](../detectors/README.md), [training them](../detectors/README.md#the-loop)",
    "detector_lab": "[what a label can mean](../detectors/README.md#what-a-label-can-mean), "
    "[thresholds](../detectors/README.md#thresholds-for-other-data)",
    "label_studio": "[Label Studio](../annotation/README.md)",
    "jobs": "[long jobs](runs.md#long-jobs)",
    "home": "[judging](judging.md), [runs](runs.md)",
    "data": "[corpora and data sets](corpora.md)",
    "build": "[building data sets](building.md)",
    "batches": "[batches](judging.md#batches)",
    "people": "[teams](teams.md), [people and roles](../app/README.md)",
    "workspace": "[settings, health and backups](workspace.md)",
}
"""Links to documents about a page."""


def filled(workspace: Workspace) -> Workspace:
    """Add what the demo lacks, so that no picture shows an empty page: pairs that two people judge differently, a finished study,
    and a construction up to its first call of a language model."""
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
    typed = workspace.folder / "questions.txt"
    asked = [question.text for question in load_dataset(workspace, "debate")]
    typed.write_text("\n".join([*asked, asked[0].upper(), "Public transport"]), encoding="utf-8")
    settings = {"model": "api(gpt-4o-mini)"}
    construction = begin(workspace, KINDS["questions"], "own-questions", {"typed": typed}, settings, {}, made_by=READER)
    run_construction(construction, until="duplicates")
    return workspace


def take(page: Page, name: str, theme: Literal["light", "dark"]) -> None:
    """Take the picture of the open page in this theme."""
    page.emulate_media(color_scheme=theme)
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
        "The app follows the light or dark theme of the browser; [every page at four sizes](sizes.md) shows both.",
        "[Berdseye from Python](python.md) and [the command line](command-line.md) need no browser; [the papers, table by "
        "table](papers.md) lists what of the four papers Berdseye shows.",
        "",
        "`Ctrl K` (`⌘ K` on a Mac) opens the command palette on every page: type a part of a name, and press `Enter`. It finds "
        "pages, actions, questions of every data set, runs, corpora, open batches, detectors, jobs, passages by their words, and "
        "these pages. It offers only what your role may open, and first what you opened last. The mark `?` beside the title of a "
        "page leads to its section here; *Keys* lists the keys of every page.",
    ]
    for name, (title, caption) in CAPTIONS.items():
        lines += ["", f"## {title}", "", caption]
        if name in MORE:
            lines += ["", f"More: {MORE[name]}."]
        lines += ["", f"![{title}](screenshots/{file_name(name, 'light')})"]
        if name in DARK:
            lines += ["", f"![{title} in the dark theme](screenshots/{file_name(name, 'dark')})"]
    return "\n".join(lines) + "\n"


def sizes_page() -> str:
    """Return the page that shows every page at four sizes in both themes, as Markdown."""
    sizes = ", ".join(f"{size['width']}x{size['height']}" for size in SIZES)
    lines = [
        "# Every page at four sizes",
        "",
        f"Light above, dark below; {sizes} pixels. `make sizes` takes the pictures.",
    ]
    for name, (title, _) in CAPTIONS.items():
        lines += ["", f"## {title}", "", f"![{title} at four sizes](sizes/{name}.webp)"]
    return "\n".join(lines) + "\n"


def take_sizes(page: Page, url: str, name: str, query: str) -> None:
    """Put the page at four sizes (columns) in two themes (rows) into one picture."""
    rows: list[list[Image.Image]] = [[] for _ in THEMES]
    for size in SIZES:
        page.set_viewport_size(size)
        if size in (SIZES[0], SIZES[-1]):  # drawn anew for a telephone, whose sidebar is closed
            page.emulate_media(color_scheme=THEMES[0])
            show(page, url, name, query)
        for row, theme in zip(rows, THEMES, strict=True):
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(700)
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            row.append(shot.resize((round(shot.width * _HEIGHT / shot.height), _HEIGHT), Image.Resampling.LANCZOS))
    width = sum(shot.width + _GAP for shot in rows[0]) - _GAP
    sheet = Image.new("RGB", (width, len(rows) * (_HEIGHT + _GAP) - _GAP), "#808080")
    for number, row in enumerate(rows):
        left = 0
        for shot in row:
            sheet.paste(shot, (left, number * (_HEIGHT + _GAP)))
            left += shot.width + _GAP
    picture = io.BytesIO()
    sheet.save(picture, "WEBP", quality=_QUALITY, method=6)
    write_bytes(DOCS / "sizes" / f"{name}.webp", picture.getvalue())


def main(chosen: list[str]) -> None:
    """Take the named pages, or all pages without a name; after the word `sizes`, at four sizes."""
    at_sizes = chosen[:1] == ["sizes"]
    names = chosen[1:] if at_sizes else chosen
    with tempfile.TemporaryDirectory() as scratch:
        workspace = filled(build_demo(Path(scratch) / "workspace", lambda *_: None))
        pages = queries(workspace)
        with served(workspace.folder, Path(scratch) / "log") as app, chromium() as browser:
            page = new_context(browser).new_page()
            page.set_viewport_size(SIZE)
            for name in names or CAPTIONS:
                if at_sizes:
                    take_sizes(page, app.url, name, pages[name])
                else:
                    page.emulate_media(color_scheme="light")
                    show(page, app.url, name, pages[name])
                    for theme in THEMES if name in DARK else THEMES[:1]:
                        take(page, name, theme)
                print(name, flush=True)
    write_bytes(DOCS / "README.md", gallery().encode())
    write_bytes(DOCS / "sizes.md", sizes_page().encode())


if __name__ == "__main__":
    main(sys.argv[1:])

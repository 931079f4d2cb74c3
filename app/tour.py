"""The first-run tour: its steps in their order, and which of them someone is at. Two minutes, on the real pages."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from berdseye.annotation.batches import list_batches
from berdseye.annotation.judgments import Judgments
from berdseye.app.roles import Right, may, right_of_page
from berdseye.data.people import Role
from berdseye.data.workspace import Workspace

Need = Literal["corpus", "data set", "pairs", "word", "run"]
PARAMETER = "tour"
"""What the address of a page keeps the step in, by its name, which stays what it is when steps are added."""


class Step(NamedTuple):
    """A step: its name in the address, the page it leads to (a file of app/views), what to do there and why, in Markdown; what
    there must be to show it, whether it takes a name, the page's choices that have something to show on the demo, and the right
    it is about where that is not the page's own."""

    name: str
    page: str
    title: str
    text: str
    needs: Need
    named: bool = False
    on_demo: Mapping[str, str] = MappingProxyType({})
    right: Right | None = None


STEPS = (
    Step(
        "ask",
        "explore",
        "Ask a contentious question",
        "Choose a question, or *your own question* as the **Data set**, and type one. Every corpus answers in a column of its "
        "own; the table says at which rank each perspective first comes, and where it is **missing**. What is missing, a reader "
        "of these passages never learns.",
        "corpus",
    ),
    Step(
        "correct",
        "explore",
        "Correct a label with one key",
        "The buttons below a passage say which perspectives it supports; the detector behind some of them is often wrong. Where "
        "**P1** is wrong, press `1`; `J` and `K` go to other passages, `U` takes it back. Your judgment counts before any other "
        "label at once, and moves the measures above.",
        "corpus",
        named=True,
    ),
    Step(
        "judge",
        "annotate",
        "Judge pairs, one at a time",
        "Does the passage support the perspective? `1` yes, `2` no, `3` unsure; `U` takes back, `?` shows all keys. The "
        "detector's opinion comes after yours, so it cannot sway you: agreement, training and honest measures rest on these "
        "words.",
        "pairs",
        named=True,
    ),
    Step(
        "propose",
        "perspectives",
        "Add a view that nobody wrote down",
        "Is a perspective missing, unclear, or two in one? `1` proposes another and `4` rewords one; what is accepted becomes a "
        "new version of the data set. Retrieval can only be measured against views that somebody wrote down.",
        "data set",
        named=True,
    ),
    Step(
        "agree",
        "agreement",
        "See how far people agree",
        "Statistics with their intervals, then detectors against people, then the pairs that **Two annotators** judge "
        "differently. Read some: either the guidelines are unclear there, or the perspective is. **Exports** has judgments, "
        "statistics and training data as files.",
        "word",
    ),
    Step(
        "compare",
        "runs",
        "Compare systems on one board",
        "A row is a pipeline over a corpus, with its interval. **Labels from** changes whose word counts: the detector's, "
        "people's or the authors'. Systems that share one of the **Letters** were not found to differ: look there before you "
        "call one better. **Run a pipeline** adds a row.",
        "run",
    ),
    Step(
        "holes",
        "failures",
        "Find out why it failed",
        "A hole on the map is a perspective that no passage of the **Run**'s top k supports. **Why** counts the reasons: too far "
        "down, found by another pipeline alone, by none, or the detector and people differ. Choose a hole to read around it.",
        "run",
        on_demo={"run": "debate--pages--bm25"},
    ),
    Step(
        "exchange",
        "label_studio",
        "Judge in Label Studio as well",
        "**Send** makes tasks of runs, and a batch becomes a project for each person. What is said there comes back by itself, "
        "and counts once. That was all: *Tour*, in the sidebar, begins again.",
        "run",
        right="exchange",
    ),
)

MISSING: dict[Need, str] = {
    "corpus": "There is no corpus yet. `berdseye corpus add NAME FILE` takes your documents (README, *Bring your own*).",
    "data set": "There is no data set yet. `berdseye dataset add NAME FILE` takes your questions (README, *Bring your "
    "own*).",
    "pairs": "There is nothing to judge yet: it takes a run, from the Runs page or `berdseye run`, or a batch.",
    "word": "Nobody has judged anything here yet: do so on Annotate or Explore, and come back.",
    "run": "There is no run yet: make one on the Runs page or with `berdseye run`.",
}
"""What to do where a workspace lacks what a step shows."""
DEMO = (
    "To see it all at work, `berdseye demo --workspace demo` makes a small workspace, and `berdseye app --workspace demo` shows "
    "it."
)
"""The other way, for all of these."""


def steps_of(role: Role | None) -> tuple[Step, ...]:
    """The steps on pages that a role may use, about what it may do there."""
    return tuple(step for step in STEPS if may(role, step.right or right_of_page(step.page)))


def step_at(steps: Sequence[Step], page: str, asked: str | None, kept: str | None) -> Step | None:
    """Where someone is: the step that the address asks for; else, in a tour that has begun (`kept` is its last step), that or the
    first step of the page they went to, if it has one. None outside the tour."""
    if not steps or (asked is None and kept is None):
        return None
    known = {step.name: step for step in steps}
    if asked in known:
        return known[asked]
    here = [step for step in steps if step.page == page]
    last = known.get(kept or "")
    return last if last in here or (last is not None and not here) else (here or steps)[0]


def lacks(workspace: Workspace, judgments: Judgments, need: Need) -> bool:
    """Whether there is nothing here for a step to show."""
    if need == "corpus":
        return not workspace.corpora()
    if need == "data set":
        return not workspace.datasets()
    if need == "word":
        return not judgments.version()
    without_run = next(workspace.runs_folder.glob("*.json"), None) is None
    return without_run and (need == "run" or not any(batch.is_open for batch in list_batches(judgments)))

"""Three short projects that teach the three jobs, each with steps that are ticked when they are done: label pairs and see kappa,
find out why a run misses a side, and write the table of agreement.

What only a visit shows is noted in `first_steps.json` in the workspace, by the person's name; the rest is read from the
judgments.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch, list_batches
from berdseye.annotation.judgments.log import Annotator, PairRecord
from berdseye.annotation.judgments.verdict_counts import pairs_of_others, shared_pairs
from berdseye.app.access.roles import may, right_of_page
from berdseye.app.access.session import annotator, judgments, role, workspace
from berdseye.app.components.page_button import open_page
from berdseye.data.files.atomic import write_json
from berdseye.data.files.locks import locked
from berdseye.data.runs.stored import list_runs
from berdseye.data.workspace import Workspace

PAIRS = 10
_NOTED = "first_steps"


class ProjectStep(NamedTuple):
    """A step of a project: what to do, the page to do it on with its choices, and whether it is done."""

    text: str
    page: str
    query: Mapping[str, str]
    done: bool


class Project(NamedTuple):
    """A project with its steps in order."""

    name: str
    title: str
    steps: tuple[ProjectStep, ...]


def note_step(step: str) -> None:
    """Note once that the person did something that leaves no other trace, such as looking at a page."""
    person = annotator()
    if person is None or step in _noted(person):
        return
    path = workspace().folder / "first_steps.json"
    with locked(path.with_name(".first_steps.lock")):
        stored = _stored(workspace())
        stored[person.name] = sorted({*stored.get(person.name, ()), step})
        write_json(path, stored)
    st.session_state[_NOTED] = (person.name, frozenset(stored[person.name]))


def note_visit(page: str) -> None:
    """Note that the person looks at a page of a project."""
    if page == "agreement" or (page == "failures" and not st.query_params.get("place")):
        note_step(page)
    elif page == "failures":
        note_step("hole")


def draw_first_steps() -> None:
    """Draw the projects that the person's role includes, each folded with its next step in sight."""
    person = annotator()
    if person is None or not list_runs(workspace()):
        return
    listed = [p for p in projects(person) if all(may(role(), right_of_page(step.page)) for step in p.steps)]
    if not listed:
        return
    st.markdown("##### Learn by doing", help="Each takes about ten minutes. A step is ticked when it is done.")
    for project in listed:
        finished = sum(step.done for step in project.steps)
        icon = ":material/task_alt:" if finished == len(project.steps) else ":material/school:"
        with st.expander(f"{project.title} · {finished} of {len(project.steps)}", icon=icon):
            for number, step in enumerate(project.steps):
                _draw_step(project, step, number, person)


def _draw_step(project: Project, step: ProjectStep, number: int, person: Annotator) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{':green[:material/check_circle:]' if step.done else ':material/circle:'} {step.text}")
        if st.button("Go", key=f"{project.name}-{number}", type="tertiary", icon=":material/arrow_forward:"):
            query = dict(step.query)
            if project.name == "kappa" and number == 0:
                query["batch"] = _first_batch(person)
            open_page(step.page, **query)


def projects(person: Annotator) -> list[Project]:
    """Return the projects with what this person has done of each."""
    noted = _noted(person)
    shared = shared_pairs(judgments(), person)
    runs = list_runs(workspace())
    run = next((r.name for r in runs if r.name == "debate--pages--bm25"), runs[0].name if runs else "")
    return [
        Project(
            "kappa",
            f"Label {PAIRS} pairs, and see kappa appear",
            (
                ProjectStep(
                    f"Judge {PAIRS} pairs that another person judged too ({shared:,} so far).",
                    "annotate",
                    {},
                    shared >= PAIRS,
                ),
                ProjectStep("Look at kappa on the Agreement page.", "agreement", {}, "agreement" in noted),
            ),
        ),
        Project(
            "hole",
            "Find out why a run misses a side",
            (
                ProjectStep(
                    "Open the map of a run on the Failures page.", "failures", {"run": run}, "failures" in noted
                ),
                ProjectStep(
                    "Choose a hole: a perspective that no passage supports.", "failures", {"run": run}, "hole" in noted
                ),
                ProjectStep(
                    "Judge a passage beside it. The hole closes if the passage supports the perspective.",
                    "failures",
                    {"run": run},
                    "judged beside a hole" in noted,
                ),
            ),
        ),
        Project(
            "table",
            "Write the table of agreement",
            (
                ProjectStep(
                    "Choose the raters and the batch on the Agreement page.", "agreement", {}, "agreement" in noted
                ),
                ProjectStep("Download a table for your paper, as LaTeX.", "agreement", {}, "agreement table" in noted),
            ),
        ),
    ]


def noting(make: Callable[[], bytes], step: str) -> Callable[[], bytes]:
    """Return a function that makes a file and notes that the person asked for it."""

    def made() -> bytes:
        note_step(step)
        return make()

    return made


def _first_batch(person: Annotator) -> str:
    """Return the batch of the first project for this person, created if it does not exist. Empty: nobody has judged a pair."""
    name = f"first-{PAIRS}-{person.id}"
    if name not in {batch.name for batch in list_batches(judgments())}:
        records: list[PairRecord] = pairs_of_others(judgments(), person, PAIRS)
        if not records:
            return ""
        plan = BatchPlan(name, people=(person.name,), made_by=person.name, recipe={"from": "Learn by doing"})
        create_batch(judgments(), plan, [Item(record) for record in records])
    return name


def _noted(person: Annotator) -> frozenset[str]:
    name, noted = st.session_state.get(_NOTED, ("", frozenset()))
    if name != person.name:
        noted = frozenset(_stored(workspace()).get(person.name, ()))
        st.session_state[_NOTED] = (person.name, noted)
    return frozenset(noted)


def _stored(held: Workspace) -> dict[str, list[str]]:
    try:
        value: Any = json.loads((held.folder / "first_steps.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}

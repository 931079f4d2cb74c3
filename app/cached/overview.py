"""What the start page says of the workspace: what it holds, what waits for a person, and its last runs."""

import math
from typing import NamedTuple

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.adjudication import disputes
from berdseye.annotation.judgments.log import Annotator
from berdseye.annotation.judgments.verdict_counts import count_judgments
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.app.access.session import judgments, workspace
from berdseye.app.cached.cached_on import cached_on, judgments_version
from berdseye.app.cached.questions import questions_of
from berdseye.app.cached.runs import score_of
from berdseye.data.corpora import open_corpus
from berdseye.data.errors import BerdseyeError
from berdseye.data.runs.stored import RunManifest, list_runs
from berdseye.evaluation.labels.sources import default_source

MEASURE = "MRecall@5"
"""The measure by which the start page compares runs."""
NEWEST = 6
"""How many runs the start page compares."""


class Holdings(NamedTuple):
    """Counts of what the workspace holds. `judgments` and `people` leave out the demo's simulated annotators."""

    corpora: int
    passages: int
    datasets: int
    questions: int
    perspectives: int
    runs: int
    judgments: int
    people: int


class Waiting(NamedTuple):
    """A batch that needs a person: how many of its pairs are `left` of `pairs` for them."""

    batch: Batch
    left: int
    pairs: int


class LastRun(NamedTuple):
    """A run with its value of `MEASURE` in percent, and its difference from the best other run on the same data set and corpus
    (NaN where there is none, or too few labels)."""

    run: RunManifest
    value: float
    difference: float


def holdings() -> Holdings:
    """Count what the workspace holds."""
    held = workspace()
    corpora = [open_corpus(held, name).manifest for name in held.corpora()]
    questions = [q for name in held.datasets() for q in questions_of(name).values()]
    made, people = count_judgments(judgments())
    return Holdings(
        len(corpora),
        sum(manifest.count for manifest in corpora),
        len(held.datasets()),
        len(questions),
        sum(len(question.perspectives) for question in questions),
        len(list_runs(held)),
        made,
        people,
    )


def batches_waiting(person: Annotator) -> list[Waiting]:
    """Return the open batches with pairs that still need this person, the newest first."""
    found = []
    for batch in list_batches(judgments()):
        if batch.is_open and batch.admits(person):
            queue = BatchQueue(judgments(), batch)
            if left := queue.left(person):
                found.append(Waiting(batch, left, queue.done(person)[1]))
    return found


@cached_on(judgments_version, max_entries=4)
def disputed_pairs() -> int:
    """Return the number of pairs on which people differ and that no adjudicator has decided."""
    return len(disputes(judgments()))


def _judgments_and_batches() -> tuple[int, int]:
    """The judgments' version and the number of batches, which are never deleted."""
    return judgments_version(), len(list_batches(judgments()))


@cached_on(_judgments_and_batches, max_entries=4)
def disputed_by_batch() -> dict[str, int]:
    """Return the numbers of pairs of `disputed_pairs` by batch, the newest first, without batches that have none."""
    numbers = {batch.name: len(disputes(judgments(), batch)) for batch in list_batches(judgments())}
    return {name: number for name, number in numbers.items() if number}


def open_proposals() -> dict[str, int]:
    """Return the number of proposed edits of perspectives that nobody has decided, by data set."""
    found = {}
    for name in workspace().datasets():
        number = sum(edit.status == "open" for edit in EditLog(workspace(), judgments(), name).edits())
        if number:
            found[name] = number
    return found


def last_runs() -> list[LastRun]:
    """Return the `NEWEST` runs, each compared with the best of the others on its data set and corpus, by the default labels."""
    runs = sorted(list_runs(workspace()), key=lambda run: run.created, reverse=True)
    current = {name: open_corpus(workspace(), name).manifest.hash for name in workspace().corpora()}
    fresh = [
        run for run in runs if current.get(run.corpus) == run.corpus_hash and run.dataset in workspace().datasets()
    ]
    shown = fresh[:NEWEST]
    source = default_source(workspace())
    beside = {(run.dataset, run.corpus) for run in shown}
    values = {
        run.name: 100 * score_of(run, source, MEASURE).estimate.value
        for run in fresh
        if (run.dataset, run.corpus) in beside
    }
    found = []
    for run in shown:
        others = [
            values[other.name]
            for other in fresh
            if other != run
            and (other.dataset, other.corpus) == (run.dataset, run.corpus)
            and not math.isnan(values[other.name])
        ]
        found.append(LastRun(run, values[run.name], values[run.name] - max(others) if others else math.nan))
    return found


def telling_run() -> str:
    """Return the name of the run among the newest that finds least: a page about what runs miss opens on it. The text is empty
    where no value is known."""
    try:
        valued = [last for last in last_runs() if not math.isnan(last.value)]
    except BerdseyeError:  # the page reports what is wrong with the run that a person chooses
        return ""
    return min(valued, key=lambda last: last.value).run.name if valued else ""

"""Two people accept conflicting edits at the same moment: one wins, the other is told.

Each has a database engine of their own, so that threads meet as processes do, but for the process that waits; the slow test
has two processes.
"""

import multiprocessing
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from edit_race import accept_at

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.perspective_edits.changes import Change
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace

ROUNDS = 6


def race(workspace: Workspace, url: str, people: Executor) -> None:
    """Over and over; what stands after all is one edit a round, and nothing that does not fit."""
    judgments = Judgments.open(url)
    texts = [(Perspective(f"Left {n}."), Perspective(f"Right {n}.")) for n in range(ROUNDS)]
    save_dataset(workspace, "made", [Question("q", "made", "Which?", tuple(p for two in texts for p in two))])
    log, ana = EditLog(workspace, judgments, "made"), judgments.sign_in("Ana")
    with people:
        for number, (left, right) in enumerate(texts):
            two = [
                log.propose(ana, "q", Change.of("merge", [left, right], [Perspective(f"Both {number}.")])).id,
                log.propose(ana, "q", Change.of("drop", [right], [])).id,
            ]
            moment = time.time() + 0.2
            done = [people.submit(accept_at, workspace.folder, url, edit, moment) for edit in two]
            assert sorted(d.result() for d in done) == ["ConflictError", "accepted"]
    assert log.present().conflicts == {}
    assert sum(e.status == "accepted" for e in log.edits()) == ROUNDS
    judgments.engine.dispose()


def test_of_two_conflicting_edits_accepted_at_once_one_wins(workspace: Workspace, database_url: str) -> None:
    race(workspace, database_url, ThreadPoolExecutor(2))


@pytest.mark.postgres
def test_of_two_conflicting_edits_accepted_at_once_one_wins_on_postgresql(
    workspace: Workspace, postgres_url: str
) -> None:
    race(workspace, postgres_url, ThreadPoolExecutor(2))


@pytest.mark.slow
def test_of_two_processes_that_accept_conflicting_edits_one_wins(workspace: Workspace, database_url: str) -> None:
    race(workspace, database_url, ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")))

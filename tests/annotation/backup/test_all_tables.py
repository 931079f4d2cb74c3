"""One of everything that judging leaves behind, on SQLite and on PostgreSQL, and a backup of all of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, select

from berdseye.annotation.backup.restoring import restore
from berdseye.annotation.backup.writing import back_up
from berdseye.annotation.batches.progress import batch_frame, batch_progress, batch_shares, flags
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import (
    BatchPlan,
    Item,
    close_batch,
    create_batch,
    list_batches,
    load_batch,
    reorder_batch,
)
from berdseye.annotation.guidelines.versions import in_use, judged_by_before, keep, list_guidelines, use
from berdseye.annotation.judgments.adjudication import adjudicate, adjudicated_labels, disputes
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.pace import midnight, pace
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.annotation.label_studio.exchange_state import Agreed, Place, read_agreed, write_agreed, write_tasks
from berdseye.annotation.label_studio.form import RecordedVerdict
from berdseye.annotation.label_studio.project import batch_purposes, write_purpose
from berdseye.annotation.people import Identity, person_of
from berdseye.annotation.perspective_edits.changes import Change
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.training_sets.labelling import training_data
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.agreement.labels import stored_labels
from tests.annotation.made_pairs import record


def work(workspace: Workspace, url: str) -> Judgments:
    """Judge, decide, edit and exchange, looking at what each leaves behind."""
    judgments = Judgments.open(url)
    ana, bo, eve = (
        person_of(judgments, Identity("https://id", n, n, f"{n}@example.org")) for n in ("Ana", "Bo", "Eve")
    )
    first = use(judgments, "Read **all** of it.", made_by="Eve")
    own = keep(judgments, "Only the first sentence counts.", made_by="Eve")
    plan = BatchPlan(
        "trial", per_pair=2, order="decision", blind=False, shown_share=0.5, seed=3, guidelines=own.version
    )
    items = [Item(record(n), 0.1 * n, n > 4, value=float(n)) for n in range(8)]
    batch = create_batch(judgments, plan, items)
    create_batch(judgments, BatchPlan("calm", people=("Ana",), calibration=1), items[:2])
    assert (in_use(judgments).version, in_use(judgments, "judge", batch).version) == (first.version, own.version)
    queue = BatchQueue(judgments, batch)
    for person, words in ((ana, ("supports", "supports", "unsure")), (bo, ("does not support", "supports"))):
        for word in words:
            key = queue.next(person)
            assert key is not None
            queue.give(person, key, word, JudgmentDetails("=1+1", 2.5, [(0, 7)], own.version))
    held = queue.next(ana)
    assert held is not None
    assert queue.undo(ana) != held
    queue.skip(bo, str(queue.next(bo)), JudgmentDetails(guidelines=own.version))
    queue.leave(bo)
    assert queue.next(ana) is not None, "her reservation stays"
    reorder_batch(judgments, batch, {items[0].record.key: 99.0})
    assert batch_progress(judgments, batch, time=0.0).judgments == 4
    assert batch_frame(judgments, batch)["place"].nunique() == 8
    assert len(batch_shares(judgments, batch)) == 2
    assert judged_by_before(judgments, ana, "judge", batch) == own.version
    assert pace(judgments, bo, midnight()).pairs >= 2
    judgments.flag(bo, items[7].record.key, source="annotate", comment="two views")
    assert len(flags(judgments, batch)) == 1
    (dispute,) = disputes(judgments, batch)
    adjudicate(judgments, eve, dispute.key, "supports", comment="read on")
    assert adjudicated_labels(judgments)[dispute.key] == "supports"
    assert {"arm", "guidelines"} <= set(stored_labels(judgments).columns)
    assert len(training_data(judgments.frame(), adjudicated=adjudicated_labels(judgments)))
    close_batch(judgments, load_batch(judgments, "calm"))
    assert [b.is_open for b in list_batches(judgments)].count(False) == 1
    _edit(workspace, judgments)
    _exchange(judgments, batch.id, items[0].record.key)
    return judgments


def _edit(workspace: Workspace, judgments: Judgments) -> None:
    save_dataset(workspace, "made", [Question("q", "made", "Why?", (Perspective("A.", "supporting"),))])
    log = EditLog(workspace, judgments, "made")
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    edit = log.propose(ana, "q", Change.of("propose", (), (Perspective("B."),)), comment="missing")
    log.undo(bo, log.accept(bo, edit.id).id)
    assert log.accept(bo, edit.id).status == "accepted"


def _exchange(judgments: Judgments, batch: int, key: str) -> None:
    ana = judgments.sign_in("Ana")
    write_purpose(judgments, "7@2026", batch, ana.id)
    assert [p.person for p in batch_purposes(judgments, batch)]
    with judgments.engine.begin() as connection:
        write_tasks(connection, "7@2026", {key: 11})
        write_agreed(connection, "7@2026", {Place(key, ana.id): Agreed(RecordedVerdict("supports", ""), 5)})
        assert read_agreed(connection, "7@2026", [key]) == {Place(key, ana.id): RecordedVerdict("supports", "")}


def rows(judgments: Judgments) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    tables = MetaData()
    tables.reflect(judgments.engine)
    with judgments.reading() as connection:
        return {
            name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for name, table in tables.tables.items()
        }


def check(workspace: Workspace, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the work on a database, back it up, and find every row again."""
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", url)
    judgments = work(workspace, url)
    before = rows(judgments)
    judgments.engine.dispose()
    assert [name for name, held in before.items() if not held] == [], "the work fills every table"
    back_up(workspace, folder / "all.zip")
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL")
    made, _ = restore(folder / "all.zip", folder / "again")
    restored = Judgments.open(made.judgments_url)
    assert rows(restored) == before
    versions = {one.version: one.text for one in list_guidelines(restored)}
    assert set(versions.values()) >= {"Read **all** of it.", "Only the first sentence counts."}
    assert [e.status for e in EditLog(made, restored, "made").edits()] == ["accepted"]
    restored.engine.dispose()


def test_a_backup_carries_every_table(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(workspace, f"sqlite:///{tmp_path / 'judged.db'}", tmp_path, monkeypatch)


@pytest.mark.postgres
def test_all_of_it_on_postgresql(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_postgres: Callable[[], str]
) -> None:
    check(workspace, new_postgres(), tmp_path, monkeypatch)

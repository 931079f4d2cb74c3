"""Each fault of a judgments database, made on purpose: it is found, said in a line, and mended without losing a word."""

import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from berdseye.annotation.batches.check_items import CheckItem, create_check_batch
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.checks import check_form
from berdseye.annotation.doctor.examine import examine, fix_all
from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.exchange_state import Agreed, Place, write_agreed, write_sent
from berdseye.annotation.label_studio.form import RecordedVerdict
from tests.annotation.made_pairs import record


class Ward(NamedTuple):
    """A database with a batch of four pairs, two people and a few words; `sql` writes behind its back."""

    judgments: Judgments
    file: Path
    keys: list[str]
    ana: Annotator
    bo: Annotator

    def sql(self, *statements: str) -> None:
        with sqlite3.connect(self.file) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    def log(self) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.file) as connection:
            found = connection.execute("SELECT * FROM events ORDER BY id").fetchall()
        connection.close()
        return found

    def words(self) -> set[tuple[str, str, str]]:
        return {(j.pair, j.annotator.name, j.verdict) for j in self.judgments.present()}


@pytest.fixture
def ward(judgments: Judgments, tmp_path: Path) -> Ward:
    pairs = [record(number) for number in range(4)]
    batch = create_batch(judgments, BatchPlan("first", per_pair=2, people=("Ana", "Bo")), [Item(p) for p in pairs])
    ana, bo = judgments.annotator("Ana"), judgments.annotator("Bo")
    keys = [pair.key for pair in pairs]
    for person, verdict in ((ana, "supports"), (bo, "does not support")):
        queue = BatchQueue(judgments, batch)
        for _ in range(2):
            pair = queue.next(person)
            assert pair is not None
            queue.give(person, pair, verdict)
        queue.next(person)
    return Ward(judgments, tmp_path / "judgments.db", keys, ana, bo)


def checks(ward: Ward) -> list[str]:
    return [finding.check for finding in examine(ward.judgments)]


def mended(ward: Ward) -> None:
    """Mend, and see that nothing is left and every event is as it was."""
    before = ward.log()
    done, left = fix_all(ward.judgments, lambda: examine(ward.judgments))
    assert done
    assert left == []
    assert ward.log()[: len(before)] == before


def test_a_sound_database_has_no_finding(ward: Ward) -> None:
    assert ward.judgments.undo(ward.bo) is not None
    ward.judgments.flag(ward.ana, ward.keys[0], source="annotate")
    ward.judgments.withdraw(ward.ana, ward.keys[0], source="annotate")
    assert examine(ward.judgments) == []


BREAK = {
    "counter": ("batch counters", "UPDATE batch_items SET judged = judged + 1 WHERE place = 0"),
    "split": ("batch counters", "UPDATE batch_items SET split = split - 1"),
    "pair not in the batch": (
        "reservations",
        "DELETE FROM batch_items WHERE pair IN (SELECT pair FROM reservations WHERE annotator_id = {ana})",
    ),
    "not for this person": ("reservations", "DELETE FROM batch_people WHERE annotator_id = {ana}"),
    "closed": ("reservations", "INSERT INTO batch_events (batch_id, at, made_by, kind) VALUES (1, '', '', 'close')"),
    "reservation of nobody": ("references", "UPDATE reservations SET annotator_id = 77 WHERE id = 1"),
    "person gone": ("references", "DELETE FROM annotators WHERE id = {bo}"),
    "task of no pair": ("references", "INSERT INTO sync_tasks (project, pair, task) VALUES ('1@x', 'no', 1)"),
}


@pytest.mark.parametrize("fault", BREAK)
def test_files_next_to_the_log_are_repaired(ward: Ward, fault: str) -> None:
    expected, statement = BREAK[fault]
    words = {(pair, verdict) for pair, _, verdict in ward.words()}
    ward.sql(statement.format(ana=ward.ana.id, bo=ward.bo.id))
    assert expected in checks(ward)
    mended(ward)
    assert {(pair, verdict) for pair, _, verdict in ward.words()} == words


def test_a_wrong_index_is_rebuilt(ward: Ward) -> None:
    """Rows are written while SQLite takes the index for one that leaves them out."""
    real = "SELECT sql FROM sqlite_master WHERE name = 'events_by_pair'"
    with sqlite3.connect(ward.file) as connection:
        sql = connection.execute(real).fetchone()[0]
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = sql || ' WHERE pair IS NULL' WHERE name = 'events_by_pair'")
        connection.execute("PRAGMA schema_version = 9001")
    connection.close()
    ward.judgments.engine.dispose()
    ward.judgments.judge(ward.ana, ward.keys[3], "supports", source="annotate")
    with sqlite3.connect(ward.file) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'events_by_pair'", (sql,))
        connection.execute("PRAGMA schema_version = 9002")
    connection.close()
    ward.judgments.engine.dispose()
    assert checks(ward)[0] == "integrity"
    mended(ward)


def test_a_damaged_file_is_reported_and_not_changed(ward: Ward) -> None:
    ward.judgments.engine.dispose()
    ward.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    held = bytearray(ward.file.read_bytes())
    with sqlite3.connect(ward.file) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'pairs'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    held[(page - 1) * size : (page - 1) * size + 64] = b"\xff" * 64
    ward.file.write_bytes(held)
    found = examine(ward.judgments)
    assert found
    assert all(finding.fix is None for finding in found)
    assert "backup" in str(found[0])
    assert fix_all(ward.judgments, lambda: examine(ward.judgments)) == ([], found)


def test_an_undo_of_an_undo_means_the_word(ward: Ward) -> None:
    words = ward.words()
    ward.judgments.undo(ward.bo)
    taken = ward.log()[-1][0]
    ward.sql(
        "INSERT INTO events (uid, at, annotator_id, pair, kind, comment, source, target) "
        f"SELECT 'u2', at, annotator_id, pair, 'undo', '', 'annotate', {taken} FROM events WHERE id = {taken}"
    )
    assert checks(ward) == ["undo"]
    mended(ward)
    assert ward.words() == words


def test_a_verdict_that_somebody_else_undid_counts_again(ward: Ward) -> None:
    words = ward.words()
    ward.sql(
        "INSERT INTO events (uid, at, annotator_id, pair, kind, comment, source, target) "
        f"SELECT 'u2', at, {ward.bo.id}, pair, 'undo', '', 'annotate', id FROM events WHERE annotator_id = {ward.ana.id}"
        " ORDER BY id LIMIT 1"
    )
    assert ward.words() < words
    assert checks(ward) == ["undo"]
    mended(ward)
    assert ward.words() == words


def test_a_later_verdict_is_not_overruled(ward: Ward) -> None:
    ward.judgments.undo(ward.bo)
    last = ward.log()[-1]
    ward.judgments.judge(ward.bo, last[4], "unsure", source="annotate")
    ward.sql(
        "INSERT INTO events (uid, at, annotator_id, pair, kind, comment, source, target) "
        f"SELECT 'u2', at, annotator_id, pair, 'undo', '', 'annotate', id FROM events WHERE id = {last[0]}"
    )
    assert checks(ward) == []


def test_an_undo_of_nothing_is_reported(ward: Ward) -> None:
    ward.sql("UPDATE events SET kind = 'undo', target = 999 WHERE id = 1")
    found = [finding for finding in examine(ward.judgments) if finding.check == "undo"]
    assert ["event 1" in finding.text and finding.fix is None for finding in found] == [True]


def test_a_word_recorded_twice_is_taken_back_once(ward: Ward) -> None:
    words = ward.words()
    names = "at, annotator_id, pair, kind, verdict, comment, source, batch"
    ward.sql(f"INSERT INTO events (uid, {names}) SELECT 'twice', {names} FROM events WHERE id = 1")
    assert checks(ward) == ["doubled judgment"]
    mended(ward)
    assert ward.words() == words


def test_the_same_word_given_again_later_is_no_double(ward: Ward) -> None:
    for _ in range(2):
        ward.judgments.judge(ward.ana, ward.keys[0], "supports", source="annotate")
    assert checks(ward) == []


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("UPDATE events SET batch = 9 WHERE id = 1", "unknown batch"),
        ("UPDATE events SET verdict = 'perhaps' WHERE id = 1", "unreadable judgment"),
        ("UPDATE events SET verdict = NULL WHERE id = 1", "unreadable judgment"),
        ("UPDATE events SET pair = 'gone' WHERE id = 1", "references"),
    ],
)
def test_damage_that_only_a_backup_repairs_is_reported(ward: Ward, statement: str, check: str) -> None:
    ward.sql(statement)
    found = [finding for finding in examine(ward.judgments) if finding.check == check]
    assert len(found) == 1
    assert found[0].fix is None
    assert "By hand: " in str(found[0])


def test_verdicts_of_every_task_are_known(ward: Ward) -> None:
    held, ana = ward.judgments, ward.ana
    item = CheckItem("v", "Document.", "View.")
    batch = create_check_batch(held, "checks", "addresses", [item], dataset="made", per_pair=1)
    key = item.key(check_form("addresses"))
    BatchQueue(held, batch).give(ana, key, "harmful")
    adjudicate(held, ana, key, "no")
    create_batch(held, BatchPlan("answers", task="prefer"), [Item(record(90))])
    adjudicate(held, ana, record(90).key, "second", task="prefer")
    assert checks(ward) == []
    ward.sql("UPDATE events SET verdict = 'supports' WHERE kind = 'check'")
    assert checks(ward) == ["unreadable judgment"]


def test_notes_of_an_exchange_that_never_was_are_forgotten(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    place, said = Place(ward.keys[0], ward.ana.id), RecordedVerdict("supports", "")
    with ward.judgments.engine.begin() as connection:
        write_agreed(connection, "1@x", {place: Agreed(RecordedVerdict("unsure", "never said"), 5)})
        write_agreed(connection, "2@x", {place: Agreed(said, 5)})
        write_sent(connection, "2@x", {place: said})
    assert checks(ward) == ["exchange"]
    mended(ward)
    monkeypatch.setattr("berdseye.annotation.doctor.checks.ARRIVES_WITHIN", -10)
    assert checks(ward) == ["exchange"]
    mended(ward)
    ward.sql("DELETE FROM sync_annotations WHERE project = '2@x' AND verdict = 'supports'")
    assert len(ward.words()) == 4

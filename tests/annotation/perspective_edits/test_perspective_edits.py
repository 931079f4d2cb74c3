"""The log of edits: who may decide, what conflicts, what is taken back, versions, and files."""

import json
from pathlib import Path
from uuid import uuid4

import pytest

from berdseye.annotation.backup.restoring import restore
from berdseye.annotation.backup.writing import back_up
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.perspective_edits.changes import Change, ConflictError
from berdseye.annotation.perspective_edits.exchange import export_edits, import_edits
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.versions import attention, create_version, next_version
from berdseye.data.datasets.stored import dataset_names, load_dataset, save_dataset
from berdseye.data.datasets.versions import list_versions, parts_of_perspectives, questions_hash, version_problem
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from tests.annotation.made_pairs import record

A, B, C = (Perspective(f"{letter} is right.") for letter in "ABC")
NEW, OTHER = Perspective("New.", "opposing"), Perspective("Other.", "supporting")
MERGE = Change.of("merge", [A, B], [NEW])


@pytest.fixture
def log(workspace: Workspace, judgments: Judgments) -> EditLog:
    """Two questions without any edit."""
    save_dataset(workspace, "made", [Question("q1", "made", "Which?", (A, B, C)), Question("q2", "made", "Why?", (A,))])
    return EditLog(workspace, judgments, "made")


@pytest.fixture
def ana(judgments: Judgments) -> Annotator:
    return judgments.sign_in("Ana")


@pytest.fixture
def bo(judgments: Judgments) -> Annotator:
    return judgments.sign_in("Bo")


def now_of(log: EditLog, question: str = "q1") -> tuple[Perspective, ...]:
    return next(q.perspectives for q in log.present().questions if q.id == question)


def test_an_edit_counts_once_someone_else_accepts_it(log: EditLog, ana: Annotator, bo: Annotator) -> None:
    edit = log.propose(ana, "q1", MERGE, comment=" both say so\x00 ")
    assert (edit.status, edit.comment, edit.by) == ("open", "both say so", ana)
    assert now_of(log) == (A, B, C)
    with pytest.raises(BadInputError, match="is your own"):
        log.accept(ana, edit.id)
    accepted = log.accept(bo, edit.id, comment="yes")
    assert accepted.decision is not None
    assert (accepted.decision.by, accepted.decision.comment) == (bo, "yes")
    assert now_of(log) == (NEW, C)
    assert now_of(log, "q2") == (A,)
    with pytest.raises(BadInputError, match="already accepted by Bo"):
        log.reject(bo, edit.id)
    own = log.propose(ana, "q1", Change.of("drop", [C], []))
    assert log.accept(ana, own.id, own=True).status == "accepted"


def test_rejecting_all_leaves_the_original(log: EditLog, ana: Annotator, bo: Annotator) -> None:
    for change in (MERGE, Change.of("drop", [A], []), Change.of("propose", [], [NEW])):
        log.reject(bo, log.propose(ana, "q1", change).id)
    assert log.present().questions == log.base


def test_taking_back_gives_the_state_before_and_not_what_others_build_on(
    log: EditLog, ana: Annotator, bo: Annotator
) -> None:
    first = log.accept(bo, log.propose(ana, "q1", MERGE).id)
    second = log.accept(bo, log.propose(ana, "q1", Change.of("reword", [NEW], [OTHER])).id)
    with pytest.raises(ConflictError, match=f"Edit {second.id} builds on edit {first.id}"):
        log.undo(bo, first.id)
    assert log.undo(bo, second.id).status == "open"
    assert now_of(log) == (NEW, C)
    assert log.undo(ana, first.id).status == "open"
    assert now_of(log) == (A, B, C)
    with pytest.raises(BadInputError, match="Ana's proposal"):
        log.undo(bo, first.id)
    assert log.undo(ana, first.id).status == "withdrawn"
    with pytest.raises(BadInputError, match="already withdrawn"):
        log.undo(ana, first.id)
    with pytest.raises(BadInputError, match="is already withdrawn"):
        log.accept(bo, first.id)
    rejected = log.reject(bo, second.id)
    assert log.undo(bo, rejected.id).status == "open"


def test_two_edits_of_one_perspective_are_a_conflict_that_names_both(
    log: EditLog, ana: Annotator, bo: Annotator
) -> None:
    merge = log.propose(ana, "q1", MERGE)
    reword = log.propose(bo, "q1", Change.of("reword", [A], [OTHER]))
    log.accept(bo, merge.id)
    with pytest.raises(ConflictError, match=f"Edit {reword.id} conflicts with edit {merge.id}, which Bo accepted"):
        log.accept(ana, reword.id)
    assert now_of(log) == (NEW, C)
    with pytest.raises(ConflictError, match=f"“{B.text}”"):
        log.propose(ana, "q1", Change.of("drop", [B], []))
    with pytest.raises(UnknownNameError, match="'q3'"):
        log.propose(ana, "q3", MERGE)
    with pytest.raises(UnknownNameError, match="999"):
        log.accept(bo, 999)


def test_the_same_uid_is_recorded_once(log: EditLog, ana: Annotator) -> None:
    uid = str(uuid4())
    assert log.propose(ana, "q1", MERGE, uid=uid) == log.propose(ana, "q1", MERGE, uid=uid)
    assert len(log.edits()) == 1


def test_a_made_up_person_edits_nothing(log: EditLog, judgments: Judgments) -> None:
    with pytest.raises(BadInputError, match="simulated annotator"):
        log.propose(judgments.sign_in("Noor", demo=True), "q1", MERGE)


# Versions ----------------------------------------------------------------------------------------------------------------


def test_accepted_edits_become_a_version_and_the_original_stays(
    log: EditLog, workspace: Workspace, ana: Annotator, bo: Annotator
) -> None:
    with pytest.raises(BadInputError, match="Nothing differs from made"):
        create_version(log, "Bo")
    merge = log.accept(bo, log.propose(ana, "q1", MERGE, comment="same").id)
    log.propose(ana, "q1", Change.of("drop", [C], []))
    coming = next_version(log)
    assert (coming.name, coming.parent, coming.unfit) == ("made@2", "made", [])
    [change] = coming.changes
    assert (change.question.id, change.removed, change.added) == ("q1", (A, B), (NEW,))
    made = create_version(log, "Bo")
    assert load_dataset(workspace, "made") == load_dataset(workspace, "made@1") == log.base
    held = load_dataset(workspace, "made@2")
    assert [q.perspectives for q in held] == [(NEW, C), (A,)]
    assert {q.dataset for q in held} == {"made"}
    assert (made.parent, made.made_by, made.hash) == ("made", "Bo", questions_hash(held))
    [edit] = made.edits
    assert (edit["uid"], edit["proposed_by"], edit["accepted_by"]) == (merge.uid, "Ana", "Bo")
    assert edit["accepted_at"] > edit["proposed_at"]
    assert list_versions(workspace, "made") == [made]
    assert (workspace.datasets(), dataset_names(workspace)) == (["made"], ["made", "made@2"])
    assert parts_of_perspectives(workspace) == {NEW.text: [(A.text, B.text)]}
    with pytest.raises(BadInputError, match="Nothing differs from made@2"):
        create_version(log, "Bo")
    with pytest.raises(UnknownNameError, match="made@2"):
        load_dataset(workspace, "made@3")


def test_the_next_version_may_lack_what_was_taken_back(
    log: EditLog, workspace: Workspace, ana: Annotator, bo: Annotator
) -> None:
    edit = log.accept(bo, log.propose(ana, "q1", MERGE).id)
    second = create_version(log, "Bo")
    log.undo(bo, edit.id)
    third = create_version(log, "Ana")
    assert (third.name, third.parent, third.edits) == ("made@3", "made@2", ())
    assert load_dataset(workspace, "made@3") == log.base
    assert load_dataset(workspace, "made@2")[0].perspectives == (NEW, C)
    assert version_problem(workspace, second) == version_problem(workspace, third) == ""


def test_a_data_set_that_was_replaced_is_reported(
    log: EditLog, workspace: Workspace, judgments: Judgments, ana: Annotator, bo: Annotator
) -> None:
    edit = log.accept(bo, log.propose(ana, "q1", MERGE).id)
    made = create_version(log, "Bo")
    save_dataset(workspace, "made", [Question("q1", "made", "Which?", (B, C)), Question("q2", "made", "Why?", (A,))])
    assert "was replaced" in version_problem(workspace, made)
    later = EditLog(workspace, judgments, "made")
    assert [e.id for e, _ in next_version(later).unfit] == [edit.id]
    with pytest.raises(BadInputError, match=f"Edit {edit.id} no longer fits"):
        create_version(later, "Bo")
    later.undo(bo, edit.id)
    path = workspace.folder / "datasets" / "versions" / "made" / "2.parquet"
    path.write_bytes((workspace.dataset_file("made")).read_bytes())
    assert version_problem(workspace, made) == "its file has changed since it was written"


def test_a_version_without_its_manifest_was_not_finished(
    log: EditLog, workspace: Workspace, ana: Annotator, bo: Annotator
) -> None:
    log.accept(bo, log.propose(ana, "q1", MERGE).id)
    made = create_version(log, "Bo")
    manifest = workspace.folder / "datasets" / "versions" / "made" / "2.json"
    manifest.unlink()
    assert dataset_names(workspace) == ["made"]
    again = create_version(log, "Bo")
    assert (again.name, again.hash) == (made.name, made.hash)


@pytest.mark.usefixtures("log")
def test_a_backup_holds_the_edits_and_the_versions(workspace: Workspace, tmp_path: Path) -> None:
    held = Judgments.open(workspace.judgments_url)
    there = EditLog(workspace, held, "made")
    one, other = held.sign_in("Ana"), held.sign_in("Bo")
    there.accept(other, there.propose(one, "q1", MERGE).id)
    create_version(there, "Bo")
    edits = there.edits()
    held.engine.dispose()
    back_up(workspace, tmp_path / "backup.zip")
    restored, _ = restore(tmp_path / "backup.zip", tmp_path / "again")
    back = Judgments.open(restored.judgments_url)
    assert EditLog(restored, back, "made").edits() == edits
    assert load_dataset(restored, "made@2") == load_dataset(workspace, "made@2")
    back.engine.dispose()


def test_judgments_are_counted_by_perspective(judgments: Judgments, ana: Annotator, bo: Annotator) -> None:
    keys = judgments.add_pairs([record(0), record(1)])
    for person in (ana, bo):
        judgments.judge(person, keys[0], "supports", source="annotate")
    judgments.skip(ana, keys[1], source="annotate")
    judgments.flag(bo, keys[1], source="annotate", comment="two in one")
    found = attention(judgments, ["Perspective 0.", "Perspective 1.", "None."])
    assert found == [(2, ()), (0, (("Bo", "two in one"),)), (0, ())]


# Files -------------------------------------------------------------------------------------------------------------------


def test_a_log_goes_through_a_file_into_another_database(
    log: EditLog, workspace: Workspace, judgments: Judgments, ana: Annotator, bo: Annotator, tmp_path: Path
) -> None:
    first = log.accept(bo, log.propose(ana, "q1", MERGE, comment="=1+1 <b>").id)
    log.reject(bo, log.propose(ana, "q1", Change.of("drop", [C], [])).id)
    log.undo(bo, first.id)
    log.accept(bo, first.id)
    file = tmp_path / "edits.jsonl"
    assert export_edits(judgments, file) == 6
    other = Judgments.open(f"sqlite:///{tmp_path / 'other.db'}")
    assert import_edits(workspace, other, file) == (6, 0)
    assert import_edits(workspace, other, file) == (0, 6)
    there = EditLog(workspace, other, "made")
    assert there.present().questions == log.present().questions
    said = [(e.uid, e.at, e.by.name, e.comment, e.status) for e in log.edits()]
    assert [(e.uid, e.at, e.by.name, e.comment, e.status) for e in there.edits()] == said
    other.engine.dispose()


def test_proposals_come_from_a_plain_file_and_a_bad_line_adds_nothing(
    log: EditLog, workspace: Workspace, judgments: Judgments, ana: Annotator, tmp_path: Path
) -> None:
    file = tmp_path / "edits.jsonl"
    row = {
        "dataset": "made",
        "question_id": "q1",
        "action": "merge",
        "parts": ["A is right.", "2"],
        "becomes": ["New."],
    }
    bad = [
        {**row, "parts": ["Gone."]},
        {**row, "action": "mix"},
        {**row, "dataset": "none"},
        {**row, "becomes": [{"text": ""}]},
        {**row, "uid": "1"},
        {"dataset": "made", "kind": "accept", "target": "nobody"},
        {**row, "parts": "A"},
    ]
    for wrong in bad:
        file.write_text(f"{json.dumps(row)}\n{json.dumps(wrong)}\n")
        with pytest.raises(BadInputError, match=r"edits\.jsonl:2: "):
            import_edits(workspace, judgments, file, ana)
    assert log.edits() == []
    file.write_text(json.dumps(row))
    with pytest.raises(BadInputError, match="does not name its person"):
        import_edits(workspace, judgments, file)
    assert import_edits(workspace, judgments, file, ana) == (1, 0)
    assert log.edits()[0].change == Change.of("merge", [A, B], [Perspective("New.")])


def test_a_log_twice_as_long_takes_twice_the_work(
    workspace: Workspace, judgments: Judgments, ana: Annotator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_dataset(workspace, "made", [Question(f"q{n}", "made", f"Why {n}?", (A,)) for n in range(80)])
    looks: list[int] = []

    def counted(edit: Change, perspectives: tuple[Perspective, ...]) -> tuple[Perspective, ...]:
        looks.append(1)
        return apply(edit, perspectives)

    apply = Change.apply
    monkeypatch.setattr(Change, "apply", counted)
    work = []
    for first, count in ((0, 20), (20, 40)):
        lines = []
        for n in range(first, first + count):
            uid = str(uuid4())
            rest = {"dataset": "made", "by": "Bo"}
            proposal = {
                "question_id": f"q{n}",
                "action": "reword",
                "parts": ["1"],
                "becomes": [f"New {n}."],
                "uid": uid,
            }
            lines += [rest | proposal, rest | {"kind": "accept", "target": uid}]
        file = tmp_path / f"{first}.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)))
        assert import_edits(workspace, judgments, file, ana) == (2 * count, 0)
        work.append(len(looks))
        looks.clear()
    assert work == [40, 80], "an edit is looked at when it is proposed, and when it is accepted"
    assert sum(e.status == "accepted" for e in EditLog(workspace, judgments, "made").edits()) == 60

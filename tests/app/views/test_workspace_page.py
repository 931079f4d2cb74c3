"""The page Workspace changes settings, shows and repairs faults, makes and restores backups, and says what takes space."""

import time
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.backup.listing import list_backups, new_backup_path
from berdseye.annotation.backup.writing import back_up
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.access.session import workspace as opened
from berdseye.app.components.upkeep.settings_panel import SETTINGS
from berdseye.app.jobs.running import Job, list_jobs
from berdseye.data.workspace import DEFAULTS, Workspace
from tests.annotation.made_pairs import record
from tests.app.drawn_page import again, drawn, says, texts


def written(workspace: Workspace) -> dict[str, Any]:
    return tomllib.loads((workspace.folder / "berdseye.toml").read_text(encoding="utf-8"))


def pressed(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception, [e.value for e in at.exception]
    return at


def judged(workspace: Workspace) -> Judgments:
    judgments = Judgments.open(workspace.judgments_url)
    ana = judgments.sign_in("Ana")
    for key in judgments.add_pairs(record(n) for n in range(3)):
        judgments.judge(ana, key, "supports", source="annotate")
    return judgments


def test_every_setting_has_a_widget_or_a_table() -> None:
    single = {(section, key) for section, table in DEFAULTS.items() for key in table}
    assert set(SETTINGS) == single - {("language_models", "prices"), ("people", "roles")}


def test_a_saved_setting_takes_effect_and_keeps_the_comments(at_hand: Workspace) -> None:
    path = at_hand.folder / "berdseye.toml"
    path.write_text("# ours\n[judging]\nbreak_minutes = 45  # minutes\n")
    at = drawn("workspace")
    assert at.button(key="settings-save").disabled
    at.number_input(key="set-judging-break_minutes").set_value(20.0).run()
    assert says(at, "Break after.*45 → 20")
    pressed(at, "settings-save")
    assert says(at, "settings are saved", "success")
    assert path.read_text() == "# ours\n[judging]\nbreak_minutes = 20.0  # minutes\n"
    assert opened().settings["judging"]["break_minutes"] == 20.0


def test_an_invalid_setting_is_reported_and_stays_in_its_widget(at_hand: Workspace) -> None:
    before = (at_hand.folder / "berdseye.toml").read_bytes()
    at = drawn("workspace")
    at.text_input(key="set-people-address").set_value("http://example.org").run()
    pressed(at, "settings-save")
    assert says(at, "must be an https URL", "error")
    assert at.text_input(key="set-people-address").value == "http://example.org"
    assert (at_hand.folder / "berdseye.toml").read_bytes() == before


def test_what_another_person_saved_meanwhile_is_not_overwritten(at_hand: Workspace) -> None:
    at = drawn("workspace")
    path = at_hand.folder / "berdseye.toml"
    path.write_text(path.read_text().replace("unsure = 0.15", "unsure = 0.2"))
    at.number_input(key="set-judging-break_minutes").set_value(20.0).run()
    pressed(at, "settings-save")
    assert says(at, "have changed since", "error")
    assert says(at, "Unsure within is now 0.2; it was 0.15")
    assert written(at_hand)["judging"]["break_minutes"] == 45.0
    pressed(at, "settings-compare")
    pressed(at, "settings-save")
    assert written(at_hand)["judging"]["break_minutes"] == 20.0
    assert written(at_hand)["detectors"]["unsure"] == 0.2


def test_secrets_are_never_shown(at_hand: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", f"sqlite:///{at_hand.folder / 'judgments.db'}")
    path = at_hand.folder / "berdseye.toml"
    path.write_text('[judgments]\nurl = "postgresql://ana:hunter2@host/db"\n')
    at = drawn("workspace")
    assert at.text_input(key="set-judgments-url").value == "postgresql://ana:***@host/db"
    assert at.button(key="settings-save").disabled
    table = at.dataframe[-1].value.set_index("variable")["state"]
    assert table["OPENAI_API_KEY"] == "set"
    assert table["PGPASSWORD"] == "not set"
    shown = texts(at) + repr(at.main)
    assert "sk-very-secret" not in shown
    assert "hunter2" not in shown
    at.text_input(key="set-judgments-url").set_value("postgresql://ana:***@other/db").run()
    pressed(at, "settings-save")
    assert says(at, "Enter the whole URL", "error")
    assert "hunter2" in path.read_text()


def test_health_lists_a_damaged_file_with_its_remedy(demo: Workspace) -> None:
    at = drawn("workspace", tab="Health")
    assert says(at, "0 problems")
    run = sorted(demo.runs_folder.glob("*.parquet"))[0]
    run.write_bytes(run.read_bytes()[:-1] + b"?")
    pressed(at, "health-check")
    assert says(at, "1 problem,")
    assert says(at, f"Runs\\*\\* · problem · runs/{run.name[:10]}")
    assert f"problem\tRuns\truns/{run.name}" in at.code[-1].value


def test_faults_of_the_judgments_are_fixed_by_a_button(at_hand: Workspace) -> None:
    judgments = judged(at_hand)
    create_batch(judgments, BatchPlan(name="first"), [Item(record(n)) for n in range(2)])
    with judgments.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE batch_items SET judged = judged + 1")
    at = drawn("workspace", tab="Health")
    assert says(at, "Judgments.*problem")
    button = next(one for one in at.button if one.label == "Fix")
    pressed(at, str(button.key))
    assert says(at, "fixed; 0 faults left", "success")
    assert says(at, "Judgments.*ok")


@pytest.fixture
def backup(at_hand: Workspace) -> Path:
    judged(at_hand)
    at_hand.backups_folder.mkdir()
    path = new_backup_path(at_hand)
    back_up(at_hand, path)
    return path


def test_a_backup_is_made_as_a_job(at_hand: Workspace) -> None:
    judged(at_hand)
    at = drawn("workspace", tab="Backup")
    assert says(at, "No backup has been made")
    pressed(at, "backup-make")
    until = time.monotonic() + 60
    while any(job.runs for job in list_jobs(at_hand)) and time.monotonic() < until:
        time.sleep(0.2)
    assert [job.state for job in list_jobs(at_hand)] == ["done"]
    again(at)
    (made,) = list_backups(at_hand)
    assert says(at, f"{made.path.name}.*")
    assert says(at, "3 judgment events.*without corpora")


def test_a_backup_is_checked(backup: Path) -> None:
    at = drawn("workspace", tab="Backup")
    pressed(at, f"check-{backup.name}")
    again(at)
    assert says(at, "Every file matches its checksum")
    backup.write_bytes(backup.read_bytes()[:-200])
    again(at)
    assert says(at, "cannot be read")
    assert not says(at, "Every file matches")


def test_a_backup_is_restored_into_a_new_folder(at_hand: Workspace, backup: Path) -> None:
    at = drawn("workspace", tab="Backup")
    at.selectbox(key="restore-chosen").set_value(backup.name).run()
    assert says(at, "3 judgment events")
    at.text_input(key="restore-name").set_value("again").run()
    pressed(at, "restore-go")
    folder = at_hand.folder.parent / "again"
    assert at.code[-1].value == f"berdseye app --workspace {folder}"
    assert len(Judgments.open(Workspace.open(folder).judgments_url).frame()) == 3


@pytest.mark.parametrize("name", ["../out", "", ".hidden", "a/b"])
def test_a_restored_folder_lies_beside_the_workspace(at_hand: Workspace, backup: Path, name: str) -> None:
    before = sorted(at_hand.folder.parent.iterdir())
    at = drawn("workspace", tab="Backup")
    at.selectbox(key="restore-chosen").set_value(backup.name).run()
    at.text_input(key="restore-name").set_value(name).run()
    pressed(at, "restore-go")
    assert says(at, "cannot be the name", "error")
    assert sorted(at_hand.folder.parent.iterdir()) == before


def flipped(path: Path) -> None:
    """Change one byte of the contents of one file in the archive."""
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo("berdseye.toml").header_offset + 60
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


def renamed(path: Path) -> None:
    """Put a file into the archive that its manifest does not have."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("stranger.txt", "hello")


@pytest.mark.parametrize("damage", [flipped, renamed])
def test_a_damaged_backup_is_not_restored(at_hand: Workspace, backup: Path, damage: Callable[[Path], None]) -> None:
    damage(backup)
    before = sorted(at_hand.folder.parent.iterdir())
    at = drawn("workspace", tab="Backup")
    at.selectbox(key="restore-chosen").set_value(backup.name).run()
    at.text_input(key="restore-name").set_value("again").run()
    pressed(at, "restore-go")
    assert at.error
    assert sorted(at_hand.folder.parent.iterdir()) == before


def test_what_an_interrupted_backup_leaves_is_deleted(at_hand: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    at_hand.backups_folder.mkdir()
    draft = at_hand.backups_folder / ".one.zip.0123abcd.tmp"
    other = at_hand.backups_folder / ".two.zip.0123abcd.tmp"
    for path in (draft, other):
        path.write_bytes(b"half")
    folder = at_hand.jobs_folder / "0001"
    monkeypatch.setattr(
        "berdseye.app.components.upkeep.backup_panel.list_jobs",
        lambda _: [Job(folder, ("backup", "one.zip"), 99_999_999, "", None, None)],  # type: ignore[arg-type]
    )
    drawn("workspace", tab="Backup")
    assert (draft.exists(), other.exists()) == (False, True)


def test_disk_shows_the_parts_by_size(demo: Workspace) -> None:
    for file in ("constructions/mine/steps/00-sources.jsonl", "generated/.wikipedia/x/lists/0.parquet"):
        (demo.folder / file).parent.mkdir(parents=True)
        (demo.folder / file).write_bytes(b"x" * 5000)
    at = drawn("workspace", tab="Disk")
    table = at.dataframe[-1].value
    assert {"Indexes", "Runs", "Judgments", "Labels", "Corpora"} <= set(table["part"])
    sizes = dict(zip(table["part"], table["size"], strict=True))
    assert (sizes["Constructions"], sizes["Dumps of Wikipedia, as read"]) == ("5.0 kB", "5.0 kB")
    assert list(table["share"]) == sorted(table["share"], reverse=True)
    assert table["share"].sum() == pytest.approx(100)

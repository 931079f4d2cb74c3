"""Changes of single settings: what is changed, what stays, and what is refused."""

import threading
from pathlib import Path
from typing import Any

import pytest

from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.settings_file import changed_text, different, read_settings, save_settings
from berdseye.data.workspace import Workspace

WRITTEN = """# Our study.
[judging]
break_minutes = 45.0  # as the ethics board asked

[label_studio]
project = 'Berdseye'

# Prices of May.
[language_models.prices]
"gpt.4" = [1.0, 2.0]
plain = [3, 4] # cheap

[people]
"default_role" = ""
"""


def changed(changes: dict[tuple[str, str], Any], written: str = WRITTEN) -> str:
    return changed_text(written, changes, Path("berdseye.toml"))


def test_a_changed_value_keeps_its_comment_and_all_other_lines() -> None:
    assert changed({("judging", "break_minutes"): 30.0}) == WRITTEN.replace("45.0  #", "30.0  #")


@pytest.mark.parametrize(
    ("change", "value", "line"),
    [
        (("label_studio", "project"), 'A "B" # c\\', 'project = "A \\"B\\" # c\\\\"'),
        (("label_studio", "url"), "http://localhost:1", 'url = "http://localhost:1"'),
        (("people", "default_role"), "annotator", '"default_role" = "annotator"'),
        (("language_models.prices", "plain"), [5.0, 6.5], "plain = [5.0, 6.5] # cheap"),
        (("language_models.prices", "a/b.c"), [0.0, 1.0], '"a/b.c" = [0.0, 1.0]'),
        (("measures", "min_judged"), 0.25, "min_judged = 0.25"),
    ],
)
def test_values_of_every_kind_are_written(change: tuple[str, str], value: object, line: str) -> None:
    text = changed({change: value})
    assert line in text.splitlines()
    kept = [one for one in WRITTEN.splitlines() if one.partition(" = ")[0] != line.partition(" = ")[0]]
    assert set(kept) <= set(text.splitlines())


def test_a_deleted_key_takes_its_line_with_it() -> None:
    text = changed({("language_models.prices", "gpt.4"): None, ("judging", "nothing"): None})
    assert text == WRITTEN.replace('"gpt.4" = [1.0, 2.0]\n', "")


@pytest.mark.parametrize(
    "written",
    [
        "judging = {break_minutes = 45.0}\n",
        "judging.break_minutes = 45.0\n",
        '[judging]\nbreak_minutes = """\n45"""\n',
    ],
)
def test_a_file_in_another_form_is_refused(written: str) -> None:
    with pytest.raises(BadInputError, match=r"cannot change judging\.break_minutes"):
        changed({("judging", "break_minutes"): 30.0}, written)


def test_an_invalid_value_leaves_the_file_as_it_was(workspace: Workspace) -> None:
    before = (workspace.folder / "berdseye.toml").read_bytes()
    version = read_settings(workspace).version
    with pytest.raises(BadInputError, match="must be an https URL"):
        save_settings(workspace, {("people", "address"): "http://example.org"}, version)
    with pytest.raises(BadInputError, match="must be a number"):
        save_settings(workspace, {("judging", "break_minutes"): -1.0}, version)
    assert (workspace.folder / "berdseye.toml").read_bytes() == before
    assert read_settings(workspace).version == version


def test_a_file_that_is_closed_to_others_stays_closed(workspace: Workspace) -> None:
    path = workspace.folder / "berdseye.toml"
    path.chmod(0o600)
    save_settings(workspace, {("judging", "break_minutes"): 20.0}, read_settings(workspace).version)
    assert path.stat().st_mode & 0o777 == 0o600


def test_saved_settings_are_those_that_are_read(workspace: Workspace) -> None:
    read = read_settings(workspace)
    saved = save_settings(workspace, {("judging", "break_minutes"): 20.0}, read.version)
    assert saved == read_settings(workspace)
    assert different(read.settings, saved.settings, [("judging", "break_minutes"), ("detectors", "unsure")]) == [
        ("judging", "break_minutes")
    ]
    assert Workspace.open(workspace.folder).settings["judging"] == {"break_minutes": 20.0}


def test_of_two_people_who_save_at_once_one_gets_an_error(workspace: Workspace) -> None:
    version, ends = read_settings(workspace).version, []

    def save(minutes: float) -> None:
        try:
            save_settings(workspace, {("judging", "break_minutes"): minutes}, version)
            ends.append(minutes)
        except StaleError:
            ends.append(0.0)

    savers = [threading.Thread(target=save, args=(minutes,)) for minutes in (10.0, 20.0)]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert sorted(ends)[0] == 0.0
    assert read_settings(workspace).settings["judging"]["break_minutes"] == max(ends) > 0

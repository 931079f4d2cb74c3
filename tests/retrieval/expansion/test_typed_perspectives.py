"""Perspectives typed by a person: kept, replaced, removed, and never lost between two processes."""

import pytest

from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.file_source import read_generated
from berdseye.retrieval.expansion.manual import ManualPerspectives
from tests.killable import fork_server
from tests.retrieval.expansion.typing_process import type_many


def test_what_is_typed_is_kept_in_order_and_can_be_changed(workspace: Workspace) -> None:
    typed = ManualPerspectives(workspace)
    assert typed.get("Why?") == ()
    typed.put("Why?", [" Because\nof it. ", "", "No reason.", "No reason."])
    typed.put("Where to?", ["Nowhere."])
    assert ManualPerspectives(Workspace.open(workspace.folder)).get(" Why? ") == ("Because of it.", "No reason.")
    assert typed.perspectives(["Where to?", "Why?"]) == [("Nowhere.",), ("Because of it.", "No reason.")]
    before = typed.version
    typed.put("Why?", ["No reason."])
    assert typed.get("Why?") == ("No reason.",)
    assert typed.version != before
    typed.put("Why?", [])
    assert typed.get("Why?") == ()
    typed.put("Where to?", [])
    assert typed.get("Where to?") == ()


def test_a_question_nobody_typed_for(workspace: Workspace) -> None:
    typed = ManualPerspectives(workspace)
    typed.put("Why?", ["Because."])
    with pytest.raises(BadInputError, match=r"manual: 1 of 2 questions have no perspectives here, for example 'How\?'"):
        typed.perspectives(["Why?", "How?"])
    with pytest.raises(BadInputError, match="The question is empty"):
        typed.put(" \n", ["Because."])


def test_the_file_is_one_that_expand_reads(workspace: Workspace) -> None:
    ManualPerspectives(workspace).put('Is "é" =1+1?', ["=SUM(1) — ‘yes’", "{No}"])
    path = workspace.folder / "perspectives" / "typed.jsonl"
    assert read_generated(path) == {'Is "é" =1+1?': ("=SUM(1) — ‘yes’", "{No}")}


def test_two_processes_at_once_lose_nothing(workspace: Workspace) -> None:
    context = fork_server()
    processes = [context.Process(target=type_many, args=(workspace.folder, name, 20)) for name in ("one", "two")]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    typed = ManualPerspectives(workspace)
    for name in ("one", "two"):
        for number in range(20):
            assert typed.get(f"Question {number} of {name}?") == (f"View {number}.",)

"""What can be known to fail is refused before anything is stored or paid for, and a beginning without results is replaced."""

from pathlib import Path
from typing import Any

import pytest

from berdseye.data.corpora import add_corpus
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.files.locks import locked
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.kinds import KINDS, kind_of
from berdseye.evaluation.construction.opening import begin, list_constructions, open_construction
from berdseye.evaluation.construction.running import expected, run_construction
from berdseye.evaluation.construction.stored import RUNNING, Construction
from tests.evaluation.construction.constructed import begun, lines, scripted

STATEMENTS = "Supporting: It should be so.\nOpposing: It should be otherwise."


@pytest.fixture(autouse=True)
def _answers(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, lambda _: STATEMENTS)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return lines(tmp_path / "questions.jsonl", {"question": "Should zoos exist?"})


def debateqa(workspace: Workspace, source: Path, **settings: Any) -> Construction:
    chosen = {"model": "api(scripted)", "corpora": "pages", **settings}
    return begin(workspace, kind_of("debateqa"), "made", {"a": source}, chosen, {}, made_by="ada")


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("threshold", 5.0, "--threshold must be at least 0 and at most 1, got 5"),
        ("threshold", 0.0, "must be above 0"),
        ("threshold", float("nan"), "--threshold must be at least 0"),
        ("documents", 2, "--documents must be at least 3, got 2"),
        ("total_tokens", 0, "--total-tokens must be at least 1, got 0"),
        ("seed", -1, "--seed must be at least 0"),
        ("trusted", "mine", "Unknown value of --trusted 'mine'"),
        ("corpora", "", "no corpus to search"),
        ("corpora", "pages other", "Unknown corpus 'other'"),
        ("pipeline", "bm26", "Did you mean bm25"),
        ("reranker", "bm26", "Did you mean bm25"),
        ("encoder", "nosuch", "Encoder 'nosuch' was not found"),
        ("day", "yesterday", "'yesterday' is not a valid date"),
    ],
)
def test_settings_with_which_no_step_could_work_store_nothing(
    workspace: Workspace, questions: Path, tmp_path: Path, setting: str, value: object, message: str
) -> None:
    page = {"id": "1", "text": "One.", "url": "https://a.org"}
    add_corpus(workspace, "pages", lines(tmp_path / "pages.jsonl", page))
    with pytest.raises(BerdseyeError, match=message):
        debateqa(workspace, questions, **{setting: value})
    assert list_constructions(workspace) == []


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_defaults_are_allowed(kind: Any) -> None:
    for option in kind.options:
        option.check(option.default)


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("arguana", '{"text": 1}\nnot json\n', "Rejected rows: 2; the first one cannot be read: the field 'document1'"),
        ("kialo", '{"question": "Is it?"}\n', "Rejected rows: 1"),
        ("opinionqa", "", "Nothing was found in them"),
        ("questions", "", "Nothing was found in them"),
    ],
)
def test_sources_without_a_row_that_can_be_used_are_an_error(
    workspace: Workspace, tmp_path: Path, kind: str, text: str, why: str
) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text(text, encoding="utf-8")
    construction = begun(workspace, kind, source)
    for attempt in (expected, run_construction):
        with pytest.raises(BadInputError, match="No row of the sources of 'made' can be used") as raised:
            attempt(construction)
        assert why in str(raised.value)
        assert str(source) in str(raised.value)
    assert construction.made_from("sources"), "the rejected rows can be listed"


def test_a_beginning_without_results_is_replaced(workspace: Workspace, tmp_path: Path, questions: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    first = begun(workspace, "questions", empty)
    with pytest.raises(BadInputError):
        run_construction(first)
    with (
        locked(first.folder / RUNNING),
        pytest.raises(BerdseyeError, match="Another process is running 'made'"),
    ):
        begun(workspace, "questions", questions)
    begun(workspace, "questions", questions)
    assert run_construction(open_construction(workspace, "made"), until="duplicates") == ["sources", "duplicates"]
    with pytest.raises(BadInputError, match="with other sources, settings or prompts"):
        begun(workspace, "questions", empty)
    assert len(open_construction(workspace, "made").kept("duplicates")) == 1


def test_a_row_that_a_person_has_decided_is_no_empty_beginning(
    workspace: Workspace, tmp_path: Path, questions: Path
) -> None:
    bad = lines(tmp_path / "bad.jsonl", {"question": "No question"}, {"question": "Should zoos exist?"})
    construction = begun(workspace, "questions", bad)
    run_construction(construction, until="sources")
    construction.overrule("sources", {construction.rows("sources")[0].id: "it is one"}, keep=True, made_by="ada")
    with pytest.raises(BadInputError, match="with other sources, settings or prompts"):
        begun(workspace, "questions", questions)

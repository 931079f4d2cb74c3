"""The page Build: a construction begins from typed questions, is counted, run, corrected and added as a data set."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.opening import open_construction
from tests.app.drawn_page import again, drawn, press, says, wait_for_jobs
from tests.data.language_models.chat_server import ChatServer, chat_server, completion

STATEMENTS = "Supporting: It should be so.\nOpposing: It should be otherwise."


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with chat_server(lambda _: completion(STATEMENTS)) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield running


def typed(*questions: str) -> AppTest:
    at = drawn("build", name="Ada")
    at.segmented_control(key="build-questions-from").set_value("Type them")
    again(at).text_area(key="build-questions").set_value("\n".join(questions))
    again(at).text_input(key="build-model").set_value("api(served)")
    return again(at)


def test_typed_questions_become_a_data_set(at_hand: Workspace, server: ChatServer) -> None:
    at = press(typed("Should zoos exist?", "Should cars be banned?", "No question"), "Dry run")
    assert server.requests == [], "a dry run asks nothing"
    assert at.dataframe[0].value["calls"].tolist() == ["", "", "2"]
    assert says(at, "2 calls of api(.)served", "caption")
    press(at, "Run the remaining steps")
    wait_for_jobs(at_hand)
    at = drawn("build", name="Ada")
    assert says(at, "2 rows with completions, of unknown price", "caption")
    rejected = at.dataframe[0].value
    assert rejected["reason"].tolist() == ["has no question mark"]
    press(at, "Add")
    assert [q.text for q in load_dataset(at_hand, "questions")] == ["Should zoos exist?", "Should cars be banned?"]
    assert {p.text for p in load_dataset(at_hand, "questions")[0].perspectives} == {
        "It should be so.",
        "It should be otherwise.",
    }


def test_dropped_rows_are_rejected(at_hand: Workspace) -> None:
    press(typed("Should zoos exist?", "Should cars be banned?"), "Start")
    wait_for_jobs(at_hand)
    at = drawn("build", name="Ada")
    at.multiselect(key="dropped-rows").set_value(["2"])
    again(at).text_input(key="why-dropped").set_value("too vague")
    at = press(again(at), "Drop them")
    construction = open_construction(at_hand, "questions")
    assert [row.id for row in construction.kept("perspectives")] == ["1"]
    assert at.dataframe[0].value["reason"].tolist() == ["too vague"]


def test_several_files_are_named_and_the_corpora_chosen(at_hand: Workspace, server: ChatServer, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"question": "Should {name} exist?"}}\n', encoding="utf-8")
    (tmp_path / "pages.jsonl").write_text('{"id": "1", "text": "One.", "url": "https://a.org"}\n', encoding="utf-8")
    add_corpus(at_hand, "pages", tmp_path / "pages.jsonl")
    at = drawn("build", name="Ada")
    at.selectbox(key="kind").set_value("debateqa")
    again(at).segmented_control(key="build-debateqa-from").set_value("Path on this machine")
    again(at).text_area(key="build-debateqa-path").set_value(f"first={tmp_path}/one.jsonl\n{tmp_path}/two.jsonl")
    again(at).text_input(key="build-model").set_value("api(served)")
    assert at.selectbox(key="build-debateqa-trusted").options[-1] == "all"
    at.multiselect(key="build-debateqa-corpora").set_value(["pages"])
    press(again(at), "Dry run")
    construction = open_construction(at_hand, "first")
    assert [source.name for source in construction.sources] == ["first", "two"]
    assert construction.settings["corpora"] == "pages"
    assert server.requests == []


@pytest.mark.usefixtures("at_hand")
def test_an_unknown_model_is_named() -> None:
    at = typed("Should zoos exist?")
    at.text_input(key="build-model").set_value("gpt")
    at = press(again(at), "Dry run")
    assert says(at, "Unknown language model 'gpt'", "error")

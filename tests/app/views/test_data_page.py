"""The page Data: corpora and data sets are previewed, added, and deleted without a terminal."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.app.components.data.new_dataset import written_questions
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.topics import TOO_FEW
from tests.app.drawn_page import again, drawn, press, says, wait_for_jobs


def from_path(path: Path, show: str, kind: str) -> AppTest:
    at = drawn("data", name="Ada", show=show)
    at.segmented_control(key=f"{kind}-from").set_value("Path on this machine")
    again(at).text_input(key=f"{kind}-path").set_value(str(path))
    return again(at)


def documents(path: Path) -> Path:
    rows = [{"id": str(n), "title": f"T{n}", "text": f"Number {n} is a number."} for n in range(3)]
    path.write_text("\n".join([*map(json.dumps, rows), '{"id": "bad"}', "no json"]), encoding="utf-8")
    return path


def test_a_corpus_is_previewed_with_its_invalid_rows_and_added_without_them(at_hand: Workspace, tmp_path: Path) -> None:
    at = from_path(documents(tmp_path / "My Web.jsonl"), "Corpora", "corpus")
    assert says(at, "3 documents, 3 passages.*2 invalid rows", "markdown")
    bad, first = (table.value for table in at.dataframe)
    assert bad["line"].tolist() == [4, 5]
    assert first["title"].tolist() == ["T0", "T1", "T2"]
    assert next(box for box in at.text_input if box.label == "Name").value == "my-web"
    at.toggle(key="corpus-skip").set_value(True)
    press(again(at), "Add the corpus")
    wait_for_jobs(at_hand)
    manifest = open_corpus(at_hand, "my-web").manifest
    assert (manifest.count, manifest.left_out) == (3, 2)
    at = drawn("data", name="Ada", show="Corpora")
    assert at.dataframe[0].value["corpus"].tolist() == ["my-web"]
    assert next(e for e in at.expander if "2 rows were skipped" in e.label)


def test_a_corpus_is_deleted(demo: Workspace) -> None:
    at = drawn("data", name="Ada", show="Corpora", corpus="web")
    assert "web" in demo.corpora()
    at.button(key="really-web").click()
    again(at)
    assert "web" not in demo.corpora()


def test_a_table_is_previewed_and_added_as_a_data_set(at_hand: Workspace, tmp_path: Path) -> None:
    table = tmp_path / "Questions 1.csv"
    table.write_text("question,perspective,stance\nWhy?,Because.,pro\nWhy?,Not so.,con\n", encoding="utf-8")
    at = from_path(table, "Data sets", "dataset")
    assert says(at, "1 question, 2 perspectives", "markdown")
    press(at, "Add the data set")
    [question] = load_dataset(at_hand, "questions-1")
    assert [p.stance for p in question.perspectives] == ["supporting", "opposing"]


def test_rows_that_cannot_be_read_are_listed_and_nothing_is_added(at_hand: Workspace, tmp_path: Path) -> None:
    table = tmp_path / "questions.csv"
    table.write_text("question,stance,perspective\n,,Lost.\nWhy?,maybe,Because.\n", encoding="utf-8")
    at = from_path(table, "Data sets", "dataset")
    assert at.dataframe[0].value["line"].tolist() == [2, 3]
    assert not [b for b in at.button if b.label == "Add the data set"]
    assert at_hand.datasets() == []


def test_questions_are_written_on_the_page(at_hand: Workspace) -> None:
    at = drawn("data", name="Ada", show="Data sets")
    at.segmented_control(key="dataset-from").set_value("Write questions")
    again(at).text_area(key="dataset-text").set_value("Why?\n+ Because.\n- Not so.\n\nHow?")
    press(again(at), "Add the data set")
    why, how = load_dataset(at_hand, "my-questions")
    assert ([p.text for p in why.perspectives], how.text) == (["Because.", "Not so."], "How?")


def test_a_perspective_without_a_question_is_refused() -> None:
    with pytest.raises(BadInputError, match="no question above"):
        written_questions("Why?\n\n- Not so.")


@pytest.mark.usefixtures("demo")
def test_a_name_in_use_cannot_be_chosen(tmp_path: Path) -> None:
    at = from_path(documents(tmp_path / "web.jsonl"), "Corpora", "corpus")
    assert says(at, "'web' is in use", "caption")
    assert next(b for b in at.button if b.label == "Add the corpus").disabled


@pytest.mark.usefixtures("demo")
def test_a_filter_finds_questions_by_their_perspectives() -> None:
    at = drawn("data", name="Ada", show="Data sets", dataset="debate")
    everything = len(at.dataframe[1].value)
    at.text_input(key="dataset-filter").set_value("private cars")
    assert 0 < len(again(at).dataframe[1].value) < everything


@pytest.mark.usefixtures("demo")
def test_data_sets_and_corpora_are_described() -> None:
    at = drawn("data", name="Ada", show="Data sets", dataset="debate")
    at.toggle(key="describe-dataset").set_value(True)
    figures = again(at).dataframe[1].value.set_index("figure")["here"]
    assert (figures["questions"], figures["perspectives: opposing"]) == ("8", "8")
    at = drawn("data", name="Ada", show="Corpora", corpus="web")
    at.toggle(key="describe-corpus").set_value(True)
    figures = again(at).dataframe[1].value.set_index("figure")["here"]
    assert int(figures["words per passage, max"].replace(",", "")) > 50


def test_a_debateqa_is_described_beside_the_papers_tables(at_hand: Workspace) -> None:
    save_dataset(at_hand, "debateqa-mine", [Question("procon/1", "debateqa-mine", "Is it so?")])
    at = drawn("data", name="Ada", show="Data sets", dataset="debateqa-mine")
    at.toggle(key="describe-dataset").set_value(True)
    table = again(at).dataframe[1].value.set_index("figure")
    assert tuple(table.loc["questions from procon"])[:2] == ("1", "107 (DebateQA, table 6)")
    assert tuple(table.loc["questions from parade"])[:2] == ("–", "257 (DebateQA, table 6)")
    assert table.loc["topics", "note"] == TOO_FEW

"""Figures of data sets and corpora, worked by hand."""

import json
import math
from pathlib import Path

import berdseye
from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.stored import GOLD, save_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.records import Perspective, Question, pair_key
from berdseye.data.workspace import Workspace
from berdseye.evaluation.describing import describe_corpus, describe_dataset
from berdseye.evaluation.topics import TOO_FEW
from tests.app.command_line import output


def test_a_data_set_is_described(workspace: Workspace) -> None:
    both = (Perspective("Yes, it is.", "supporting"), Perspective("No.", "opposing"))
    save_dataset(workspace, "mine", [Question("a", "mine", "Is it so?", both), Question("b", "mine", "Why?")])
    keys = [pair_key(passage, "No.") for passage in ("one", "two", "three", "four")]
    LabelStore(workspace).put(GOLD, "mine", keys, [1.0, 0.0, 0.0, 0.0], perspectives=["No."] * 4)
    facts = {fact.fact: fact.value for fact in describe_dataset(workspace, "mine")}
    assert (facts["questions"], facts["perspectives"], facts["perspectives per question, mean"]) == (2, 2, 1)
    assert (facts["words per question, mean"], facts["tokens per question, mean"]) == (2, 3)
    assert (facts["words per perspective, mean"], facts["tokens per perspective, mean"]) == (2, 3.5)
    assert (facts["gold-labelled pairs"], facts["base rate of gold labels"]) == (4, 0.25)


def test_a_published_split_has_the_papers_figures(workspace: Workspace) -> None:
    two = (Perspective("Yes."), Perspective("No."))
    save_dataset(workspace, "kialo-dev", [Question(str(n), "kialo-dev", f"Is it {n}?", two) for n in range(258)])
    printed = {f.fact: (f.paper, f.place) for f in describe_dataset(workspace, "kialo-dev") if f.paper is not None}
    assert printed["questions"] == (258, "BERDS, table 1")
    assert printed["tokens per perspective, mean"] == (12.49, "BERDS, table 1")


ABOUT = {
    "zoos": "Should zoos keep wild animals",
    "cars": "Should cities ban private cars",
    "tax": "Should taxes rise",
}


def of_sources(workspace: Workspace, name: str, each: int) -> None:
    """Save `each` questions about each subject: a third from "web", a third from "ProCon", the others from "Delphi"."""
    questions = [
        Question(f"{('web', 'ProCon', 'Delphi')[n % 3]}/{topic}{n}", name, f"{text}, number {n}?")
        for n in range(each)
        for topic, text in ABOUT.items()
    ]
    save_dataset(workspace, name, questions)


def test_sources_stand_beside_those_of_debateqa(workspace: Workspace) -> None:
    of_sources(workspace, "mine", 12)
    of_sources(workspace, "debateqa-mine", 12)
    ours = [fact for fact in describe_dataset(workspace, "mine") if fact.fact.startswith("questions from")]
    assert ours == [f for f in describe_dataset(workspace, "debateqa-mine") if f.fact.startswith("questions from")]
    found = {fact.fact: fact[1:] for fact in describe_dataset(workspace, "debateqa-mine")}
    assert found["questions from web"] == (12, None, "", "")
    assert found["questions from Delphi"] == (12, 1597, "DebateQA, table 7", "")
    with_duplicates = "the paper's number includes duplicates"
    assert found["questions from ProCon"] == (12, 107, "DebateQA, table 6", with_duplicates)
    assert found["questions from myspeechclass"] == (None, 126, "DebateQA, table 6", with_duplicates)
    websites = [fact for fact in found.values() if fact[2] == "DebateQA, table 6"]
    assert sum(fact[1] for fact in websites) == 1758, "table 7 has as many from the web"
    lines = output("dataset", "describe", "debateqa-mine", "-w", workspace.folder).splitlines()
    frame = berdseye.open(workspace.folder).describe_dataset("debateqa-mine").set_index("fact")
    assert frame.loc["questions from ProCon", ["value", "paper"]].tolist() == [12, 107]
    assert math.isnan(frame.loc["questions from parade", "value"])
    assert f"questions from parade\t–\t257\tDebateQA, table 6\t{with_duplicates}" in lines


def test_a_data_set_of_debateqa_without_sources_has_those_of_the_paper(workspace: Workspace) -> None:
    save_dataset(workspace, "debateqa-test", [Question("1", "debateqa-test", "Is it so?")])
    found = [fact for fact in describe_dataset(workspace, "debateqa-test") if fact.fact.startswith("questions from")]
    assert len(found) == 3 + 9
    assert {fact.value for fact in found} == {None}
    save_dataset(workspace, "mine", [Question("1", "mine", "Is it so?")])
    assert not [fact for fact in describe_dataset(workspace, "mine") if fact.fact.startswith("questions from")]


def test_topics_are_shown_from_a_hundred_questions_on(workspace: Workspace) -> None:
    of_sources(workspace, "many", 34)
    topics = {f.fact: f.value for f in describe_dataset(workspace, "many") if f.fact.startswith("questions about")}
    assert sorted(value for value in topics.values() if value is not None)[-1] <= 34
    assert sum(value or 0 for value in topics.values()) == 102
    assert any("zoos" in name for name in topics)
    of_sources(workspace, "few", 33)
    [why] = [fact for fact in describe_dataset(workspace, "few") if fact.fact.startswith(("topics", "questions about"))]
    assert (why.value, why.note) == (None, TOO_FEW)
    assert "100 questions" in TOO_FEW


def test_a_corpus_is_described(workspace: Workspace, tmp_path: Path) -> None:
    rows = [("One two three.", "https://a.org/x"), ("Été!", "https://a.org/y"), ("Four five six seven", "")]
    source = tmp_path / "c.jsonl"
    source.write_text("".join(json.dumps({"text": text, "url": url}) + "\n" for text, url in rows))
    add_corpus(workspace, "mine", source)
    facts = {fact.fact: fact.value for fact in describe_corpus(workspace, "mine")}
    assert (facts["passages"], facts["words per passage, median"], facts["words per passage, max"]) == (3, 3, 4)
    assert facts["tokens per passage, mean"] == (4 + 2 + 4) / 3
    assert (facts["passages from a.org"], facts["passages from no web address"]) == (2, 1)
    lines = output("corpus", "describe", "mine", "-w", workspace.folder).splitlines()
    assert lines[0] == "passages\t3"

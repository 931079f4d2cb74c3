"""Figures of data sets and corpora, worked by hand."""

import json
from pathlib import Path

from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.stored import GOLD, save_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.records import Perspective, Question, pair_key
from berdseye.data.workspace import Workspace
from berdseye.evaluation.describing import describe_corpus, describe_dataset
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


def test_sources_and_topics_of_questions_are_counted(workspace: Workspace) -> None:
    about = {
        "zoos": "Should zoos keep wild animals",
        "cars": "Should cities ban private cars",
        "tax": "Should taxes rise",
    }
    questions = [
        Question(f"{'delphi' if n % 3 else 'web'}/{topic}{n}", "debateqa-mine", f"{text}, number {n}?")
        for n in range(12)
        for topic, text in about.items()
    ]
    save_dataset(workspace, "debateqa-mine", questions)
    found = {fact.fact: fact for fact in describe_dataset(workspace, "debateqa-mine")}
    assert (found["questions from delphi"].value, found["questions from web"].value) == (24, 12)
    assert (found["questions from delphi"].paper, found["questions from delphi"].place) == (1597, "DebateQA, table 7")
    topics = {name: fact.value for name, fact in found.items() if name.startswith("questions about")}
    assert sorted(topics.values()) == [12, 12, 12]
    assert any("zoos" in name for name in topics)


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

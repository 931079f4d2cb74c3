"""What the demo promises."""

import json
from collections import Counter
from importlib.resources import files
from itertools import pairwise

import numpy as np

from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import GOLD, load_dataset
from berdseye.data.demo.content import CORPORA, DATASETS, topics
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair, Passage
from berdseye.data.workspace import Workspace

PASSAGES = [passage for topic in topics() for passage in topic["passages"]]


def passages_of(workspace: Workspace, corpus: str) -> list[Passage]:
    return [p for batch in open_corpus(workspace, corpus).batches() for p in batch]


def test_at_least_twenty_questions_of_two_to_five_perspectives(demo_workspace: Workspace) -> None:
    questions = [q for name in DATASETS for q in load_dataset(demo_workspace, name)]
    assert len(questions) >= 20
    assert {len(q.perspectives) for q in questions} <= {2, 3, 4, 5}
    assert all(len(set(q.perspectives)) == len(q.perspectives) for q in questions)
    assert len({q.text for q in questions}) == len(questions)
    assert all(load_dataset(demo_workspace, name) for name in DATASETS)


def test_debates_have_two_sides(demo_workspace: Workspace) -> None:
    for question in load_dataset(demo_workspace, "debate"):
        assert {p.stance for p in question.perspectives} == {"supporting", "opposing"}


def test_three_corpora(demo_workspace: Workspace) -> None:
    assert demo_workspace.corpora() == sorted(CORPORA) == ["encyclopedia", "pages", "web"]
    assert open_corpus(demo_workspace, "pages").manifest.kind == "pages"
    assert open_corpus(demo_workspace, "pages").manifest.count >= 40
    held = {p.text for name in ("encyclopedia", "web") for p in passages_of(demo_workspace, name)}
    assert held == {p["text"] for p in PASSAGES}


def test_at_least_300_passages_of_60_to_110_words() -> None:
    assert len({p["text"] for p in PASSAGES}) == len(PASSAGES) >= 300
    outside = [p["title"] for p in PASSAGES if not 60 <= len(p["text"].split()) <= 110]
    assert outside == []


def test_every_kind_of_passage_is_there() -> None:
    kinds = Counter(p["kind"] for p in PASSAGES)
    assert set(kinds) == {"supports", "neutral", "overlap", "opposite"}
    assert min(kinds.values()) >= 24  # one a topic
    assert all(p["supports"] == [] for p in PASSAGES if p["kind"] == "neutral")
    assert all(p["supports"] for p in PASSAGES if p["kind"] == "supports")


def test_every_perspective_is_supported_in_the_corpora() -> None:
    for topic in topics():
        supported = {i for p in topic["passages"] for i in p["supports"]}
        assert supported == set(range(len(topic["perspectives"]))), topic["topic"]


def test_every_passage_and_perspective_of_a_topic_has_a_gold_label(demo_workspace: Workspace) -> None:
    keys, wanted = [], []
    for topic in topics():
        for passage in topic["passages"]:
            for place, perspective in enumerate(topic["perspectives"]):
                keys.append(Pair(passage["text"], perspective["text"]).key)
                wanted.append(float(place in passage["supports"]))
    assert LabelStore(demo_workspace).get(GOLD, keys).tolist() == wanted


def test_every_passage_of_the_pages_has_gold_labels(demo_workspace: Workspace) -> None:
    corpus = open_corpus(demo_workspace, "pages")
    owner = {page["file"]: topic for topic in topics() for page in topic["pages"]}
    keys = []
    for page in passages_of(demo_workspace, "pages"):
        (first,) = corpus.passages([page.id * 10_000])
        keys += [Pair(first.text, p["text"]).key for p in owner[page.source_id]["perspectives"]]
    assert set(LabelStore(demo_workspace).get(GOLD, keys).tolist()) == {0.0, 1.0}


def test_there_is_no_gold_for_pairs_of_different_topics(demo_workspace: Workspace) -> None:
    ring = [*topics(), topics()[0]]
    keys = [Pair(one["passages"][0]["text"], other["perspectives"][0]["text"]).key for one, other in pairwise(ring)]
    assert np.isnan(LabelStore(demo_workspace).get(GOLD, keys)).all()


def test_about_sixty_pairs_are_judged_by_both_annotators_who_disagree_on_some() -> None:
    rows = json.loads((files("berdseye.data.demo") / "judgments.json").read_text(encoding="utf-8"))
    by_name = {t["topic"]: t for t in topics()}
    assert 50 <= len(rows) <= 70
    assert len({(r["topic"], r["passage"], r["perspective"]) for r in rows}) == len(rows)
    for row in rows:
        topic = by_name[row["topic"]]
        assert 0 <= row["passage"] < len(topic["passages"])
        assert 0 <= row["perspective"] < len(topic["perspectives"])
        assert set(row["judgments"]) == {"Noor", "Tomas"}
    differing = [r for r in rows if len({j["verdict"] for j in r["judgments"].values()}) == 2]
    assert 5 <= len(differing) <= len(rows) / 3

"""Looking up one passage or question in what the workspace stores."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.corpora.corpus import ids_of_text
from berdseye.data.errors import DamagedError
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import RunManifest, load_run, places_of, ranking_of, save_run
from berdseye.data.texts.near_duplicates import resemblance
from berdseye.data.web.addresses import registered_domain
from berdseye.data.workspace import Workspace

RANKED = np.array([[4, 2, 7], [2, 9, -1]], dtype=np.int64)


def saved(workspace: Workspace, pipeline: str, ids: np.ndarray) -> RunManifest:
    return save_run(
        workspace,
        dataset="d",
        corpus="c",
        corpus_hash="h",
        pipeline=pipeline,
        question_ids=["first", "second"],
        ids=ids,
        scores=np.where(ids >= 0, 1.5, 0).astype(np.float32),
        milliseconds_per_question=1.0,
    )


def test_a_passage_is_found_wherever_runs_rank_it(workspace: Workspace) -> None:
    runs = [saved(workspace, "bm25", RANKED), saved(workspace, "qld", RANKED[:, ::-1])]
    found = [(p.run.pipeline, p.question_id, p.rank, p.score) for p in places_of(workspace, runs, 2)]
    assert found == [
        ("bm25", "second", 1, 1.5),
        ("bm25", "first", 2, 1.5),
        ("qld", "first", 2, 1.5),
        ("qld", "second", 3, 1.5),
    ]
    assert places_of(workspace, runs, 100) == places_of(workspace, [], 2) == []
    for number, question in enumerate(["first", "second"]):
        kept = ranking_of(workspace, runs[0], question)
        assert kept.tolist() == load_run(workspace, runs[0].name).ids[number].tolist()
    assert ranking_of(workspace, runs[0], "third").tolist() == [-1, -1, -1]
    with pytest.raises(DamagedError, match="cannot be read"):
        places_of(workspace, [replace(runs[0], name="gone")], 2)


def test_a_text_is_found_whatever_its_title(workspace: Workspace, tmp_path: Path) -> None:
    rows = [("1", "A", "Cats purr."), ("2", "B", "Cats purr."), ("3", "A", "Dogs bark; it's 'loud'.")]
    source = tmp_path / "p.jsonl"
    source.write_text("".join(json.dumps({"id": i, "title": t, "text": x}) + "\n" for i, t, x in rows))
    add_corpus(workspace, "c", source)
    corpus = open_corpus(workspace, "c")
    assert ids_of_text(corpus, "Cats purr.") == [0, 1]
    assert ids_of_text(corpus, rows[2][2]) == [2]
    assert ids_of_text(corpus, "Cats") == []
    add_corpus(workspace, "pages", source, kind="pages")
    assert ids_of_text(open_corpus(workspace, "pages"), "Cats purr.") == []


def test_all_that_is_held_of_a_pair_is_given_by_source_and_version(workspace: Workspace) -> None:
    store = LabelStore(workspace)
    assert store.by_source(["a"]) == []
    store.put("embedded", "v1", ["a", "b"], [0.25, 0.5])
    store.put("embedded", "v1", ["a"], [0.75])
    store.put("embedded", "v2", ["a"], [1.0])
    store.put("gold", "g", ["b"], [0.0])
    assert store.by_source(["a"]) == [("embedded", "v1", "a", 0.75), ("embedded", "v2", "a", 1.0)]
    assert [row[:3] for row in store.by_source(["b", "c"])] == [("embedded", "v1", "b"), ("gold", "g", "b")]
    assert store.by_source([]) == []


def test_resemblance_is_the_jaccard_similarity_of_word_5_grams() -> None:
    first = "one two three four five six seven"
    assert resemblance(first, "One, two; three four five six seven!") == 1.0
    # of three 5-grams each, two are the same: 2 of 4
    assert resemblance(first, "one two three four five six eight") == pytest.approx(0.5)
    assert resemblance(first, "quite another text") == 0.0


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.news.example.co.uk/page?x=1", "example.co.uk"),
        ("http://127.0.0.1:8000/x", "127.0.0.1"),
        ("http://localhost/x", "localhost"),
        ("https://news.example/x", "news.example"),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_the_domain_of_an_address(url: str, domain: str) -> None:
    assert registered_domain(url) == domain

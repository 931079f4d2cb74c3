"""From questions to rankings."""

import numpy as np
import pytest
from corpus_files import CITY, corpus_of

from data.corpora import open_corpus
from data.datasets import save_dataset
from data.errors import BadInputError, StaleError
from data.records import Question
from data.runs import load_run
from data.workspace import Workspace
from retrieval.registry import parse_pipeline
from retrieval.running import run_pipeline
from retrieval.search import search

PIPELINES = ("bm25", "dense(static)", "bm25 >> mmr(0.9)", "dense(static)%10 >> mmr(0.5)")


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_rankings_are_sound(workspace: Workspace, pipeline: str) -> None:
    queries = ["Should cars be banned?", "What of elephants?", "xylophone"]
    ids, scores = search(corpus_of(workspace, CITY), parse_pipeline(pipeline), queries, 4)
    assert (ids.shape, ids.dtype) == ((3, 4), np.int64)
    assert (scores.shape, scores.dtype) == ((3, 4), np.float32)
    assert CITY[ids[0, 0]] in CITY[:2]
    assert CITY[ids[1, 0]] == CITY[4]
    for row, values in zip(ids.tolist(), scores, strict=True):
        found = [i for i in row if i >= 0]
        assert row == found + [-1] * (4 - len(found))
        assert len(set(found)) == len(found)
        assert (np.diff(values[: len(found)]) <= 1e-6).all()


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_k_beyond_the_corpus_gives_all_there_is(workspace: Workspace, pipeline: str) -> None:
    ids, scores = search(corpus_of(workspace, CITY), parse_pipeline(pipeline), ["cars of the city centre"], 200)
    found = ids[0][ids[0] >= 0]
    assert len(found) == (6 if "dense" in pipeline else 3)
    assert (ids[0, len(found) :] == -1).all()
    assert (scores[0, len(found) :] == 0).all()


@pytest.mark.parametrize("k", [0, -1, 1001])
def test_a_k_out_of_range_is_an_error(workspace: Workspace, k: int) -> None:
    with pytest.raises(BadInputError, match=f"k is {k}"):
        search(corpus_of(workspace, CITY), parse_pipeline("bm25"), ["cars"], k)


@pytest.mark.parametrize("query", ["", " \n\t"])
def test_an_empty_question_is_an_error(workspace: Workspace, query: str) -> None:
    with pytest.raises(BadInputError, match="The question is empty"):
        search(corpus_of(workspace, CITY), parse_pipeline("bm25"), ["cars", query], 3)


@pytest.mark.parametrize("pipeline", ["bm25", "dense(static)"])
@pytest.mark.parametrize("query", ["elephants walk " * 5000, "elephants \0\u202e😀 walk", "ELEPHANTS WALK <b>"])
def test_questions_of_any_length_and_kind(workspace: Workspace, pipeline: str, query: str) -> None:
    ids, _ = search(corpus_of(workspace, CITY), parse_pipeline(pipeline), [query], 1)
    assert ids.tolist() == [[4]]


def test_no_questions_give_no_rankings(workspace: Workspace) -> None:
    assert search(corpus_of(workspace, CITY), parse_pipeline("bm25 >> mmr(0.9)"), [], 3)[0].shape == (0, 3)


def test_questions_asked_together_and_alone_rank_alike(workspace: Workspace) -> None:
    corpus, pipeline = corpus_of(workspace, CITY), parse_pipeline("dense(static)")
    queries = [f"{text} number {n}" for n in range(12) for text in CITY]  # more than one batch
    together = search(corpus, pipeline, queries, 6)[0]
    assert together.tolist() == [search(corpus, pipeline, [q], 6)[0][0].tolist() for q in queries]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pages_are_cut_on_the_fly(workspace: Workspace, pipeline: str) -> None:
    pages = [f"{' '.join(CITY[n:])} " * 12 for n in range(3)]
    corpus = corpus_of(workspace, pages, kind="pages")
    ids, scores = search(corpus, parse_pipeline(pipeline), ["elephants"], 5)
    assert (ids >= 0).all()
    passages = open_corpus(workspace, "c").passages(ids[0].tolist())
    assert [p.id for p in passages] == ids[0].tolist()
    assert all("lephants" in p.text for p in passages)
    assert {p.source_id.partition("#")[0] for p in passages} <= {"d0", "d1", "d2"}
    assert (np.diff(scores[0]) <= 1e-6).all()


def test_equal_passages_of_pages_are_ranked_by_id(workspace: Workspace) -> None:
    """The pages share a passage; they are found in falling order of id, since the later ones are shorter."""
    same = ("elephants " * 100).strip() + "."
    corpus = corpus_of(workspace, [f"{same}\n{('filler ' * 100 * (4 - n)).strip()}." for n in range(4)], kind="pages")
    assert search(corpus, parse_pipeline("bm25"), ["elephants"], 2)[0].tolist() == [[30_000, 20_000]]


def test_a_corpus_made_anew_is_searched_anew(workspace: Workspace) -> None:
    for kind in ("passages", "pages"):
        old = corpus_of(workspace, CITY, kind=kind)
        assert old.passages(search(old, parse_pipeline("bm25"), ["tortoise"], 1)[0][0].tolist())[0].text == CITY[3]
        new = corpus_of(workspace, CITY[::-1], kind=kind)
        assert new.passages(search(new, parse_pipeline("bm25"), ["tortoise"], 1)[0][0].tolist())[0].text == CITY[3]


def test_a_corpus_that_was_made_anew_meanwhile_is_told(workspace: Workspace) -> None:
    held = corpus_of(workspace, CITY)
    corpus_of(workspace, CITY[::-1])
    with pytest.raises(StaleError, match="made anew meanwhile"):
        search(held, parse_pipeline("bm25"), ["cars"], 1)


def test_a_run_is_what_searching_finds(workspace: Workspace) -> None:
    corpus = corpus_of(workspace, CITY)
    questions = [Question("one", "d", "Should cars be banned?"), Question("two", "d", "xylophone?")]
    save_dataset(workspace, "d", questions)
    manifest = run_pipeline(workspace, "d", "c", "bm25(k1=0.90)", 3)
    run = load_run(workspace, manifest.name)
    ids, scores = search(corpus, parse_pipeline("bm25"), [q.text for q in questions], 3)
    assert (manifest.pipeline, manifest.corpus_hash) == ("bm25", corpus.manifest.hash)
    assert np.array_equal(run.ids, ids)
    assert np.array_equal(run.scores, scores)

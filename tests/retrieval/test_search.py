"""From questions to rankings."""

import json
from typing import Any

import numpy as np
import pytest

from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.language_models.cost import count
from berdseye.data.language_models.protocol import Completion
from berdseye.data.records import Ids, Question, Scores
from berdseye.data.runs.stored import COSTS, load_run
from berdseye.data.workspace import Workspace
from berdseye.retrieval.pipeline import search
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.running import run_pipeline
from tests.retrieval.corpus_files import CITY, corpus_of

PIPELINES = (
    "bm25",
    "qld",
    "dense(static)",
    "dense(static,index=ivfpq,similarity=euclidean)",
    "hybrid(bm25,dense(static),norm=minmax)",
    "hybrid(bm25,dense(static),qld,rrf=60)",
    "bm25 >> mmr(0.9)",
    "dense(static)%10 >> mmr(0.5)",
)


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
    assert sorted(set(found.tolist())) == sorted(found.tolist())
    assert (ids[0, len(found) :] == -1).all()
    assert (scores[0, len(found) :] == 0).all()


@pytest.mark.parametrize("k", [0, -1, 1001])
def test_a_k_out_of_range_is_an_error(workspace: Workspace, k: int) -> None:
    with pytest.raises(BadInputError, match=f"got {k}"):
        search(corpus_of(workspace, CITY), parse_pipeline("bm25"), ["cars"], k)


@pytest.mark.parametrize("query", ["", " \n\t"])
def test_an_empty_question_is_an_error(workspace: Workspace, query: str) -> None:
    with pytest.raises(BadInputError, match="The question is empty"):
        search(corpus_of(workspace, CITY), parse_pipeline("bm25"), ["cars", query], 3)


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize(
    "query", ["elephants walk " * 5000, "elephants \0\u202e😀 walk", "ELEPHANTS WALK <b>", "elephants\ud800 walk\udfff"]
)
def test_questions_of_any_length_and_kind(workspace: Workspace, pipeline: str, query: str) -> None:
    """10,000 words among them."""
    ids, _ = search(corpus_of(workspace, CITY), parse_pipeline(pipeline), [query], 1)
    assert ids.tolist() == [[4]]


@pytest.mark.parametrize("pipeline", ["bm25 >> mmr(0.9)", "bm25 >> mmr(0.9) >> mmr(0.5)", "hybrid(bm25,qld) >> mmr(0)"])
def test_stages_have_nothing_to_do_where_nothing_is_found(workspace: Workspace, pipeline: str) -> None:
    ids, scores = search(corpus_of(workspace, CITY), parse_pipeline(pipeline), ["xylophone"], 3)
    assert (ids.tolist(), scores.tolist()) == ([[-1, -1, -1]], [[0, 0, 0]])


def test_ten_thousand_different_words(workspace: Workspace) -> None:
    query = " ".join(f"word{n}" for n in range(10_000)) + " tortoise"
    for pipeline in ("bm25", "qld", "bm25(tokenizer=spaces,variant=okapi)"):
        asked = query if "spaces" not in pipeline else query.replace("tortoise", "tortoise.")
        assert search(corpus_of(workspace, CITY), parse_pipeline(pipeline), [asked], 1)[0].tolist() == [[3]]


def test_no_questions_give_no_rankings(workspace: Workspace) -> None:
    assert search(corpus_of(workspace, CITY), parse_pipeline("bm25 >> mmr(0.9)"), [], 3)[0].shape == (0, 3)


@pytest.mark.parametrize("name", ["bm25", "dense(static)", "hybrid(bm25,dense(static),norm=z)"])
def test_questions_asked_together_and_alone_rank_alike(workspace: Workspace, name: str) -> None:
    corpus, pipeline = corpus_of(workspace, CITY), parse_pipeline(name)
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


def test_pages_without_words_in_common_with_the_question(workspace: Workspace) -> None:
    """No page stands in for a web search that finds nothing."""
    corpus = corpus_of(workspace, CITY, kind="pages")
    for pipeline in ("bm25", "dense(static) >> mmr(0.5)"):
        assert search(corpus, parse_pipeline(pipeline), ["xylophone", "tortoise"], 2)[0].tolist() == [
            [-1, -1],
            [30_000, -1],
        ]


@pytest.mark.parametrize("chunker", ["sentences(20)", "words(400)", "characters(300)"])
def test_pages_are_cut_as_their_corpus_says(workspace: Workspace, chunker: str) -> None:
    """What is ranked are the passages that the corpus gives for the ids."""
    source = workspace.folder / "pages.jsonl"
    texts = [" ".join(f"Page {page} walks{n} far." for n in range(200)) for page in range(3)]
    source.write_text("".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(texts)))
    add_corpus(workspace, "pages", source, kind="pages", chunker=chunker)
    corpus = open_corpus(workspace, "pages")
    ids, _ = search(corpus, parse_pipeline("bm25"), ["walks170"], 1)
    for passage in corpus.passages(ids[0].tolist()):
        assert "walks170 " in passage.text


def test_equal_passages_of_pages_are_ranked_by_id(workspace: Workspace) -> None:
    """The pages share a passage; they are found in falling order of id, since the later ones are shorter."""
    same = ("elephants " * 100).strip() + "."
    corpus = corpus_of(workspace, [f"{same}\n{('filler ' * 100 * (4 - n)).strip()}." for n in range(4)], kind="pages")
    assert search(corpus, parse_pipeline("bm25"), ["elephants"], 2)[0].tolist() == [[30_000, 20_000]]


def test_a_rebuilt_corpus_is_searched_again(workspace: Workspace) -> None:
    for kind in ("passages", "pages"):
        old = corpus_of(workspace, CITY, kind=kind)
        assert old.passages(search(old, parse_pipeline("bm25"), ["tortoise"], 1)[0][0].tolist())[0].text == CITY[3]
        new = corpus_of(workspace, CITY[::-1], kind=kind)
        assert new.passages(search(new, parse_pipeline("bm25"), ["tortoise"], 1)[0][0].tolist())[0].text == CITY[3]


def test_a_corpus_that_was_rebuilt_meanwhile_is_reported(workspace: Workspace) -> None:
    held = corpus_of(workspace, CITY)
    corpus_of(workspace, CITY[::-1])
    with pytest.raises(StaleError, match="has been replaced"):
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


def test_a_run_records_its_use_of_gpus_and_language_models(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus_of(workspace, CITY)
    save_dataset(workspace, "d", [Question("one", "d", "Should cars be banned?")])
    assert run_pipeline(workspace, "d", "c", "bm25", 3).costs == dict.fromkeys(COSTS, 0.0)
    allocations = iter((5, 7))
    monkeypatch.setattr("berdseye.retrieval.running.gpu_allocations", lambda: next(allocations))

    def searching(*args: Any, **kwargs: Any) -> tuple[Ids, Scores]:
        count([Completion("Views", 10, 2, None), Completion("Sides", 20, None, None)])
        return search(*args, **kwargs)

    monkeypatch.setattr("berdseye.retrieval.running.search", searching)
    manifest = run_pipeline(workspace, "d", "c", "bm25", 3)
    assert manifest.costs == {"gpu_seconds": manifest.costs["gpu_seconds"], "prompt_tokens": 30, "completion_tokens": 2}
    assert 0 < manifest.costs["gpu_seconds"] < 60
    assert load_run(workspace, manifest.name).manifest == manifest

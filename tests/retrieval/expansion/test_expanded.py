"""`expand(SOURCE) >> RANKER` over passages."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.manual import ManualPerspectives
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline import search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import PipelineContext, Query
from tests.retrieval.corpus_files import CITY
from tests.retrieval.made_encoders import passages_of

SAID = {
    "Should cars be banned?": ["Trams carry more people.", "Shops lose their customers."],
    "Are zoos good?": ["Elephants walk far in the wild.", "Children learn in them.", "The tortoise is old."],
}
PASSAGES = InMemoryPassages(passages_of(CITY))


@pytest.fixture
def around(workspace: Workspace) -> PipelineContext:
    lines = [json.dumps({"question": q, "perspectives": p}) for q, p in SAID.items()]
    (workspace.folder / "said.jsonl").write_text("\n".join(lines) + "\n")
    return PipelineContext(workspace)


def ranked(pipeline: str, queries: Sequence[Query | str], k: int, around: PipelineContext) -> list[list[int]]:
    ids, _ = search_passages(PASSAGES, parse_pipeline(pipeline, around), queries, k)
    return [[i for i in row if i >= 0] for row in ids.tolist()]


def in_turns(lists: list[list[int]], k: int) -> list[int]:
    """Each list offers its next passage in turn."""
    found: list[int] = []
    for turn in range(max(map(len, lists))):
        for ranking in lists:
            if turn < len(ranking) and ranking[turn] not in found:
                found.append(ranking[turn])
    return found[:k]


@pytest.mark.parametrize("ranker", ["bm25", "dense(static)", "qld", "hybrid(bm25,dense(static),rrf=60)"])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_perspectives_take_turns(ranker: str, k: int, around: PipelineContext) -> None:
    found = ranked(f"expand(said.jsonl) >> {ranker}", list(SAID), k, around)
    for question, ids in zip(SAID, found, strict=True):
        lists = ranked(ranker, [f"{question} {text}" for text in SAID[question]], k, around)
        assert ids == in_turns(lists, k)


def test_perspectives_alone_are_searched_as_in_the_paper(around: PipelineContext) -> None:
    pipeline = "expand(said.jsonl,variant=paper) >> bm25"
    for question, ids in zip(SAID, ranked(pipeline, list(SAID), 6, around), strict=True):
        assert ids == in_turns(ranked("bm25", SAID[question], 6, around), 6)
    name = str(parse_pipeline(pipeline, around))
    assert name == "expand(file(said.jsonl),variant=paper) >> bm25"
    assert str(parse_pipeline(name, around)) == name
    released = parse_pipeline("expand(said.jsonl,variant=released) >> bm25", around)
    assert str(released) == "expand(file(said.jsonl)) >> bm25"
    with pytest.raises(UnknownNameError, match="paper"):
        parse_pipeline("expand(said.jsonl,variant=papr) >> bm25", around)


def test_it_goes_on_to_a_stage(around: PipelineContext) -> None:
    pipeline = parse_pipeline("expand(said.jsonl) >> bm25%3 >> mmr(1)", around)
    assert str(pipeline) == "expand(file(said.jsonl)) >> bm25%3 >> mmr(1)"
    ids, _ = search_passages(PASSAGES, pipeline, list(SAID), 3)
    assert [[i for i in row if i >= 0] for row in ids.tolist()] == ranked(
        "expand(said.jsonl) >> bm25", list(SAID), 3, around
    )


def test_a_projection_of_what_is_expanded(around: PipelineContext) -> None:
    """The perspective of the query stays what it was; the text has that of the source behind it."""
    query = Query("Are zoos good?", root="zoos", perspective="good")
    (found,) = ranked("expand(said.jsonl) >> dense(static) >> pap", [query], 6, around)
    asked = [query._replace(text=f"{query.text} {text}") for text in SAID[query.text]]
    assert found == in_turns(ranked("dense(static) >> pap", asked, 6, around), 6)


def test_typed_perspectives_and_those_that_are_missing(around: PipelineContext) -> None:
    assert around.workspace is not None
    with pytest.raises(BadInputError, match="1 of 1 questions have no perspectives here"):
        ranked("expand(manual) >> bm25", ["Are zoos good?"], 2, around)
    ManualPerspectives(around.workspace).put("Are zoos good?", ["Homework and children."])
    assert ranked("expand(manual) >> bm25", ["Are  zoos good?"], 1, around) == [[5]]


def test_versions_follow_the_file_of_perspectives(around: PipelineContext) -> None:
    """A file that changes under the same name makes another ranking."""
    assert around.workspace is not None
    before = dict(parse_pipeline("expand(said.jsonl) >> bm25", around).versions)
    path = Path(around.workspace.folder) / "said.jsonl"
    path.write_text(path.read_text() + "\n")
    after = parse_pipeline("expand(said.jsonl) >> bm25", around).versions
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == ["file(said.jsonl)"]

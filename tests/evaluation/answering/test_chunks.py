"""Chunks of about 2,000 characters from corpora of passages, of pages and of the web."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berdseye.data.corpora import Corpus, add_corpus, open_corpus
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answering.chunks import Chunk, ChunkSource
from berdseye.retrieval.pipeline_registry import parse_pipeline


def corpus(workspace: Workspace, documents: dict[str, str], *, kind: str = "passages", words: int = 5) -> Corpus:
    """Documents by their ids, cut into passages of `words` words; all stand on example.org."""
    source = workspace.folder / f"{kind}.jsonl"
    rows = [{"id": i, "title": i.title(), "text": t, "url": f"https://example.org/{i}"} for i, t in documents.items()]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    add_corpus(workspace, kind, source, kind=kind, chunker=f"sentences({words})", replace=True)  # type: ignore[arg-type]
    return open_corpus(workspace, kind)


def find(held: Corpus, query: str, count: int = 1, characters: int = 40, **more: bool) -> list[Chunk]:
    return ChunkSource(held, parse_pipeline("bm25"), characters, **more).find([query], count)[0]


ZOOS = "Lions sleep all day. Zebras run very fast. Apes use sharp tools. Owls hunt at night. Frogs sing in rain."
"""Passages of 20, 21, 21, 19 and 19 characters."""


def test_a_hit_grows_by_its_neighbours_while_they_fit(workspace: Workspace) -> None:
    held = corpus(workspace, {"zoo": ZOOS, "car": "Cars are loud things."})
    # 21 alone; 21 + 1 + 19 = 41 with the next one.
    assert [c.text for c in find(held, "apes", characters=40)] == ["Apes use sharp tools."]
    (both,) = find(held, "apes", characters=41)
    assert both == Chunk(
        "Apes use sharp tools. Owls hunt at night.", "Zoo", "https://example.org/zoo", "zoo", both.passages
    )
    assert [p.text for p in held.passages(both.passages)] == ["Apes use sharp tools.", "Owls hunt at night."]
    # After, before, and after again: 41 + 1 + 21 = 63, + 1 + 19 = 83, + 1 + 20 = 104 is the whole document.
    assert find(held, "apes", characters=103)[0].text == ZOOS.removeprefix("Lions sleep all day. ")
    assert find(held, "apes", characters=104)[0].text == ZOOS
    assert find(held, "apes", characters=2000)[0].text == ZOOS, "another document is no neighbour"


def test_no_text_is_in_two_chunks(workspace: Workspace) -> None:
    held = corpus(workspace, {"zoo": ZOOS})
    first, second = find(held, "apes owls", 5, characters=41)
    # Owls rank first, being the shorter text, and take the frogs; the apes stay alone, since the zebras would make 43.
    assert (first.text, second.text) == ("Owls hunt at night. Frogs sing in rain.", "Apes use sharp tools.")
    assert not set(first.passages) & set(second.passages)


def test_what_was_read_before_is_not_found_again(workspace: Workspace) -> None:
    held = corpus(workspace, {"zoo": ZOOS, "bar": "Apes also drink much wine."})
    source = ChunkSource(held, parse_pipeline("bm25"), 41)
    ((first,),) = source.find(["apes"], 1)
    ((second,),) = source.find(["apes"], 1, [first.passages])
    assert {first.source_id, second.source_id} == {"zoo", "bar"}


def test_pages_are_split_again(workspace: Workspace) -> None:
    held = corpus(workspace, {"zoo": ZOOS, "car": "Cars are loud things."}, kind="pages")
    (chunk,) = find(held, "owls", characters=63)
    # From the beginning of the page: 20 + 1 + 21 + 1 + 21 = 64 is too long, so that two sentences are the first chunk.
    assert chunk.text == "Apes use sharp tools. Owls hunt at night. Frogs sing in rain."
    assert chunk.source_id == "zoo"


def test_passages_that_came_cut_are_joined_by_title(workspace: Workspace) -> None:
    source = workspace.folder / "psgs_w100.tsv"
    lines = ["id\ttext\ttitle", "1\tLions sleep.\tZoo", "2\tApes climb.\tZoo", "3\tCars roar.\tCar"]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    add_corpus(workspace, "wiki", source)
    (chunk,) = find(open_corpus(workspace, "wiki"), "apes", characters=2000)
    assert (chunk.text, chunk.title) == ("Lions sleep. Apes climb.", "Zoo")


def test_rows_of_ones_own_are_never_joined_by_title(workspace: Workspace) -> None:
    source = workspace.folder / "own.jsonl"
    source.write_text('{"text": "Lions sleep.", "title": "T"}\n{"text": "Apes climb.", "title": "T"}\n')
    add_corpus(workspace, "own", source)
    assert [c.text for c in find(open_corpus(workspace, "own"), "apes", characters=2000)] == ["Apes climb."]


def test_a_passage_longer_than_a_chunk_is_cut_where_the_query_is(workspace: Workspace) -> None:
    source = workspace.folder / "long.jsonl"
    source.write_text(json.dumps({"id": "zoo", "text": ZOOS}) + "\n")
    add_corpus(workspace, "long", source, chunker="whole")
    (chunk,) = find(open_corpus(workspace, "long"), "owls", characters=50)
    assert chunk.text == "Apes use sharp tools. Owls hunt at night."


def test_trusted_sites_only(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "mixed.jsonl"
    addresses = {"a": "https://who.int/apes", "b": "https://apes.example.com/", "c": ""}
    source.write_text(
        "".join(json.dumps({"id": i, "text": f"Apes {i}", "url": u}) + "\n" for i, u in addresses.items())
    )
    add_corpus(workspace, "mixed", source)
    held = open_corpus(workspace, "mixed")
    assert {c.source_id for c in find(held, "apes", 5)} == {"a", "b", "c"}
    assert {c.source_id for c in find(held, "apes", 5, trusted_only=True, trusted_list="institutions")} == {"a"}


def test_a_chunk_of_nothing_is_refused(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="got 0"):
        ChunkSource(corpus(workspace, {"zoo": ZOOS}), parse_pipeline("bm25"), 0)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(1, 6), st.integers(1, 120), st.sampled_from(["apes", "apes owls lions", "frogs cars"]))
def test_chunks_keep_to_their_size_and_to_one_document(small: Corpus, count: int, characters: int, query: str) -> None:
    chunks = find(small, query, count, characters)
    assert len(chunks) <= count
    ids = [i for c in chunks for i in c.passages]
    assert len(ids) == len(set(ids))
    for chunk in chunks:
        assert 0 < len(chunk.text) <= characters
        assert list(chunk.passages) == list(range(chunk.passages[0], chunk.passages[-1] + 1))
        assert {p.url for p in small.passages(chunk.passages)} == {chunk.url}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    made = Workspace.create(tmp_path_factory.mktemp("chunks") / "workspace")
    return corpus(made, {"zoo": ZOOS, "car": "Cars are loud things. Apes drive no cars.", "owl": "Owls and apes meet."})

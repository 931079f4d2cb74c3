"""Cutting a corpus into shards, without a cluster."""

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from built_here import build_here
from hypothesis import given
from hypothesis import strategies as st
from tied_corpus import write_tied_corpus

from berdseye.data.errors import BadInputError, StaleError, UnavailableError
from berdseye.data.workspace import Workspace
from berdseye.retrieval.cluster.shards import MOST_SHARDS, ShardPlan, current_shards
from berdseye.retrieval.lexical.ranker import LexicalIndexer

WORDS = LexicalIndexer()


@given(count=st.integers(0, 10**9), shards=st.integers(1, 64), data=st.data())
def test_shards_hold_every_passage_once(count: int, shards: int, data: st.DataObject) -> None:
    plan = ShardPlan(Path("s"), Path("c"), "hash", count, "indexer", "engine", shards)
    cut = list(plan.all())
    assert [s.number for s in cut] == list(range(shards))
    assert (cut[0].start, cut[-1].end) == (0, count)
    assert all(one.end == two.start for one, two in pairwise(cut))
    sizes = [s.size for s in cut]
    assert max(sizes) - min(sizes) <= 1
    if count:
        passage = data.draw(st.integers(0, count - 1))
        held = plan.holding(passage)
        assert held.start <= passage < held.end
        assert held == cut[held.number]


@pytest.mark.parametrize("shards", [0, -2, MOST_SHARDS + 1])
def test_a_number_of_shards_that_cannot_be(workspace: Workspace, shards: int) -> None:
    with pytest.raises(BadInputError, match=f"number of shards must be .*got {shards}"):
        ShardPlan.of(write_tied_corpus(workspace, 6), WORDS, shards)


def test_pages_are_not_cut_into_shards(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="needs no index"):
        current_shards(write_tied_corpus(workspace, 6, kind="pages"), WORDS)


def test_missing_shards_are_reported_with_the_command(workspace: Workspace) -> None:
    with pytest.raises(UnavailableError, match=r"no shards of the index lexical\(english\).*berdseye index c"):
        current_shards(write_tied_corpus(workspace, 6), WORDS)


def test_a_missing_shard_is_named(workspace: Workspace) -> None:
    corpus = write_tied_corpus(workspace, 6)
    plan = build_here(corpus, WORDS, 3)
    assert current_shards(corpus, WORDS) == plan
    shutil.rmtree(plan.place(plan.shard(1)))
    with pytest.raises(UnavailableError, match=r"shard 1 \(passages 2 to 3\) of 3 does not exist"):
        current_shards(corpus, WORDS)


def test_a_missing_or_truncated_file_is_named(workspace: Workspace) -> None:
    corpus = write_tied_corpus(workspace, 6)
    plan = build_here(corpus, WORDS, 3)
    path = plan.place(plan.shard(2)) / "postings.docs"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-4])
    damaged = rf"shard 2 \(passages 4 to 5\) of 3 is damaged: postings.docs has {size - 4} of its {size} bytes"
    with pytest.raises(UnavailableError, match=damaged):
        current_shards(corpus, WORDS)
    path.unlink()
    with pytest.raises(UnavailableError, match=r"postings\.docs has 0 of its"):
        current_shards(corpus, WORDS)


def test_shards_of_another_corpus_or_engine_are_not_taken(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write_tied_corpus(workspace, 30)
    build_here(corpus, WORDS, 2)
    changed = write_tied_corpus(workspace, 30, seed=1)  # its folder is kept, as by a restored backup
    with pytest.raises(StaleError, match=r"shard 0 .* built from another state of the corpus"):
        current_shards(changed, WORDS)
    monkeypatch.setattr(LexicalIndexer, "engine", "postings 0")
    with pytest.raises(StaleError, match="or by another version"):
        current_shards(corpus, WORDS)


def test_a_manifest_that_cannot_be_read_is_reported(workspace: Workspace) -> None:
    corpus = write_tied_corpus(workspace, 6)
    plan = build_here(corpus, WORDS, 1)
    manifest = plan.place(plan.shard(0)) / "manifest.json"
    manifest.write_text("{")
    with pytest.raises(UnavailableError, match=r"manifest of shard 0 .* cannot be read"):
        current_shards(corpus, WORDS)
    manifest.write_text(json.dumps({"shards": 1}))
    with pytest.raises(UnavailableError, match="cannot be read"):
        current_shards(corpus, WORDS)


def test_the_last_complete_way_of_cutting_is_searched(workspace: Workspace) -> None:
    corpus = write_tied_corpus(workspace, 6)
    five, two = build_here(corpus, WORDS, 5), build_here(corpus, WORDS, 2)
    assert current_shards(corpus, WORDS) == two
    shutil.rmtree(two.place(two.shard(0)))
    assert current_shards(corpus, WORDS) == five
    assert not two.is_built(two.shard(0))
    assert two.is_built(two.shard(1))
    assert replace(two, shards=5, folder=five.folder) == five

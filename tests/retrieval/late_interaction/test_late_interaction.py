"""Late interaction over whole corpora and as a stage, against MaxSim by loops of NumPy."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError, DamagedError, UnknownNameError
from berdseye.data.records import Passage, Ranking
from berdseye.data.workspace import Workspace
from berdseye.retrieval.indexes import ensure_index, index_folder
from berdseye.retrieval.late_interaction import index as late_index
from berdseye.retrieval.late_interaction.index import build_tokens, load_tokens
from berdseye.retrieval.late_interaction.ranker import LateInteraction, TokenIndexer
from berdseye.retrieval.late_interaction.scoring import joined, maxsim
from berdseye.retrieval.passage_collections import InMemoryPassages, StoredCorpus, rank_pages
from berdseye.retrieval.pipeline import search, search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import PipelineContext, Query
from berdseye.retrieval.rerank.late_interaction import LateReranked
from tests.retrieval.corpus_files import corpus_of
from tests.retrieval.damages import forget
from tests.retrieval.made_encoders import TableTokenEncoder, passages_of

DIMENSION = 3
Tokens = list[tuple[int, ...]]
# Small whole numbers: half and single precision hold the products and sums exactly, and equal scores abound.
TOKENS = st.lists(st.tuples(*[st.integers(-2, 2)] * DIMENSION), max_size=4)
SOME = st.lists(st.tuples(*[st.integers(-2, 2)] * DIMENSION), min_size=1, max_size=4)


@contextmanager
def using(encoder: TableTokenEncoder) -> Iterator[None]:
    with ExitStack() as stack:
        for place in ("late_interaction.ranker", "rerank.late_interaction"):
            stack.enter_context(patch(f"berdseye.retrieval.{place}.open_token_encoder", lambda _: encoder))
        stack.enter_context(patch("os.fsync"))
        yield


def table(passages: Sequence[npt.ArrayLike], queries: Sequence[npt.ArrayLike], dimension: int) -> TableTokenEncoder:
    return TableTokenEncoder(
        {f"p{n}": rows for n, rows in enumerate(passages)} | {f"q{n}": rows for n, rows in enumerate(queries)},
        dimension,
    )


def naive(query: Sequence[Sequence[float]], passage: Sequence[Sequence[float]]) -> float:
    return sum(max(float(np.dot(q, p)) for p in passage) for q in query)


def in_order(scores: dict[int, float], k: int) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda item: (item[1], item[0]), reverse=True)[:k]


def pairs(ranking: Ranking) -> list[tuple[int, float]]:
    return list(zip(ranking.ids.tolist(), ranking.scores.tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(st.lists(TOKENS, max_size=12), st.lists(SOME, min_size=1, max_size=3), st.integers(1, 13), st.integers(1, 9))
def test_small_corpora_are_ranked_by_maxsim(passages: list[Tokens], queries: list[Tokens], k: int, block: int) -> None:
    """However the tokens are read; equal scores come with the larger id first, and passages without tokens not at all."""
    with using(table(passages, queries, DIMENSION)), patch.object(late_index, "_BLOCK", block):
        collection = InMemoryPassages(passages_of([f"p{n}" for n in range(len(passages))]))
        found = LateInteraction("table").rank(collection, [Query(f"q{n}") for n in range(len(queries))], k)
    for query, ranking in zip(queries, found, strict=True):
        assert pairs(ranking) == in_order({n: naive(query, p) for n, p in enumerate(passages) if p}, k)


@settings(max_examples=60, deadline=None)
@given(st.lists(SOME, min_size=1, max_size=9), st.lists(SOME, min_size=1, max_size=3), st.integers(1, 4))
def test_the_stage_orders_by_maxsim(passages: list[Tokens], queries: list[Tokens], block: int) -> None:
    """Whichever passages each query has; pads stay where they are."""
    chance = np.random.default_rng(len(passages))
    ids = np.full((len(queries), len(passages) + 1), -1)
    for row in ids:
        size = chance.integers(0, len(passages) + 1)
        row[:size] = chance.permutation(len(passages))[:size]
    with using(table(passages, queries, DIMENSION)), patch("berdseye.retrieval.rerank.late_interaction._BLOCK", block):
        out_ids, out_scores = LateReranked("table").apply(
            InMemoryPassages(passages_of([f"p{n}" for n in range(len(passages))])),
            [Query(f"q{n}") for n in range(len(queries))], ids, np.zeros(ids.shape, np.float32),
        )  # fmt: skip
    for query, before, own, scores in zip(queries, ids, out_ids, out_scores, strict=True):
        expected = in_order({n: naive(query, passages[n]) for n in before[before >= 0].tolist()}, len(ids[0]))
        assert list(zip(own.tolist(), scores.tolist(), strict=True))[: len(expected)] == expected
        assert own[len(expected) :].tolist() == [-1] * (len(ids[0]) - len(expected))


def test_a_passage_without_tokens_is_the_worst_in_a_stage() -> None:
    """Its score is that of the vectors opposite to the query's: -(5 + 2) here."""
    query = np.array([[3, 4], [0, 2]], np.float32)
    scores = maxsim(query, *joined([np.array([[-0.6, -0.8]], np.float32), np.empty((0, 2), np.float32)], 2))
    assert np.allclose(scores, [-5 - 1.6, -7])
    assert maxsim(query, np.empty((0, 2), np.float32), np.empty(0, np.int64)).tolist() == []


def many(
    chance: np.random.Generator, count: int
) -> tuple[list[npt.NDArray[np.float16]], list[npt.NDArray[np.float32]]]:
    """Passages and queries of unit vectors around a few centres, as tokens of one language lie."""
    centres = chance.normal(size=(40, 16))

    def unit(sizes: npt.NDArray[np.int64]) -> list[npt.NDArray[np.float32]]:
        made = [centres[chance.integers(0, 40, size)] + chance.normal(size=(size, 16)) * 0.5 for size in sizes]
        return [(v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32) for v in made]

    return [p.astype(np.float16) for p in unit(chance.integers(0, 12, count))], unit(chance.integers(2, 6, 8))


def test_candidates_of_many_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a FAISS index, scores of candidates are exact, most of the best passages are found, and all if all are candidates."""
    passages, queries = many(np.random.default_rng(0), 2000)
    wanted = [[naive(q.tolist(), p.tolist()) if len(p) else -np.inf for p in passages] for q in queries]
    monkeypatch.setattr(late_index, "EXACT_TOKENS", 5000)
    lists = [[p.astype(np.float32) for p in passages[start : start + 300]] for start in range(0, 2000, 300)]
    build_tokens(lists, 16, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"tokens.f16", "passages.ends", "shape.json", "vectors.faiss"}
    index = load_tokens(tmp_path, probes=64)
    for candidates, least in ((2000, 1.0), (400, 0.95), (100, 0.7)):
        found = index.search(queries, 20, candidates)
        shares = []
        for ranking, scores in zip(found, wanted, strict=True):
            assert np.allclose(ranking.scores, np.array(scores)[ranking.ids], atol=1e-3)
            assert (np.diff(ranking.scores) <= 0).all()
            shares.append(len(np.intersect1d(ranking.ids, np.argsort(scores)[::-1][:20])) / 20)
        assert np.mean(shares) >= least
        assert [r.ids.tolist() for r in index.search(queries, 20, candidates)] == [r.ids.tolist() for r in found]
    assert all(len(r.ids) > 900 for r in index.search(queries, 1000, 10))


def test_batches_do_not_change_the_index(tmp_path: Path) -> None:
    passages = [p.astype(np.float32) for p in many(np.random.default_rng(1), 50)[0]]
    contents = []
    for size in (1, 7, 50):
        folder = tmp_path / str(size)
        folder.mkdir()
        build_tokens([passages[start : start + size] for start in range(0, 50, size)], 16, folder)
        contents.append({p.name: p.read_bytes() for p in folder.iterdir()})
    assert contents[0] == contents[1] == contents[2]


@pytest.mark.parametrize("lists", [[], [[]], [[np.empty((0, 4), np.float32)]]])
def test_no_passages_and_no_tokens(tmp_path: Path, lists: list[list[npt.NDArray[np.float32]]]) -> None:
    build_tokens(lists, 4, tmp_path)
    (found,) = load_tokens(tmp_path).search([np.ones((2, 4), np.float32)], 5)
    assert found.ids.tolist() == []


def test_a_vector_that_half_precision_cannot_hold_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="too large for half precision"):
        build_tokens([[np.full((1, 4), 1e6, np.float32)]], 4, tmp_path)


FILES = ("tokens.f16", "passages.ends", "shape.json", "vectors.faiss")


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_reported(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, name: str, recorded: bool
) -> None:
    """With the checksums, and, of an index without them, by what the files say of each other."""
    monkeypatch.setattr(late_index, "EXACT_TOKENS", 500)
    passages = [p.astype(np.float32) for p in many(np.random.default_rng(2), 300)[0]]
    corpus = corpus_of(workspace, [f"p{n}" for n in range(300)])
    indexer = TokenIndexer("table")
    with using(table(passages, [], 16)):
        ensure_index(corpus, indexer)
        folder = index_folder(corpus, indexer)
        path = folder / name
        size = path.stat().st_size
        path.write_bytes(path.read_bytes()[: size // 2])
        if not recorded:
            (folder / "index.checksums").unlink()
            manifest = json.loads((folder / "manifest.json").read_text())
            manifest["files"][name] = size // 2
            (folder / "manifest.json").write_text(json.dumps(manifest))
        forget()
        with pytest.raises(DamagedError, match=r"berdseye index c --pipeline 'colbert\(table\)' --rebuild") as raised:
            ensure_index(corpus, indexer)
        assert raised.value.where is not None
        ensure_index(corpus, indexer, rebuild=True)


def test_ends_that_do_not_ascend_are_damage(tmp_path: Path) -> None:
    folder = tmp_path / "corpora" / "c" / "indexes" / "colbert(table)"
    folder.mkdir(parents=True)
    build_tokens([[np.ones((n, 4), np.float32) for n in (2, 3, 1)]], 4, folder)
    np.array([5, 2, 6]).tofile(folder / "passages.ends")
    with pytest.raises(DamagedError, match="do not ascend"):
        load_tokens(folder)


def test_it_is_a_retriever_like_any_other(workspace: Workspace) -> None:
    """Of a stored corpus, in a fusion, after an expansion, and of web pages."""
    words = {"trams": [1, 0, 0], "cars": [0, 1, 0], "zoos": [0, 0, 1]}

    class Words(TableTokenEncoder):
        def encode_queries(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
            return [np.array([words[w] for w in t.split() if w in words], np.float32).reshape(-1, 3) for t in texts]

        def encode_passages(self, passages: Sequence[Passage]) -> list[npt.NDArray[np.float32]]:
            return self.encode_queries([p.text for p in passages])

    corpus = corpus_of(workspace, ["trams", "cars trams", "zoos", "none at all"])
    (workspace.folder / "e.jsonl").write_text('{"question": "trams cars", "perspectives": ["zoos", "trams"]}\n')
    context = PipelineContext(workspace)
    with using(Words({}, 3)):
        pipeline = parse_pipeline("colbert(table)", context)
        assert pipeline.versions.keys() == {"colbert(table)"}
        assert "weights 1" in pipeline.versions["colbert(table)"]
        ids, scores = search(corpus, pipeline, ["trams cars"], 4)
        assert ids.tolist() == [[1, 0, 2, -1]]
        assert scores.tolist() == [[2, 1, 0, 0]]
        ids, _ = search(corpus, parse_pipeline("hybrid(bm25,colbert(table),rrf=60)", context), ["trams cars"], 2)
        assert ids.tolist() == [[1, 0]]
        ids, _ = search(corpus, parse_pipeline("expand(e.jsonl) >> colbert(table)", context), ["trams cars"], 3)
        assert sorted(ids[0].tolist()) == [0, 1, 2]
        page = Passage(3, "https://a.test/", "", "cars trams zoos")
        assert rank_pages([page], LateInteraction("table"), Query("zoos"), 2).scores.tolist() == [1]
        reranked = parse_pipeline("bm25%3 >> colbert(table)", context)
        assert reranked.versions["table"] == "1"
        ids, _ = search_passages(StoredCorpus(corpus), reranked, ["trams cars"], 2)
        assert ids.tolist() == [[1, 0]]
    shutil.rmtree(corpus.folder / "indexes")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("colbert(m)", "colbert(m)"),
        ("colbert(m,candidates=1000,probes=32)", "colbert(m)"),
        ("colbert(encoder=m,probes=8,candidates=50)", "colbert(m,candidates=50,probes=8)"),
        ("bm25 >> colbert(org/m.v2)", "bm25 >> colbert(org/m.v2)"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert str(parse_pipeline(text)) == name
    assert str(parse_pipeline(name)) == name


def test_the_settings_of_a_search_do_not_change_the_index() -> None:
    names = [parse_pipeline(f"colbert(m{s})").ranker.indexers[0].name for s in ("", ",candidates=5", ",probes=7")]
    assert names == ["colbert(m)"] * 3


def test_wrong_settings_are_errors() -> None:
    for text in ("colbert()", "colbert(m,candidates=0)", "colbert(m,probes=1.5)", "bm25 >> colbert()"):
        with pytest.raises(BadInputError):
            parse_pipeline(text)
    with pytest.raises(UnknownNameError, match="candidates"):
        parse_pipeline("bm25 >> colbert(m,candidates=5)")

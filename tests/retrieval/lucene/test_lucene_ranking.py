"""Matching what Lucene finds with a corpus; a list of scores stands in for Lucene here."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import corpus_of_rows

import berdseye.retrieval.lucene.ranker as ranker_module
from berdseye.data.corpora import Corpus, add_corpus, open_corpus
from berdseye.data.errors import BadInputError
from berdseye.data.records import Ranking
from berdseye.data.workspace import Workspace
from berdseye.retrieval.lucene.index import Hits, Similarity, StoredDocument
from berdseye.retrieval.lucene.ranker import Lucene
from berdseye.retrieval.passage_collections import InMemoryPassages, StoredCorpus, searchable
from berdseye.retrieval.protocol import as_queries


class Scored:
    """Gives documents in the order in which they stand here, as Lucene gives those of equal scores."""

    folder = Path("/indexes/wiki")

    def __init__(self, scores: Mapping[str, float], text: str | None = None) -> None:
        self.text = text
        self.scores = dict(sorted(scores.items(), key=lambda item: -item[1]))
        self.count = len(scores)
        self.asked: list[int] = []

    def search(self, texts: Sequence[str], k: int, similarity: Similarity) -> list[Hits]:
        del similarity
        return [self.page(0, k) for _ in texts]

    def following(self, text: str, hits: Hits, k: int, similarity: Similarity) -> Hits:
        del text, similarity
        return self.page(hits.numbers[-1] + 1, k)

    def stored(self, start: int) -> Iterator[StoredDocument]:
        """Nothing, as in indexes without texts, or `text` for all."""
        for number, docid in list(enumerate(self.scores))[start:]:
            yield StoredDocument(number, docid, None, self.text)

    def page(self, start: int, k: int) -> Hits:
        self.asked.append(k)
        found = list(enumerate(self.scores.items()))[start : start + k]
        return Hits([d for _, (d, _) in found], [n for n, _ in found], np.array([s for _, (_, s) in found], np.float32))


def ranked(corpus: Corpus, index: Scored, k: int, monkeypatch: pytest.MonkeyPatch) -> Ranking:
    monkeypatch.setattr(ranker_module, "index_folder", Path)
    monkeypatch.setattr(ranker_module, "open_index", lambda _: index)
    return StoredCorpus(corpus).rank(Lucene("/indexes/wiki"), as_queries(["cars"]), k)[0]


def numbered(workspace: Workspace, count: int) -> Corpus:
    return corpus_of_rows(workspace, [{"id": f"d{n}", "text": f"passage {n}"} for n in range(count)])


def test_equal_scores_come_with_the_later_passage_first(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = numbered(workspace, 1000)
    index = Scored({"d7": 3.0, **{f"d{n}": 2.0 for n in range(1000) if n != 7}})
    found = ranked(corpus, index, 3, monkeypatch)
    assert found.ids.tolist() == [7, 999, 998]
    assert found.scores.tolist() == [3.0, 2.0, 2.0]
    assert sum(index.asked[:-1]) <= 1000 < sum(index.asked)


def test_no_more_is_asked_for_than_ties_need(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Scored({f"d{n}": float(n) for n in range(200)})
    assert ranked(numbered(workspace, 200), index, 5, monkeypatch).ids.tolist() == [199, 198, 197, 196, 195]
    assert index.asked == [37]


def test_beyond_the_deepest_search_lucenes_order_stands(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranker_module, "_DEEPEST", 100)
    index = Scored({f"d{n}": 1.0 for n in range(300)})
    seen = ranked(numbered(workspace, 300), index, 2, monkeypatch).ids.tolist()
    assert seen == [sum(index.asked) - 1, sum(index.asked) - 2]
    assert sum(index.asked[:-1]) < 100 <= sum(index.asked)


def test_a_document_that_is_no_passage_is_reported(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = numbered(workspace, 3)
    with pytest.raises(
        BadInputError, match=r"'c' \(3 passages\) lacks document 'Q9' .*\(2 documents\).*--lucene INDEX"
    ):
        ranked(corpus, Scored({"d1": 2.0, "Q9": 1.0}), 2, monkeypatch)


def test_documents_that_were_cut_are_reported(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of_rows(workspace, [{"id": "d1#0", "text": "one"}, {"id": "d1#1", "text": "two"}])
    with pytest.raises(BadInputError, match=r"lacks document 'd1'.*--chunker whole"):
        ranked(corpus, Scored({"d1": 2.0}), 2, monkeypatch)


def test_duplicates_that_the_corpus_merged_are_passed_over(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": f"d{n}", "text": "the same" if n in (2, 5, 7) else f"passage {n}"} for n in range(100)]
    corpus = corpus_of_rows(workspace, rows)
    assert (corpus.manifest.count, corpus.manifest.duplicates_merged) == (98, 2)
    index = Scored({f"d{n}": 1.0 if n in (2, 5, 7) else 1 / (n + 2) for n in range(100)})
    found = ranked(corpus, index, 66, monkeypatch)
    assert len(found.ids) == 66
    assert [p.source_id for p in corpus.passages(found.ids.tolist()[:4])] == ["d2", "d0", "d1", "d3"]
    with pytest.raises(BadInputError, match="lacks document 'd5'"):
        ranked(corpus, Scored(index.scores | {"more": 0.0}), 66, monkeypatch)


def test_ids_that_mean_other_texts_are_reported(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = numbered(workspace, 3)
    scores = {"d0": 3.0, "d1": 2.0, "d2": 1.0}
    assert ranked(corpus, Scored(scores, "Passage 1"), 2, monkeypatch).ids.tolist() == [0, 1]
    with pytest.raises(BadInputError, match=r"Document 'd1' of the index differs"):
        ranked(corpus, Scored(scores, "Something else"), 2, monkeypatch)


def test_a_document_indexed_twice_is_ranked_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    class Twice(Scored):
        def page(self, start: int, k: int) -> Hits:
            found = super().page(start, k)
            return found.before(found)

    found = ranked(numbered(workspace, 3), Twice({"d2": 2.0, "d0": 1.0}), 2, monkeypatch)
    assert found.ids.tolist() == [2, 0]
    assert found.scores.tolist() == [2.0, 1.0]


def test_pages_and_loose_passages_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    queries = as_queries(["passage"])
    corpus = numbered(workspace, 2)
    with pytest.raises(BadInputError, match=r"'lucene\(wiki\)' can search a corpus of passages only, not web pages"):
        InMemoryPassages(corpus.passages([0, 1])).rank(Lucene("wiki"), queries, 1)
    (tmp_path / "page.txt").write_text("A passage of a page.")
    add_corpus(workspace, "pages", tmp_path / "page.txt", kind="pages")
    with pytest.raises(BadInputError, match="not web pages"):
        searchable(open_corpus(workspace, "pages")).rank(Lucene("wiki"), queries, 1)

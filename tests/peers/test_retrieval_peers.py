"""Rankings of the demo's passages against other programs that compute the same."""

import bm25s
import faiss
import numpy as np
import pytest
import Stemmer
import tantivy
from rank_bm25 import BM25Okapi

from berdseye.data.demo.content import topics
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.records import Passage
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.passage_collections import InMemoryPassages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query

TEXTS = [passage["text"] for topic in topics() for passage in topic["passages"]]
QUESTIONS = [topic["question"] for topic in topics()]
PASSAGES = InMemoryPassages([Passage(n, str(n), "", text) for n, text in enumerate(TEXTS)])
STEMMER = Stemmer.Stemmer("english")


def ranked(pipeline: str, k: int) -> list[tuple[list[int], list[float]]]:
    found = parse_pipeline(pipeline).ranker.rank(PASSAGES, [Query(q) for q in QUESTIONS], k)
    return [(r.ids.tolist(), r.scores.tolist()) for r in found]


def test_texts_are_taken_apart_as_bm25s_does() -> None:
    theirs = bm25s.tokenize(TEXTS, stopwords="en", stemmer=STEMMER, return_ids=False, show_progress=False)
    assert [TOKENIZERS["english"].terms(text) for text in TEXTS] == theirs


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire"])
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (2.0, 0.0)])
def test_bm25_ranks_as_bm25s_does(method: str, k1: float, b: float) -> None:
    """From the texts on, with its own tokenizer."""
    peer = bm25s.BM25(k1=k1, b=b, method=method)
    peer.index(bm25s.tokenize(TEXTS, stopwords="en", stemmer=STEMMER, show_progress=False), show_progress=False)
    asked = bm25s.tokenize(QUESTIONS, stopwords="en", stemmer=STEMMER, return_ids=False, show_progress=False)
    found = ranked(f"bm25(k1={k1},b={b},variant={method})", len(TEXTS))
    for tokens, (ids, scores) in zip(asked, found, strict=True):
        expected = peer.get_scores([t for t in tokens if t in peer.vocab_dict])
        assert np.allclose(expected[ids], scores, rtol=1e-5, atol=1e-6)
        assert np.allclose(np.delete(expected, ids), 0)


def test_the_notebook_s_bm25_ranks_as_rank_bm25_does() -> None:
    peer = BM25Okapi([text.split(" ") for text in TEXTS])
    for question, (ids, scores) in zip(QUESTIONS, ranked("bm25(okapi-notebook)", len(TEXTS)), strict=True):
        expected = peer.get_scores(question.split(" "))
        assert np.allclose(expected[ids], scores, rtol=1e-5, atol=1e-6)
        assert np.allclose(np.delete(expected, ids), 0)


def test_bm25_ranks_nearly_as_tantivy_does() -> None:
    """Which counts lengths in steps, as Lucene does, and multiplies by k1 + 1: the best passages are the same."""
    schema = tantivy.SchemaBuilder().add_text_field("text", tokenizer_name="en_stem", stored=False)
    schema.add_integer_field("id", stored=True)
    index = tantivy.Index(schema.build())
    writer = index.writer(num_threads=1)
    for n, text in enumerate(TEXTS):
        writer.add_document(tantivy.Document(id=n, text=" ".join(TOKENIZERS["words"].terms(text))))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    shared = []
    for question, (ids, _) in zip(QUESTIONS, ranked("bm25(k1=1.2,b=0.75)", 5), strict=True):
        words = " ".join(w for w in TOKENIZERS["words"].terms(question) if TOKENIZERS["english"].terms(w))
        hits = searcher.search(index.parse_query(words, ["text"]), 5).hits
        theirs = {searcher.doc(address)["id"][0] for _, address in hits}
        shared.append(len(theirs & set(ids)) / 5)
    assert np.mean(shared) > 0.9


def test_static_vectors_are_means_of_token_vectors() -> None:
    encoder = static_embedding()
    for text, vector in zip(TEXTS[:20], encoder.encode(TEXTS[:20]), strict=True):
        ids = encoder.tokenizer.encode(text, add_special_tokens=False).ids
        mean = encoder.table[ids].astype(np.float64).mean(axis=0)
        assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.parametrize("layout", ["flat", "fp16", "sq8", "hnsw", "ivf", "ivfpq", "rabitq"])
def test_dense_is_a_matrix_product(layout: str) -> None:
    """To as many digits as a layout keeps."""
    encoder = static_embedding()
    products = encoder.encode(QUESTIONS).astype(np.float64) @ encoder.encode(TEXTS).astype(np.float64).T
    near = {"flat": 1e-6, "fp16": 1e-3}.get(layout, 1e-2)
    for expected, (ids, scores) in zip(products, ranked(f"dense(static,index={layout})", 20), strict=True):
        assert np.allclose(scores, np.sort(expected)[::-1][:20], atol=near)
        assert np.allclose(expected[ids], scores, atol=near)


def test_dense_ranks_as_faiss_by_itself_does() -> None:
    encoder = static_embedding()
    index = faiss.IndexFlatIP(256)
    index.add(encoder.encode(TEXTS))
    theirs, _ = index.search(encoder.encode(QUESTIONS), 10)
    assert np.allclose([scores for _, scores in ranked("dense(static)", 10)], theirs, atol=1e-6)

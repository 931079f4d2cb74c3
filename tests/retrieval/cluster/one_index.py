"""What one index of the whole corpus finds, to be found again in shards."""

import numpy as np
from tied_corpus import QUESTIONS

from berdseye.data.corpora import Corpus
from berdseye.retrieval.pipeline import search, search_passages
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query, Searchable

PIPELINES = (
    "bm25",
    "bm25(k1=1.5,b=0.9,variant=plus)",
    "qld",
    "dense(static)",
    "hybrid(bm25,dense(static),alpha=0.3)",
    "dense(static) >> pap",
    "bm25%50 >> mmr(0.9)",
)
QUERIES = [Query(q, root=q, perspective="It would be better for children and animals.") for q in QUESTIONS]


def assert_same(corpus: Corpus, passages: Searchable) -> None:
    """Ids and scores are the same to the last bit; a k of 20 cuts through ties, 1,000 takes in shards whole."""
    for name in PIPELINES:
        pipeline = parse_pipeline(name)
        for k in (1, 20, 1000):
            ids, scores = search(corpus, pipeline, QUERIES, k)
            found_ids, found_scores = search_passages(passages, pipeline, QUERIES, k)
            assert np.array_equal(found_ids, ids), (name, k)
            assert np.array_equal(found_scores, scores), (name, k)

"""The scoring functions as their papers print them, one document and one word at a time in double precision."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import log

Tokens = Sequence[str]
Scored = dict[int, float]

IDF: dict[str, Callable[[int, int], float]] = {
    "lucene": lambda n, df: log(1 + (n - df + 0.5) / (df + 0.5)),
    "robertson": lambda n, df: max(0.0, log((n - df + 0.5) / (df + 0.5))),
    "okapi": lambda n, df: log((n - df + 0.5) / (df + 0.5)),
    "atire": lambda n, df: log(n / df),
    "l": lambda n, df: log((n + 1) / (df + 0.5)),
    "plus": lambda n, df: log((n + 1) / df),
}


def bm25(documents: Sequence[Tokens], query: Tokens, variant: str, k1: float, b: float) -> Scored:
    """Scores of the documents that hold a word of the query; BM25L's delta is 0.5 and BM25+'s is 1."""
    counts, mean = [Counter(d) for d in documents], sum(map(len, documents)) / len(documents)
    frequencies = Counter(word for d in documents for word in set(d))
    idf = {word: IDF[variant](len(documents), df) for word, df in frequencies.items()}
    if variant == "okapi":
        floor = 0.25 * sum(idf.values()) / len(idf)
        idf = {word: value if value >= 0 else floor for word, value in idf.items()}

    def weight(tf: int, length: int) -> float:
        norm = 1 - b + b * length / mean
        if variant in ("lucene", "robertson"):
            return tf / (tf + k1 * norm)
        if variant == "l":
            return (k1 + 1) * (tf / norm + 0.5) / (k1 + tf / norm + 0.5)
        return (1 if variant == "plus" else 0) + (k1 + 1) * tf / (tf + k1 * norm)

    return {
        number: sum(idf[word] * weight(held[word], len(document)) for word in query if word in held)
        for number, (held, document) in enumerate(zip(counts, documents, strict=True))
        if set(query) & set(held)
    }


def log_likelihood(documents: Sequence[Tokens], query: Tokens, mu: float) -> Scored:
    """log P(query | document) with Dirichlet smoothing, whole; words that the collection lacks are left out."""
    collection = Counter(word for d in documents for word in d)
    known = [word for word in query if word in collection]
    share = {word: collection[word] / collection.total() for word in known}
    return {
        number: sum(log((document.count(word) + mu * share[word]) / (len(document) + mu)) for word in known)
        for number, document in enumerate(documents)
        if set(known) & set(document)
    }

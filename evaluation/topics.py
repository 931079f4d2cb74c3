"""Topics of questions by k-means over TF-IDF vectors (DebateQA, figure 7, uses BERTopic)."""

from collections.abc import Sequence
from typing import NamedTuple

SHOWN = 8
"""The number of topics that DebateQA shows."""
FEWEST = 100
"""The smallest number of questions whose topics are shown."""
TOO_FEW = f"not shown for fewer than {FEWEST} questions, whose clusters depend on single words"
_WORDS = 4
_A_TOPIC, _MOST = 12, 30


class Topic(NamedTuple):
    """A topic: its heaviest words, and the number of its questions."""

    words: str
    questions: int


def topics_of(texts: Sequence[str], *, seed: int = 0) -> list[str]:
    """Return the topic of each question: the four heaviest words of its cluster; "other" for questions without a word of weight.

    There is a cluster for every 12 questions, at most 30. Equal texts and seeds give equal topics.
    """
    import numpy as np  # these are slow to import
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not texts:
        return []
    vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True, token_pattern=r"(?u)\b[^\W\d_]{3,}\b")
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError:  # no word that is not a stop word
        return ["other"] * len(texts)
    different = len({(row.indices.tobytes(), row.data.tobytes()) for row in weights})
    count = max(1, min(_MOST, len(texts) // _A_TOPIC, different))
    clusters = KMeans(count, n_init=4, random_state=seed).fit(weights)
    words = np.array(vectorizer.get_feature_names_out())
    names = [
        ", ".join(words[place] for place in np.lexsort((words, -center))[:_WORDS] if center[place] > 0)
        for center in clusters.cluster_centers_
    ]
    empty = np.asarray(weights.sum(axis=1)).ravel() == 0
    return ["other" if nothing else names[cluster] for cluster, nothing in zip(clusters.labels_, empty, strict=True)]


def largest_topics(topics: Sequence[str], count: int = SHOWN) -> list[Topic]:
    """Return the topics with the most questions; of equally large ones, the first by name."""
    sizes = {name: topics.count(name) for name in set(topics)}
    ordered = sorted(sizes, key=lambda name: (-sizes[name], name))
    return [Topic(name, sizes[name]) for name in ordered[:count]]


def topics_shown(texts: Sequence[str], *, seed: int = 0) -> list[Topic]:
    """Return the largest topics of questions, none of fewer than `FEWEST` questions, for the reason that `TOO_FEW` states."""
    return largest_topics(topics_of(texts, seed=seed)) if len(texts) >= FEWEST else []

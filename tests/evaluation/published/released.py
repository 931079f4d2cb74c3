"""Printed digits recomputed from the data that the authors released; the released data are not part of the repository."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from berdseye.data.datasets.pir_reformat import reformat
from tests.evaluation.published.recomputation import Cell, Span, exact, transcribed

Bools = npt.NDArray[np.bool_]
K = 5


def berds_dev(data: Path) -> Iterator[Cell]:
    """The questions of the development files."""
    table, counts = transcribed("berds_dataset").set_index("dataset"), dict[str, int]()
    for name, file in (("arguana", "arguana_generated"), ("opinionqa", "opinionqa"), ("kialo", "kialo")):
        lines = (data / "berds_dev" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
        counts[name] = len({json.loads(line)["org_id"] for line in lines})
    for name, count in (counts | {"all": sum(counts.values())}).items():
        yield Cell(f"{name} dev", table.loc[name, "dev"], 0, exact(count))


@lru_cache(maxsize=1)
def perspectrum(data: Path) -> dict[str, Any]:
    """PIR's task, built from the released Perspectrum; other tests compare it with the released beginning of the task."""
    return reformat("perspectrum", data / "perspectrum").layout()


def pir_sizes(data: Path) -> Iterator[Cell]:
    task, row = perspectrum(data), transcribed("pir_datasets").set_index("task").loc["perspectrum"]
    yield Cell("perspectrum queries", row["queries"], 0, exact(len(task["queries"])))
    yield Cell("perspectrum passages", row["corpus_size"], 0, exact(len(task["corpus"])))
    words = float(np.mean([len(text.split()) for text in task["corpus"]]))
    yield Cell("perspectrum words of a passage", row["corpus_len"], 1, exact(words))


def okapi(corpus: Sequence[str], queries: Sequence[str]) -> Iterator[npt.NDArray[np.float64]]:
    """Scores of every passage for each query by Okapi BM25 as the released notebook has it (library rank_bm25, its defaults).

    k1 is 1.5, b .75; a quarter of the mean idf replaces a negative one; tokens are split at single spaces and keep their case.
    """
    k1, b, epsilon = 1.5, 0.75, 0.25
    tokens = [text.split(" ") for text in corpus]
    words = {word: n for n, word in enumerate(dict.fromkeys(word for text in tokens for word in text))}
    n, lengths = len(corpus), np.array([len(text) for text in tokens], dtype=np.float64)
    cells = [(row, words[word], times) for row, text in enumerate(tokens) for word, times in Counter(text).items()]
    rows, columns, times = (np.array(values) for values in zip(*cells, strict=True))
    frequency = np.bincount(columns)
    idf = np.log(n - frequency + 0.5) - np.log(frequency + 0.5)
    idf = np.where(idf < 0, epsilon * idf.mean(), idf)
    weight = idf[columns] * times * (k1 + 1) / (times + k1 * (1 - b + b * lengths[rows] / lengths.mean()))
    matrix = csr_matrix((weight, (rows, columns)), shape=(n, len(words)))
    for query in queries:
        asked = np.zeros(len(words))
        for word in query.split(" "):
            if word in words:
                asked[words[word]] += 1
        yield matrix @ asked


class Found(NamedTuple):
    """Passages of the top K whatever the order of equal scores, and those that are there in some order: bool[n_passages]; and how
    many of the latter, beyond the former, the top K holds."""

    surely: Bools
    maybe: Bools
    places: int

    def hit(self, relevant: Sequence[int]) -> tuple[bool, bool]:
        """Whether a relevant passage is in the top K in every order of equal scores, and in some order."""
        wanted = list(relevant)
        if self.surely[wanted].any():
            return True, True
        others = self.maybe.sum() - len({n for n in wanted if self.maybe[n]})
        return bool(others < self.places), bool(self.maybe[wanted].any())


def top(scores: npt.NDArray[np.float64]) -> Found:
    last = np.partition(scores, -K)[-K]
    surely, maybe = scores > last + 1e-9, np.abs(scores - last) <= 1e-9
    return Found(surely, maybe, K - int(surely.sum()))


@lru_cache(maxsize=2)
def _tops(data: Path, column: str) -> dict[str, Found]:
    """The top K of each text of a column of the task."""
    task = perspectrum(data)
    texts = list(dict.fromkeys(task[column]))
    return dict(zip(texts, map(top, okapi(task["corpus"], texts)), strict=True))


def relevant_in_notebook(task: Mapping[str, Any]) -> list[list[int]]:
    """The relevant passages of each query after the released notebook has collected those of the root queries.

    It starts each root's list with the list of the root's first query itself, not with a copy, and extends it by the lists of the
    root's other queries. So the first query of each root ends up with the relevant passages of all of them.
    """
    relevant = [list(task["key_ref"][str(n)]) for n in range(len(task["queries"]))]
    first: dict[str, int] = {}
    for n, root in enumerate(task["source_queries"]):
        if first.setdefault(root, n) != n:
            relevant[first[root]] += relevant[n]
    return relevant


def p_recall(data: Path, *, shared_lists: bool) -> Span:
    """p-Recall@5 of BM25 on Perspectrum in percent, between the worst and the best order of equal scores; the value is half-way.

    `shared_lists`: with the relevant passages that the notebook has; otherwise each query with its own.
    """
    task, tops = perspectrum(data), _tops(data, "queries")
    own = [task["key_ref"][str(n)] for n in range(len(task["queries"]))]
    relevant = relevant_in_notebook(task) if shared_lists else own
    hits: dict[str, list[tuple[bool, bool]]] = {}
    for query, root, passages in zip(task["queries"], task["source_queries"], relevant, strict=True):
        hits.setdefault(root, []).append(tops[query].hit(passages))
    low, high = (
        100 * float(np.mean([np.mean([hit[end] for hit in root]) for root in hits.values()])) for end in (0, 1)
    )
    return Span((low + high) / 2, low, high)


def stances_found(data: Path) -> dict[str, tuple[int, int]]:
    """The root queries whose top 5 hold a passage of each stance, in the worst and in the best order of equal scores."""
    task, tops = perspectrum(data), _tops(data, "source_queries")
    passages: dict[tuple[str, str], list[int]] = {}
    for n, (root, label) in enumerate(zip(task["source_queries"], task["query_labels"], strict=True)):
        passages.setdefault((root, label), []).extend(task["key_ref"][str(n)])
    counts = {"support": [0, 0], "undermine": [0, 0]}
    for (root, label), wanted in passages.items():
        if label in counts:
            for end, hit in enumerate(tops[root].hit(wanted)):
                counts[label][end] += hit
    return {label: (low, high) for label, (low, high) in counts.items()}


def pir_recall(data: Path) -> Iterator[Cell]:
    printed = transcribed("pir_precall5").query("task == 'perspectrum' and retriever == 'bm25'")["value"].iloc[0]
    yield Cell("bm25 perspectrum", printed, 1, p_recall(data, shared_lists=True))


def pir_shares(data: Path) -> Iterator[Cell]:
    """Root queries that find a stance, of those that find one or the other, each counted for every stance that it finds; of the
    values that some order of equal scores gives, the nearest to the printed one."""
    found = stances_found(data)
    printed = (
        transcribed("pir_bias").query("task == 'perspectrum' and retriever == 'bm25'").set_index("perspective")["share"]
    )
    for stance, other in (("support", "undermine"), ("undermine", "support")):
        (low, high), (fewest, most) = found[stance], found[other]
        shares = [100 * n / (n + m) for n in range(low, high + 1) for m in range(fewest, most + 1)]
        nearest = min(shares, key=lambda share: abs(share - printed[stance]))
        yield Cell(f"bm25 perspectrum {stance}", printed[stance], 1, exact(nearest))


RELEASED: Mapping[str, Callable[[Path], Iterator[Cell]]] = {
    "BERDS table 1": berds_dev,
    "PIR table 1": pir_sizes,
    "PIR table 2": pir_recall,
    "PIR tables 3 and 10": pir_shares,
}
"""What the released data determine, by the name of the table."""

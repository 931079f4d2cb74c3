"""Made-up passages in any number, for measuring speed and size where no real corpus of that size is at hand.

What is as in real text:
- the most frequent words are English words in the order of their frequency in the demo's texts, function words included,
  with frequencies after Zipf and Mandelbrot; beyond the kernel of common words frequencies fall faster (two regimes, Ferrer
  i Cancho and Sole 2001), so that distinct words grow as Heaps' law says: 0.12 million in a hundred thousand
  passages, 0.36 million in a million, about 1.5 million in 22 million;
- about 100 words a passage: most have just that, a document's last passage has fewer;
- a document's passages share topics and name its subject again and again, so that a query's words come together in
  few passages, and rare words are repeated inside a passage (burstiness), as in an encyclopedia.

What is not: there is no grammar and no meaning (an encoder's vectors of these texts say nothing of its quality), words that
stand side by side are independent given the topics (phrases do not recur, near-duplicates do not occur), a rare word is
a string of syllables (a stemmer finds little to cut, a subword tokenizer needs more pieces than in English), and there are
no numbers, no markup and no other language.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from berdseye.data.corpora import Manifest
from berdseye.data.corpora.corpus import SCHEMA, part_path, write_part
from berdseye.data.workspace import Workspace

Ranks = npt.NDArray[np.int32]

DEMO = Path(__file__).parents[2] / "data" / "demo"
DISTINCT = 4_000_000
_PART = 50_000
_STEP = 10_000
_WIDTH = 16
_LONGEST = _WIDTH - 2  # a full stop and a space follow
_SHIFT = 1.0
_KERNEL = 8_000
_TAIL = 2.03
_TOPICS = 5_000
_TOPIC_WORDS = 300
_COMMON = 150
_RAREST_OF_TOPICS = 60_000
_DOCUMENT = 6.6
_TOPICAL, _NAMING = 0.33, 0.04
_CELLS = 1 << 20


@dataclass(frozen=True)
class _Language:
    """Words as rows of bytes, how to draw them, and the words of each topic."""

    letters: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.uint8]
    cells: Ranks
    head: float
    topics: Ranks
    inside: Ranks

    def draw(self, rng: np.random.Generator, count: int) -> Ranks:
        """Ranks of `count` words of running text."""
        at = rng.random(count, dtype=np.float32)
        ranks = self.cells[(at * _CELLS).astype(np.int32)]
        rare = np.flatnonzero(at >= self.head)
        ranks[rare] = _tail_ranks(rng.random(len(rare)), _KERNEL)
        return ranks

    def draw_topical(self, rng: np.random.Generator, topics: npt.NDArray[np.integer[Any]]) -> Ranks:
        """Ranks of words, each of its own topic."""
        ranks: Ranks = self.topics[topics, self.inside[rng.integers(0, len(self.inside), len(topics))]]
        return ranks

    def texts(self, ranks: Ranks, lengths: npt.NDArray[np.int64], ends: npt.NDArray[np.bool_] | None) -> pa.Array:
        """Texts of these many words each; a word that ends a sentence gets a full stop and the next a capital."""
        rows, sizes = self.letters[ranks], self.lengths[ranks].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        if ends is not None:
            last = np.flatnonzero(ends)
            rows[last, sizes[last]] = ord(".")
            rows[last, sizes[last] + 1] = ord(" ")
            sizes[last] += 1
            rows[np.minimum(last + 1, len(rows) - 1), 0] &= 0xDF
        rows[starts, 0] &= 0xDF
        sizes += 1
        sizes[starts + lengths - 1] -= 1  # no space after the last word
        flat = rows[np.arange(_WIDTH) < sizes[:, None]]
        offsets = np.concatenate([[0], np.cumsum(np.add.reduceat(sizes, starts))]).astype(np.int32)
        return pa.Array.from_buffers(pa.string(), len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(flat)])


def synthetic_passages(count: int, seed: int = 0) -> Iterator[pa.Table]:
    """Tables of up to 50,000 passages with the columns of a corpus; the same `seed` gives the same passages."""
    for start in range(0, count, _PART):
        steps = range(start, min(start + _PART, count), _STEP)
        yield pa.concat_tables([_step(seed, s, min(_STEP, count - s)) for s in steps]).combine_chunks()


def write_synthetic_corpus(workspace: Workspace, name: str, count: int, seed: int = 0) -> Manifest:
    """Make a corpus of `count` passages (about 60,000 a second), written directly as its parts and manifest."""
    folder = workspace.corpus_folder(name)
    digest = hashlib.blake2b(digest_size=16)
    documents = 0
    for table in synthetic_passages(count, seed):
        write_part(part_path(folder, table.column("id")[0].as_py()), table)
        for buffer in table.column("text").chunk(0).buffers()[1:]:
            digest.update(buffer)
        documents += sum(source.endswith("#0") for source in table.column("source_id").to_pylist())
    manifest = Manifest(
        name=name,
        kind="passages",
        count=count,
        documents=documents,
        duplicates_merged=0,
        hash=digest.hexdigest(),
        source=f"synthetic passages, seed {seed}",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    manifest.write(folder)
    return manifest


def synthetic_queries(count: int, seed: int = 0) -> list[str]:
    """Questions of 5 to 10 words: about a third function words, half words of one topic, and now and then a rare one."""
    language, rng = _language(), np.random.default_rng([seed, 1, 0])
    lengths = rng.integers(5, 11, count)
    of = np.repeat(np.arange(count), lengths)
    topics = _popular(rng, count)[of]
    kind = rng.random(len(of))
    ranks = rng.integers(0, _COMMON, len(of), dtype=np.int32)
    ranks[kind > 0.35] = language.draw_topical(rng, topics)[kind > 0.35]
    ranks[kind > 0.9] = _tail_ranks(rng.random(len(of)), _KERNEL)[kind > 0.9]
    return [f"{text}?" for text in language.texts(ranks, lengths, None).to_pylist()]


def _step(seed: int, start: int, count: int) -> pa.Table:
    language, rng = _language(), np.random.default_rng([seed, 0, start])
    sizes = rng.geometric(1 / _DOCUMENT, count)
    document = np.repeat(np.arange(count), sizes)[:count]
    place = np.arange(count) - np.searchsorted(document, document)
    last = np.append(document[1:] != document[:-1], True)
    lengths = np.where(last, rng.integers(25, 101, count), np.clip(np.rint(rng.normal(100, 5, count)), 60, 110))
    lengths = lengths.astype(np.int64)
    of = np.repeat(np.arange(count), lengths)
    ranks = language.draw(rng, len(of))
    kind = rng.random(len(of), dtype=np.float32)

    subjects = _tail_ranks(rng.random((document[-1] + 1, 2)), _KERNEL // 2)
    themes = _popular(rng, (document[-1] + 1) * 2).reshape(-1, 2)
    topical = np.flatnonzero(kind < _TOPICAL)
    second = (rng.random(len(topical)) < 0.3).astype(np.intp)
    ranks[topical] = language.draw_topical(rng, themes[document[of[topical]], second])
    naming = np.flatnonzero(kind > 1 - _NAMING)
    ranks[naming] = subjects[document[of[naming]], rng.integers(0, 2, len(naming))]
    ends = rng.random(len(of), dtype=np.float32) < 1 / 18
    texts = language.texts(ranks, lengths, ends)

    named = rng.integers(1, 3, document[-1] + 1)
    title_lengths = named + rng.integers(0, 3, document[-1] + 1)
    first_topic = themes[:, 0]
    title_ranks = np.stack([*subjects.T, *(language.draw_topical(rng, first_topic) for _ in range(2))], axis=1)
    title_ranks[named == 1, 1:3] = title_ranks[named == 1, 2:4]
    kept = np.arange(4) < title_lengths[:, None]
    titles = language.texts(title_ranks[kept], title_lengths.astype(np.int64), None)
    ids = [f"s{start + d}#{p}" for d, p in zip(document.tolist(), place.tolist(), strict=True)]
    return pa.table(
        [
            pa.array(np.arange(start, start + count)),
            pa.array(ids),
            titles.take(pa.array(document)),
            texts,
            pa.repeat("", count),
        ],
        schema=SCHEMA,
    )


def _popular(rng: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
    """Topics, a few of them written about much more than most."""
    return (_TOPICS * rng.random(count) ** 2).astype(np.int64)


def _tail_ranks(at: npt.NDArray[np.float64], first: int) -> Ranks:
    """Ranks from `first` on, drawn by a power law that is cut at the last word there is."""
    power = 1 - _TAIL
    low, high = float(first) ** power, float(DISTINCT) ** power
    ranks: Ranks = np.minimum((low + at * (high - low)) ** (1 / power), DISTINCT - 1).astype(np.int32)
    return ranks


@lru_cache(maxsize=1)
def _language() -> _Language:
    letters, lengths = _words()
    ranks = np.arange(1, _KERNEL + 1)
    kernel = 1 / (ranks + _SHIFT)
    # The tail goes on where the kernel ends: its weight is the integral of the power law that meets it there.
    power = 1 - _TAIL
    tail = kernel[-1] * _KERNEL**_TAIL * (DISTINCT**power - _KERNEL**power) / power
    shares = np.cumsum(kernel) / (kernel.sum() + tail)
    cells = np.minimum(np.searchsorted(shares, (np.arange(_CELLS) + 0.5) / _CELLS), _KERNEL - 1).astype(np.int32)
    rng = np.random.default_rng(7)
    logs = rng.uniform(np.log(_COMMON), np.log(_RAREST_OF_TOPICS), (_TOPICS, _TOPIC_WORDS))
    weights = np.cumsum(1 / (np.arange(_TOPIC_WORDS) + 5))
    inside = np.searchsorted(weights / weights[-1], (np.arange(1 << 14) + 0.5) / (1 << 14)).astype(np.int32)
    return _Language(letters, lengths, cells, float(shares[-1]), np.exp(logs).astype(np.int32), inside)


def _words() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Bytes and lengths of every word, most frequent first: English while the demo's texts have any, then syllables."""
    consonants, vowels = np.frombuffer(b"bcdfghjklmnprstvwz", np.uint8), np.frombuffer(b"aeiouy", np.uint8)
    syllables = np.stack([np.repeat(consonants, 6), np.tile(vowels, 18)], axis=1)
    base = len(syllables)
    ranks = np.arange(DISTINCT)
    # Multiplied by a number prime to the base, neighbours in rank do not look alike.
    codes = (ranks * 1_000_003) % base**4
    letters = np.full((DISTINCT, _WIDTH), ord(" "), np.uint8)
    for place in range(4):
        letters[:, 2 * place : 2 * place + 2] = syllables[codes // base**place % base]
    lengths = np.full(DISTINCT, 8, np.uint8)
    ended = ranks % 3 == 0
    letters[ended, 8] = np.frombuffer(b"nrstlm", np.uint8)[codes[ended] % 6]
    lengths[ended] = 9
    for rank, word in enumerate(_english()):
        letters[rank] = ord(" ")
        letters[rank, : len(word)] = np.frombuffer(word.encode(), np.uint8)
        lengths[rank] = len(word)
    return letters, lengths


def _english() -> list[str]:
    counts: Counter[str] = Counter()
    for path in sorted((DEMO / "topics").glob("*.json")):
        for passage in json.loads(path.read_text(encoding="utf-8"))["passages"]:
            counts.update(re.findall(r"[a-z]+", f"{passage['title']} {passage['text']}".lower()))
    for path in sorted((DEMO / "pages").glob("*.html")):
        counts.update(re.findall(r"[a-z]+", re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8")).lower()))
    return [word for word, _ in counts.most_common() if len(word) <= _LONGEST]

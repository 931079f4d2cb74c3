"""Labelled pairs from debate pages: arguments are the passages, titles and claims are the perspectives.

A page has a claim ("Zoos should be closed") and, for each side, arguments under a title. The pairs imitate retrieved pairs:
most negatives are on topic, because the passage argues the other side, comes from the nearest other debate, or is the result
of a lexical search for the perspective outside its debate. If one word can deny a claim ("should not"), its denial is a second
perspective, so that a word of negation does not reveal the label.

Another title of the argument's own side is a weak negative: usually the argument does not support it. Excluding these pairs
from training lowered the dev AUROC a little, even on the other pairs.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import TfidfVectorizer

from berdseye.data.errors import BadInputError
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.records import STANCES, Pair, Stance
from berdseye.data.texts.passages import cut

SOURCES = ("debatewise.json", "procon.json")
SAME_DEBATE = 0.7
"""Claims at least this similar (static cosine) count as one debate and are in one split."""

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
Kind = Literal["own", "claim", "opposing", "counter", "sibling", "near", "random", "retrieved"]

_T = TypeVar("_T")
_Candidate = tuple[Pair, bool, Kind]
_SHARES = (0.70, 0.15, 0.15)
_PASSAGES_PER_ARGUMENT = 2
_FEWEST_PASSAGE_WORDS = 25
_FEWEST_PERSPECTIVE_WORDS = 4
_NEAREST = 5
_DENIABLE = re.compile(
    r"(?<=\w)( (?:should|must|will|would|can|could|is|are|was|were|do|does))( not)?(?= \w)", re.IGNORECASE
)
_SIDES: dict[Stance, str] = {"supporting": "perspectives_for", "opposing": "perspectives_against"}


@dataclass(frozen=True)
class Argument:
    """One argument of a debate; `title` is empty if the page has no title that can be a perspective."""

    stance: Stance
    title: str
    passages: tuple[str, ...]
    counters: tuple[str, ...]


@dataclass(frozen=True)
class Debate:
    """A claim with the arguments of both sides."""

    claim: str
    arguments: tuple[Argument, ...]


class LabelledPair(NamedTuple):
    """A pair with its label. `kind` names the source of its perspective, `debate` is a position in the list of debates.

    `own`: the argument's own title. `claim`: the claim or its denial. `opposing`: a title of the other side. `counter`: the
    passage is a reply to the argument. `sibling`: another title of the argument's side. `near`, `random`: a perspective of
    another debate. `retrieved`: a perspective of another debate, with which no passage outside that debate shares more words.
    """

    pair: Pair
    supports: bool
    kind: Kind
    debate: int
    split: Split


def read_debates(folder: Path) -> list[Debate]:
    """Read the debates of `folder` with at least one usable argument; raises `BadInputError` for a bad file."""
    debates = [debate for name in SOURCES for debate in _read(folder / name)]
    if not debates:
        raise BadInputError("The files have no debate with a usable argument.", where=folder)
    return debates


def denial(claim: str) -> str | None:
    """Return the claim with its first auxiliary verb negated, or affirmed if it was negated; None without such a verb."""
    denied, count = _DENIABLE.subn(lambda m: m[1] if m[2] else f"{m[1]} not", claim, count=1)
    return denied if count else None


def split_debates(debates: Sequence[Debate], seed: int) -> list[Split]:
    """Assign a split to each debate, 70/15/15 of the groups of nearly equal claims; a group is never divided."""
    groups = _groups(_vectors([d.claim for d in debates]))
    order = np.random.default_rng(seed).permutation(len(set(groups)))
    bounds = np.cumsum(np.array(_SHARES) * len(order))
    rank_of = {group: int(np.searchsorted(bounds, rank, side="right")) for rank, group in enumerate(order)}
    return [SPLITS[min(rank_of[g], len(SPLITS) - 1)] for g in groups]


def labelled_pairs(debates: Sequence[Debate], seed: int = 0) -> list[LabelledPair]:
    """Return all pairs of all splits; equal debates and seeds give equal pairs.

    A repeated pair is included once; one with two labels or from two debates is excluded.
    """
    splits = split_debates(debates, seed)
    usable = _usable(debates, splits)
    near, retrieved = _nearest(debates, usable), _retrieved(debates, usable)
    pairs_by_key: dict[str, LabelledPair] = {}
    clashes: set[str] = set()
    for d in range(len(debates)):
        elsewhere = [i for i, s in enumerate(splits) if s == splits[d] and i != d]
        retrieved_pairs: list[_Candidate] = [(pair, False, "retrieved") for pair in retrieved[d]]
        for pair, supports, kind in [*_pairs_of(debates, d, near[d], elsewhere, seed), *retrieved_pairs]:
            first = pairs_by_key.setdefault(pair.key, LabelledPair(pair, supports, kind, d, splits[d]))
            if first.supports != supports or first.debate != d:
                clashes.add(pair.key)
    return [p for key, p in pairs_by_key.items() if key not in clashes]


def counts(pairs: Sequence[LabelledPair]) -> dict[str, dict[str, int]]:
    """Count the debates, pairs and positives of each split."""
    out: dict[str, dict[str, int]] = {}
    for split in SPLITS:
        mine = [p for p in pairs if p.split == split]
        out[split] = {
            "debates": len({p.debate for p in mine}),
            "pairs": len(mine),
            "positives": sum(p.supports for p in mine),
        }
    return out


def kinds(pairs: Sequence[LabelledPair]) -> dict[str, int]:
    """Count the pairs of each kind."""
    return dict(sorted(Counter(p.kind for p in pairs).items()))


def _pairs_of(
    debates: Sequence[Debate], d: int, near: Sequence[int], elsewhere: Sequence[int], seed: int
) -> list[_Candidate]:
    debate = debates[d]
    titles = {s: sorted({a.title for a in debate.arguments if a.stance == s and a.title}) for s in STANCES}
    claims: dict[Stance, str | None] = {"supporting": debate.claim, "opposing": denial(debate.claim)}
    out: list[_Candidate] = []
    for argument in debate.arguments:
        other: Stance = "opposing" if argument.stance == "supporting" else "supporting"
        for number, passage in enumerate(argument.passages):
            rng = _generator(seed, passage)
            if argument.title:
                out.append((Pair(passage, argument.title), True, "own"))
            out += [(Pair(passage, c), s == argument.stance, "claim") for s, c in claims.items() if c]
            out += [(Pair(passage, t), False, "opposing") for t in _pick(rng, titles[other], 2)]
            siblings = [t for t in titles[argument.stance] if t != argument.title]
            out += [(Pair(passage, t), False, "sibling") for t in _pick(rng, siblings, 1)]
            out += [(Pair(passage, _perspective(rng, debates[i])), False, "near") for i in _pick(rng, near, 2)]
            if number == 0:
                out += [
                    (Pair(passage, _perspective(rng, debates[i])), False, "random") for i in _pick(rng, elsewhere, 1)
                ]
        if argument.title:
            out += [(Pair(c, argument.title), False, "counter") for c in argument.counters]
    return out


def _perspective(rng: np.random.Generator, debate: Debate) -> str:
    titles = _titles(debate)
    options = titles if titles and rng.random() < 0.5 else _claims(debate)
    return options[int(rng.integers(len(options)))]


def _claims(debate: Debate) -> list[str]:
    return [c for c in (debate.claim, denial(debate.claim)) if c]


def _titles(debate: Debate) -> list[str]:
    return sorted({a.title for a in debate.arguments if a.title})


def _pick(rng: np.random.Generator, options: Sequence[_T], most: int) -> list[_T]:
    chosen = rng.permutation(len(options))[:most]
    return [options[int(i)] for i in chosen]


def _generator(seed: int, text: str) -> np.random.Generator:
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "little")])


def _usable(debates: Sequence[Debate], splits: Sequence[Split]) -> npt.NDArray[np.bool_]:
    """Return whether a debate may give negatives for another, bool[n_debates, n_debates]: both are in one split, and their
    claims are not nearly equal."""
    claims = _vectors([d.claim for d in debates])
    of_split = np.array([SPLITS.index(s) for s in splits])
    usable = (of_split[:, None] == of_split[None, :]) & (claims @ claims.T < SAME_DEBATE)
    np.fill_diagonal(usable, False)
    return np.asarray(usable, dtype=np.bool_)


def _nearest(debates: Sequence[Debate], usable: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return the nearest usable debates of each debate, by claim and titles."""
    debate_vectors = _vectors([" ".join([d.claim, *(a.title for a in d.arguments)]) for d in debates])
    similarity = np.where(usable, debate_vectors @ debate_vectors.T, -2.0)
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :_NEAREST]
    return [[int(i) for i in row if usable[d, i]] for d, row in enumerate(order)]


def _retrieved(debates: Sequence[Debate], usable: npt.NDArray[np.bool_]) -> list[list[Pair]]:
    """Pair each perspective with the usable passage that shares most words with it and its claim; by the passage's debate."""
    passages = [(p, d) for d, debate in enumerate(debates) for a in debate.arguments for p in a.passages]
    owner = np.array([d for _, d in passages], dtype=np.int64)
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    indexed = words.fit_transform([p for p, _ in passages])
    pairs: list[list[Pair]] = [[] for _ in debates]
    for d, debate in enumerate(debates):
        perspectives = [*_claims(debate), *_titles(debate)]
        scores = (words.transform([f"{debate.claim} {p}" for p in perspectives]) @ indexed.T).toarray()
        scores[:, ~usable[d, owner]] = 0.0
        for perspective, best, score in zip(perspectives, scores.argmax(axis=1), scores.max(axis=1), strict=True):
            if score > 0:
                pairs[owner[best]].append(Pair(passages[best][0], perspective))
    return pairs


def _groups(vectors: npt.NDArray[np.float32]) -> list[int]:
    """Return a group number for each vector: single linkage at `SAME_DEBATE`, numbered by first appearance."""
    linked = vectors @ vectors.T >= SAME_DEBATE
    group = [-1] * len(vectors)
    count = 0
    for start in range(len(vectors)):
        if group[start] >= 0:
            continue
        open_ends = [start]
        while open_ends:
            i = open_ends.pop()
            if group[i] < 0:
                group[i] = count
                open_ends += [int(j) for j in np.flatnonzero(linked[i])]
        count += 1
    return group


def _vectors(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    return static_embedding().encode(texts)


def _read(path: Path) -> list[Debate]:
    try:
        pages: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInputError(
            "The debate file is missing.", where=path, hint=f"The folder must contain {' and '.join(SOURCES)}."
        ) from error
    except (OSError, ValueError) as error:
        raise BadInputError(f"The debate file cannot be read as JSON ({error}).", where=path) from error
    if not isinstance(pages, list):
        raise BadInputError("The debate file must contain a list of pages.", where=path)
    debates = []
    for number, page in enumerate(pages, 1):
        try:
            debate = _debate(page)
        except (KeyError, TypeError, AttributeError) as error:
            raise BadInputError(f"Page {number} is not a debate ({error!r}).", where=path) from error
        if debate.claim and debate.arguments:
            debates.append(debate)
    return debates


def _debate(page: dict[str, Any]) -> Debate:
    arguments = []
    for stance, field in _SIDES.items():
        for entry in page[field]:
            passages = tuple(_passages(entry["argument"]["description"]))
            title = _squeeze(entry["perspective_title"])
            if len(title.split()) < _FEWEST_PERSPECTIVE_WORDS:
                title = ""
            if passages:
                counters = tuple(_passages(entry.get("counter_argument") or []))
                arguments.append(Argument(stance, title, passages, counters))
    return Debate(_squeeze(page["claim_title"]), tuple(arguments))


def _passages(fragments: Sequence[str]) -> list[str]:
    text = _squeeze(" ".join(fragments))
    return [p for p in islice(cut(text), _PASSAGES_PER_ARGUMENT) if len(p.split()) >= _FEWEST_PASSAGE_WORDS]


def _squeeze(text: str) -> str:
    return " ".join(text.split())

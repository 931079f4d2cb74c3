"""Passages with perspectives near them that nobody labelled, for a teacher of `stance` to judge.

A search brings passages that are on the topic of a perspective and support something else, which labelled pairs hardly contain.
They are passages of the labelled sources, whose labels the teacher has learned, and passages of other texts, which it has not
seen.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from berdseye.data.errors import BadInputError
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.texts.chunkers import split_sentences
from berdseye.detectors.protocol import Floats
from berdseye.detectors.stance.examples import NEITHER, OPPOSES, SUPPORTS, Example, Statement
from berdseye.detectors.training_pairs import denial

NEAR, FOUND = "near", "found"
UNKNOWN = frozenset({SUPPORTS, OPPOSES, NEITHER})
_PASSAGES = ("debates", "fever", "windows of arguments")
_PERSPECTIVES = ("debates", "claims", "arguments")
_NEAREST, _CHOSEN = 20, 3
_DENIED = 0.3
_AT_ONCE = 1024
_WORDS = (30, 120)
_FIRST, _OF_EACH, _MOST = 20, 6, 6


def near_examples(examples: Mapping[str, Sequence[Example]], seed: int) -> dict[str, list[Example]]:
    """Return the longer passages of training examples, each with three of the 20 perspectives nearest to it by static embedding.

    They are one more source, `NEAR`, beside those of `training_examples`. Perspectives that come with the passage are left out,
    and a share of the others is denied. The same arguments give the same examples, in a random order.
    """
    chance = Random(seed)
    own: dict[str, set[str]] = {}
    for source in _PASSAGES:
        for example in examples.get(source, ()):
            own.setdefault(example.passage, set()).update(statement.text for statement in example.statements)
    passages, perspectives = list(own), _perspectives(examples)
    if not passages or len(perspectives) <= _NEAREST:
        return {NEAR: []}
    embed = static_embedding().encode
    table = embed(perspectives).T
    out = []
    for start in range(0, len(passages), _AT_ONCE):
        block = passages[start : start + _AT_ONCE]
        nearest = np.argpartition(-(embed(block) @ table), _NEAREST, axis=1)[:, :_NEAREST]
        for passage, row in zip(block, np.sort(nearest, axis=1).tolist(), strict=True):
            others = [perspectives[place] for place in row if perspectives[place] not in own[passage]]
            if others:
                out.append(_unlabelled(passage, chance.sample(others, min(_CHOSEN, len(others))), chance))
    chance.shuffle(out)
    return {NEAR: out}


def found_examples(
    passages: Sequence[str], examples: Mapping[str, Sequence[Example]], seed: int
) -> dict[str, list[Example]]:
    """Return those passages that a search for the perspectives of training examples finds, each with perspectives that found it.

    They are one more source, `FOUND`. Every perspective brings six of its first 20 passages by static embedding, and six
    by TF-IDF, if they share a word with it; a passage keeps at most six perspectives, and a share of them is denied. The same
    arguments give the same examples, in a random order.
    """
    chance = Random(seed)
    perspectives = _perspectives(examples)
    if not passages or not perspectives:
        return {FOUND: []}
    by_passage: dict[int, set[str]] = defaultdict(set)
    for first in (_first_by_embedding(passages, perspectives), _first_by_words(passages, perspectives)):
        for perspective, places in zip(perspectives, first, strict=True):
            for place in chance.sample(places, min(_OF_EACH, len(places))):
                by_passage[place].add(perspective)
    out = [
        _unlabelled(passages[place], chance.sample(sorted(texts), min(_MOST, len(texts))), chance)
        for place, texts in sorted(by_passage.items())
    ]
    chance.shuffle(out)
    return {FOUND: out}


def passages_of(folder: Path, seed: int) -> list[str]:
    """Return the passages of the texts (`*.txt`, UTF-8, one document after another, with empty lines between them) of a folder.

    A passage has whole sentences of one document, 30 to 120 words; its length is drawn at random. The same arguments give the
    same passages, each once. Raises `BadInputError` if a file cannot be read or the folder has none.
    """
    fewest, most = _WORDS
    chance, out = Random(seed), []
    for path in text_files(folder):
        try:
            documents = path.read_text(encoding="utf-8").split("\n\n")
        except (OSError, ValueError) as error:
            raise BadInputError(f"The texts cannot be read ({error}).", where=path) from error
        for document in documents:
            out += [passage for passage in _cut(document, chance) if fewest <= len(passage.split()) <= most]
    return list(dict.fromkeys(out))


def text_files(folder: Path) -> list[Path]:
    """Return the files with texts (`*.txt`) of a folder, sorted; raises `BadInputError` if it has none."""
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise BadInputError("The folder has no texts.", where=folder, hint="It must contain files that end in .txt.")
    return paths


def _cut(document: str, chance: Random) -> Iterator[str]:
    """Yield pieces of whole sentences that end before one with which they would have more words than were drawn."""
    piece: list[str] = []
    words, most = 0, chance.randint(*_WORDS)
    for line in document.splitlines():
        for sentence in split_sentences(line):
            length = len(sentence.split())
            if piece and words + length > most:
                yield " ".join(piece)
                piece, words, most = [], 0, chance.randint(*_WORDS)
            piece.append(sentence)
            words += length
    if piece:
        yield " ".join(piece)


def _perspectives(examples: Mapping[str, Sequence[Example]]) -> list[str]:
    return sorted(
        {s.text for source in _PERSPECTIVES for example in examples.get(source, ()) for s in example.statements}
    )


def _unlabelled(passage: str, texts: Sequence[str], chance: Random) -> Example:
    """Return an example of which every label is unknown; a share of the perspectives is denied."""
    said = [(denial(text) if chance.random() < _DENIED else None) or text for text in texts]
    return Example(passage, tuple(Statement(text, UNKNOWN) for text in said))


def _first_by_embedding(passages: Sequence[str], perspectives: Sequence[str]) -> Iterator[list[int]]:
    """Yield the places of the first passages for each perspective by the cosine of static embeddings."""
    embed = static_embedding().encode
    table = np.concatenate([embed(passages[start : start + _AT_ONCE]) for start in range(0, len(passages), _AT_ONCE)]).T
    for start in range(0, len(perspectives), _AT_ONCE):
        yield from _first(embed(perspectives[start : start + _AT_ONCE]) @ table)


def _first_by_words(passages: Sequence[str], perspectives: Sequence[str]) -> Iterator[list[int]]:
    """Yield the places of the first passages for each perspective by TF-IDF; those that share no word with it are left out."""
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english", dtype=np.float32)
    table = words.fit_transform(passages).T.tocsr()
    for start in range(0, len(perspectives), _AT_ONCE):
        block = (words.transform(perspectives[start : start + _AT_ONCE]) @ table).toarray()
        for row, places in zip(block, _first(block), strict=True):
            yield [place for place in places if row[place] > 0]


def _first(similarity: Floats) -> Iterator[list[int]]:
    """Yield the places of the largest numbers of each row, in their order in the row."""
    count = min(_FIRST, similarity.shape[1])
    for row in np.sort(np.argpartition(-similarity, count - 1, axis=1)[:, :count], axis=1):
        yield row.tolist()

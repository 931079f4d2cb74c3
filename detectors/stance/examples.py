"""Training examples of stance: pairs, each with the stances that its label allows.

Sources whose licence allows weights to be distributed: natural language inference (SNLI, counterfactually augmented NLI, the FEVER
and MNLI parts of DocNLI), arguments with key points (ArgKP) and debate pages (`berdseye.detectors.training_pairs`). Some labels
are partial: a key point of the other side is not supported, but whether the argument opposes it or says nothing about it is
unknown, so that both are allowed.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import duckdb

from berdseye.data.errors import BadInputError
from berdseye.detectors.training_pairs import denial, labelled_pairs, read_debates

SUPPORTS, OPPOSES, NEITHER = 0, 1, 2
STANCES = ("supports", "opposes", "neither")
Allowed = frozenset[int]

ENTAILED, CONTRADICTED, UNRELATED = frozenset({SUPPORTS}), frozenset({OPPOSES}), frozenset({NEITHER})
NOT_SUPPORTED = frozenset({OPPOSES, NEITHER})
PAIRS_FILE = Path("stance") / "pairs.parquet"
DEBATES_FOLDER = Path("perspectrum")

_BY_KIND: Mapping[str, Allowed] = {
    "entailment": ENTAILED,
    "contradiction": CONTRADICTED,
    "neutral": UNRELATED,
    "not_entailment": NOT_SUPPORTED,
    "match": ENTAILED,
    "same side, other point": UNRELATED,
    "other side": NOT_SUPPORTED,
}
_BY_DEBATE_KIND: Mapping[str, Allowed] = {
    "claim": CONTRADICTED,
    "near": UNRELATED,
    "random": UNRELATED,
    "retrieved": UNRELATED,
}
_POINTS_A_WINDOW = 3
_ARGUMENTS_A_WINDOW = (2, 4)


class Example(NamedTuple):
    """A passage, a perspective, and the stances that the label of the pair allows."""

    passage: str
    perspective: str
    allowed: Allowed


class StancePair(NamedTuple):
    """A row of `pairs.parquet`; `number` is its place in the file, `group` the topic or the shared text."""

    number: int
    source: str
    split: str
    kind: str
    group: str
    passage: str
    perspective: str


def read_stance_pairs(folder: Path) -> list[StancePair]:
    """Read the pairs of a data folder, in the order of the file; raises `BadInputError` for a missing or unreadable file."""
    path = folder / PAIRS_FILE
    if not path.is_file():
        raise BadInputError("There are no stance pairs in this folder.", where=path)
    try:
        with duckdb.connect() as connection:
            rows = connection.execute(
                'SELECT file_row_number, source, split, kind, "group", passage, perspective '
                "FROM read_parquet($path, file_row_number = true) ORDER BY file_row_number",
                {"path": str(path)},
            ).fetchall()
    except duckdb.Error as error:
        raise BadInputError(f"The stance pairs cannot be read ({error}).", where=path) from error
    return [StancePair(*row) for row in rows]


def training_examples(folder: Path, seed: int = 0) -> dict[str, list[Example]]:
    """Return the training examples of a data folder by source; the same folder and seed give the same examples.

    The test and dev topics of ArgKP, the dev part of the counterfactual pairs and the held-out debates are left out, and so is
    every source without a licence or made as a test.
    """
    pairs = read_stance_pairs(folder)
    arguments = [p for p in pairs if p.source == "argkp" and p.split == "train"]
    examples = {
        "snli": _labelled(p for p in pairs if p.source == "snli"),
        "counterfactual": _labelled(p for p in pairs if p.source == "counterfactual-nli" and p.split == "train"),
        "fever": _labelled(p for p in pairs if p.source == "docnli-fever"),
        "mnli": _labelled(p for p in pairs if p.source == "docnli-mnli"),
        "points matched": _labelled(p for p in arguments if p.kind == "match"),
        "points of the other side": _labelled(p for p in arguments if p.kind == "other side"),
        "points of the same side": _labelled(p for p in arguments if p.kind == "same side, other point"),
        "windows of arguments": _windows(arguments, seed),
    }
    return examples | _debate_examples(folder, seed)


def with_denials(examples: Sequence[Example], share: float, chance: Random) -> list[Example]:
    """Return the examples, with this share of the supported perspectives denied and then opposed."""
    out = []
    for example in examples:
        denied = denial(example.perspective) if example.allowed == ENTAILED and chance.random() < share else None
        out.append(example if denied is None else Example(example.passage, denied, CONTRADICTED))
    return out


def _labelled(pairs: "Sequence[StancePair] | object") -> list[Example]:
    return [Example(p.passage, p.perspective, _BY_KIND[p.kind]) for p in pairs]  # type: ignore[attr-defined]


def _windows(arguments: Sequence[StancePair], seed: int) -> list[Example]:
    """Join two to four arguments of a topic, of either side, to a passage; it supports the key points that one of them matches."""
    chance = Random(seed)
    topics: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for pair in arguments:
        topics[pair.group][pair.passage][pair.perspective] = pair.kind
    out = []
    for _, kinds_by_argument in sorted(topics.items()):
        texts = sorted(kinds_by_argument)
        points = sorted({point for kinds in kinds_by_argument.values() for point in kinds})
        for _ in texts:
            chosen = chance.sample(texts, min(len(texts), chance.randint(*_ARGUMENTS_A_WINDOW)))
            passage = " ".join(f"{text.strip().rstrip('.')}." for text in chosen)
            for point in chance.sample(points, min(_POINTS_A_WINDOW, len(points))):
                kinds = [kinds_by_argument[text].get(point) for text in chosen]
                if "match" in kinds:
                    out.append(Example(passage, point, ENTAILED))
                elif None not in kinds:  # an unlabelled argument may match
                    out.append(Example(passage, point, NOT_SUPPORTED))
    return out


def _debate_examples(folder: Path, seed: int) -> dict[str, list[Example]]:
    out: dict[str, list[Example]] = {"debates supported": [], "debates claims": [], "debates others": []}
    for p in labelled_pairs(read_debates(folder / DEBATES_FOLDER), seed):
        if p.split != "train":
            continue
        allowed = ENTAILED if p.supports else _BY_DEBATE_KIND.get(p.kind, NOT_SUPPORTED)
        name = "supported" if p.supports else "claims" if p.kind == "claim" else "others"
        out[f"debates {name}"].append(Example(p.pair.passage, p.pair.perspective, allowed))
    return out

"""Training examples of stance: passages, each with several perspectives and the stances that their labels allow.

Sources whose licence allows weights to be distributed: natural language inference (SNLI, counterfactually augmented NLI, the
FEVER and MNLI parts of DocNLI), arguments with key points (ArgKP), debate pages (`berdseye.detectors.training_pairs`) and the
claims of Perspectrum. Some labels are partial: a key point of the other side is not supported, but whether the argument opposes
it or says nothing about it is unknown, so that both are allowed.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import duckdb

from berdseye.data.errors import BadInputError
from berdseye.data.models.static_embedding import static_embedding
from berdseye.detectors.training_pairs import (
    SAME_DEBATE,
    Debate,
    LabelledPair,
    denial,
    labelled_pairs,
    read_debates,
    split_debates,
)

SUPPORTS, OPPOSES, NEITHER = 0, 1, 2
STANCES = ("supports", "opposes", "neither")
Allowed = frozenset[int]

ENTAILED, CONTRADICTED, UNRELATED = frozenset({SUPPORTS}), frozenset({OPPOSES}), frozenset({NEITHER})
NOT_SUPPORTED = frozenset({OPPOSES, NEITHER})
PAIRS_FILE = Path("stance") / "pairs.parquet"
DEBATES_FOLDER = Path("perspectrum")
CLAIMS_FILE = DEBATES_FOLDER / "perspectrum_with_answers_v1.0.json"
POOL_FILE = DEBATES_FOLDER / "perspective_pool_v1.0.json"
SPLIT_FILE = DEBATES_FOLDER / "dataset_split_v1.0.json"

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
DENIED: Mapping[Allowed, Allowed] = {ENTAILED: CONTRADICTED, CONTRADICTED: ENTAILED, UNRELATED: UNRELATED}
_POINTS_A_WINDOW = 6
_ARGUMENTS_A_WINDOW = (2, 4)
_JOINED = ("{}, because {}", "{}, since {}", "{}, as {}", "{}: {}", "{}; {}", "{}. {}")
_OTHER_REASONS = 3
_MOST_NUMBERS = 0.15
_QUOTING, _QUOTED_FIRST = 0.4, 0.7
_QUOTATIONS = (
    "Critics say that {}.",
    "Those on the other side claim that {}.",
    "According to its opponents, {}.",
    "Some people argue that {}.",
    "One often hears that {}.",
    "It may be objected that {}.",
    "Others maintain that {}, but they overlook something.",
    "True, many voters think that {}.",
)


class Statement(NamedTuple):
    """A perspective and the stances towards it that the label allows.

    One that is `kept` is drawn whenever its passage is. One that is not `deniable` has a denial whose stances are not known: the
    contrary claim with the same reason.
    """

    text: str
    allowed: Allowed
    kept: bool = False
    deniable: bool = True


class Example(NamedTuple):
    """A passage with labelled perspectives."""

    passage: str
    statements: tuple[Statement, ...]


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
        raise BadInputError(
            "The file of stance pairs does not exist.",
            where=path,
            hint="Give the folder that contains stance/pairs.parquet; detectors/weights/README.md describes its data.",
        )
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

    The dev and test topics of ArgKP, the dev part of the counterfactual pairs and the held-out debates are left out, and so are
    every source without a licence, the negations made as a test, and inference pairs that share a text with them.
    """
    pairs = read_stance_pairs(folder)
    tested = {text for p in pairs if p.source.startswith("negation-") for text in (p.passage, p.perspective)}
    pairs = [p for p in pairs if p.passage not in tested and p.perspective not in tested]
    arguments = [p for p in pairs if p.source == "argkp" and p.split == "train"]
    debates = read_debates(folder / DEBATES_FOLDER)
    return {
        "snli": _by_passage(p for p in pairs if p.source == "snli"),
        "counterfactual": _by_passage(p for p in pairs if p.source == "counterfactual-nli" and p.split != "dev"),
        "fever": _by_passage(p for p in pairs if p.source == "docnli-fever"),
        "mnli": _by_passage(p for p in pairs if p.source == "docnli-mnli"),
        "arguments": _by_passage(arguments),
        "windows of arguments": _windows(arguments, seed),
        "debates": _debate_examples(debates, seed),
        "claims": _claim_examples(folder, _held_out_claims(debates, seed)),
    }


def texts_of(examples: Mapping[str, Sequence[Example]]) -> list[str]:
    """Return the passages and perspectives of examples by source, each once, in alphabetical order."""
    found = [example for rows in examples.values() for example in rows]
    return sorted({text for example in found for text in (example.passage, *(s.text for s in example.statements))})


def _by_passage(pairs: Iterable[StancePair]) -> list[Example]:
    return _grouped((p.passage, Statement(p.perspective, _BY_KIND[p.kind])) for p in pairs)


def _grouped(labelled: Iterable[tuple[str, Statement]]) -> list[Example]:
    """Collect the perspectives of each passage; a perspective with two labels is left out."""
    found: dict[str, dict[str, set[Statement]]] = defaultdict(lambda: defaultdict(set))
    for passage, statement in labelled:
        found[passage][statement.text].add(statement)
    examples = [
        Example(passage, tuple(one for same in texts.values() if len(same) == 1 for one in same))
        for passage, texts in found.items()
    ]
    return [example for example in examples if example.statements]


def _windows(arguments: Sequence[StancePair], seed: int) -> list[Example]:
    """Join two to four arguments of a topic, of either side, to a passage; it supports the key points that one of them
    matches.

    In some passages, arguments of the other side are quoted as what others say: the passage supports no key point for them.
    """
    chance = Random(seed)
    topics: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for pair in arguments:
        topics[pair.group][pair.passage][pair.perspective] = pair.kind
    out = []
    for _, kinds_by_argument in sorted(topics.items()):
        texts = sorted(kinds_by_argument)
        points = sorted({point for kinds in kinds_by_argument.values() for point in kinds})
        for first in texts:
            chosen = chance.sample(texts, min(len(texts), chance.randint(*_ARGUMENTS_A_WINDOW)))
            said = [f"{text.strip().rstrip('.')}." for text in chosen]
            if chance.random() < _QUOTING:
                same, other = _sides(kinds_by_argument, first)
                chosen = chance.sample(same, min(len(same), chance.randint(1, 3)))
                said = [f"{text.strip().rstrip('.')}." for text in chosen]
                quoted = [
                    chance.choice(_QUOTATIONS).format(inside_sentence(text.strip().rstrip(".")))
                    for text in chance.sample(other, min(len(other), chance.randint(1, 2)))
                ]
                said = [*quoted, *said] if chance.random() < _QUOTED_FIRST else [*said, *quoted]
            statements = []
            for point in chance.sample(points, min(_POINTS_A_WINDOW, len(points))):
                kinds = [kinds_by_argument[text].get(point) for text in chosen]
                if "match" in kinds:
                    statements.append(Statement(point, ENTAILED))
                elif None not in kinds:  # an unlabelled argument may match
                    statements.append(Statement(point, NOT_SUPPORTED))
            if statements:
                out.append(Example(" ".join(said), tuple(statements)))
    return out


def _sides(kinds_by_argument: Mapping[str, Mapping[str, str]], first: str) -> tuple[list[str], list[str]]:
    """Return the arguments of the same side as `first`, and those of the other side, by the key points of both sides."""
    own = {point for point, kind in kinds_by_argument[first].items() if kind != "other side"}
    same, other = [], []
    for text, kinds in sorted(kinds_by_argument.items()):
        against = {point for point, kind in kinds.items() if kind == "other side"}
        if own & against:
            other.append(text)
        elif own & set(kinds):
            same.append(text)
    return same, other


def _debate_examples(debates: Sequence[Debate], seed: int) -> list[Example]:
    """Return the passages of debates with titles and claims of both sides, and with claims and titles joined to one perspective.

    A passage supports its side's claim with its own title as the reason, and not with another title of that side: so the reason
    counts. What joins them varies ("because", a colon, ...).
    """
    chance = Random(seed)
    pairs_by_passage: dict[str, list[LabelledPair]] = defaultdict(list)
    for pair in labelled_pairs(debates, seed):
        if pair.split == "train" and not _is_reference_list(pair.pair.passage):
            pairs_by_passage[pair.pair.passage].append(pair)
    out = []
    for passage, pairs in pairs_by_passage.items():
        statements = [
            Statement(
                p.pair.perspective,
                ENTAILED if p.supports else _BY_DEBATE_KIND.get(p.kind, NOT_SUPPORTED),
                p.kind == "claim",
            )
            for p in pairs
        ]
        titles = {kind: [p.pair.perspective for p in pairs if p.kind == kind] for kind in ("own", "opposing")}
        claims = {
            side: [p.pair.perspective for p in pairs if p.kind == "claim" and p.supports == side]
            for side in (True, False)
        }
        others = _titles_beside(debates[pairs[0].debate], titles["own"])
        for side, reasons, allowed in (
            (True, titles["own"], ENTAILED),
            (False, titles["opposing"], CONTRADICTED),
            (True, chance.sample(others, min(_OTHER_REASONS, len(others))), NOT_SUPPORTED),
        ):
            statements += [
                Statement(with_reason(claim, reason, chance.choice(_JOINED)), allowed, deniable=False)
                for claim in claims[side]
                for reason in reasons
            ]
        out.append(Example(passage, tuple(statements)))
    return out


def _titles_beside(debate: Debate, own: Sequence[str]) -> list[str]:
    """Return the other titles of the side of a debate that has the titles `own`."""
    sides = {argument.stance for argument in debate.arguments if argument.title in own}
    return sorted({a.title for a in debate.arguments if a.stance in sides and a.title} - set(own))


def _is_reference_list(text: str) -> bool:
    words = text.split()
    return sum(any(c.isdigit() for c in word) for word in words) > _MOST_NUMBERS * len(words)


def because(claim: str, reason: str) -> str:
    """Return a claim with a reason for it as one sentence."""
    return with_reason(claim, reason, _JOINED[0])


def with_reason(claim: str, reason: str, joined: str) -> str:
    """Return a claim with a reason for it, in a form as in `"{}, because {}"`; a reason that is a sentence by itself begins with
    a capital letter."""
    said = f"{reason[0].upper()}{reason[1:]}" if joined.endswith(". {}") else inside_sentence(reason)
    return joined.format(claim.rstrip("."), said)


def inside_sentence(text: str) -> str:
    """Return a sentence as it stands within another one; an abbreviation at its start keeps its capitals."""
    first, *rest = text.split()
    plain = first if sum(c.isupper() for c in first) > 1 or first == "I" else first[0].lower() + first[1:]
    return " ".join([plain, *rest])


def _held_out_claims(debates: Sequence[Debate], seed: int) -> list[str]:
    return [d.claim for d, split in zip(debates, split_debates(debates, seed), strict=True) if split != "train"]


def _claim_examples(folder: Path, held_out: Sequence[str]) -> list[Example]:
    """Return Perspectrum's sentences for and against the claims of its train part, each with the claim and other sentences.

    A sentence supports the paraphrases of itself, and no sentence of the other side. Claims near a held-out debate are left out.
    """
    splits = _json(folder / SPLIT_FILE)
    texts = perspective_pool(folder)
    claims = [c for c in _json(folder / CLAIMS_FILE) if splits.get(str(c["cId"])) == "train"]
    embed = static_embedding().encode
    near = (embed([c["text"] for c in claims]) @ embed(list(held_out)).T).max(axis=1) >= SAME_DEBATE
    labelled = []
    for claim, left_out in zip(claims, near, strict=True):
        sides: dict[str, list[list[str]]] = {"SUPPORT": [], "UNDERMINE": []}
        for cluster in claim["perspectives"]:
            if cluster["stance_label_3"] in sides and not left_out:
                sides[cluster["stance_label_3"]].append([texts[number] for number in cluster["pids"]])
        for side, other in (("SUPPORT", "UNDERMINE"), ("UNDERMINE", "SUPPORT")):
            others = [Statement(cluster[0], NOT_SUPPORTED) for cluster in sides[other]]
            text = claim["text"].strip()
            towards = [Statement(text, ENTAILED if side == "SUPPORT" else CONTRADICTED, True)]
            if denied := denial(text):
                towards.append(Statement(denied, DENIED[towards[0].allowed], True))
            for cluster in sides[side]:
                for sentence in cluster:
                    same = [Statement(paraphrase, ENTAILED) for paraphrase in cluster if paraphrase != sentence]
                    labelled += [(sentence, statement) for statement in (*towards, *same, *others)]
    return _grouped(labelled)


def perspective_pool(folder: Path) -> dict[int, str]:
    """Return Perspectrum's sentences by number; raises `BadInputError` if the file is missing or unreadable."""
    return {int(entry["pId"]): str(entry["text"]).strip() for entry in _json(folder / POOL_FILE)}


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInputError("A file of Perspectrum is missing.", where=path) from error
    except (OSError, ValueError) as error:
        raise BadInputError(f"The file cannot be read as JSON ({error}).", where=path) from error

"""Held-out pairs that are like retrieved ones, on which `stance` is chosen and measured.

Three sources that training never sees: windows of five neighbouring sentences of articles, with people's evidence labels (IAM);
arguments with key points of held-out topics (ArgKP); and held-out debates, with the passages that a search for a perspective
finds. All positives are on topic, and so are nearly all negatives.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.detectors.labelling import predict_all
from berdseye.detectors.protocol import Detector, Floats
from berdseye.detectors.quality import Truth, best_threshold, rate_weights
from berdseye.detectors.stance.examples import DEBATES_FOLDER, StancePair, because, perspective_pool, read_stance_pairs
from berdseye.detectors.stance.written import EXTRACTS, JUDGED, WrittenText, written_texts
from berdseye.detectors.training_pairs import Debate, LabelledPair, denial, labelled_pairs, read_debates

Split = Literal["dev", "test"]
_SENTENCES_A_WINDOW = 5
_ANSWERS = "berds_dev/*.jsonl"
_YES_OR_NO = re.compile(r"\s*(yes|no)\b[,.:;]?\s*", re.IGNORECASE)
_OPPOSED = ("claim", "opposing", "other side")
_RETRIEVED_KINDS = ("own", "claim", "opposing", "sibling", "retrieved")
_LIKE_RETRIEVED = (JUDGED, EXTRACTS)


class HeldOut(NamedTuple):
    """A pair with its label; `group` is its topic (or article, or debate), the unit of intervals."""

    passage: str
    perspective: str
    supports: bool
    kind: str
    group: str

    @property
    def pair(self) -> Pair:
        return Pair(self.passage, self.perspective)


def held_out(folder: Path, split: Split) -> dict[str, list[HeldOut]]:
    """Return the held-out pairs of a split by source: `articles`, `arguments` and `debates`.

    Sentences of articles that Perspectrum has too are left out.
    """
    known = set(perspective_pool(folder).values())
    pairs = [p for p in read_stance_pairs(folder) if p.split == split]
    return {
        "articles": article_windows([p for p in pairs if p.source == "iam-evidence" and p.passage not in known]),
        "arguments": [
            HeldOut(p.passage, p.perspective, p.kind == "match", p.kind, p.passage)
            for p in pairs
            if p.source == "argkp"
        ],
        "debates": [
            HeldOut(p.pair.passage, p.pair.perspective, p.supports, p.kind, str(p.debate))
            for p in _debate_pairs(folder)
            if p.split == split and p.kind in _RETRIEVED_KINDS
        ],
    }


def against(folder: Path, split: Split) -> dict[str, list[HeldOut]]:
    """Return the pairs of a split that are not supported, by source; `supports` says here whether the passage opposes the
    perspective.

    It opposes the claim that is denied by the one that it supports, and the titles and key points of the other side. Articles are
    left out, since nobody labelled what their sentences oppose; judged passages and extracts have labels of their own.
    """
    held = held_out(folder, split)
    found = {
        name: [pair._replace(supports=pair.kind in _OPPOSED) for pair in held[name] if not pair.supports]
        for name in ("arguments", "debates")
    }
    return found | {
        source: written_pairs(
            [one._replace(perspectives=_unsupported(one)) for one in written_texts(source, split)], "O"
        )
        for source in _LIKE_RETRIEVED
    }


def _unsupported(one: WrittenText) -> tuple[tuple[str, str], ...]:
    return tuple((text, letter) for text, letter in one.perspectives if letter != "S")


def claims_with_reasons(folder: Path, split: Split) -> list[HeldOut]:
    """Return passages of the held-out debates of a split with perspectives that consist of a claim and a reason, a title.

    The passage supports its own title with the claim of its side. Others have the title of another argument: of its side with the
    same claim (`sibling`), of the other side with the contrary claim (`opposing`), or of another debate (`retrieved`).
    """
    claims: dict[tuple[int, str], str | None] = {}
    elsewhere: dict[str, str | None] = {}
    for number, debate in enumerate(read_debates(folder / DEBATES_FOLDER)):
        for argument in debate.arguments:
            claim = debate.claim if argument.stance == "supporting" else denial(debate.claim)
            claims[number, argument.title] = elsewhere[argument.title] = claim
    out = []
    for p in _debate_pairs(folder):
        title = p.pair.perspective
        claim = claims.get((p.debate, title), elsewhere.get(title))
        if p.split == split and p.kind in _RETRIEVED_KINDS and claim is not None:
            out.append(HeldOut(p.pair.passage, because(claim, title), p.supports, p.kind, str(p.debate)))
    return out


def off_topic(folder: Path) -> list[HeldOut]:
    """Return passages of the held-out debates of the test part with a perspective of a debate about something else, which none
    supports."""
    return [
        HeldOut(p.pair.passage, p.pair.perspective, False, p.kind, str(p.debate))
        for p in _debate_pairs(folder)
        if p.split == "test" and p.kind == "random"
    ]


def _debate_pairs(folder: Path) -> tuple[LabelledPair, ...]:
    """Return the pairs of all debates of a folder, made once: that takes seconds, and both splits and `off_topic` need them."""
    return _pairs_of(tuple(read_debates(folder / DEBATES_FOLDER)))


@lru_cache(maxsize=1)
def _pairs_of(debates: tuple[Debate, ...]) -> tuple[LabelledPair, ...]:
    return tuple(labelled_pairs(debates, 0))


def check_readable(folder: Path) -> None:
    """Raise `BadInputError` if the files of a folder that this module reads are missing or unreadable."""
    read_stance_pairs(folder)
    read_debates(folder / DEBATES_FOLDER)
    generated_answers(folder)


def article_windows(pairs: Sequence[StancePair]) -> list[HeldOut]:
    """Join five neighbouring sentences of an article to a passage; it supports the claim if one of them is evidence for it."""
    by_claim: dict[tuple[str, str], list[StancePair]] = defaultdict(list)
    for pair in sorted(pairs, key=lambda pair: pair.number):
        by_claim[pair.group, pair.perspective].append(pair)
    out = []
    for (group, claim), rows in by_claim.items():
        for start in range(0, len(rows), _SENTENCES_A_WINDOW):
            window = rows[start : start + _SENTENCES_A_WINDOW]
            if len(window) > 1:
                evidence = any(row.kind == "evidence" for row in window)
                kind = "evidence" if evidence else "on topic, no evidence"
                out.append(HeldOut(" ".join(row.passage for row in window), claim, evidence, kind, group))
    return out


def negations(folder: Path) -> list[HeldOut]:
    """Return the pairs with hand-made negations, which are a test and no training data."""
    return _inferences(p for p in read_stance_pairs(folder) if p.source.startswith("negation-"))


def minimal_edits(folder: Path) -> list[HeldOut]:
    """Return the dev part of the counterfactually augmented inference pairs, without passages that training reads."""
    pairs = read_stance_pairs(folder)
    held = [p for p in pairs if p.source == "counterfactual-nli" and p.split == "dev"]
    read = {p.passage for p in pairs if p.source == "snli" or (p.source == "counterfactual-nli" and p.split != "dev")}
    return _inferences(p for p in held if p.passage not in read)


def _inferences(pairs: Iterable[StancePair]) -> list[HeldOut]:
    return [HeldOut(p.passage, p.perspective, p.kind == "entailment", p.kind, p.group) for p in pairs]


def claims_and_denials(pairs: Sequence[HeldOut]) -> list[tuple[HeldOut, HeldOut]]:
    """Return passages of debates with the one of a claim and its denial that they support, and the other."""
    by_passage: dict[tuple[str, str], list[HeldOut]] = defaultdict(list)
    for pair in pairs:
        if pair.kind == "claim":
            by_passage[pair.group, pair.passage].append(pair)
    both = [sorted(found, key=lambda pair: not pair.supports) for found in by_passage.values() if len(found) == 2]
    return [(first, second) for first, second in both if first.supports and not second.supports]


def generated_answers(folder: Path) -> list[tuple[HeldOut, HeldOut]]:
    """Return generated answers to the questions of BERDS's dev split, each with the one of two contrary perspectives that it
    supports, and the other; none if the folder has no `berds_dev/`.

    They are the answers that begin with Yes or No, which is left out of the text. The first perspective of a question affirms it.
    The kind is `yes` or `no`. Raises `BadInputError` for a file that cannot be read.
    """
    out = []
    for path in sorted(folder.glob(_ANSWERS)):
        try:
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
            said = [(str(row["org_q"]), str(row["text"]), list(row["perspectives"])) for row in rows]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInputError(f"The generated answers cannot be read ({error!r}).", where=path) from error
        for question, text, perspectives in said:
            begins = _YES_OR_NO.match(text)
            if begins and len(perspectives) == 2:
                rest, kind = text[begins.end() :], begins[1].lower()
                passage = rest[:1].upper() + rest[1:]
                right, wrong = perspectives if kind == "yes" else reversed(perspectives)
                out.append(
                    (HeldOut(passage, right, True, kind, question), HeldOut(passage, wrong, False, kind, question))
                )
    return out


def written_pairs(texts: Iterable[WrittenText], wanted: str = "S") -> list[HeldOut]:
    """Return texts that were written or judged with each of their perspectives; `supports` says whether the letter of the
    pair is the one that is `wanted`."""
    return [
        HeldOut(one.text, text, letter == wanted, one.kind, one.group)
        for one in texts
        for text, letter in one.perspectives
    ]


def written_twins(texts: Iterable[WrittenText]) -> list[tuple[HeldOut, HeldOut]]:
    """Return texts of a source `WITH_CONTRARIES` with the one of two contrary perspectives that they support, and the other,
    which they oppose."""
    out = []
    for one in texts:
        for both in zip(one.perspectives[::2], one.perspectives[1::2], strict=True):
            if {letter for _, letter in both} == {"S", "O"}:
                (right, _), (wrong, _) = sorted(both, key=lambda found: found[1] != "S")
                out.append(
                    (
                        HeldOut(one.text, right, True, one.kind, one.group),
                        HeldOut(one.text, wrong, False, one.kind, one.group),
                    )
                )
    return out


class Scored(NamedTuple):
    """Held-out pairs with P(supports) of each, float32[n]."""

    pairs: Sequence[HeldOut]
    probabilities: Floats

    @property
    def truth(self) -> Truth:
        return np.array([pair.supports for pair in self.pairs], dtype=bool)

    def threshold(self) -> float:
        """Return the threshold with the best F1 at the base rate."""
        return best_threshold(self.truth, self.probabilities, rate_weights(self.truth))


def scored(detector: Detector, pairs: Sequence[HeldOut], *, progress: Progress = silent) -> Scored:
    """Return the pairs with the detector's P(supports)."""
    return Scored(pairs, predict_all(detector, [pair.pair for pair in pairs], progress=progress))


def for_thresholds(folder: Path) -> dict[str, list[HeldOut]]:
    """Return the dev pairs on which thresholds are chosen, by source: those of `held_out`, of judged passages, which a search
    found, and of extracts, which look as if one had."""
    return held_out(folder, "dev") | {source: written_pairs(written_texts(source, "dev")) for source in _LIKE_RETRIEVED}


def threshold_from_others(thresholds: Mapping[str, float], source: str) -> float:
    """Return the mean of the best thresholds of all sources but one."""
    return float(np.mean([threshold for name, threshold in thresholds.items() if name != source]))

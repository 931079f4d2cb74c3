"""Training pairs: labels follow sides, and no debate stands in two splits."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from made_debates import FILLER, REAL, SUBJECTS

from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.data.texts.passages import PASSAGE_WORDS
from berdseye.detectors.training_pairs import (
    SOURCES,
    Argument,
    Debate,
    LabelledPair,
    denial,
    labelled_pairs,
    read_debates,
    split_debates,
)


def debate(subject: str, number: int = 0) -> Debate:
    arguments = (
        Argument("supporting", f"{subject} cost towns money", (f"{subject} {number} empty the purse {FILLER}",), ()),
        Argument("supporting", f"{subject} hurt our neighbours", (f"{subject} {number} are loud {FILLER}",), ()),
        Argument(
            "opposing",
            f"{subject} teach the young",
            (f"{subject} {number} open minds {FILLER}",),
            (f"Minds close again soon after {subject} {FILLER}",),
        ),
    )
    return Debate(f"{subject} should be banned", arguments)


DEBATES = [debate(s) for s in SUBJECTS]


def made(pairs: list[LabelledPair], subject: str, kind: str) -> set[tuple[str, str, bool]]:
    """First words of the passage, perspective, label."""
    chosen = [p for p in pairs if p.kind == kind and p.pair.passage.startswith(subject)]
    return {(p.pair.passage.split(" and ")[0], p.pair.perspective, p.supports) for p in chosen}


def test_labels_follow_the_sides() -> None:
    pairs = labelled_pairs(DEBATES)
    assert made(pairs, "zoos", "own") == {
        ("zoos 0 empty the purse", "zoos cost towns money", True),
        ("zoos 0 are loud", "zoos hurt our neighbours", True),
        ("zoos 0 open minds", "zoos teach the young", True),
    }
    assert ("zoos 0 are loud", "zoos should be banned", True) in made(pairs, "zoos", "claim")
    assert ("zoos 0 are loud", "zoos should not be banned", False) in made(pairs, "zoos", "claim")
    assert ("zoos 0 open minds", "zoos should be banned", False) in made(pairs, "zoos", "claim")
    assert ("zoos 0 open minds", "zoos should not be banned", True) in made(pairs, "zoos", "claim")
    assert ("zoos 0 are loud", "zoos teach the young", False) in made(pairs, "zoos", "opposing")
    assert ("zoos 0 are loud", "zoos cost towns money", False) in made(pairs, "zoos", "sibling")
    assert any(p.kind == "counter" and "close again soon after zoos" in p.pair.passage for p in pairs)


def test_pairs_across_debates_stay_within_a_split_and_oppose() -> None:
    pairs = labelled_pairs(DEBATES)
    splits = split_debates(DEBATES, 0)
    across = [p for p in pairs if p.kind in ("near", "random", "retrieved")]
    assert {p.kind for p in across} >= {"near", "random"}
    for p in across:
        subject = p.pair.perspective.split()[0]
        assert not p.supports
        assert not p.pair.passage.startswith(subject)
        assert splits[SUBJECTS.index(subject)] == p.split


def test_a_perspective_meets_the_passage_elsewhere_that_shares_its_words() -> None:
    passage = f"Nobody on the harpsichord jury went home before midnight {FILLER}"
    arguments = (Argument("supporting", "", (passage,), ()), *debate("juries").arguments)
    asked = Argument("supporting", "A harpsichord jury should sleep", (f"Rest is good {FILLER}",), ())
    debates = [*DEBATES, Debate("Midnight is late", arguments), Debate("Rest is a duty", (asked,))]
    kinds = set()
    for seed in range(8):
        splits = split_debates(debates, seed)
        met = {p.pair: p for p in labelled_pairs(debates, seed)}.get(Pair(passage, asked.title))
        if splits[-1] == splits[-2]:
            assert met is not None
            assert not met.supports
            kinds.add(met.kind)
        else:
            assert met is None
    assert "retrieved" in kinds


@pytest.mark.parametrize("seed", range(8))
def test_near_equal_claims_share_a_split(seed: int) -> None:
    twins = [*DEBATES, Debate("Zoos should be banned now", debate("zoos", 1).arguments)]
    splits = split_debates(twins, seed)
    assert splits[-1] == splits[0]
    texts = {
        s: {t for p in labelled_pairs(twins, seed) if p.split == s for t in p.pair[:2]}
        for s in ("train", "dev", "test")
    }
    assert not texts["train"] & texts["dev"]
    assert not texts["train"] & texts["test"]
    assert not texts["dev"] & texts["test"]


def test_the_seed_decides_the_split_and_nothing_else_does() -> None:
    assert split_debates(DEBATES, 3) == split_debates(DEBATES, 3)
    assert any(split_debates(DEBATES, 3) != split_debates(DEBATES, s) for s in range(4, 9))
    assert labelled_pairs(DEBATES, 3) == labelled_pairs(DEBATES, 3)
    sizes = Counter(split_debates(DEBATES, 3))
    assert sizes["train"] > sizes["dev"] > 0 < sizes["test"]


def test_a_pair_with_two_labels_is_left_out() -> None:
    text = f"zoos speak for themselves {FILLER}"
    both_sides = Debate(
        "zoos should be banned",
        (
            Argument("supporting", "zoos are what they are", (text,), ()),
            Argument("opposing", "zoos are what they are", (text,), ()),
        ),
    )
    pairs = labelled_pairs([both_sides, *DEBATES[1:]])
    assert not [p for p in pairs if p.pair.passage == text and p.debate == 0 and p.kind in ("own", "claim", "opposing")]


@pytest.mark.parametrize(
    ("claim", "denied"),
    [
        ("Zoos should be closed", "Zoos should not be closed"),
        ("Zoos should not be closed", "Zoos should be closed"),
        ("Tipping is a good habit that should stay", "Tipping is not a good habit that should stay"),
        ("Stop the Olympic Games", None),
        ("Should zoos be closed", None),
        ("", None),
    ],
)
def test_denial(claim: str, denied: str | None) -> None:
    assert denial(claim) == denied


def page(claim: str = "Zoos should be closed", description: Any = None) -> dict[str, Any]:
    words = [" Bars ", f"hurt {FILLER}"] if description is None else description
    entry = {
        "perspective_title": " Bars hurt  wild animals",
        "argument": {"description": words},
        "counter_argument": [],
    }
    return {"claim_title": claim, "perspectives_for": [entry], "perspectives_against": []}


def write(folder: Path, first: Any, second: Any) -> None:
    for name, content in zip(SOURCES, (first, second), strict=True):
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def test_reading_joins_fragments_and_drops_what_is_too_short(tmp_path: Path) -> None:
    write(tmp_path, [page()], [page(description=["Too short."]), page(claim=" ")])
    (found,) = read_debates(tmp_path)
    (argument,) = found.arguments
    assert argument.title == "Bars hurt wild animals"
    assert argument.passages[0].startswith("Bars hurt and this")


def test_long_arguments_become_passages_of_about_100_words(tmp_path: Path) -> None:
    write(tmp_path, [page(description=["word " * 450])], [])
    (argument,) = read_debates(tmp_path)[0].arguments
    assert [len(p.split()) for p in argument.passages] == [PASSAGE_WORDS, PASSAGE_WORDS]


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("{not json", "cannot be read as JSON"),
        ({"a": 1}, "must contain a list"),
        ([page(), {"claim_title": "x"}], "Page 2 is not a debate"),
        ([page(description=[3])], "Page 1 is not a debate"),
        ([None], "Page 1 is not a debate"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, broken: Any, says: str) -> None:
    write(tmp_path, [page()], broken)
    with pytest.raises(BadInputError, match=says) as caught:
        read_debates(tmp_path)
    assert SOURCES[1] in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, [page()], [])
    (tmp_path / SOURCES[0]).unlink()
    with pytest.raises(BadInputError, match=SOURCES[0]):
        read_debates(tmp_path)


@pytest.mark.skipif(not REAL.exists(), reason="the debate pages are not on this machine")
def test_no_real_claim_or_passage_is_in_two_splits() -> None:
    debates = read_debates(REAL)
    pairs = labelled_pairs(debates)
    seen: dict[str, set[str]] = {}
    for p in pairs:
        seen.setdefault(debates[p.debate].claim.lower(), set()).add(p.split)
    assert len(seen) > 400
    assert {len(s) for s in seen.values()} == {1}
    share = sum(p.supports for p in pairs) / len(pairs)
    assert 0.17 < share < 0.30

"""Training sets: label rules, versions that never change, splits that never move, and leaks that are found and mended."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.annotation.judgments.log import VERDICTS, Judgments, PairRecord, Verdict
from berdseye.annotation.training_sets.labelling import LabellingRules, decided
from berdseye.annotation.training_sets.leakage import without_leaks
from berdseye.annotation.training_sets.store import SCHEMA, TrainingSetVersion, create, find_set, list_sets
from berdseye.data.datasets.stored import SPLITS, split_of
from berdseye.data.errors import BadInputError, StaleError, UnknownNameError
from berdseye.data.workspace import Workspace
from tests.annotation.made_pairs import record

YES, NO, UNSURE = VERDICTS


def said(judgments: Judgments, *votes: tuple[Verdict | None, ...]) -> pd.DataFrame:
    """The frame after each pair was judged by Ana, Bo, Cy (None: not judged)."""
    people = [judgments.sign_in(name) for name in ("Ana", "Bo", "Cy")]
    keys = judgments.add_pairs(record(n) for n in range(len(votes)))
    for key, words in zip(keys, votes, strict=True):
        for person, verdict in zip(people, words, strict=False):
            if verdict is not None:
                judgments.judge(person, key, verdict, source="annotate")
    return judgments.frame()


VOTES = (
    (YES, YES, NO),
    (YES, YES, UNSURE),
    (NO, YES, None),
    (UNSURE, UNSURE, None),
    (YES, UNSURE, UNSURE),
    (NO, NO, NO),
)


@pytest.mark.parametrize(
    ("choice", "labels", "reasons"),
    [
        (LabellingRules("majority"), {0: 1, 1: 1, 4: 1, 5: 0}, {"a tie": 1, "nobody is sure": 1}),
        (LabellingRules("unanimous"), {1: 1, 4: 1, 5: 0}, {"not unanimous": 2, "nobody is sure": 1}),
        (LabellingRules("majority", unsure="left out"), {0: 1, 5: 0}, {"a tie": 1, "someone is unsure": 3}),
        (LabellingRules("majority", unsure="no"), {0: 1, 1: 1, 3: 0, 4: 0, 5: 0}, {"a tie": 1}),
        (LabellingRules("one", annotator="Bo"), {0: 1, 1: 1, 2: 1, 5: 0}, {"nobody is sure": 2}),
        (LabellingRules("one", annotator="Cy"), {0: 0, 5: 0}, {"nobody is sure": 2, "not judged by Cy": 2}),
        (
            LabellingRules("adjudicated"),
            {0: 0, 1: 1, 2: 1, 4: 1},
            {"nobody is sure": 1, "the adjudicator is unsure": 1},
        ),
    ],
    ids=lambda value: f"{value.rule} {value.unsure} {value.annotator}" if isinstance(value, LabellingRules) else "",
)
def test_each_rule_gives_its_labels_and_says_what_it_leaves_out(
    judgments: Judgments, choice: LabellingRules, labels: dict[int, int], reasons: dict[str, int]
) -> None:
    frame = said(judgments, *VOTES)
    found = decided(frame, choice, {record(0).key: NO, record(2).key: YES, record(5).key: UNSURE})
    numbers = {record(n).key: n for n in range(len(VOTES))}
    assert {
        numbers[pair]: label for pair, label in zip(found.table["pair"], found.table["label"], strict=True)
    } == labels
    assert found.left_out == reasons
    assert len(found.table) + sum(found.left_out.values()) == len(VOTES)


def test_the_person_who_decided_is_recorded(judgments: Judgments) -> None:
    table = decided(said(judgments, *VOTES), LabellingRules("adjudicated"), {record(0).key: NO}).table.set_index("pair")
    assert table["decided_by"][record(0).key] == "adjudicator"
    assert table["decided_by"][record(1).key] == "majority"


def test_a_rule_that_is_none_is_refused(judgments: Judgments) -> None:
    with pytest.raises(UnknownNameError, match="rule 'most'"):
        LabellingRules("most")  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match="rule 'one' requires an annotator"):
        LabellingRules("one")
    with pytest.raises(UnknownNameError, match="annotator 'Bob'"):
        decided(said(judgments, *VOTES), LabellingRules("one", annotator="Bob"))


# Versions ----------------------------------------------------------------------------------------------------------------


def judge_questions(judgments: Judgments, questions: range, *, demo: bool = False) -> None:
    person = judgments.sign_in("Noor" if demo else "Ana", demo=demo)
    for n in questions:
        for verdict in (YES, NO):
            pair = PairRecord(
                "d", f"q{n}", f"Question {n}?", f"{verdict} {n}", None, "c", "", f"Passage {verdict} of {n}."
            )
            judgments.judge(person, judgments.add_pairs([pair])[0], verdict, source="demo" if demo else "annotate")


def test_versions_are_counted_kept_and_made_of_new_judgments_alone(workspace: Workspace, judgments: Judgments) -> None:
    judge_questions(judgments, range(40))
    first = create(workspace, judgments)
    assert first.id == "judged-1"
    assert create(workspace, judgments) == first, "nothing new, no new version"
    assert create(workspace, judgments, "other").hash == first.hash
    bytes_before = first.path.read_bytes()
    judge_questions(judgments, range(40, 80))
    second = create(workspace, judgments)
    assert (second.id, len(second.table())) == ("judged-2", 160)
    assert first.path.read_bytes() == bytes_before
    assert create(workspace, judgments, choice=LabellingRules("unanimous")).id == "judged-3", (
        "other rules, another version"
    )
    assert [s.id for s in list_sets(workspace)] == ["judged-1", "judged-2", "judged-3", "other-1"]
    assert find_set(workspace, "judged").id == "judged-3"
    assert find_set(workspace, "judged-1").hash == first.hash
    with pytest.raises(UnknownNameError, match="Did you mean judged-"):
        find_set(workspace, "judgd-1")
    old, new = (dict(zip(s.table()["question"], s.table()["split"], strict=True)) for s in (first, second))
    assert old.items() <= new.items(), "a question never changes its split as judgments grow"
    assert {q: split_of(q) for q in new} == new


def test_a_version_records_everything_that_it_was_made_of(workspace: Workspace, judgments: Judgments) -> None:
    judge_questions(judgments, range(30))
    judge_questions(judgments, range(30, 35), demo=True)
    known = create(workspace, judgments).manifest
    assert (known["judgments"], known["judgments_of_made_up_annotators"]) == (60, 0)
    assert known["left_out"] == {"judged by simulated annotators alone": 10}
    assert sum(n["pairs"] for n in known["splits"].values()) == 60
    assert all(2 * n["positives"] == n["pairs"] == 2 * n["questions"] for n in known["splits"].values())
    with_demo = create(workspace, judgments, choice=LabellingRules(demo=True)).manifest
    assert (with_demo["judgments"], with_demo["judgments_of_made_up_annotators"]) == (70, 10)


def test_made_up_people_alone_make_no_set(workspace: Workspace, judgments: Judgments) -> None:
    judge_questions(judgments, range(9), demo=True)
    with pytest.raises(BadInputError, match=r"Only the demo's simulated annotators have judged.*--demo"):
        create(workspace, judgments)
    assert len(create(workspace, judgments, choice=LabellingRules(demo=True)).table()) == 18


def test_rows_that_were_changed_are_noticed(workspace: Workspace, judgments: Judgments) -> None:
    judge_questions(judgments, range(5))
    made = create(workspace, judgments)
    assert list(made.table().columns) == SCHEMA.names
    assert [p.pair.key for p in made.pairs()] == made.table()["pair"].tolist()
    made.path.write_bytes(made.path.read_bytes() + b"\0")
    with pytest.raises(StaleError, match="do not match the checksum"):
        made.table()
    (made.folder / "manifest.json").write_text("[]")
    with pytest.raises(StaleError, match="cannot be read"):
        list_sets(workspace)


def test_many_at_once_make_one_version_each_time(workspace: Workspace, judgments: Judgments) -> None:
    judge_questions(judgments, range(12))
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda n: create(workspace, judgments, ("a", "b")[n % 2]).id, range(12)))
    assert set(made) == {"a-1", "b-1"}
    assert [p.name for p in workspace.training_sets_folder.glob(".*.tmp")] == []


# Leaks -------------------------------------------------------------------------------------------------------------------

WORDS = [f"word{n}" for n in range(40)]
OF = {split: [q for n in range(200) if split_of(q := f"Question {n}?") == split] for split in SPLITS}


def rows(*given: tuple[str, str]) -> pd.DataFrame:
    """A table of (split, passage), each with a question of its own in that split."""
    made = []
    for n, (split, passage) in enumerate(given):
        made.append({"pair": str(n), "question": OF[split][n], "passage": passage, "split": split, "label": n % 2})
    return pd.DataFrame(made, columns=["pair", "question", "passage", "split", "label"])


def nearly(text: str, start: int = 0) -> str:
    """The text with two words more at its end: 36 of 38 word 5-grams are shared."""
    return f"{text} more{start} words{start}"


BASE = " ".join(WORDS)
OTHER = " ".join(reversed(WORDS))


def test_a_passage_in_two_splits_goes_from_the_one_that_has_more() -> None:
    table = rows(("train", BASE), ("test", BASE), ("train", OTHER), ("dev", nearly(OTHER)), ("train", "Nothing alike."))
    found = without_leaks(table)
    assert found.table["pair"].tolist() == ["1", "3", "4"]
    told = found.leakage
    assert (told.same, told.near) == ({"train and test": 1}, {"train and dev": 1})
    assert (told.pairs, told.questions) == (2, 2)
    assert "2 judged pairs were dropped" in str(told)
    assert without_leaks(found.table).leakage.leaks == 0


def test_questions_that_share_passages_are_moved_together_towards_train() -> None:
    table = rows(("train", BASE), ("test", nearly(BASE)), ("dev", OTHER), ("test", OTHER), ("test", "Nothing alike."))
    more = pd.DataFrame(
        [{"pair": "x", "question": table["question"][1], "passage": "Its other.", "split": "test", "label": 0}]
    )
    found = without_leaks(pd.concat([table, more], ignore_index=True), "move")
    assert found.table["split"].tolist() == ["train", "train", "dev", "dev", "test", "train"]
    assert (found.leakage.pairs, found.leakage.questions) == (3, 2)
    assert without_leaks(found.table).leakage.leaks == 0


def test_leaks_can_be_kept_and_are_reported() -> None:
    table = rows(("train", BASE), ("test", BASE))
    found = without_leaks(table, "keep")
    assert found.table.equals(table)
    assert "measures on test may be too high" in str(found.leakage)
    with pytest.raises(UnknownNameError, match="leaks"):
        without_leaks(table, "hide")  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(SPLITS), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=14),
    st.sampled_from(["drop", "move"]),
)
def test_nothing_leaks_after_the_repair(drawn: list[tuple[str, int, int]], mend: str) -> None:
    texts = [(split, f"{' '.join(WORDS[k:] + WORDS[:k])}{' more' * tail}") for split, k, tail in drawn]
    table = rows(*texts)
    found = without_leaks(table, "drop" if mend == "drop" else "move")
    again = without_leaks(found.table, "keep").leakage
    assert again.leaks == 0
    assert (found.leakage.leaks == 0) == (found.leakage.pairs == 0)
    assert found.table.groupby("question")["split"].nunique().max() <= 1
    if mend == "drop":
        kept = table[table["pair"].isin(found.table["pair"])]
        assert kept["split"].tolist() == found.table["split"].tolist(), "no question changes its split"
        assert (table["split"] == "test").sum() == (found.table["split"] == "test").sum(), "what is held out stays"
    else:
        places = [SPLITS.index(s) for s in table["split"]]
        assert all(SPLITS.index(s) <= p for s, p in zip(found.table["split"], places, strict=True))


def test_leaks_are_removed_when_a_set_is_made(workspace: Workspace, judgments: Judgments, tmp_path: Path) -> None:
    del tmp_path
    person = judgments.sign_in("Ana")
    for split in ("train", "test"):
        for n, question in enumerate(OF[split][:4]):
            passage = BASE if n == 0 else f"Only {split} {n}."
            pair = PairRecord("d", question, question, f"Of {question}", None, "c", "", passage)
            judgments.judge(person, judgments.add_pairs([pair])[0], YES, source="annotate")
    made = create(workspace, judgments)
    assert made.manifest["leakage"]["same"] == {"train and test": 1}
    assert made.manifest["splits"]["train"]["pairs"] == 3
    assert made.manifest["splits"]["test"]["pairs"] == 4
    assert json.loads((made.folder / "manifest.json").read_text())["rules"]["leaks"] == "drop"
    assert create(workspace, judgments, handling="move").manifest["splits"]["test"]["pairs"] == 3


def test_the_summary_of_leaks_is_read_under_its_earlier_name(tmp_path: Path) -> None:
    for key in ("summary", "told"):
        made = TrainingSetVersion("judged-1", tmp_path, "0", {"leakage": {key: "No passage is in two splits."}})
        assert made.leakage == "No passage is in two splits."
